"""How a database is opened and migrated, and how each bad day is told: one clear line."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest

from firsthand import Memory
from firsthand.errors import (
    FirsthandError,
    InvalidInput,
    SchemaTooNew,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from firsthand.stores.postgres import migrate, open_postgres
from firsthand.stores.postgres.address import address_of
from firsthand.stores.postgres.failures import from_postgres, may_pass
from firsthand.stores.postgres.migrate import check_server
from firsthand.stores.tables.schema import Migration, Schema, schema_of
from firsthand.testing.store.samples import ALEX, NOW, fill
from postgres_place import APPLICATION, GUARDED, OWNER, Place

SCHEMA = schema_of("firsthand.stores.postgres")


def _refused(url: str, kind: type[FirsthandError], words: str) -> None:
    with pytest.raises(kind, match=words) as told:
        open_postgres(url)
    line = str(told.value)
    assert "\n" not in line
    assert len(line) < 400
    assert type(told.value) is kind


@contextmanager
def _database(postgres: Place, name: str, more: str = "") -> Iterator[Place]:
    made = Place(postgres.server, f"{postgres.name}_{name}")
    postgres.server.execute(f"CREATE DATABASE {made.name} OWNER {OWNER} {more}")
    yield made
    postgres.server.execute(f"DROP DATABASE {made.name} WITH (FORCE)")


def _migrate(place: Place, schema: Schema | None = None, user: str = OWNER) -> tuple[str, ...]:
    return migrate(place.server.url(place.name, user), store_id=lambda: "s", schema=schema).ran


# -- opening -----------------------------------------------------------------------------------------------------


def test_no_server_is_told(postgres: Place) -> None:
    """Issue: server away."""
    gone = postgres.url.replace(str(postgres.server.port), "1")
    _refused(gone, StoreUnavailable, "no server answers there")
    _refused("postgresql://no.such.host.invalid/x", StoreUnavailable, "no such host")


def test_a_wrong_password_is_told_and_never_shown(postgres: Place) -> None:
    """Issue: wrong password; nothing of it reaches an error."""
    url = postgres.server.url(postgres.name, f"{GUARDED}:wr0ng")
    _refused(url, StoreUnavailable, "look at the user and the password")
    with pytest.raises(StoreUnavailable) as told:
        open_postgres(url)
    assert "wr0ng" not in str(told.value)
    assert "wr0ng" not in address_of(url).shown


def test_no_such_role_or_database_is_told(postgres: Place) -> None:
    """Issue: one clear line for each."""
    _refused(postgres.server.url(postgres.name, "nobody"), StoreUnavailable, "look at the user")
    _refused(postgres.server.url("nowhere", APPLICATION), StoreUnavailable, "no such database")


def test_a_database_without_tables_says_what_makes_them(postgres: Place) -> None:
    """Issue: schema not migrated."""
    with _database(postgres, "bare") as bare:
        _refused(bare.owners_url, StoreUnavailable, "firsthand migrate")


def test_a_role_without_rights_says_what_gives_them(postgres: Place) -> None:
    """Issue: role without rights."""
    url = postgres.server.url(postgres.name, f"{GUARDED}:open%20sesame")
    _refused(url, StoreUnavailable, "--grant")


def test_tables_of_another_version_are_told(postgres: Place) -> None:
    """Issue: schema newer than the program; and older."""
    newer = Migration("9999_newer", "-- nothing")
    with postgres.another("versions") as place:
        _migrate(place, Schema(SCHEMA.script, (*SCHEMA.migrations, newer)))
        _refused(place.url, SchemaTooNew, "upgrade firsthand")
        with pytest.raises(SchemaTooNew):
            _migrate(place)
        place.execute("DELETE FROM firsthand.migrations")
        place.execute("INSERT INTO firsthand.migrations VALUES ('0000_older', 0)")
        _refused(place.url, StoreUnavailable, "firsthand migrate")


def test_tables_that_older_programs_can_work_with_are_opened_by_them(postgres: Place) -> None:
    """Issue: upgrades without downtime: old and new programs run side by side."""
    newer = Migration("9999_newer", f"-- least: {SCHEMA.version}\nCREATE TABLE firsthand.more (n integer)")
    with postgres.another("beside") as place:
        assert _migrate(place, Schema(SCHEMA.script, (*SCHEMA.migrations, newer))) == ("9999_newer",)
        with Memory(place.url, embedder="none") as memory:
            memory.user("alex").remember("Lisbon", attribute="lives_in")


def test_a_standby_is_told(postgres: Place) -> None:
    """Issue: read-only standby, in a database of its own that takes no writes."""
    with postgres.another("standing") as place:
        place.execute(f"ALTER DATABASE {place.name} SET default_transaction_read_only = on")
        _refused(place.url, StoreUnavailable, "only a standby answers")


def test_a_database_of_another_encoding_is_refused(postgres: Place) -> None:
    """Ours: every character can be kept, or nothing is."""
    with (
        _database(postgres, "latin", "ENCODING 'LATIN1' TEMPLATE template0") as latin,
        pytest.raises(StoreUnavailable, match="UTF8"),
    ):
        _migrate(latin)


def test_an_old_server_is_told() -> None:
    """Issue: old server. No registry has one; what it says of itself is all that is looked at."""
    raw = SimpleNamespace(info=SimpleNamespace(server_version=130_011, parameter_status=lambda _: "UTF8"))
    with pytest.raises(StoreUnavailable, match="PostgreSQL 13 is too old; 14 or later"):
        check_server(cast("Any", SimpleNamespace(raw=raw, shown="here")))


def test_no_connection_left_is_told(postgres: Place) -> None:
    """Issue: out of connections; safe to try again."""
    with postgres.another("crowded") as place:
        place.execute(f"ALTER DATABASE {place.name} CONNECTION LIMIT 0")
        _refused(place.url, StoreBusy, "no connection left")


def test_a_statement_cut_short_is_told(postgres: Place) -> None:
    """Issue: statement_timeout; nothing of the write is kept, and it may be tried again."""
    postgres.empty()
    store = open_postgres(f"{postgres.url}?options=-c%20statement_timeout%3D50")
    with (
        pytest.raises(StoreBusy, match="cut the statement short"),
        store.writing(ALEX, NOW) as work,
    ):
        work._queries.run("SELECT pg_sleep(9)")  # type: ignore[attr-defined]
    assert store.owners() == []
    store.close()


def test_a_key_is_for_files(postgres: Place) -> None:
    """Ours: what would not be encrypted is refused."""
    with pytest.raises(InvalidInput, match="file"):
        Memory(postgres.url, key="secret")


def test_a_missing_driver_names_the_package() -> None:
    """Issue: the error names the package."""
    script = "import sys; sys.modules['psycopg'] = None; from firsthand import Memory; Memory('postgresql://h/d')"
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], env=paths, capture_output=True, text=True, check=False)  # noqa: S603
    assert "StoreUnavailable: PostgreSQL needs its driver: pip install 'firsthand[postgres]'" in done.stderr


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://h/d?pool=many",
        "postgresql://h/d?wait=-1",
        "postgresql://h/d?nonsense=1",
        "postgresql://h/d?reads=all",
        "postgresql://[h/d",
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    """Ours: before anything is connected to."""
    with pytest.raises(InvalidInput):
        open_postgres(url)


def test_an_address_may_name_several_hosts_and_our_options() -> None:
    """Issue: a multi-host address; what libpq knows passes through."""
    address = address_of("postgresql://me:pw@one:1,two:2/d?pool=3&wait=7&sslmode=prefer")
    assert (address.pool, address.wait, address.shown) == (3, 7, "postgresql://me@one:1,two:2/d")
    assert (address.parameters["host"], address.parameters["sslmode"]) == ("one,two", "prefer")


# -- failures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(psycopg.errors._sqlcodes.items()), ids=lambda kind: kind[0])
def test_every_error_of_the_server_has_a_name_here(kind: tuple[str, type[psycopg.Error]]) -> None:
    """Style: drivers' errors are translated once, at the adapter, and none is forgotten."""
    ours = from_postgres(kind[1]("said so\nDETAIL: words of the person"), "here")
    assert isinstance(ours, StoreError | InvalidInput)
    assert "words of the person" not in str(ours)


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("40001", StoreBusy),
        ("40P01", StoreBusy),
        ("55P03", StoreBusy),
        ("53300", StoreBusy),
        ("53100", StoreFull),
        ("57P01", StoreUnavailable),
        ("08006", StoreUnavailable),
        ("25006", StoreUnavailable),
        ("42501", StoreUnavailable),
        ("54000", InvalidInput),
    ],
)
def test_what_may_be_tried_again_says_so(state: str, kind: type[FirsthandError]) -> None:
    """Issue: retried only where it is safe."""
    assert type(from_postgres(psycopg.errors.lookup(state)("x"), "here")) is kind


