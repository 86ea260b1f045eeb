"""What firsthand needs from the outside, as small protocols owned by their callers.

The store's tables are five small ports that share one unit of work: a `Reading` is a consistent snapshot of one
owner's rows, a `Writing` is one atomic change of them. Every method works on that owner alone; there is no way to
name another one. The clock, ids, embedders and tokenizers come in from `wiring.py` or from the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from firsthand.model import Dropped, Head, Message, Observation, Owner, Position, Role, Session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Clock(Protocol):
    """Tells the time, aware."""

    def __call__(self) -> datetime:
        """Now."""


class Ids(Protocol):
    """Gives out identifiers that nobody else gives out."""

    def __call__(self) -> str:
        """A fresh id: lower-case letters and digits."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    name: str  # identity, stored beside the vectors: another name is another space
    dimensions: int
    inline: bool  # quick enough to run inside a write; otherwise vectors are filled in later

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions). Raises ProviderFailed."""


class Tokenizer(Protocol):
    """Counts what a language model would be charged for."""

    def count(self, text: str) -> int:
        """Tokens in the text."""


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """Which messages to walk, in ledger order unless `ids` are named."""

    ids: Sequence[str] | None = None
    session: str | None = None  # only this session
    agent: str | None = None
    origin: str | None = None
    since: datetime | None = None  # said at or after
    until: datetime | None = None  # said before
    after: Position | None = None  # recorded after this position: the cursor for paging
    limit: int | None = None
    newest_first: bool = False


class Messages(Protocol):
    """The owner's verbatim messages."""

    def add(self, messages: Sequence[Message]) -> None:
        """Append them; their positions are already set. An id that exists raises Conflict."""

    def walk(self, query: MessageQuery) -> Iterator[Message]:
        """The messages asked for."""

    def sessions(self) -> list[Session]:
        """Every session, by its first message."""

    def retracted(self, ids: Sequence[str] | None = None) -> dict[str, Observation]:
        """The retract act on each of these messages (all of them when None) that has one: the first by position."""


@dataclass(frozen=True, slots=True)
class Row:
    """An observation as the fold reads it: with what the messages it cites contribute."""

    observation: Observation
    evidence_position: Position | None = None  # of the first message cited
    witnesses: tuple[tuple[str, str], ...] = ()  # (session, message id) of each user message cited; '' is no session
    voided: int = 0  # highest rank level of an act that took back every message it cites; 0 is none


class Observations(Protocol):
    """The owner's ledger of claims and acts."""

    def add(self, observations: Sequence[Observation]) -> None:
        """Append them, with their evidence; their positions are already set."""

    def get(self, ids: Sequence[str]) -> dict[str, Observation]:
        """Those of the ids that exist."""

    def walk(self, *, after: Position | None = None, known_at: int | None = None) -> Iterator[Row]:
        """Every row, in ledger order, recorded after a position and no later than known_at (microseconds)."""

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """The rows of these ids, in ledger order."""

    def of_slots(self, slots: Sequence[str], *, known_at: int | None = None) -> list[Row]:
        """Rows placed in these slots and recorded no later than known_at (microseconds), in ledger order."""

    def citing(self, message_ids: Sequence[str]) -> list[Observation]:
        """Observations with evidence in these messages."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The folded state of one part of a slot: the whole slot where it holds one value, one value where many.

    `state` is a JSON text whose meaning belongs to `beliefs/`. An empty `state` means that the cell is gone.
    """

    slot: str
    cell: str
    subject: str
    attribute: str | None
    state: str
    version: int = 0  # the owner version that wrote it; set by the store


@dataclass(frozen=True, slots=True)
class Placement:
    """Which slot, cell and claim an observation went to. Derived: the fold says so."""

    observation_id: str
    slot: str
    cell: str
    claim: str  # '' when it changed no claim


