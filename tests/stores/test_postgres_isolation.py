"""Owners are kept apart by the database itself: a query that forgets its filter, run by a role that owns nothing."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from firsthand.model import Owner
from firsthand.ports import Removal, Store
from firsthand.stores.postgres import open_postgres
from firsthand.stores.tables.copying import LEFT_BEHIND, OWNED
from firsthand.testing.store.samples import ALEX, NOW, SAM, fill
from postgres_place import APPLICATION, OWNER, Place

OTHERS = (SAM, Owner("acme", ALEX.user), Owner("acme", "sam"))
ROLES = (APPLICATION, OWNER)  # the owner of the tables is bound too


@pytest.fixture
def store(postgres: Place) -> Iterator[Store]:
    """A store in which four people have rows in every table, two of them with the same name."""
    postgres.empty()
    opened = open_postgres(postgres.url)
    for owner in (ALEX, *OTHERS, Owner("default", "gone"), Owner("acme", "gone")):
        fill(opened, owner, f"of {owner.tenant}")
        with opened.writing(owner, NOW) as work:
            work.beside.add_use(["m1"], 1)
            work.erase(Removal(messages=["m3"], everything=owner.user == "gone"), [f"t {owner.tenant}"])
    yield opened
    opened.close()


def _as(place: Place, role: str, owner: Owner | None) -> psycopg.Connection[tuple[object, ...]]:
    """A connection in a transaction for one owner, as the store begins it; for nobody where none is named."""
    connection = psycopg.connect(place.server.url(place.name, role))
    if owner is not None:
        for name, value in (("tenant", owner.tenant), ("user_id", owner.user)):
            connection.execute("SELECT set_config(%s, %s, true)", (f"firsthand.{name}", value))
    return connection


def _owners(connection: psycopg.Connection[tuple[object, ...]], table: str) -> set[tuple[object, ...]]:
    """Whose rows a query without any filter sees."""
    named = "tenant, user_id" if table in OWNED else "tenant"
    return set(connection.execute(f"SELECT DISTINCT {named} FROM firsthand.{table}".encode()).fetchall())


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.usefixtures("store")
def test_a_query_that_forgets_its_filter_sees_one_owner(postgres: Place, role: str) -> None:
    """Issue: row-level security, forced; tested with a role that is not the owner and a query without its filter."""
    seen = set()
    with _as(postgres, role, ALEX) as connection:
        for table in OWNED:
            found = _owners(connection, table)
            assert found <= {(ALEX.tenant, ALEX.user)}, table
            seen |= {table} if found else set()
        for table in LEFT_BEHIND:
            assert _owners(connection, table) == {(ALEX.tenant,)}, table
    assert seen >= {"owners", "messages", "observations", "evidence", "cells", "search_messages", "receipts", "uses"}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.usefixtures("store")
def test_who_names_no_owner_sees_nothing(postgres: Place, role: str) -> None:
    """Issue: it fails closed: a transaction that never said whose rows it works on finds none."""
    with _as(postgres, role, None) as connection:
        for table in (*OWNED, *LEFT_BEHIND):
            assert _owners(connection, table) == set(), table


@pytest.mark.parametrize("role", ROLES)
def test_a_change_that_forgets_its_filter_reaches_one_owner(postgres: Place, role: str, store: Store) -> None:
    """Issue: updates and deletes are bound as reading is."""
    with _as(postgres, role, ALEX) as connection:
        connection.execute("UPDATE firsthand.messages SET content = 'overwritten'")
        connection.execute("DELETE FROM firsthand.observations")
    for owner in OTHERS:
        with store.reading(owner) as work:
            rows = list(work.stored())
            assert sum(table == "observations" for table, _ in rows) > 0
            assert not any("overwritten" in map(str, fields) for _, fields in rows)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.usefixtures("store")
def test_a_row_of_another_owner_cannot_be_written(postgres: Place, role: str) -> None:
    """Issue: nor a row be given away."""
    for statement in (
        "INSERT INTO firsthand.uses VALUES ('acme', 'sam', 'planted', 1, 1)",
        "UPDATE firsthand.uses SET user_id = 'sam'",
        "UPDATE firsthand.uses SET tenant = 'acme'",
    ):
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
            _as(postgres, role, ALEX) as connection,
        ):
            connection.execute(statement.encode())


@pytest.mark.usefixtures("store")
def test_listing_who_there_is_shows_no_words_and_changes_nothing(postgres: Place) -> None:
    """Ours: what may be asked about the store as a whole is names, times and digests."""
    with _as(postgres, APPLICATION, None) as connection:
        connection.execute("SET LOCAL firsthand.listing = 'on'")
        shown = {table for table in (*OWNED, *LEFT_BEHIND) if _owners(connection, table)}
        assert shown <= {"owners", "cursors", "spending", *LEFT_BEHIND}
        assert connection.execute("DELETE FROM firsthand.owners").rowcount == 0
        assert connection.execute("UPDATE firsthand.owners SET epoch = epoch + 1").rowcount == 0


def test_nothing_is_left_on_the_connection_for_whoever_gets_it_next(postgres: Place, store: Store) -> None:
    """Issue: safe behind a transaction pooler: the owner is named per transaction and forgotten with it."""
    with store.reading(ALEX) as work:
        connection = work._queries  # type: ignore[attr-defined]
        assert list(work.stored())
    for ending in ("begin", "listing"):
        if ending == "listing":
            store.owners()
        for table in (*OWNED, *LEFT_BEHIND):
            assert connection.run(f"SELECT * FROM firsthand.{table}") == [], table
        assert connection.run("SELECT current_setting('firsthand.tenant', true)") in ([(None,)], [("",)])
    postgres.empty()
