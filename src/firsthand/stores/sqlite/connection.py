"""One SQLite connection that speaks in named queries and raises our errors.

Which queries there are is in `queries.sql`; how connections are opened is in `database.py`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator

import apsw

from firsthand.errors import FirsthandError, InvalidInput, StoreError
from firsthand.stores.tables.queries import Fields, Value, statements

from .failures import from_sqlite
from .turn import Patience

_TAKEN = (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY)


class Connection:
    """A connection for one thread at a time."""

    def __init__(self, raw: apsw.Connection, path: str) -> None:
        self.raw = raw
        self.path = path
        self._statements = statements(__package__)
        self._patience = Patience()
        self._streams: list[apsw.Cursor] = []
        self._process = os.getpid()
        self._begun = False
        self._undone: FirsthandError | None = None  # why SQLite gave up a transaction by itself
        raw.set_busy_handler(self._patience)

    def wait_until(self, deadline: float) -> None:
        """How long the next statements may wait for a lock, as a time of `time.monotonic`."""
        self._patience.deadline = deadline

    def wait_for(self, seconds: float) -> None:
        """How many seconds the next statements may wait for a lock."""
        self._patience.deadline = time.monotonic() + seconds

    def script(self, text: str) -> list[Fields]:
        """Run statements that are not queries of ours: pragmas, transactions, migrations."""
        try:
            return self.raw.execute(text).fetchall()
        except apsw.Error as error:
            raise self.failure(error) from error

    def all(self, name: str, *values: Value) -> list[Fields]:
        """Every row of a query."""
        try:
            return self.raw.execute(self._statement(name), values).fetchall()
        except (apsw.Error, UnicodeError, OverflowError) as error:
            raise self.failure(error) from error

    def one(self, name: str, *values: Value) -> Fields | None:
        """The first row of a query."""
        found = self.all(name, *values)
        return found[0] if found else None

    def many(self, name: str, sets: Iterable[tuple[Value, ...]]) -> list[Fields]:
        """The rows of a query run once with each set of values, in their order."""
        try:
            return self.raw.executemany(self._statement(name), sets).fetchall()
        except (apsw.Error, UnicodeError, OverflowError) as error:
            raise self.failure(error) from error

    def many_unless_taken(self, name: str, sets: Iterable[tuple[Value, ...]]) -> bool:
        """Run a query with each set of values, or with none: False where a row with the same key is there."""
        self.script("SAVEPOINT batch")
        try:
            self.many(name, sets)
        except BaseException as error:
            if self.raw.in_transaction:  # some failures undo all of it
                self.script("ROLLBACK TO batch; RELEASE batch")
            if getattr(error.__cause__, "extendedresult", 0) in _TAKEN:
                return False
            raise
        self.script("RELEASE batch")
        return True

    def each(self, name: str, *values: Value) -> Iterator[Fields]:
        """The rows of a query as they are read. Ends with an error once the block that made it has ended."""
        try:
            cursor = self.raw.execute(self._statement(name), values)
            self._streams.append(cursor)
            yield from cursor
        except (apsw.Error, UnicodeError, OverflowError) as error:
            raise self.failure(error) from error

    def begin(self, how: str) -> None:
        """Start a transaction: `DEFERRED` or `IMMEDIATE`."""
        self.script(f"BEGIN {how}")
        self._begun = True

    def is_ours(self) -> bool:
        """Whether this very process opened it. A forked child's copy must be neither used nor closed."""
        return os.getpid() == self._process

    def commit(self) -> None:
        """Keep the transaction."""
        if not self.is_ours():
            raise StoreError(f"{self.path}: forked inside a block that changes the store; the child's part is not kept")
        if self._undone is not None:
            raise self._undone
        self.script("COMMIT")

    def end(self) -> None:
        """Close what is still being read, and undo a transaction that is still open."""
        while self._streams:
            self._streams.pop().close(True)  # noqa: FBT003 - apsw's own argument: even if rows are left
        if self.raw.in_transaction:
            self.script("ROLLBACK")
        self._begun, self._undone = False, None

    def changes(self) -> int:
        """Rows changed since the connection was opened."""
        return self.raw.total_changes()

    def close(self) -> None:
        """Let go of it."""
        self.raw.close(True)  # noqa: FBT003 - apsw's own argument: even if statements are left

    def failure(self, error: Exception) -> FirsthandError:
        """What an error of a statement is called here."""
        if isinstance(error, apsw.Error):
            ours = from_sqlite(error, self.path, self.raw.system_errno)
            if self._begun and not self.raw.in_transaction:
                self._undone = ours
            return ours
        if isinstance(error, UnicodeError):
            return InvalidInput("text has a lone surrogate, which no encoding can store")
        return InvalidInput("a number is too large to be stored")

    def _statement(self, name: str) -> str:
        """The statement of a query. What follows on a transaction that SQLite gave up would be kept row by row."""
        if self._undone is not None:
            raise self._undone
        return self._statements[name]
