"""How a file comes to the schema of this version: made whole when it is new, by numbered steps when it is older."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources

from .connection import Connection

APPLICATION = int.from_bytes(b"1hnd", "big")  # says in the file's header whose it is


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step: `0001_first`."""

    name: str
    script: str

    @property
    def number(self) -> int:
        """Its place, which is the schema version that it leads to."""
        return int(self.name.split("_")[0])


@dataclass(frozen=True, slots=True)
class Schema:
    """What a new file is made of, and the steps that bring an older one there."""

    script: str
    migrations: tuple[Migration, ...]

    @property
    def version(self) -> int:
        """The number of the last step."""
        return self.migrations[-1].number


@functools.cache
def current() -> Schema:
    """The schema of this version."""
    folder = resources.files(__package__)
    files = sorted(
        (f for f in folder.joinpath("migrations").iterdir() if f.name.endswith(".sql")), key=lambda f: f.name
    )
    steps = tuple(Migration(f.name.removesuffix(".sql"), f.read_text("utf-8")) for f in files)
    return Schema(folder.joinpath("schema.sql").read_text("utf-8"), steps)


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