@pytest.mark.parametrize(
    ("words", "passing"),
    [
        ("Connection refused", True),
        ("FATAL:  the database system is starting up", True),
        ("FATAL:  the database system is not yet accepting connections", True),
        ("FATAL:  the database system is shutting down", True),
        ("FATAL:  sorry, too many clients already", True),
        ("session is read-only", True),
        ('FATAL:  password authentication failed for user "me"', False),
        ('FATAL:  database "x" does not exist', False),
        ('FATAL:  role "x" does not exist', False),
        ("could not translate host name", False),
    ],
)
def test_only_what_passes_is_waited_for(words: str, passing: bool) -> None:
    """Issue: a server that starts, stops, is full or is promoted is waited for; a wrong password is told at once."""
    error = psycopg.OperationalError(f'connection failed: connection to server at "here", port 1 failed: {words}')
    assert may_pass(error) is passing


def test_a_name_too_long_for_an_index_is_refused_whole(postgres: Place) -> None:
    """Ours: an index of the server has a limit that the embedded store has not."""
    postgres.empty()
    chance = random.Random(7)  # noqa: S311 - so that it does not compress
    long = "".join(chr(chance.randrange(0x20000, 0x2A000)) for _ in range(512))
    with Memory(postgres.url, embedder="none") as memory:
        with pytest.raises(InvalidInput, match="too long"):
            memory.user(long).observe([{"role": "user", "content": "hello", "id": long}])
        assert memory.users() == []


