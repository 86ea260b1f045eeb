"""Schema, migrations and queries of the embedded store, held against each other."""

from __future__ import annotations

import re
from importlib import resources

import apsw
import pytest

from firsthand.stores.tables import copying
from firsthand.stores.tables.erasing import EVERYTHING
from firsthand.stores.tables.queries import statements
from firsthand.stores.tables.schema import schema_of

PACKAGE = "firsthand.stores.sqlite"
SHARED = {"store", "migrations", "facts"}  # tables of the whole store
LEFT_BEHIND = {"erased_owners", "tombstones"}  # what an erasure leaves, which names nobody
OF_THE_STORE = {
    "drop_fact",
    "due_owners",
    "facts",
    "kept_erased_owners",
    "kept_tombstones",
    "migrations",
    "orphans",
    "owners",
    "owners_behind",
    "scrub_due",
    "set_scrub_due",
    "set_secret",
    "spent",
    "store",
    "stored_messages",
    "stored_observations",
}
OF_THE_OWNER = {  # these are asked for everything, or for everything that is new
    "cells",
    "cited",
    "drop_erased_heads",
    "drop_gone_cells",
    "drop_tombstones",
    "dropped",
    "due_beliefs",
    "due_cursors",
    "due_messages",
    "erase_idle_cursors",
    "forget_belief_vectors",
    "forget_message_vectors",
    "messages_newest_first",
    "messages_oldest_first",
    "placements",
    "receipts",
    "retractions",
    "rows",
    "rows_left",
    "search_beliefs",
    "search_messages",
    "sessions",
    "tombstones",
    "uses",
    *EVERYTHING,
    *(kept for kept, _ in copying.OWNED.values()),
}


def _built(script: str) -> apsw.Connection:
    raw = apsw.Connection(":memory:")
    raw.execute(script)
    raw.execute("ANALYZE sqlite_schema")  # take in the figures that the script wrote, as a new connection does
    return raw


@pytest.fixture
def raw() -> apsw.Connection:
    """An empty database with the schema."""
    return _built(schema_of(PACKAGE).script)


def _tables(raw: apsw.Connection) -> list[str]:
    return [
        name
        for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    ]


def _form(raw: apsw.Connection) -> dict[str, str]:
    """Every object's statement, without comments and blanks."""
    found = raw.execute("SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema")
    return {name: " ".join(re.sub(r"--[^\n]*", "", sql).split()) for name, sql in found}


def test_the_migrations_lead_to_the_schema(raw: apsw.Connection) -> None:
    """Style: schema.sql says what it is, migrations/ how it came; they agree."""
    steps = "\n".join(step.script for step in schema_of(PACKAGE).migrations)
    built = _built(steps)
    assert _form(built) == _form(raw)
    figures = "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY 1, 2"
    assert list(built.execute(figures)) == list(raw.execute(figures))


def test_migrations_are_numbered_without_gaps() -> None:
    """Style: ordered, recorded by name, the names tested too."""
    names = [step.name for step in schema_of(PACKAGE).migrations]
    assert [step.number for step in schema_of(PACKAGE).migrations] == list(range(1, len(names) + 1))
    assert all(re.fullmatch(r"\d{4}_[a-z][a-z_]*", name) for name in names)


def test_the_tenant_comes_first_in_every_key(raw: apsw.Connection) -> None:
    """Stack: a store sharded by tenant has the tenant in each primary key and unique constraint."""
    for table in set(_tables(raw)) - SHARED:
        indexes = [name for _, name, *_ in raw.execute(f"PRAGMA index_list({table})")]
        assert indexes
        for index in indexes:
            columns = [name for _, _, name in raw.execute(f"PRAGMA index_info({index})")]
            assert columns[:2] in (["tenant", "user_id"], ["tenant", "owner"]), index


def test_there_are_no_triggers_and_no_foreign_keys(raw: apsw.Connection) -> None:
    """Stack: a store sharded by tenant has none."""
    assert {kind for (kind,) in raw.execute("SELECT DISTINCT type FROM sqlite_schema")} == {"table", "index"}
    assert not any(list(raw.execute(f"PRAGMA foreign_key_list({table})")) for table in _tables(raw))


