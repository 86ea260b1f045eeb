"""How a database comes to the schema of this version. Run by the tables' owner, before programs that need it start.

A step runs in a transaction of its own, unless it begins with the line `-- outside a transaction`: then its statements
run one by one, as an index that is built while others write must. A step that begins with `-- least: N` leaves the
tables such that programs of schema N still work with them, so that old and new ones run side by side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import psycopg
from psycopg import sql

from firsthand.errors import InvalidInput, SchemaTooNew, StoreError, StoreUnavailable
from firsthand.model import Migrated
from firsthand.stores.tables.schema import Migration, Schema, schema_of

from .address import address_of
from .connection import Connection
from .pool import Pool

OLDEST_SERVER = 140_000
FACTS_LOCK = 828_927_588  # of advisory locks, which are a database's own: "1hnd"
_MIGRATING = FACTS_LOCK + 1
_FIRST_SHARDED = "owners"  # the table that the others lie beside
_LOCK_WAIT = "3s"  # a step that cannot get its lock gives up, rather than make everybody queue behind it

_OUTSIDE = "-- outside a transaction"
_LEAST = re.compile(r"^-- least: (\d+)$", re.MULTILINE)
_UNDEFINED = (psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedTable)


def migrate(
    location: str,
    *,
    store_id: Callable[[], str],
    grant: Sequence[str] = (),
    distribute: bool = False,
    schema: Schema | None = None,
) -> Migrated:
    """Bring the tables to this version, let roles use them, shard them. Safe to repeat, and for several at once.

    `distribute` shards them by tenant, with the extension Citus; where they are, new tables become it by themselves.

    Raises StoreUnavailable, StoreBusy (a lock that was not to be had: try again), SchemaTooNew, InvalidInput.
    """
    wanted = schema or schema_of(__package__)
    pool = Pool(address_of(location))
    connection = pool.open()
    try:
        check_server(connection)
        connection.run(f"SELECT pg_advisory_lock({_MIGRATING})")
        ran = _bring_up(connection, wanted, store_id)
        sharded = _shard(connection, wanted=distribute)
        granted = _grant(connection, [*dict.fromkeys([*grant, *_granted(connection)])])
        return Migrated(tuple(ran), wanted.version, tuple(granted), tuple(sharded))
    except StoreUnavailable as error:
        if isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
            raise StoreUnavailable(
                f"{connection.shown}: migrating needs the owner of the tables, or of a new database "
                f"({str(error.__cause__).splitlines()[0]})"
            ) from error.__cause__
        raise
    finally:
        connection.close()


def check_server(connection: Connection) -> None:
    """Raise StoreUnavailable for a server that is too old, or that cannot hold every character."""
    version = connection.raw.info.server_version
    if version < OLDEST_SERVER:
        raise StoreUnavailable(
            f"{connection.shown}: PostgreSQL {version // 10_000} is too old; {OLDEST_SERVER // 10_000} or later serves"
        )
    encoding = connection.raw.info.parameter_status("server_encoding")
    if encoding not in (None, "UTF8"):
        raise StoreUnavailable(f"{connection.shown}: the database's encoding is {encoding}; make one with UTF8")


def check_schema(connection: Connection, schema: Schema) -> int:
    """The version of the tables. Raises StoreUnavailable when they are older than this program, SchemaTooNew."""
    steps = _steps(connection)
    if not steps:
        raise StoreUnavailable(
            f"{connection.shown}: there is no memory in this database yet; its owner makes the tables with "
            "`firsthand migrate --db ADDRESS`"
        )
    version, least = max(map(_number, steps)), max(steps.values())
    if version < schema.version:
        raise StoreUnavailable(
            f"{connection.shown}: the tables are older than this firsthand (schema {version}, this one needs "
            f"{schema.version}); their owner runs `firsthand migrate --db ADDRESS`"
        )
    if least > schema.version:
        raise _too_new(connection, least, schema)
    return version


def _too_new(connection: Connection, version: int, schema: Schema) -> SchemaTooNew:
    return SchemaTooNew(
        f"{connection.shown}: the tables are of a newer firsthand (schema {version}, this one knows {schema.version}); "
        "upgrade firsthand"
    )


def _steps(connection: Connection) -> dict[str, int]:
    """The steps that ran, each with the oldest schema whose programs still work; none in an empty database."""
    try:
        return {str(name): int(least) for name, least in connection.all("migrations")}
    except StoreError as error:
        if isinstance(error.__cause__, _UNDEFINED):
            return {}
        raise


def _bring_up(connection: Connection, schema: Schema, store_id: Callable[[], str]) -> list[str]:
    ran = _steps(connection)
    connection.end()  # forgets the failure of asking an empty database
    if not ran:
        return _create(connection, schema, store_id())
    newest = max(map(_number, ran))
    if newest > schema.version:
        raise _too_new(connection, newest, schema)
    missing = [step for step in schema.migrations if step.name not in ran]
    for step in missing:
        _run(connection, step)
    return [step.name for step in missing]


def _create(connection: Connection, schema: Schema, store_id: str) -> list[str]:
    connection.run("BEGIN")
    connection.run(schema.script)
    for step in schema.migrations:
        connection.all("record_migration", step.name, _least(step))
    connection.all("found_store", store_id)
    connection.commit()
    return [step.name for step in schema.migrations]


def _run(connection: Connection, step: Migration) -> None:
    if step.script.startswith(_OUTSIDE):
        for statement in filter(str.strip, re.sub(r"--[^\n]*", "", step.script).split(";")):
            connection.run(statement)
        connection.all("record_migration", step.name, _least(step))
        return
    connection.run(f"BEGIN; SET LOCAL lock_timeout = '{_LOCK_WAIT}'")
    connection.run(step.script)
    connection.all("record_migration", step.name, _least(step))
    connection.commit()


def _shard(connection: Connection, *, wanted: bool) -> list[str]:
    """Shard the tables that are not yet, all of a tenant's rows on one node. Returns their names.

    Citus moves rows that are there as the tables' owner, whom row-level security shows none: a table is sharded before
    anything is in it.
    """
    ((able,),) = connection.all("has_citus")
    if not able:
        if wanted:
            raise StoreUnavailable(
                f"{connection.shown}: sharding needs the extension Citus in this database (CREATE EXTENSION citus)"
            )
        return []
    there = {str(name) for (name,) in connection.all("sharded_tables")}
    if not there and not wanted:
        return []
    if not there:
        connection.script("begin_listing")
        ((kept,),) = connection.all("anything_kept")
        connection.end()
        if kept:
            raise StoreUnavailable(
                f"{connection.shown}: there are memories in these tables; shard those of a new database and "
                "`firsthand copy` into it"
            )
    missing = [str(name) for (name,) in connection.all("tables_of_tenants") if name not in there]
    for name in missing:
        connection.all(
            "shard", f"firsthand.{name}", "none" if name == _FIRST_SHARDED else f"firsthand.{_FIRST_SHARDED}"
        )
    return missing


def _number(name: str) -> int:
    return Migration(name, "").number


def _least(step: Migration) -> int:
    found = _LEAST.search(step.script)
    return int(found[1]) if found else step.number


def _granted(connection: Connection) -> list[str]:
    """Roles that were let in before: they may use new tables too."""
    return [str(role) for (role,) in connection.all("users_of_tables")]


def _grant(connection: Connection, roles: Sequence[str]) -> list[str]:
    for role in roles:
        if "\0" in role:
            raise InvalidInput("a role's name holds a NUL character")
        name = sql.Identifier(role).as_string(connection.raw)
        connection.run(
            f"BEGIN; GRANT USAGE ON SCHEMA firsthand TO {name};"
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA firsthand TO {name};"
            f"REVOKE INSERT, UPDATE, DELETE ON firsthand.migrations FROM {name};"
            f"REVOKE INSERT, DELETE ON firsthand.store FROM {name}; COMMIT"
        )
    return list(roles)
