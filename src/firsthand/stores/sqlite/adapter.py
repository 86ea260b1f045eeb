"""The embedded store: one SQLite file, many threads and processes on it at once.

`open_sqlite` is the only way in. How the file is opened is in `database.py`, what a unit of work can do in `work.py`,
whose turn it is to write in `turn.py`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from firsthand.errors import InvalidInput, StoreBusy, StoreUnavailable
from firsthand.model import Owner
from firsthand.ports import Reading, Remains, Scan, Spending, Store, Writing
from firsthand.stores.tables.checking import faults
from firsthand.stores.tables.copying import change_facts, put_rows, rows_left_behind
from firsthand.stores.tables.work import Identity, TableReading, TableWriting

from .checking import structure
from .connection import Connection
from .database import Database, Options, real_path
from .failures import from_system
from .keys import key_bytes
from .scanning import scan
from .turn import Gate, Queue

_KEPT = 8  # connections kept open between uses
_READINGS_END = 2.0  # seconds that `scrub` waits for open readings, while no one else can write
_LEFT_TO_THE_PARENT: list[object] = []  # what a forked child must neither use nor close
_OWN_FACTS = ("store", "schema", "scrub_due")


def open_sqlite(
    path: str | os.PathLike[str],
    *,
    key: str | bytes | None = None,
    store_id: Callable[[], str],
    wait: float = 30.0,
    durable: bool = True,
) -> Store:
    """The store in a file, made when it is not there; `:memory:` for one that is not kept.

    `key` opens an encrypted file, or makes a new one encrypted: text, words, indexes and vectors alike. `store_id`
    names a new store. `wait` is how many seconds a write waits for its turn before StoreBusy. `durable` makes every
    commit reach the disk before it is acknowledged; without it a power cut may lose the last commits, never the file.

    Raises InvalidInput, StoreUnavailable (path, permission, wrong key, not a firsthand file), StoreBusy, StoreFull,
    StoreCorrupt, SchemaTooNew.
    """
    secret = key_bytes(key)
    if path == ":memory:":
        return _open_unkept(store_id, wait)
    database = Database(real_path(path), Options(key=secret, wait=wait, durable=durable))
    database.open(store_id)
    return SqliteStore(database)


def _open_unkept(store_id: Callable[[], str], wait: float) -> Store:
    """A store in a temporary file under a key that only this process holds, gone when it is closed.

    SQLite's own in-memory databases serve one connection, so that readers and writers would wait for each other and a
    snapshot would not hold. This one behaves as every other store does.
    """
    try:
        folder = tempfile.mkdtemp(prefix="firsthand-")
    except OSError as error:
        raise from_system(error, tempfile.gettempdir()) from error
    options = Options(key=os.urandom(32), raw_key=True, wait=wait, durable=False, flushes=False)
    database = Database(str(Path(folder, "memory.db")), options)
    database.open(store_id)
    store = SqliteStore(database)
    store.on_close(weakref.finalize(store, _remove, folder, os.getpid()))
    return store


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Turn:
    """The right to write next: until when to wait for whoever writes now, and how to let the next one come up."""

    deadline: float  # of `time.monotonic`
    leave_gate: Callable[[], object]


class SqliteStore:
    """`ports.Store` on one file. Safe to share among threads, and across a fork."""

    id: str

    def __init__(self, database: Database) -> None:
        self._database = database
        self._closed = False
        self._idle: list[Connection] = []
        self._finally: Callable[[], object] = lambda: None
        self._start()
        try:
            self._identity = self._introduce()
        except BaseException:
            self.close()
            raise
        self.id = self._identity.id

    @contextmanager
    def reading(self, owner: Owner) -> Iterator[Reading]:
        """A consistent snapshot; waits for no writer, and no writer waits for it."""
        with self._connection() as connection:
            connection.begin("DEFERRED")
            head = connection.one("head", owner.tenant, owner.user)  # the first read: it fixes the snapshot
            yield TableReading(connection, owner, self._identity, head)

    @contextmanager
    def writing(self, owner: Owner, now: datetime) -> Iterator[Writing]:
        """One atomic change of one owner's rows: kept when the block ends, undone when it raises."""
        with self._change() as connection:
            head = connection.one("head", owner.tenant, owner.user)
            work = TableWriting(connection, owner, self._identity, head, now)
            yield work
            work.finish()

    def owners(self) -> list[Owner]:
        """Every owner that ever wrote and was not erased."""
        with self._connection() as connection:
            return [Owner(tenant, user) for tenant, user in connection.all("owners")]

    def due(self, now: int) -> list[Owner]:
        """Owners with a session that a model is to read on by now (microseconds) and that nobody is at."""
        with self._connection() as connection:
            return [Owner(tenant, user) for tenant, user in connection.all("due_owners", now)]

    def spent(self, day: str) -> Spending:
        """What all owners together spent on models on a day."""
        with self._connection() as connection:
            ((calls, tokens),) = connection.all("spent", day)
            return Spending(calls, tokens)

    def facts(self) -> dict[str, str]:
        """What the store knows of itself; `store`, `schema` and `scrub_due` are its own."""
        with self._connection() as connection:
            ((version,),) = connection.script("PRAGMA user_version")
            ((due,),) = connection.all("scrub_due")
            own = {"store": self.id, "schema": str(version), "scrub_due": str(due)}
            return {**own, **dict(connection.all("facts"))}

    def set_facts(self, facts: Mapping[str, str | None]) -> None:
        """Change some of them, atomically, but for the store's own; None forgets one."""
        for name in _OWN_FACTS:
            if name in facts:
                raise InvalidInput(f"{name!r} is not for setting: the store itself says it")
        with self._change() as connection:
            change_facts(connection, facts)

    def remains(self) -> Remains:
        """What erasures left behind, of all owners."""
        with self._connection() as connection:
            connection.begin("DEFERRED")
            return Remains(self._identity.secret, tuple(rows_left_behind(connection)))

    def take_over(self, remains: Remains) -> None:
        """Have these remains of another store and no others, atomically."""
        with self._change() as connection:
            for tenant in sorted({fields[0] for _, fields in rows_left_behind(connection)}):
                connection.all("drop_erased_heads", tenant)
                connection.all("drop_tombstones", tenant)
            put_rows(connection, remains.rows)
            connection.all("set_secret", remains.secret)
        self._identity = Identity(self.id, remains.secret)

    def scrub(self, *, locking: bool = False) -> bool:  # noqa: ARG002 - a file of one machine is always rewritten
        """Write the file anew without free pages, empty the log, and remove copies that upgrades made.

        Always True. Does nothing when nothing was erased since the last time. Takes as much memory as the file is long,
        and makes writers wait. Raises StoreBusy when a reading stays open: the rows are gone, their bytes not yet.
        """
        with self._connection() as connection:
            if connection.one("scrub_due") == (0,):
                return True
        with self._turn() as turn, self._connection() as connection:
            connection.wait_until(turn.deadline)
            if connection.one("scrub_due") == (0,):
                return True
            for copy in self._database.backups():
                copy.unlink(missing_ok=True)
            connection.script("VACUUM")
            connection.wait_until(min(turn.deadline, time.monotonic() + _READINGS_END))
            ((busy, *_),) = connection.script("PRAGMA wal_checkpoint(TRUNCATE)")
            if busy:
                raise StoreBusy(
                    f"{self._database.path}: what was erased stays in the log until open readings end; try again"
                )
            connection.all("set_scrub_due", 0)
            return True

    def scan(self, needles: Sequence[bytes]) -> Scan:
        """Look for bytes in every file of the store, and behind its key. Takes as much memory as an encrypted file."""
        with self._connection() as connection:
            connection.begin("DEFERRED")
            encrypted = self._database.options.key is not None
            return scan(connection, self._database.files(), needles, encrypted=encrypted)

    def check(self) -> list[str]:
        """What is wrong with the file or its tables, one line each; empty when nothing is."""
        with self._connection() as connection:
            connection.begin("DEFERRED")
            return faults(connection, [structure])

    def close(self) -> None:
        """Let go of files and connections; those in use are let go when their block ends. Safe to call twice."""
        with self._guard:
            idle, self._idle = self._idle, []
            first, self._closed = not self._closed, True
        for connection in idle:
            connection.close()
        if first:
            if not self._queue.mine() and self._queue.acquire(self._database.options.wait):
                self._gate.close()  # nobody is at it any more
                self._queue.release()
            self._finally()

    def on_close(self, last: Callable[[], object]) -> None:
        """What to do once everything is let go."""
        self._finally = last

    def _introduce(self) -> Identity:
        with self._connection() as connection:
            found = connection.one("store")
        if found is None:
            raise StoreUnavailable(f"{self._database.path}: the file does not say which store it is")
        return Identity(*found)

    def _start(self) -> None:
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._idle = []
        self._queue = Queue()
        self._gate: Gate = self._database.gate()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """A connection to work with; what it leaves undone is undone."""
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _take(self) -> Connection:
        if os.getpid() != self._process:
            self._leave_to_the_parent()
        with self._guard:
            if self._closed:
                raise StoreUnavailable(f"{self._database.path}: the store is closed")
            idle = self._idle.pop() if self._idle else None
        connection = self._database.connect() if idle is None else idle
        connection.wait_for(self._database.options.wait)
        return connection

    def _give_back(self, connection: Connection) -> None:
        if not connection.is_ours():
            _LEFT_TO_THE_PARENT.append(connection)
            return
        try:
            connection.end()
        except BaseException:
            connection.close()
            raise
        with self._guard:
            if not self._closed and len(self._idle) < _KEPT:
                self._idle.append(connection)
                return
        connection.close()

    def _leave_to_the_parent(self) -> None:
        """In a forked child: SQLite's connections and the gate belong to the parent, so start with fresh ones."""
        _LEFT_TO_THE_PARENT.append((self._idle, self._gate))
        if not self._closed:
            self._start()

    @contextmanager
    def _turn(self) -> Iterator[_Turn]:
        """Be the next to write."""
        if os.getpid() != self._process:
            self._leave_to_the_parent()
        if self._queue.mine():
            raise StoreBusy(f"{self._database.path}: this thread is writing already; finish that block first")
        wait = self._database.options.wait
        deadline = time.monotonic() + wait
        if not self._queue.acquire(wait):
            raise self._too_long()
        queue = self._queue
        try:
            with self._at_the_gate(deadline) as leave:
                yield _Turn(deadline, leave)
        finally:
            queue.release()

    @contextmanager
    def _at_the_gate(self, deadline: float) -> Iterator[Callable[[], object]]:
        """Hold the gate until the block ends or what it is given is called."""
        if self._closed:
            raise StoreUnavailable(f"{self._database.path}: the store is closed")
        if not self._gate.acquire(deadline):
            raise self._too_long()
        with ExitStack() as stack:
            stack.callback(self._gate.release)
            yield stack.close

    @contextmanager
    def _change(self) -> Iterator[Connection]:
        """A write transaction: kept when the block ends, undone when it raises."""
        with self._turn() as turn, self._connection() as connection:
            connection.wait_until(turn.deadline)
            connection.begin("IMMEDIATE")
            turn.leave_gate()
            yield connection
            connection.commit()

    def _too_long(self) -> StoreBusy:
        seconds = self._database.options.wait
        return StoreBusy(f"{self._database.path}: others have been writing for {seconds:g} seconds; try again")
