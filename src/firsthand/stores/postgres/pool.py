"""Connections to one database: opened when needed, kept for the next one, and no more of them than agreed.

A block inside of another block (a reading while its thread is writing) gets its connection beyond the limit: if it had
to wait for one, blocks that each hold one would wait for each other.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from firsthand.errors import StoreBusy, StoreUnavailable
from firsthand.stores.tables.queries import Fields

from .address import Address
from .connection import Connection
from .failures import from_postgres, may_pass
from .texts import teach

_OLDEST = 1800.0  # seconds that a connection is kept, so that load spreads again after a server came back
_PAUSE = 0.05  # seconds between two attempts to connect, growing
_LONGEST_PAUSE = 1.0
_LEFT_TO_THE_PARENT: list[object] = []  # what a forked child must neither use nor close


class Pool:
    """Connections for the threads of one process. Safe across a fork."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._closed = False
        self._start()

    @contextmanager
    def connection(self, wait: float | None = None) -> Iterator[Connection]:
        """A connection to work with; what it leaves undone is undone. `wait`: seconds, if not the address's own.

        Raises StoreBusy when all stay in use for too long, StoreUnavailable and its kin when none can be opened.
        """
        me = threading.get_ident()
        if os.getpid() != self._process:
            self._leave_to_the_parent()
        nested = self._depth.get(me, 0) > 0
        patience = self.address.wait if wait is None else wait
        if not nested and not self._places.acquire(timeout=patience):
            raise StoreBusy(
                f"{self.address.shown}: all {self.address.pool} connections were in use for "
                f"{patience:g} seconds; try again, or raise pool= in the address"
            )
        places = self._places
        self._depth[me] = self._depth.get(me, 0) + 1
        try:
            connection = self._take(time.monotonic() + patience)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._depth[me] -= 1
            if not self._depth[me]:
                del self._depth[me]
            if not nested:
                places.release()

    def fresh(self, broken: Connection, deadline: float) -> None:
        """Put a working connection in the place of a broken one, waiting for a server that is coming back."""
        self._drop_idle()  # they were open to the same server
        broken.renew(self._connect_until(deadline))

    def open(self) -> Connection:
        """A connection opened now, at the first attempt or not at all. The caller closes it."""
        return Connection(self._connect(), self.address.shown)

    def close(self) -> None:
        """Let go of idle connections; those in use are let go when their block ends."""
        self._closed = True
        self._drop_idle()

    def check_open(self) -> None:
        """Raise StoreUnavailable once it was closed."""
        if self._closed:
            raise StoreUnavailable(f"{self.address.shown}: the store is closed")

    def _start(self) -> None:
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._idle: list[tuple[float, Connection]] = []
        self._depth: dict[int, int] = {}
        self._places = threading.BoundedSemaphore(self.address.pool)

    def _leave_to_the_parent(self) -> None:
        """In a forked child: the connections belong to the parent, so start with fresh ones."""
        _LEFT_TO_THE_PARENT.append(self._idle)
        self._start()

    def _take(self, deadline: float) -> Connection:
        self.check_open()
        with self._guard:
            while self._idle:
                opened, connection = self._idle.pop()
                if connection.is_alive() and time.monotonic() - opened < _OLDEST:
                    connection.opened = opened
                    return connection
                connection.close()
        return Connection(self._connect_until(deadline), self.address.shown)

    def _give_back(self, connection: Connection) -> None:
        if not connection.is_ours():
            _LEFT_TO_THE_PARENT.append(connection)
            return
        try:
            connection.end()
        except StoreUnavailable:
            connection.close()  # it broke; whoever used it was told
        with self._guard:
            if not self._closed and connection.is_alive() and len(self._idle) < self.address.pool:
                self._idle.append((connection.opened, connection))
                return
        connection.close()

    def _drop_idle(self) -> None:
        with self._guard:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _connect_until(self, deadline: float) -> psycopg.Connection[Fields]:
        pause = _PAUSE
        while True:
            try:
                return self._connect()
            except (StoreUnavailable, StoreBusy) as error:
                if not may_pass(error.__cause__) or time.monotonic() + pause >= deadline:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _connect(self) -> psycopg.Connection[Fields]:
        try:
            raw = psycopg.connect(
                autocommit=True,
                prepare_threshold=None,
                cursor_factory=psycopg.RawCursor,
                **self.address.parameters,  # type: ignore[arg-type]
            )
        except psycopg.Error as error:
            raise from_postgres(error, self.address.shown) from error
        teach(raw)
        return raw