class Beliefs(Protocol):
    """The owner's derived state. Everything here can be dropped and rebuilt."""

    def cells(
        self,
        *,
        slots: Sequence[str] | None = None,
        keys: Sequence[tuple[str, str]] | None = None,
        since_version: int = -1,
    ) -> list[Cell]:
        """Cells of these slots, or these (slot, cell) keys, or all, written after a version; by (slot, cell)."""

    def save(self, cells: Sequence[Cell], placements: Sequence[Placement]) -> None:
        """Replace the cells named and the placements of the observations named."""

    def placements(
        self, *, observation_ids: Sequence[str] | None = None, claims: Sequence[tuple[str, str]] | None = None
    ) -> list[tuple[Placement, Observation]]:
        """Placements with their observations, by ledger position: of these observations, or of these (slot, claim)."""

    def cited(self, *, since_version: int = -1) -> list[tuple[Placement, str]]:
        """(placement, message id) for every message cited by an observation placed after a version, in ledger order.

        An observation that cites nothing gives no entry.
        """

    def clear(self) -> None:
        """Drop all derived state of the owner, search rows of beliefs included."""


@dataclass(frozen=True, slots=True)
class SearchRow:
    """One searchable thing: its terms, and its vector where it has one.

    `terms` are 64-bit term hashes (`text.term_hashes`) packed little-endian, in text order, repeats kept; `vector` is
    float16, packed little-endian, unit length.
    """

    type: str  # "message" or "belief"
    id: str  # message id, or "slot\\x1fcell\\x1fclaim" of a belief
    terms: bytes
    vector: bytes | None


class MessageFacts(NamedTuple):
    """What recall keeps in memory of a message, beside its search row.

    A tuple, because a hundred thousand of them are read at a time and a dataclass takes four times as long to make.
    """

    id: str
    position: Position
    session: str | None
    agent: str | None
    role: Role
    name: str | None
    at: int  # microseconds
    terms: bytes
    vector: bytes | None
    recalled: bool


class Search(Protocol):
    """The owner's search rows."""

    def put(self, rows: Sequence[SearchRow]) -> None:
        """Add or replace rows."""

    def drop(self, rows: Iterable[tuple[str, str]]) -> None:
        """Remove (type, id) rows that exist."""

    def messages(self, after: Position | None = None) -> Iterator[MessageFacts]:
        """All messages' search rows recorded after a position, in ledger order."""

    def beliefs(self, ids: Sequence[str] | None = None) -> Iterator[SearchRow]:
        """Search rows of beliefs."""

    def forget_vectors(self) -> None:
        """Take every vector away, so that all rows are due again."""

    def due(self, limit: int) -> list[tuple[str, str, str]]:
        """Rows without a vector: (type, id, text); text is '' for beliefs, whose caller knows it."""


class Ledgerside(Protocol):
    """Small things kept beside the ledger: repeats, drops, use."""

    def remembered_receipt(self, key: str) -> tuple[str, str] | None:
        """(body digest, receipt as JSON) stored under an idempotency key."""

    def remember_receipt(self, key: str, digest: str, receipt: str) -> None:
        """Store the receipt of a write under its idempotency key."""

    def add_dropped(self, dropped: Sequence[Dropped], position: Position) -> None:
        """Record what was not let in: reason, rule and message, never the text."""

    def dropped(self, message_ids: Sequence[str] | None = None) -> list[tuple[str | None, str, str | None]]:
        """(message id, reason, rule) of what was not let in, oldest first."""

    def add_use(self, ids: Sequence[str], at: int) -> None:
        """Count one use of each id."""

    def merge_uses(self, uses: Mapping[str, tuple[int, int]]) -> None:
        """Take in uses counted elsewhere: the higher count and the later time stand."""

    def uses(self) -> dict[str, tuple[int, int]]:
        """(count, last use in microseconds) of each id that was ever used."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a model has read a session, when it is to read on, and who is at it. Holds no words."""

    session: str  # '' for messages of no session
    seen: Position | None = None  # the last message read; None: none yet
    due_at: int | None = None  # microseconds; from then on somebody is to read on; None: nobody has to
    leased_until: int = 0  # microseconds; until then `holder` is at it
    holder: str = ""
    failures: int = 0  # in a row