def test_an_erasure_reaches_every_table_that_names_an_owner(raw: apsw.Connection) -> None:
    """C047: a table that is added later cannot be forgotten, neither in erasing nor in counting."""
    owned = set(_tables(raw)) - SHARED - LEFT_BEHIND
    erased = {match[1] for name in EVERYTHING if (match := re.match(r"DELETE FROM (\w+)", statements(PACKAGE)[name]))}
    counted = set(re.findall(r"FROM (\w+) WHERE tenant = \?1 AND user_id = \?2", statements(PACKAGE)["rows_left"]))
    assert erased == counted == owned


def test_a_copy_takes_every_table_that_names_an_owner_along(raw: apsw.Connection) -> None:
    """Ours: a table or a column that is added later cannot be forgotten when a store is copied."""
    assert {**copying.OWNED, **copying.LEFT_BEHIND}.keys() == set(_tables(raw)) - SHARED
    for table, (kept, put) in {**copying.OWNED, **copying.LEFT_BEHIND}.items():
        columns = [name for _, name, *_ in raw.execute(f"PRAGMA table_info({table})")]
        for statement in (statements(PACKAGE)[kept], statements(PACKAGE)[put]):
            listed = re.search(rf"SELECT\s([^;]*?)FROM|INTO {table}\s*\(([^)]*)\)", statement)
            assert listed is not None
            assert re.findall(r"\w+", listed[1] or listed[2]) == columns, statement


def test_every_query_is_described() -> None:
    """Style: each query is named and described where it stands."""
    text = resources.files(PACKAGE).joinpath("queries.sql").read_text("utf-8")
    described = re.findall(r"^-- name: (\w+)\n-- [A-Z][^\n]*[.)]\n(?!--)", text, re.MULTILINE)
    assert described == list(statements(PACKAGE))


def test_every_query_is_used() -> None:
    """Ours: a second dialect has to write each of them, so none is kept for nothing."""
    folders = [resources.files(each) for each in (PACKAGE, "firsthand.stores.tables")]
    files = (file for folder in folders for file in folder.iterdir() if file.name.endswith(".py"))
    code = "".join(file.read_text("utf-8") for file in files)
    built = {f"{which}_{order}_first" for which in ("messages", "session") for order in ("oldest", "newest")}
    assert {name for name in statements(PACKAGE) if f'"{name}"' not in code} == built


def test_the_planner_is_told_of_every_key(raw: apsw.Connection) -> None:
    """Ours: an index that is added later comes with its figures; without them SQLite walks an owner's whole history."""
    told = {(table, index.replace(f"sqlite_autoindex_{table}_1", table)) for table, index in _figures(raw)}
    keys = set()
    for table in set(_tables(raw)) - SHARED - {"owners", "erased_owners"}:
        names = (name for _, name, *_ in raw.execute(f"PRAGMA index_list({table})"))
        keys |= {(table, name.replace(f"sqlite_autoindex_{table}_1", table)) for name in names}
    assert told == keys


def _figures(raw: apsw.Connection) -> list[tuple[str, str]]:
    return list(raw.execute("SELECT tbl, idx FROM sqlite_stat1"))


def _plan(raw: apsw.Connection, name: str) -> list[str]:
    values = (None,) * max(int(n) for n in re.findall(r"\?(\d+)", statements(PACKAGE)[name]))
    return [detail for *_, detail in raw.execute(f"EXPLAIN QUERY PLAN {statements(PACKAGE)[name]}", values)]


@pytest.mark.parametrize("name", sorted(set(statements(PACKAGE)) - OF_THE_STORE))
def test_no_query_walks_other_owners_rows(raw: apsw.Connection, name: str) -> None:
    """C081: the cost of a query follows from one owner's rows, found by an index."""
    assert [line for line in _plan(raw, name) if re.match(r"SCAN (?!p\b|CONSTANT ROW)", line)] == []


@pytest.mark.parametrize("name", sorted(set(statements(PACKAGE)) - OF_THE_STORE - OF_THE_OWNER))
def test_a_query_for_some_rows_does_not_walk_all_of_the_owners(raw: apsw.Connection, name: str) -> None:
    """C081: the cost of a query follows from what it asks for, however long the owner's history is."""
    for line in _plan(raw, name):
        if line.startswith("SEARCH"):
            by_head = re.search(r"SEARCH (owners|erased_owners) ", line)
            assert line.count("=?") > 2 or by_head or "id>? AND id<?" in line
