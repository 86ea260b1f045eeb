"""One PostgreSQL connection that speaks in named queries and raises our errors.

Which queries there are is in `queries.sql`; where connections come from is in `pool.py`.

A transaction begins in one message that carries its settings (`SET LOCAL`, so that nothing outlives it behind a pooler)
and statements are never prepared on the server, so a pooler may give each transaction another server connection.
"""

from __future__ import annotations

import functools
import os
import re
import time
import weakref
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from firsthand.errors import FirsthandError, InvalidInput, StoreError, StoreUnavailable
from firsthand.stores.tables.queries import Fields, Value, statements

from .failures import from_postgres

_AT_ONCE = 1000
_CHUNKS_SINCE = 170_000  # version of libpq
_ROWS = 100  # rows that one INSERT carries
_VALUES = re.compile(r"VALUES \(((?:\$\d+(?:, )?)+)\)")
_LOOKED_UP = re.compile(r"\$(\d+)::(?:text|bytea)\[\]")
_PLACE = re.compile(r"\$(\d+)")
_CHANGING = ("INSERT", "UPDATE", "DELETE")


class Connection:
    """A connection for one thread at a time."""

    def __init__(self, raw: psycopg.Connection[Fields], shown: str) -> None:
        self.raw = raw
        self.shown = shown
        self.opened = time.monotonic()
        self._statements = statements(__package__)
        self._stream: _Stream | None = None  # the one that is being read
        self._streams: weakref.WeakSet[_Stream] = weakref.WeakSet()  # of this transaction
        self._process = os.getpid()
        self._changed = 0
        self._undone: FirsthandError | None = None  # why the server gave up the transaction

    # -- queries ------------------------------------------------------------------------------------------------

    def all(self, name: str, *values: Value) -> list[Fields]:
        """Every row of a query."""
        return self._run(name, self._statement(name), values)

    def one(self, name: str, *values: Value) -> Fields | None:
        """The first row of a query."""
        found = self.all(name, *values)
        return found[0] if found else None

    def many(self, name: str, sets: Iterable[tuple[Value, ...]]) -> list[Fields]:
        """The rows of a query run with each set of values: one statement for all of them, or for a hundred rows."""
        given = list(sets)
        if not given:
            return []
        statement = self._statement(name)
        looked_up = _looked_up(statement)
        if looked_up:
            return self._run(name, statement, _together(given, looked_up))
        if _VALUES.search(statement) is None:
            return [fields for values in given for fields in self._run(name, statement, values)]
        for first in range(0, len(given), _ROWS):
            rows = given[first : first + _ROWS]
            self._run(name, _repeated(statement, len(rows)), [value for values in rows for value in values])
        return []

    def many_unless_taken(self, name: str, sets: Iterable[tuple[Value, ...]]) -> bool:
        """Run a query with each set of values, or with none: False where a row with the same key is there."""
        self._script("SAVEPOINT batch")
        try:
            self.many(name, sets)
        except StoreError as error:
            if not isinstance(error.__cause__, psycopg.errors.UniqueViolation):
                raise
            self._undone = None
            self._script("ROLLBACK TO SAVEPOINT batch")
            return False
        self._script("RELEASE SAVEPOINT batch")
        return True

    def each(self, name: str, *values: Value) -> Iterator[Fields]:
        """The rows of a query as they are read. Ends with an error once the block that made it has ended.

        The connection serves one such query at a time: when another statement comes, the rest is read ahead.
        """
        self._settle()
        cursor = self.raw.cursor(binary=True)
        rows = cursor.stream(self._statement(name), values, size=_at_once())
        self._stream = stream = _Stream(rows, self)
        self._streams.add(stream)
        return stream

    def changes(self) -> int:
        """Rows changed since the transaction began."""
        return self._changed

    # -- transactions -------------------------------------------------------------------------------------------

    def script(self, name: str, *values: Value) -> list[Fields]:
        """Run the statements of a query in one message; the rows of the last one. Values are written into the text."""
        return self._script(self._statement(name), *values)

    def run(self, text: str) -> list[Fields]:
        """Run statements that are not queries of ours: migrations."""
        return self._script(text)

    def rewrite(self, table: str) -> None:
        """Write a table of ours anew, with its indexes and without dead rows; outside of a transaction."""
        self._script(f"VACUUM (FULL) firsthand.{sql.Identifier(table).as_string(self.raw)}")

    def commit(self) -> None:
        """Keep the transaction."""
        if not self.is_ours():
            raise StoreError(
                f"{self.shown}: forked inside a block that changes the store; the child's part is not kept"
            )
        self.check()
        try:
            self._script("COMMIT")
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f"{self.shown}: the connection broke while the write was being kept, so nobody knows whether it was; "
                "repeat it under the same idempotency key"
            ) from error.__cause__

    def check(self) -> None:
        """Raise why the server gave the transaction up, if it did."""
        if self._undone is not None:
            raise self._undone

    def end(self) -> None:
        """Close what is still being read, and undo a transaction that is still open."""
        self._stream = None
        while self._streams:
            self._streams.pop().leave()
        self._undone, self._changed = None, 0
        if self.raw.info.transaction_status != TransactionStatus.IDLE:
            self._script("ROLLBACK")

    def renew(self, raw: psycopg.Connection[Fields]) -> None:
        """Go on with another server connection in the place of a broken one."""
        self.raw.close()
        self.raw, self.opened = raw, time.monotonic()
        self._stream, self._undone, self._changed = None, None, 0
        self._streams.clear()

    def is_ours(self) -> bool:
        """Whether this very process opened it. A forked child's copy must be neither used nor closed."""
        return os.getpid() == self._process

    def is_alive(self) -> bool:
        """Whether it is not known to be broken."""
        return not self.raw.closed and self.raw.info.transaction_status != TransactionStatus.UNKNOWN

    def close(self) -> None:
        """Let go of it."""
        self.raw.close()

    # -- inside -------------------------------------------------------------------------------------------------

    def _run(self, name: str, statement: str, values: Sequence[Any]) -> list[Fields]:
        self._settle()
        cursor = self.raw.cursor(binary=True)
        try:
            cursor.execute(statement.encode(), values)
            found = cursor.fetchall() if cursor.description else []
        except (psycopg.Error, UnicodeError) as error:
            raise self.failure(error) from error
        if self._statements[name].startswith(_CHANGING):
            self._changed += max(cursor.rowcount, 0)
        return found

    def _script(self, text: str, *values: Value) -> list[Fields]:
        self._settle()
        try:
            bound = _PLACE.sub(lambda place: self._literal(values[int(place[1]) - 1]), text) if values else text
            cursor = self.raw.execute(bound.encode())
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []
        except (psycopg.Error, UnicodeError) as error:
            raise self.failure(error) from error

    def _literal(self, value: Value) -> str:
        return sql.Literal(value).as_string(self.raw).strip()

    def _settle(self) -> None:
        if self._stream is not None:
            self._stream.read_ahead()
            self._stream = None

    def _statement(self, name: str) -> str:
        """The statement of a query. Once the server gave the transaction up, why it did."""
        if self._undone is not None:
            raise self._undone
        return self._statements[name]

    def failure(self, error: psycopg.Error | UnicodeError) -> FirsthandError:
        """What an error of a statement is called here."""
        if isinstance(error, UnicodeError):
            return InvalidInput("text has a lone surrogate, which no encoding can store")
        ours = from_postgres(error, self.shown)
        if self.raw.closed or self.raw.info.transaction_status != TransactionStatus.INTRANS:
            self._undone = ours
        return ours


