"""How far models have read an owner's sessions, and what it cost."""

from __future__ import annotations

from firsthand.model import Owner, Position
from firsthand.ports import Cursor, Spending

from .queries import Fields, Queries

_NOTHING = Position(0, -1, "")  # stands for no position: counters begin at 0


class CursorTables:
    """`ports.Cursors` of one owner."""

    def __init__(self, queries: Queries, owner: Owner) -> None:
        self._queries = queries
        self._owner = (owner.tenant, owner.user)

    def get(self, session: str) -> Cursor:
        """The cursor of a session; one that has read nothing where there is none."""
        found = self._queries.one("cursor", *self._owner, session)
        return Cursor(session) if found is None else _cursor(found)

    def save(self, cursor: Cursor) -> None:
        """Add or replace the cursor of its session."""
        self._queries.all(
            "save_cursor",
            *self._owner,
            cursor.session,
            *(cursor.seen or _NOTHING),
            cursor.due_at,
            cursor.leased_until,
            cursor.holder,
            cursor.failures,
        )

    def due(self, now: int) -> list[Cursor]:
        """Those that are due by now (microseconds) and that nobody is at, the longest due first."""
        return [_cursor(each) for each in self._queries.all("due_cursors", *self._owner, now)]

    def spend(self, day: str, spending: Spending) -> None:
        """Add to what was spent on a day (`2026-06-01`)."""
        self._queries.all("add_spending", *self._owner, day, *spending)


def _cursor(fields: Fields) -> Cursor:
    session, recorded_at, counter, store, due_at, leased_until, holder, failures = fields
    seen = Position(recorded_at, counter, store)
    return Cursor(session, None if seen == _NOTHING else seen, due_at, leased_until, holder, failures)
