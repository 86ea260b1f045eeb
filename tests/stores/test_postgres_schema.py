"""Schema, migrations and queries of the PostgreSQL store.

Held against each other, against the embedded store's, and against what a store sharded by tenant allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources

import pytest

from firsthand.stores.postgres.connection import Connection
from firsthand.stores.tables.erasing import EVERYTHING
from firsthand.stores.tables.queries import statements
from firsthand.stores.tables.schema import schema_of
from postgres_place import OWNER, Place

PACKAGE = "firsthand.stores.postgres"
SHARED = {"store", "migrations", "facts"}  # tables of the whole store
LEFT_BEHIND = {"erased_owners", "tombstones"}  # what an erasure leaves, which names nobody
OF_A_SERVER = {
    "anything_kept",
    "begin_listing",
    "begin_reading",
    "begin_setting",
    "begin_taking_over",
    "begin_writing",
    "has_citus",
    "lock_new_head",
    "name_tenant",
    "shard",
    "sharded_tables",
    "tables_of_tenants",
    "tables_owned",
    "unusable_indexes",
    "users_of_tables",
}
IN_THE_BEGINNING = {"head"}  # read in the message that begins a transaction
ABOUT_THE_STORE = {  # no owner in them: they see the rows of the transaction's owner, or may list
    "drop_fact",
    "due_owners",
    "facts",
    "found_store",
    "kept_erased_owners",
    "kept_tombstones",
    "migrations",
    "orphans",
    "owners",
    "owners_behind",
    "record_migration",
    "scrub_due",
    "set_fact",
    "set_scrub_due",
    "set_secret",
    "spent",
    "store",
    "stored_messages",
    "stored_observations",
}
CHANGEABLE = re.compile(r"\b(now|random|clock_timestamp|gen_random_uuid|statement_timestamp|nextval)\(|current_time")
QUERIES = statements(PACKAGE)


def _tables(postgres: Place) -> set[str]:
    return {str(name) for (name,) in postgres.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'firsthand'")}


def test_the_migrations_lead_to_the_schema(postgres: Place) -> None:
    """Style: schema.sql says what it is, migrations/ how it came; they agree in every definition."""
    schema, server = schema_of(PACKAGE), postgres.server
    built = []
    for script in (schema.script, "\n".join(step.script for step in schema.migrations)):
        server.execute(f"CREATE DATABASE building OWNER {OWNER}")
        server.execute(script, database="building", user=OWNER)
        built.append(server.schema("building"))
        server.execute("DROP DATABASE building")
    assert built[0] == built[1]
    assert "CREATE TABLE firsthand.messages" in built[0]


def test_migrations_are_numbered_without_gaps() -> None:
    """Style: ordered, recorded by name, the names tested too."""
    names = [step.name for step in schema_of(PACKAGE).migrations]
    assert [step.number for step in schema_of(PACKAGE).migrations] == list(range(1, len(names) + 1))
    assert all(re.fullmatch(r"\d{4}_[a-z][a-z_]*", name) for name in names)


@pytest.mark.parametrize("step", schema_of(PACKAGE).migrations[1:], ids=lambda step: step.name)
def test_no_migration_holds_a_long_lock_on_a_full_table(step: object) -> None:
    """Issue: indexes are built while others write, and no row is rewritten or looked at under a lock."""
    script = re.sub(r"--[^\n]*", "", getattr(step, "script", ""))
    made = set(re.findall(r"CREATE TABLE (\S+)", script))
    for table in re.findall(r"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)\S+ ON (\S+)", script):
        assert table in made
    slow = re.findall(
        r"ALTER TABLE (\S+)[^;]*(?:SET NOT NULL|TYPE |ADD (?:CONSTRAINT|CHECK)(?![^;]*NOT VALID))", script
    )
    assert set(slow) <= made


def test_tables_and_queries_are_those_of_the_embedded_store(postgres: Place) -> None:
    """Style: two dialects, the same names."""
    assert set(QUERIES) - OF_A_SERVER == set(statements("firsthand.stores.sqlite"))
    made = set(re.findall(r"CREATE TABLE (\w+)", schema_of("firsthand.stores.sqlite").script))
    assert _tables(postgres) == made


def test_every_query_is_described() -> None:
    """Style: each query is named and described where it stands."""
    text = resources.files(PACKAGE).joinpath("queries.sql").read_text("utf-8")
    described = re.findall(r"^-- name: (\w+)\n-- [A-Z][^\n]*[.)]\n(?!--)", text, re.MULTILINE)
    assert described == list(QUERIES)


def test_every_query_is_used() -> None:
    """Ours: none is kept for nothing."""
    folders = [resources.files(each) for each in (PACKAGE, "firsthand.stores.tables")]
    code = "".join(
        file.read_text("utf-8") for folder in folders for file in folder.iterdir() if file.name.endswith(".py")
    )
    built = {f"{which}_{order}_first" for which in ("messages", "session") for order in ("oldest", "newest")}
    assert {name for name in QUERIES if f'"{name}"' not in code} == built | IN_THE_BEGINNING


def test_the_tenant_comes_first_in_every_key(postgres: Place) -> None:
    """Stack: a store sharded by tenant has the tenant in each primary key and unique constraint."""
    found = postgres.execute("SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'firsthand'")
    keyed = set()
    for table, definition in found:
        if table in SHARED:
            continue
        keyed.add(table)
        assert re.search(r"\(tenant, (user_id|owner)\b", str(definition)), definition
    assert keyed == _tables(postgres) - SHARED


def test_there_is_nothing_that_shards_cannot_have(postgres: Place) -> None:
    """Stack: no triggers, no foreign keys, no sequences, no defaults that a row could owe its value to."""
    here = "(SELECT oid FROM pg_namespace WHERE nspname = 'firsthand')"
    relations = f"(SELECT oid FROM pg_class WHERE relnamespace = {here})"
    for looked_for in (
        f"SELECT tgname FROM pg_trigger WHERE tgrelid IN {relations}",
        f"SELECT conname FROM pg_constraint WHERE connamespace = {here} AND contype NOT IN ('p', 'n')",
        f"SELECT relname FROM pg_class WHERE relnamespace = {here} AND relkind NOT IN ('r', 'i')",
        f"SELECT adrelid::regclass FROM pg_attrdef WHERE adrelid IN {relations}",
        f"SELECT attrelid::regclass FROM pg_attribute WHERE attrelid IN {relations} AND attidentity <> ''",
        f"SELECT typname FROM pg_type WHERE typnamespace = {here} AND typtype NOT IN ('c', 'b')",
        f"SELECT proname FROM pg_proc WHERE pronamespace = {here}",
    ):
        assert postgres.execute(looked_for) == []


def test_texts_compare_by_their_bytes(postgres: Place) -> None:
    """Ours: both stores order, compare and cut alike, whatever the server's language is."""
    found = postgres.execute(
        "SELECT a.attrelid::regclass::text, a.attname FROM pg_attribute AS a "
        "JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE n.nspname = 'firsthand' AND a.atttypid = 'text'::regtype "
        "AND a.attcollation <> (SELECT oid FROM pg_collation WHERE collname = 'C')"
    )
    assert found == []