# -- migrating ---------------------------------------------------------------------------------------------------


def test_migrating_needs_the_owner(postgres: Place) -> None:
    """Issue: `firsthand migrate` as an owner."""
    with _database(postgres, "rights") as bare, pytest.raises(StoreUnavailable, match="needs the owner"):
        _migrate(bare, user=APPLICATION)


def test_many_migrate_a_new_database_at_once(postgres: Place) -> None:
    """C055: one makes the tables, the others find them; there is one store."""
    with _database(postgres, "race") as bare:
        with ThreadPoolExecutor(8) as threads:
            ran = list(threads.map(lambda _: _migrate(bare), range(8)))
        assert sorted(map(len, ran)) == [0] * 7 + [len(SCHEMA.migrations)]
        assert bare.execute("SELECT count(*) FROM firsthand.store") == [(1,)]


def test_an_older_database_is_brought_up_step_by_step(postgres: Place) -> None:
    """Style: ordered, recorded by name, each once; roles that were let in may use what is new."""
    steps = (
        Migration("9998_more", "CREATE TABLE firsthand.more (n integer)"),
        Migration("9999_index", "-- outside a transaction\nCREATE INDEX CONCURRENTLY more_n ON firsthand.more (n);"),
    )
    with postgres.another("steps") as place:
        store = open_postgres(place.url)
        fill(store, ALEX, "kept")
        newer = Schema(SCHEMA.script, (*SCHEMA.migrations, *steps))
        assert _migrate(place, newer) == ("9998_more", "9999_index")
        assert _migrate(place, newer) == ()
        assert place.server.execute("SELECT * FROM firsthand.more", database=place.name, user=APPLICATION) == []
        assert store.check() == []
        store.close()


