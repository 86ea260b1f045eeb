"""What one owner's memory holds at this moment, kept warm between reads.

A snapshot is built from the store's derived rows and brought up to date from the owner's head row: only what is newer
is loaded, and an erasure (another epoch) drops it whole. Bounded by their bytes: those read longest ago go first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from firsthand.beliefs.view import View, view
from firsthand.folding import search_name, with_evidence
from firsthand.model import EPOCH, Belief, Head, Observation, Owner
from firsthand.policy import Policy
from firsthand.ports import Cell, Placement, Reading
from firsthand.recall.index import OwnerIndex
from firsthand.recall.standing import Held

MOST_BYTES = 512 * 1024 * 1024  # of all owners kept together; the one that was read last stays, however large
_PER_OWNER = 20_000  # bytes that an owner costs in Python before there is anything of theirs


@dataclass(frozen=True, slots=True)
class Seen:
    """What a read works on: it does not change under the reader."""

    head: Head
    view: View
    held: Held
    index: OwnerIndex
    retracted: Mapping[str, Observation]  # message id -> the act that took it back

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """Beliefs in every state, with their evidence."""
        return self.view.beliefs


class Snapshots:
    """The most recently read owners, brought up to date on each read."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Owner, _Kept] = OrderedDict()
        self._bytes: dict[Owner, int] = {}
        self._total = 0
        self._lock = threading.Lock()

    def see(self, reading: Reading, policy: Policy, valid_at: datetime) -> Seen:
        """The owner as of the reading, or as of a later moment when another thread has read meanwhile."""
        head = reading.head()
        kept = self._of(reading.owner)
        with kept.lock:
            if not kept.continues(head, policy):
                kept.start_anew(policy)
            if kept.head.version < head.version:
                kept.bring_up(reading, head, policy)
            seen = kept.seen(policy, valid_at)
        self._weigh(reading.owner, kept)
        return seen

    def forget(self, owner: Owner) -> None:
        """Drop what is kept of an owner."""
        with self._lock:
            self._drop(owner)

    @property
    def nbytes(self) -> int:
        """Roughly the bytes held, all owners together."""
        with self._lock:
            return self._total

    def _of(self, owner: Owner) -> _Kept:
        with self._lock:
            kept = self._kept.setdefault(owner, _Kept())
            self._kept.move_to_end(owner)
            return kept

    def _weigh(self, owner: Owner, kept: _Kept) -> None:
        """Count what an owner costs now, and let go of those read longest ago while all cost too much."""
        weight = kept.weight
        with self._lock:
            if self._kept.get(owner) is not kept:  # let go meanwhile
                return
            self._total += weight - self._bytes.get(owner, 0)
            self._bytes[owner] = weight
            while self._total > self._most_bytes and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))

    def _drop(self, owner: Owner) -> None:
        self._kept.pop(owner, None)
        self._total -= self._bytes.pop(owner, 0)


NOTHING = Head(version=-1)  # older than any head
Claim = tuple[str, str, str]  # slot, cell, claim


@dataclass(slots=True)
class _Kept:
    """One owner's rows in memory. Changed only under its lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    head: Head = field(default_factory=lambda: NOTHING)
    policy: str = ""
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    cited: dict[Claim, dict[str, None]] = field(default_factory=dict)  # message ids, in ledger order
    placed: dict[str, tuple[Claim, tuple[str, ...]]] = field(default_factory=dict)
    retracted: Mapping[str, Observation] = field(default_factory=dict)
    index: OwnerIndex = field(default_factory=OwnerIndex)
    names: dict[tuple[str, str], set[str]] = field(default_factory=dict)  # search rows of each cell's beliefs
    last_seen: Seen | None = None
    viewed_at: datetime | None = None
    weight: int = _PER_OWNER  # bytes, roughly

    def continues(self, head: Head, policy: Policy) -> bool:
        return self.head.epoch == head.epoch and self.policy == policy.digest

    def start_anew(self, policy: Policy) -> None:
        self.head, self.policy, self.last_seen = NOTHING, policy.digest, None
        self.cells, self.cited, self.placed, self.names, self.index = {}, {}, {}, {}, OwnerIndex()

    def bring_up(self, reading: Reading, head: Head, policy: Policy) -> None:
        """Load what is newer than what is here."""
        since = self.head.version
        changed = reading.beliefs.cells(since_version=since)
        for cell in changed:
            self.cells[(cell.slot, cell.cell)] = cell
            if not cell.state:
                del self.cells[(cell.slot, cell.cell)]
        self._place(reading.beliefs.cited(since_version=since))
        self.index = self.index.extended(reading.search.messages(after=self.index.position))
        self._index(reading, changed, policy)
        self.retracted = reading.messages.retracted()
        self.head, self.last_seen, self.weight = head, None, _PER_OWNER + self.index.nbytes

    def _index(self, reading: Reading, changed: Sequence[Cell], policy: Policy) -> None:
        """Take in the search rows of the beliefs in cells that changed."""
        alive = view([cell for cell in changed if cell.state], policy, EPOCH)
        rows: dict[tuple[str, str], set[str]] = {(cell.slot, cell.cell): set() for cell in changed}
        for belief in alive.beliefs:
            slot, cell, _ = alive.claims[belief.id][0]
            rows[(slot, cell)].add(search_name(alive, belief))
        gone = {name for key in rows for name in self.names.get(key, ())}
        self.names.update(rows)
        wanted = sorted(name for names in rows.values() for name in names)
        self.index = self.index.with_beliefs(reading.search.beliefs(ids=wanted), gone)

    def _place(self, cited: Iterable[tuple[Placement, str]]) -> None:
        """Take in citations; an observation that moved to another claim leaves its old one."""
        found: dict[str, tuple[Claim, list[str]]] = {}
        for placement, message_id in cited:
            claim = (placement.slot, placement.cell, placement.claim)
            found.setdefault(placement.observation_id, (claim, []))[1].append(message_id)
        for observation_id, (claim, _) in found.items():
            old = self.placed.get(observation_id)
            if old is not None and old[0] != claim:
                for each in old[1]:
                    self.cited.get(old[0], {}).pop(each, None)
        for observation_id, (claim, ids) in found.items():
            self.cited.setdefault(claim, {}).update(dict.fromkeys(ids))
            self.placed[observation_id] = (claim, tuple(ids))

    def seen(self, policy: Policy, valid_at: datetime) -> Seen:
        """What a read at a time works on; the last answer serves until a state would differ."""
        last = self.last_seen
        if last is None or self.viewed_at is None or not _serves(last.view, self.viewed_at, valid_at):
            full = with_evidence(view(list(self.cells.values()), policy, valid_at), self.cited)
            self.last_seen = last = Seen(self.head, full, held_of(full, policy), self.index, self.retracted)
            self.viewed_at = valid_at
        return last


def held_of(seen: View, policy: Policy) -> Held:
    """The beliefs of a view as recall takes them."""
    attributes = {belief.attribute for belief in seen.beliefs if belief.attribute is not None}
    single = frozenset(each for each in attributes if policy.attribute(each).cardinality == "one")
    return Held(seen.beliefs, {belief.id: search_name(seen, belief) for belief in seen.beliefs}, single)


def _serves(seen: View, viewed_at: datetime, valid_at: datetime) -> bool:
    return viewed_at <= valid_at and (seen.next_change is None or valid_at < seen.next_change)
