"""Rows as they are stored, read out of one store and put into another: the same values in the same order in both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from operator import itemgetter

from firsthand.model import Owner
from firsthand.ports import StoredRow

from .queries import Queries

# Table -> the query that reads every row of it, and the one that puts a row.
OWNED = {
    "owners": ("kept_owners", "set_head"),
    "messages": ("kept_messages", "add_message"),
    "observations": ("kept_observations", "add_observation"),
    "evidence": ("kept_evidence", "add_evidence"),
    "placements": ("kept_placements", "add_placement"),
    "cells": ("kept_cells", "save_cell"),
    "search_messages": ("kept_search_messages", "put_fresh_search_message"),
    "search_beliefs": ("kept_search_beliefs", "put_search_belief"),
    "receipts": ("kept_receipts", "add_receipt"),
    "dropped": ("kept_dropped", "add_dropped"),
    "uses": ("kept_uses", "merge_use"),
    "cursors": ("kept_cursors", "save_cursor"),
    "spending": ("kept_spending", "add_spending"),
}
LEFT_BEHIND = {
    "erased_owners": ("kept_erased_owners", "set_erased_head"),
    "tombstones": ("kept_tombstones", "add_tombstone"),
}
_AT_ONCE = 1000


def rows_of(queries: Queries, owner: Owner) -> Iterator[StoredRow]:
    """Every row of an owner."""
    for table, (kept, _) in OWNED.items():
        for fields in queries.each(kept, owner.tenant, owner.user):
            yield table, fields


def rows_left_behind(queries: Queries) -> Iterator[StoredRow]:
    """What erasures left behind, of all owners."""
    for table, (kept, _) in LEFT_BEHIND.items():
        for fields in queries.all(kept):
            yield table, fields


def put_rows(queries: Queries, rows: Iterable[StoredRow]) -> None:
    """Put rows where there are none of the same keys."""
    tables = {**OWNED, **LEFT_BEHIND}
    for table, group in groupby(rows, key=itemgetter(0)):
        fields = map(itemgetter(1), group)
        while batch := list(islice(fields, _AT_ONCE)):
            queries.many(tables[table][1], batch)


def change_facts(queries: Queries, facts: Mapping[str, str | None]) -> None:
    """Add, change and forget facts."""
    queries.many("set_fact", [(name, value) for name, value in facts.items() if value is not None])
    for name in (name for name, value in facts.items() if value is None):
        queries.all("drop_fact", name)
