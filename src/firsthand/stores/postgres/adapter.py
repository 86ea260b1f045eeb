"""A memory on a PostgreSQL server: many processes on many machines at once.

`open_postgres` is the only way in. Connections come from `pool.py`, what a unit of work can do is in `stores/tables`.
Whose turn it is to write is decided by the owner's head row: it is locked first, so that writers of one owner follow
each other, see what the last one did, and never fail to serialize. Readers wait for nobody.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime

from firsthand.errors import InvalidInput, StoreBusy, StoreError, StoreUnavailable
from firsthand.model import Owner
from firsthand.ports import Reading, Remains, Scan, Spending, Store, Writing
from firsthand.stores.tables.checking import faults
from firsthand.stores.tables.copying import change_facts, put_rows, rows_left_behind
from firsthand.stores.tables.queries import Fields, Value
from firsthand.stores.tables.schema import schema_of
from firsthand.stores.tables.work import Identity, TableReading, TableWriting

from .address import address_of
from .checking import indexes
from .connection import Connection
from .failures import is_lost
from .migrate import FACTS_LOCK, check_schema, check_server
from .pool import Pool

_AT_ONCE = 0.2  # seconds that a read gives the primary to answer before it makes do with a standby
_AWAY = 1.0  # seconds that it is then left alone by reads
_OWN_FACTS = ("store", "schema", "scrub_due")
_UNREACHED = "the server's files, log and dead rows, which only its administrator can read"


def open_postgres(location: str) -> Store:
    """The store in a database whose tables are there.

    Raises InvalidInput (not an address), StoreUnavailable (no server, not let in, no tables or old ones), StoreBusy (no
    connection left), SchemaTooNew.
    """
    pool = Pool(address_of(location))
    connection = pool.open()
    try:
        check_server(connection)
        version = check_schema(connection, schema_of(__package__))
        found = connection.one("store")
    finally:
        connection.close()
    if found is None:
        raise StoreUnavailable(f"{connection.shown}: the database does not say which store it is")
    return PostgresStore(pool, Identity(*found), version)


class PostgresStore:
    """`ports.Store` on a server. Safe to share among threads, and across a fork."""

    id: str

    def __init__(self, pool: Pool, identity: Identity, version: int) -> None:
        self._pool = pool
        self._near = Pool(pool.address.nearest()) if pool.address.reads == "standby" else None
        self._away_until = 0.0  # of `time.monotonic`: the primary did not answer a moment ago
        self._identity = identity
        self._version = version
        self._writing: dict[tuple[int, Owner], Connection] = {}  # by thread
        self.id = identity.id

    @contextmanager
    def reading(self, owner: Owner) -> Iterator[Reading]:
        """A consistent snapshot; waits for no writer, and no writer waits for it.

        With `reads=standby` a standby gives it where it has all that the primary has of this owner, and where the
        primary does not answer.
        """
        with ExitStack() as last, ExitStack() as first:
            if self._near is None:
                yield self._snapshot(last, self._pool, owner)
                return
            newest = self._of_primary(first, owner)
            try:
                near = self._snapshot(last, self._near, owner)
            except (StoreUnavailable, StoreBusy):
                if newest is None:
                    raise
                near = newest
            if newest is None or near.head().version >= newest.head().version:
                if near is not newest:
                    first.close()
                yield near
            else:
                last.close()
                yield newest

    def _of_primary(self, stack: ExitStack, owner: Owner) -> TableReading | None:
        """What the primary has, or None where it is away; asked again after a second, not each time."""
        if time.monotonic() < self._away_until:
            return None
        try:
            return self._snapshot(stack, self._pool, owner, wait=_AT_ONCE)
        except (StoreUnavailable, StoreBusy):
            stack.close()
            self._away_until = time.monotonic() + _AWAY
            return None

    def _snapshot(self, stack: ExitStack, pool: Pool, owner: Owner, wait: float | None = None) -> TableReading:
        connection = stack.enter_context(pool.connection(wait))
        patience = pool.address.wait if wait is None else wait
        found = self._begin(connection, "begin_reading", *_names(owner), within=(pool, patience))
        return TableReading(connection, owner, self._identity, _first(found))

    @contextmanager
    def writing(self, owner: Owner, now: datetime) -> Iterator[Writing]:
        """One atomic change of one owner's rows: kept when the block ends, undone when it raises."""
        mine = (threading.get_ident(), owner)
        if mine in self._writing:
            raise StoreBusy(f"{self._shown}: this thread is writing for this owner already; finish that block first")
        with self._pool.connection() as connection:
            head = self._lock(connection, owner)
            self._writing[mine] = connection
            try:
                work = TableWriting(connection, owner, self._identity, head, now)
                yield work
                if work.finish():
                    connection.commit()
                connection.check()
            finally:
                del self._writing[mine]

    def owners(self) -> list[Owner]:
        """Every owner that ever wrote and was not erased."""
        return [Owner(tenant, user) for tenant, user in self._listed("owners")]

    def due(self, now: int) -> list[Owner]:
        """Owners with a session that a model is to read on by now (microseconds) and that nobody is at."""
        return [Owner(tenant, user) for tenant, user in self._listed("due_owners", now)]

    def spent(self, day: str) -> Spending:
        """What all owners together spent on models on a day."""
        ((calls, tokens),) = self._listed("spent", day)
        return Spending(int(calls), int(tokens))

    def facts(self) -> dict[str, str]:
        """What the store knows of itself; `store`, `schema` and `scrub_due` are its own.

        Asked while this thread is writing, they are those that hold until it is done.
        """
        connection = self._my_writing()
        found = self._listed("facts") if connection is None else connection.all("facts")
        ((due,),) = self._listed("scrub_due") if connection is None else connection.all("scrub_due")
        return {"store": self.id, "schema": str(self._version), "scrub_due": str(due), **dict(found)}

    def set_facts(self, facts: Mapping[str, str | None]) -> None:
        """Change some of them, atomically, while nobody is writing, but for the store's own; None forgets one."""
        for name in _OWN_FACTS:
            if name in facts:
                raise InvalidInput(f"{name!r} is not for setting: the store itself says it")
        if self._my_writing() is not None:
            raise StoreBusy(f"{self._shown}: this thread is writing; finish that block first")
        with self._pool.connection() as connection:
            self._begin(connection, "begin_setting", self._patience, FACTS_LOCK)
            change_facts(connection, facts)
            connection.commit()

    def remains(self) -> Remains:
        """What erasures left behind, of all owners."""
        with self._pool.connection() as connection:
            self._begin(connection, "begin_listing")
            return Remains(self._identity.secret, tuple(rows_left_behind(connection)))

    def take_over(self, remains: Remains) -> None:
        """Have these remains of another store and no others, atomically, while nobody is writing."""
        with self._pool.connection() as connection:
            self._begin(connection, "begin_taking_over", self._patience, FACTS_LOCK)
            for tenant in sorted({fields[0] for _, fields in rows_left_behind(connection)}):
                connection.script("name_tenant", tenant)
                connection.all("drop_erased_heads", tenant)
                connection.all("drop_tombstones", tenant)
            for tenant in sorted({fields[0] for _, fields in remains.rows}):
                connection.script("name_tenant", tenant)
                put_rows(connection, (row for row in remains.rows if row[1][0] == tenant))
            connection.all("set_secret", remains.secret)
            connection.commit()
        self._identity = Identity(self.id, remains.secret)

    def scrub(self, *, locking: bool = False) -> bool:
        """With `locking`, have the tables written anew without what was removed, where this role owns them.

        False where it is not done: rows are gone at once, their bytes when the owner does this. Each table is locked
        while it is written. The server's log, its archive and its copies are its administrator's.
        """
        if self._listed("scrub_due") == [(0,)]:
            return True
        if not locking:
            return False
        with self._pool.connection() as connection:
            owned = [str(name) for (name,) in connection.all("tables_owned")]
            if not owned:
                return False
            connection.all("set_scrub_due", 0)  # before: what is erased meanwhile makes it due again
            try:
                for name in owned:
                    connection.rewrite(name)
            except BaseException:
                with suppress(StoreError):
                    connection.all("set_scrub_due", 1)
                raise
        return True

    def scan(self, needles: Sequence[bytes]) -> Scan:
        """Nothing: a server shows rows, and those are gone; what its files hold is not for its clients to see."""
        del needles
        return Scan((), (), unreached=(_UNREACHED,))

    def check(self) -> list[str]:
        """What is wrong with the tables, one line each; empty when nothing is."""
        with self._pool.connection() as connection:
            self._begin(connection, "begin_listing")
            found = list(indexes(connection))
        for owner in self.owners():
            with self._pool.connection() as connection:
                self._begin(connection, "begin_reading", *_names(owner))
                found.extend(faults(connection))
        return found

    def close(self) -> None:
        """Let go of connections; those in use are let go when their block ends. Safe to call twice."""
        self._pool.close()
        if self._near is not None:
            self._near.close()

    @property
    def _shown(self) -> str:
        return self._pool.address.shown

    @property
    def _patience(self) -> str:
        return f"{max(1, round(self._pool.address.wait * 1000))}ms"

    def _my_writing(self) -> Connection | None:
        me = threading.get_ident()
        return next((connection for (thread, _), connection in self._writing.items() if thread == me), None)

    def _listed(self, name: str, *values: Value) -> list[Fields]:
        """The rows of a query about the store as a whole."""
        with self._pool.connection() as connection:
            self._begin(connection, "begin_listing")
            return connection.all(name, *values)

    def _lock(self, connection: Connection, owner: Owner) -> Fields:
        """The owner's head row, locked; one of version 0 for an owner that has none."""
        found = self._begin(connection, "begin_writing", *_names(owner), self._patience, FACTS_LOCK)
        while not found:  # erased between the two statements, then: once more
            found = connection.script("lock_new_head", *_names(owner))
        return found[0]

    def _begin(
        self, connection: Connection, name: str, *values: Value, within: tuple[Pool, float] | None = None
    ) -> list[Fields]:
        """Start a transaction; on another connection where this one broke while nobody used it.

        `within` is the pool that it is of, and for how many seconds to try, where these are not the usual ones.
        """
        pool, patience = within or (self._pool, self._pool.address.wait)
        deadline = time.monotonic() + patience
        while True:
            try:
                return connection.script(name, *values)
            except (StoreUnavailable, StoreBusy) as error:
                if not is_lost(error.__cause__) or time.monotonic() >= deadline:
                    raise
            pool.fresh(connection, deadline)


def _names(owner: Owner) -> tuple[str, str]:
    return owner.tenant, owner.user


def _first(found: list[Fields]) -> Fields | None:
    return found[0] if found else None
