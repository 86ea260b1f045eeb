"""One unit of work on one owner's rows: a snapshot to read, or a change to make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from firsthand.model import Head, Owner, Position, micros
from firsthand.ports import Beliefs, Cursors, Ledgerside, Messages, Observations, Removal, Search, StoredRow

from .beliefs import BeliefTables
from .beside import BesideTables
from .copying import put_rows, rows_of
from .cursors import CursorTables
from .erasing import Eraser
from .head import OwnerHead
from .messages import MessageTable
from .observations import ObservationTable
from .queries import Fields, Queries
from .search import SearchTables


@dataclass(frozen=True, slots=True)
class Identity:
    """Which store this is, and the secret that keys what its erasures leave behind."""

    id: str
    secret: bytes


class TableReading:
    """`ports.Reading`: one owner's rows, as of the moment the block began. `head` is the owner's head row as found."""

    owner: Owner
    messages: Messages
    observations: Observations
    beliefs: Beliefs
    search: Search
    beside: Ledgerside
    cursors: Cursors

    def __init__(self, queries: Queries, owner: Owner, identity: Identity, head: Fields | None) -> None:
        self.owner = owner
        self._queries = queries
        self._head = OwnerHead(queries, owner, identity.secret, head)
        messages = MessageTable(queries, owner, self._head)
        self._added = messages.added
        self.messages = messages
        self.observations = ObservationTable(queries, owner, self._head)
        self.beliefs = BeliefTables(queries, owner, self._head)
        self.search = SearchTables(queries, owner, self._added)
        self.beside = BesideTables(queries, owner)
        self.cursors = CursorTables(queries, owner)

    def head(self) -> Head:
        """The owner's head row as it was when the block began; all zeros for an owner that never wrote."""
        return self._head.before

    def tombstoned(self, digests: Sequence[str]) -> set[str]:
        """Those of the keyed digests that an erasure left behind."""
        wanted = ((self.owner.tenant, self._head.alias, each) for each in digests)
        return {digest for (digest,) in self._queries.many("tombstone", wanted)}

    def stored(self) -> Iterator[StoredRow]:
        """Every row of the owner as it is stored, the head row included; none for an owner who has none."""
        return rows_of(self._queries, self.owner) if self._head.before.version else iter(())

    def tombstones(self) -> dict[str, int]:
        """Every keyed digest that erasures of this owner left behind, and up to when what it marks was recorded."""
        return dict(self._queries.all("tombstones", self.owner.tenant, self._head.alias))


class TableWriting(TableReading):
    """`ports.Writing`: one atomic change of one owner's rows."""

    def __init__(self, queries: Queries, owner: Owner, identity: Identity, head: Fields | None, now: datetime) -> None:
        super().__init__(queries, owner, identity, head)
        self._store = identity.id
        self._now = micros(now)
        self._changes = queries.changes()
        self._erased_at: int | None = None
        self._taken_over = False

    def next_position(self) -> Position:
        """The next place in the ledger: recorded_at is now, or the owner's last recorded_at if that is later."""
        return Position(*self._head.next_place(self._now), self._store)

    def advance_to(self, recorded_at: int) -> None:
        """Let later positions be no earlier than this (microseconds): rows came in with positions of their own."""
        self._head.advance_to(recorded_at)

    def erase(self, removal: Removal, tombstones: Sequence[str]) -> None:
        """Remove rows with all that hangs on them, and bump the epoch.

        An observation that stays loses the evidence and quotes that it had in an erased message. The derived state of
        every slot that an erased observation was placed in goes too: fold those slots again and save them. Tombstones
        are stamped with the time of this write, and every later place is later. With
        `everything`, only a keyed digest of the owner, the head's numbers and the tombstones are left.
        """
        eraser = Eraser(self._queries, self.owner)
        if removal.everything:
            eraser.remove_everything()
        else:
            eraser.remove(removal)
        self._added.clear()
        self.bury(dict.fromkeys(tombstones, self._head.close_before(self._now)))
        self._queries.all("set_scrub_due", 1)
        self.bump_epoch()
        self._erased_at = self._queries.changes() if removal.everything else None

    def bury(self, tombstones: Mapping[str, int]) -> None:
        """Take in marks of erasures, each with its time; the later time of a mark stands."""
        leave = ((self.owner.tenant, self._head.alias, *each) for each in tombstones.items())
        self._queries.many("add_tombstone", leave)

    def lift(self, tombstones: Sequence[str]) -> None:
        """Take back marks of erased ids, so that they may come in again."""
        self._queries.many("lift_tombstone", ((self.owner.tenant, self._head.alias, each) for each in tombstones))

    def bump_epoch(self) -> None:
        """Make every cache of this owner start anew."""
        self._head.bump()

    def take_over(self, rows: Iterable[StoredRow]) -> None:
        """Be these rows of another store and nothing else, the head row included. Do nothing else in such a write."""
        if self._head.before.version:
            self._queries.all("set_scrub_due", 1)
        Eraser(self._queries, self.owner).remove_everything()
        put_rows(self._queries, rows)
        self._taken_over = True

    def finish(self) -> bool:
        """Write the head row, if anything changed at all. Returns whether it did."""
        if self._taken_over:
            return True
        changes = self._queries.changes()
        if changes == self._changes and not (self._head.bumped or self._head.advanced):
            return False
        if self._head.bumped:
            self._queries.all("drop_gone_cells", self.owner.tenant, self.owner.user)
        if changes == self._erased_at:
            self._head.save_erased()
        else:
            self._head.save()
        return True
