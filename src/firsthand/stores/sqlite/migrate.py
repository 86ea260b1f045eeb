"""How a file comes to the schema of this version: made whole when it is new, by numbered steps when it is older."""

from __future__ import annotations

from firsthand.stores.tables.schema import Schema

from .connection import Connection

APPLICATION = int.from_bytes(b"1hnd", "big")  # says in the file's header whose it is


def create(connection: Connection, schema: Schema, store_id: str) -> None:
    """Make the tables of a new file, all or none."""
    connection.begin("IMMEDIATE")
    connection.script(schema.script)
    connection.many("record_migration", ((step.name,) for step in schema.migrations))
    connection.all("found_store", store_id)
    connection.script(f"PRAGMA application_id = {APPLICATION}")
    connection.script(f"PRAGMA user_version = {schema.version}")
    connection.commit()


def upgrade(connection: Connection, schema: Schema) -> None:
    """Run the steps that an older file lacks, each in a transaction of its own."""
    ran = {str(name) for (name,) in connection.all("migrations")}
    for step in schema.migrations:
        if step.name in ran:
            continue
        connection.begin("IMMEDIATE")
        connection.script(step.script)
        connection.many("record_migration", [(step.name,)])
        connection.script(f"PRAGMA user_version = {step.number}")
        connection.commit()