@functools.cache
def _at_once() -> int:
    """Rows that are fetched together; older versions of libpq hand them out one by one."""
    return _AT_ONCE if psycopg.pq.version() >= _CHUNKS_SINCE else 1


@functools.cache
def _looked_up(statement: str) -> frozenset[int]:
    """The places, from 0, of the values that a statement takes for all sets together."""
    return frozenset(int(number) - 1 for number in _LOOKED_UP.findall(statement))


def _together(sets: Sequence[tuple[Value, ...]], looked_up: frozenset[int]) -> list[Any]:
    """One set of values for all: lists of what is looked up, and the rest, in which they are alike."""
    first = sets[0]
    return [[values[n] for values in sets] if n in looked_up else value for n, value in enumerate(first)]


@functools.lru_cache(maxsize=1024)
def _repeated(statement: str, rows: int) -> str:
    """An INSERT of one row as one of many."""
    found = _VALUES.search(statement)
    if rows == 1 or found is None:
        return statement
    wide = len(_PLACE.findall(found[1]))
    tuples = (", ".join(f"${row * wide + n + 1}" for n in range(wide)) for row in range(rows))
    return f"{statement[: found.start()]}VALUES {', '.join(f'({each})' for each in tuples)}{statement[found.end() :]}"


class _Stream:
    """The rows of a query that is still being read."""

    def __init__(self, rows: Iterator[Fields], connection: Connection) -> None:
        self._rows: Iterator[Fields] | None = rows
        self._connection = connection
        self._ahead: deque[Fields] = deque()
        self._left = False

    def __iter__(self) -> Iterator[Fields]:
        return self

    def __next__(self) -> Fields:
        if self._left:
            raise StoreError("the block that this iterator was made in has ended")
        if self._ahead:
            return self._ahead.popleft()
        if self._rows is None:
            raise StopIteration
        try:
            return next(self._rows)
        except (psycopg.Error, UnicodeError) as error:
            self._rows = None
            raise self._connection.failure(error) from error

    def read_ahead(self) -> None:
        """Take all that is left, so that the connection is free."""
        rows, self._rows = self._rows, None
        if rows is not None:
            try:
                self._ahead.extend(rows)
            except (psycopg.Error, UnicodeError) as error:
                raise self._connection.failure(error) from error

    def leave(self) -> None:
        """Stop reading: what is left is not wanted."""
        rows, self._rows = self._rows, None
        self._left = True
        self._ahead.clear()
        if isinstance(rows, Generator):
            rows.close()