class Spending(NamedTuple):
    """What models were asked for."""

    calls: int = 0
    tokens: int = 0


class Cursors(Protocol):
    """What models have read of the owner's sessions, and what that cost."""

    def get(self, session: str) -> Cursor:
        """The cursor of a session; one that has read nothing where there is none."""

    def save(self, cursor: Cursor) -> None:
        """Add or replace the cursor of its session."""

    def due(self, now: int) -> list[Cursor]:
        """Those that are due by now (microseconds) and that nobody is at, the longest due first."""

    def spend(self, day: str, spending: Spending) -> None:
        """Add to what was spent on a day (`2026-06-01`)."""


StoredRow = tuple[str, tuple[Any, ...]]  # a table and the values of a row in it, in the order that every store has them


@dataclass(frozen=True, slots=True)
class Remains:
    """What the erasures of whole owners, and of ids, left in a store: digests, and the secret that keys them."""

    secret: bytes
    rows: Sequence[StoredRow]


@dataclass(frozen=True, slots=True)
class Removal:
    """Rows to erase, by id."""

    messages: Sequence[str] = ()
    observations: Sequence[str] = ()
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """What a search for bytes in all that a store keeps has found. Needles are named by their place in the list given.

    `living` are needles that rows hold which are still there: of these, bytes prove nothing.
    """

    places: tuple[tuple[str, int], ...]  # what was looked at (a file, a table), and how many bytes of it
    found: tuple[tuple[str, int], ...]  # (place, needle)
    living: frozenset[int] = frozenset()
    unreached: tuple[str, ...] = ()  # what could not be looked at, and who can


class Reading(Protocol):
    """One owner's rows, as of one moment."""

    owner: Owner
    messages: Messages
    observations: Observations
    beliefs: Beliefs
    search: Search
    beside: Ledgerside
    cursors: Cursors

    def head(self) -> Head:
        """The owner's head row; all zeros for an owner that never wrote."""

    def tombstoned(self, digests: Sequence[str]) -> set[str]:
        """Those of the keyed digests that an erasure left behind."""

    def stored(self) -> Iterator[StoredRow]:
        """Every row of the owner as it is stored, the head row included; none for an owner who has none."""

    def tombstones(self) -> dict[str, int]:
        """Every keyed digest that erasures of this owner left behind, and up to when what it marks was recorded."""


class Writing(Reading, Protocol):
    """One atomic change. Commits when the block ends, undone when it raises."""

    def next_position(self) -> Position:
        """The next place in the ledger: recorded_at is now, or the owner's last recorded_at if that is later."""

    def advance_to(self, recorded_at: int) -> None:
        """Let later positions be no earlier than this (microseconds): rows came in with positions of their own."""

    def erase(self, removal: Removal, tombstones: Sequence[str]) -> None:
        """Remove rows with all that hangs on them (evidence, placements, search rows, use, keys); bump the epoch.

        The tombstones are stamped with the time of this write, and every later position is later than that.
        """

    def bury(self, tombstones: Mapping[str, int]) -> None:
        """Take in marks of erasures elsewhere, each with its time; the later time of a mark stands."""

    def lift(self, tombstones: Sequence[str]) -> None:
        """Take back marks of erased ids, so that they may come in again."""

    def bump_epoch(self) -> None:
        """Make every cache of this owner start anew."""

    def take_over(self, rows: Iterable[StoredRow]) -> None:
        """Be these rows of another store and nothing else, the head row included. Do nothing else in such a write."""