def test_a_step_that_fails_leaves_the_tables_as_they_were(postgres: Place) -> None:
    """Style: each step in a transaction of its own."""
    steps = (
        Migration("9998_more", "CREATE TABLE firsthand.more (n integer)"),
        Migration("9999_wrong", "CREATE TABLE firsthand.wrong (n integer); SELECT nonsense"),
    )
    with postgres.another("wrong") as place:
        newer = Schema(SCHEMA.script, (*SCHEMA.migrations, *steps))
        with pytest.raises(StoreError, match="nonsense"):
            _migrate(place, newer)
        found = place.execute("SELECT name FROM firsthand.migrations ORDER BY name DESC LIMIT 1")
        assert found == [("9998_more",)]
        assert place.execute("SELECT to_regclass('firsthand.wrong')") == [(None,)]


def test_an_application_cannot_change_what_the_store_is(postgres: Place) -> None:
    """Ours: an ordinary role works with rows; the tables and the store's own row are their owner's."""
    for text in (
        "DELETE FROM firsthand.migrations",
        "DELETE FROM firsthand.store",
        "DROP TABLE firsthand.messages",
        "TRUNCATE firsthand.messages",
        "ALTER TABLE firsthand.messages NO FORCE ROW LEVEL SECURITY",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            postgres.server.execute(text, database=postgres.name, user=APPLICATION)


# -- sharding ----------------------------------------------------------------------------------------------------

# Stands in for the extension, which no registry has: notes what is asked of it, and refuses what Citus refuses.
STAND_IN = (
    "CREATE TABLE pg_dist_partition (logicalrelid regclass, distribution text, beside text)",
    """CREATE FUNCTION create_distributed_table(t regclass, distribution text, colocate_with text) RETURNS void
    LANGUAGE plpgsql AS $$ BEGIN
        IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = t AND contype IN ('p', 'u') AND conkey[1] <> (
            SELECT attnum FROM pg_attribute WHERE attrelid = t AND attname = distribution)) THEN
            RAISE EXCEPTION 'cannot shard %', t; END IF;
        INSERT INTO pg_dist_partition VALUES (t, distribution, colocate_with); END $$""",
)


@contextmanager
def _with_citus(postgres: Place) -> Iterator[Place]:
    with postgres.another("sharded") as place:
        place.execute(f"ALTER SCHEMA public OWNER TO {OWNER}")
        for statement in STAND_IN:
            place.server.execute(statement, database=place.name, user=OWNER)
        yield place


def _shard(place: Place, schema: Schema | None = None, *, distribute: bool = True) -> tuple[str, ...]:
    return migrate(place.owners_url, store_id=lambda: "s", distribute=distribute, schema=schema).sharded


def test_tables_are_sharded_by_tenant_beside_each_other(postgres: Place) -> None:
    """Issue: `firsthand migrate --distribute` where the extension is there; safe to repeat; new tables follow."""
    with _with_citus(postgres) as place:
        assert _shard(place, distribute=False) == ()
        first, *others = _shard(place)
        assert first == "owners"
        found = place.execute("SELECT logicalrelid::text, distribution, beside FROM pg_dist_partition")
        assert ("firsthand.owners", "tenant", "none") in found
        assert {row[2] for row in found} == {"none", "firsthand.owners"}
        tenants = place.execute(
            "SELECT attrelid::regclass::text FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
            " WHERE attname = 'tenant' AND relkind = 'r' AND relnamespace = 'firsthand'::regnamespace"
        )
        assert {f"firsthand.{name}" for name in (first, *others)} == {name for (name,) in tenants}
        assert _shard(place) == ()
        more = Migration("9999_more", "CREATE TABLE firsthand.more (tenant text, PRIMARY KEY (tenant))")
        assert _shard(place, Schema(SCHEMA.script, (*SCHEMA.migrations, more)), distribute=False) == ("more",)


def test_tables_with_memories_in_them_are_not_sharded(postgres: Place) -> None:
    """Ours: rows are moved by whom row-level security shows none of them, so they would be left behind."""
    with _with_citus(postgres) as place:
        store = open_postgres(place.url)
        fill(store, ALEX, "kept")
        store.close()
        with pytest.raises(StoreUnavailable, match="firsthand copy"):
            _shard(place)


def test_sharding_without_the_extension_names_it(postgres: Place) -> None:
    """Issue: missing extension: the error names it."""
    with pytest.raises(StoreUnavailable, match="Citus"):
        _shard(postgres)