def test_row_level_security_binds_the_tables_owner_too(postgres: Place) -> None:
    """Issue: forced on every table that names an owner."""
    found = postgres.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'firsthand'::regnamespace AND relkind = 'r' "
        "AND relrowsecurity AND relforcerowsecurity"
    )
    assert {name for (name,) in found} == _tables(postgres) - SHARED


OF_A_TENANT = {"drop_erased_heads", "drop_tombstones"}  # digests, that name nobody


@pytest.mark.parametrize("name", sorted(set(QUERIES) - ABOUT_THE_STORE - OF_A_SERVER - OF_A_TENANT))
def test_every_query_on_an_owners_rows_names_the_owner(name: str) -> None:
    """Stack: shards are chosen by what the statement says; row-level security alone reaches all of them."""
    statement = QUERIES[name]
    inserts = re.search(r"VALUES \(\$1, \$2\b", statement) is not None
    assert inserts or re.search(r"\btenant = \$1 AND (\w+\.)?(user_id|owner) = \$2", statement), statement


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_no_query_asks_shards_for_what_they_cannot_do(name: str) -> None:
    """Stack: nothing volatile in an update, no MERGE, no tenant that changes, no order from RETURNING."""
    statement = QUERIES[name]
    assert not re.search(r"\bMERGE\b|\bRETURNING\b|SKIP LOCKED", statement)
    _, _, updated = statement.partition("DO UPDATE SET")
    if statement.startswith("UPDATE"):
        updated = statement
    assert not CHANGEABLE.search(updated)
    assert not re.search(r"\b(tenant|user_id)\s*=\s*excluded", updated)
    for locking in re.findall(r"SELECT[^;]*FOR UPDATE", statement):
        assert "tenant = $1" in locking


def test_an_erasure_reaches_every_table_that_names_an_owner(postgres: Place) -> None:
    """C047: a table that is added later cannot be forgotten, neither in erasing nor in counting."""
    owned = _tables(postgres) - SHARED - LEFT_BEHIND
    deletes = (re.match(r"DELETE FROM firsthand\.(\w+)", QUERIES[name]) for name in EVERYTHING)
    counted = set(re.findall(r"FROM firsthand\.(\w+) WHERE tenant = \$1 AND user_id = \$2", QUERIES["rows_left"]))
    assert {match[1] for match in deletes if match} == counted == owned


@pytest.fixture(scope="module")
def planner(postgres: Place) -> Iterator[Connection]:
    """A connection whose planner takes an index wherever one serves."""
    import psycopg

    with psycopg.connect(postgres.owners_url, autocommit=True) as raw:
        raw.execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
        yield Connection(raw, "here")


ADDING = {name for name, statement in QUERIES.items() if re.search(r"VALUES \(\$1", statement)}


@pytest.mark.parametrize("name", sorted(set(QUERIES) - ABOUT_THE_STORE - OF_A_SERVER - ADDING))
def test_no_query_walks_other_owners_rows(planner: Connection, name: str) -> None:
    """C081: the cost of a query follows from one owner's rows, found by an index."""
    plan = [str(line) for (line,) in planner.run(f"EXPLAIN (GENERIC_PLAN) {QUERIES[name]}")]
    assert [line for line in plan if "Seq Scan" in line] == []
    conditions = [line for line in plan if "Index Cond:" in line]
    assert conditions
    for line in conditions:
        assert "tenant = " in line