class Store(Protocol):
    """A place where memories are kept: opened by `wiring.py`, used by `memory.py`."""

    id: str  # the store's own id, part of every position

    def reading(self, owner: Owner) -> AbstractContextManager[Reading]:
        """A consistent snapshot; takes no write lock."""

    def writing(self, owner: Owner, now: datetime) -> AbstractContextManager[Writing]:
        """One atomic change of one owner's rows, with the owner head locked."""

    def owners(self) -> list[Owner]:
        """Every owner that ever wrote and was not erased."""

    def due(self, now: int) -> list[Owner]:
        """Owners with a cursor that is due by now (microseconds) and that nobody is at."""

    def spent(self, day: str) -> Spending:
        """What all owners together spent on models on a day."""

    def facts(self) -> dict[str, str]:
        """What the store knows of itself: policy text and digest, embedder, schema version.

        `scrub_due` is "1" from an erasure until `scrub` has taken its bytes.
        """

    def set_facts(self, facts: Mapping[str, str | None]) -> None:
        """Change some of them, atomically; None forgets one."""

    def remains(self) -> Remains:
        """What erasures left behind, of all owners."""

    def take_over(self, remains: Remains) -> None:
        """Have these remains of another store and no others, atomically."""

    def scrub(self, *, locking: bool = False) -> bool:
        """Make sure that removed bytes are gone: free pages overwritten, log emptied. May be slow.

        False where they stay until somebody with more rights or more time takes them; with `locking`, everybody may be
        made to wait while they are taken. Raises StoreBusy where another reader is in the way.
        """

    def scan(self, needles: Sequence[bytes]) -> Scan:
        """Look for bytes in everything that the store keeps, as raw as it can be reached: files, log, free pages.

        Where the store's files are out of reach, `unreached` says so, and no place counts as searched.
        """

    def check(self) -> list[str]:
        """What is wrong with the store's files or tables, one line each; empty when nothing is."""

    def close(self) -> None:
        """Let go of files and connections. Safe to call twice."""


class Passage(NamedTuple):
    """A place in a message."""

    message_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a writer proposes: an observation without identity or place."""

    act: str
    subject: str
    attribute: str | None
    value: str | None
    kind: str
    source: str
    message_id: str
    start: int
    end: int
    writer: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    replaces: str | None = None  # for `correct` and `retract`: the old value, where the words name it
    retracts: str | None = None  # for `retract`: id of the message taken back
    quote: str | None = None  # words that were given as a quote and are not in the message; then the span is empty
    metadata: Mapping[str, Any] | None = None
    answers: Passage | None = None  # the question that was answered with a bare yes: it holds the words of the claim


class Writer(Protocol):
    """Turns talk into proposals. Never decides."""

    name: str

    def propose(self, messages: Sequence[Message], before: Sequence[Message]) -> list[Proposal]:
        """Claims found in `messages`, in order; `before` are the turns that precede them in the session."""


class Answer(NamedTuple):
    """What a language model said, and what it cost."""

    text: str
    tokens: int  # read and written


class LanguageModel(Protocol):
    """A language model that takes part in a conversation."""

    name: str  # recorded with what it brought about

    def answer(self, turns: Sequence[tuple[str, str]]) -> Answer:
        """What it says after these turns, each (role, text): system, user or assistant. Raises ProviderFailed."""


@dataclass(frozen=True, slots=True)
class Task:
    """Talk that a model is to read, with what helps to understand it."""

    messages: Sequence[Message]  # to be read
    before: Sequence[Message] = ()  # the turns that precede them
    names: Sequence[str] = ()  # of the person
    held: Sequence[str] = ()  # what memory holds of those spoken of, one line each
    attributes: Mapping[str, str] = field(default_factory=dict)  # the policy's names, and what each means
    never: Sequence[str] = ()  # what must not be kept


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a model made of a task. With a `failure` the talk counts as not read."""

    proposals: Sequence[Proposal] = ()
    dropped: Sequence[Dropped] = ()
    spending: Spending = field(default_factory=Spending)
    failure: str | None = None


@runtime_checkable
class Extractor(Protocol):
    """Turns talk into proposals by a model: slow, dear, and never within a transaction."""

    name: str

    def extract(self, task: Task) -> Extracted:
        """What the messages say. Never raises for a model's failure."""

    def over(self, spent: Spending) -> bool:
        """Whether what was spent today leaves nothing for another call."""
