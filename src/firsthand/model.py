"""The words of firsthand, as values: what is said, claimed, believed, recalled and answered.

Frozen dataclasses, no behaviour beyond what follows from their own fields, no input or output. Each has a JSON
form (`to_json`) that the command line, HTTP and MCP faces share. How beliefs follow from observations is in
`beliefs/`; how anything is stored is in `stores/`.

Times are aware `datetime` values that keep the offset they were given with; comparisons are on the instant.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Role(StrEnum):
    """Who spoke, as chat systems name it."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class Act(StrEnum):
    """What an observation does."""

    ASSERT = "assert"
    END = "end"
    CORRECT = "correct"
    RETRACT = "retract"
    CONFIRM = "confirm"
    REJECT = "reject"


class Kind(StrEnum):
    """Kinds of long-term memory."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Source(StrEnum):
    """Where a claim comes from. `REPEATED` is derived by the fold, never an input."""

    RECORD = "record"
    STATED = "stated"
    CORRECTED = "corrected"
    AGENT = "agent"
    QUOTED = "quoted"
    INFERRED = "inferred"
    REPEATED = "repeated"


class Rank(NamedTuple):
    """A source's standing: higher wins. Compared as a number."""

    level: int
    name: str


INFERRED = Rank(1, "inferred")
NOTED = Rank(2, "noted")
SAID = Rank(3, "said")

CONFIDENCE: Mapping[Source, float] = {
    Source.RECORD: 1.0,
    Source.STATED: 1.0,
    Source.CORRECTED: 0.9,
    Source.AGENT: 0.7,
    Source.QUOTED: 0.7,
    Source.INFERRED: 0.4,
    Source.REPEATED: 0.8,
}

RANK: Mapping[Source, Rank] = {
    Source.RECORD: SAID,
    Source.STATED: SAID,
    Source.CORRECTED: SAID,
    Source.AGENT: NOTED,
    Source.QUOTED: NOTED,
    Source.INFERRED: INFERRED,
    Source.REPEATED: NOTED,
}


class State(StrEnum):
    """What memory holds of a belief, at a valid time and a known time."""

    ACTIVE = "active"
    SCHEDULED = "scheduled"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    PENDING = "pending"
    REJECTED = "rejected"
    EXPIRED = "expired"


class Verdict(StrEnum):
    """What admission says of a claim. Recorded with it, never decided again."""

    WRITE = "write"
    NEEDS_CONFIRM = "needs_confirm"
    DROP = "drop"


class Caller(StrEnum):
    """On whose behalf a verb is called: decides which sources may be claimed."""

    PERSON = "person"  # library, command line, the inspector's confirmed actions
    MODEL = "model"  # MCP, tool dispatcher, model writer: `agent` at most, `quoted` with a verified quote


class Position(NamedTuple):
    """A row's place in its owner's ledger. Totally ordered, exported, and merging two stores commutes."""

    recorded_at: int  # microseconds since 1970, never going backwards for an owner
    counter: int
    store: str


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory it is. Compared exactly."""

    tenant: str
    user: str


@dataclass(frozen=True, slots=True)
class Head:
    """The owner's one row of bookkeeping: total order, monotone time, cache invalidation."""

    version: int = 0  # bumped by every write of this owner
    epoch: int = 0  # bumped by every erasure and whenever derived rows were replaced wholesale
    recorded_at: int = 0
    counter: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as it was said. Verbatim (but for masked secrets), immutable."""

    id: str
    role: Role
    content: str  # the text that is searched and quoted; spans index it
    at: datetime  # when it was said
    position: Position
    name: str | None = None  # speaker, where the talk has more than one person
    session: str | None = None
    agent: str | None = None
    origin: str | None = None
    at_original: str | None = None  # the time as the caller gave it; None when it was missing
    raw: Mapping[str, Any] | None = None  # the caller's message where content alone does not carry it
    metadata: Mapping[str, Any] = field(default_factory=dict)
    recalled: bool = False  # it carries recalled context: never evidence
    masked: int = 0  # secrets masked in it

    @property
    def recorded_at(self) -> datetime:
        """When memory was told."""
        return from_micros(self.position.recorded_at)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words that a claim rests on: a message and the span quoted from its stored content."""

    message_id: str
    start: int | None = None
    end: int | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What an act is aimed at, with all that the fold needs of it, so that no erased row is ever read.

    Either an observation (with slot, value and interval copied in) or a message.
    """

    observation_id: str | None = None
    message_id: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    slot: str | None = None  # the free-text slot it lives in; None for a keyed one
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One atomic claim or act offered to memory. Append-only."""

    id: str
    act: Act
    subject: str
    attribute: str | None  # None: free text, its own slot
    value: str | None  # None only for an `end` of whatever holds, and for acts on messages
    kind: Kind
    source: Source
    confidence: float
    said_at: datetime
    position: Position
    valid_from: datetime | None = None  # None means said_at
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    evidence: tuple[Evidence, ...] = ()
    target: Target | None = None
    verdict: Verdict = Verdict.WRITE
    reason: str | None = None  # why it waits, or the caller's reason for an act
    session: str | None = None
    agent: str | None = None
    origin: str | None = None
    writer: str | None = None  # which rule or which prompt proposed it
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def starts(self) -> datetime:
        """Since when the claim holds: valid_from, or said_at when that is missing."""
        return self.said_at if self.valid_from is None else self.valid_from

    @property
    def rank(self) -> Rank:
        """The standing of its source."""
        return RANK[self.source]


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that admission did not let in. `text` is shown to the caller once and never stored."""

    text: str
    reason: str
    message_id: str | None = None
    rule: str | None = None

    def __iter__(self) -> Iterator[str]:
        """Text and reason, so that `for text, reason in receipt.dropped` reads well."""
        return iter((self.text, self.reason))

    def __getitem__(self, place: int) -> str:
        return (self.text, self.reason)[place]


@dataclass(frozen=True, slots=True)
class Pending:
    """A claim that waits for the person, and the question to put to them."""

    id: str
    reason: str
    question: str

    def __iter__(self) -> Iterator[str]:
        """Its three parts, so that `for id, reason, question in receipt.pending` reads well."""
        return iter((self.id, self.reason, self.question))

    def __getitem__(self, place: int) -> str:
        return (self.id, self.reason, self.question)[place]


@dataclass(frozen=True, slots=True)
class Failed:
    """Talk that a model was to read and has not read. It is stored, waits, and is read later."""

    session: str | None
    messages: int  # how many wait, of those that were to be read now
    reason: str


@dataclass(frozen=True, slots=True)
class Unheard:
    """Turns of the role user that were kept and not listened to: their speaker is not known to be the user."""

    speaker: str
    messages: int
    reason: str  # and what to do where the speaker is the user


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a write answers. Given after the commit."""

    stored: tuple[str, ...] = ()  # observation ids
    pending: tuple[Pending, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    superseded: tuple[str, ...] = ()  # ids of beliefs that this write displaced
    messages: tuple[str, ...] = ()  # message ids stored
    duplicates: tuple[str, ...] = ()  # ids that were there already
    failed: tuple[Failed, ...] = ()  # what a model could not read: never the same as nothing found
    unheard: tuple[Unheard, ...] = ()  # whose turns were kept and not listened to


@dataclass(frozen=True, slots=True)
class Belief:
    """What memory holds for a slot, over one interval. Derived; its id is its founding observation's."""

    id: str
    subject: str
    attribute: str | None
    value: str
    text: str
    kind: Kind
    source: Source
    confidence: float
    state: State
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    evidence: tuple[str, ...] = ()  # message ids
    reason: str = ""
    slot: str = ""
    support: int = 1  # observations that carry it
    last_said: datetime = EPOCH  # last support, for decay
    disputed_with: tuple[str, ...] = ()
    expires_at: datetime | None = None
    guess: bool = False  # rests on inference alone
    sensitivity: str | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing recalled, with every term of its score and its evidence."""

    type: str  # "message" or "belief"
    id: str
    kind: Kind
    text: str
    at: datetime
    score: float
    terms: Mapping[str, float]
    why: str
    role: Role | None = None
    speaker: str | None = None
    session: str | None = None
    evidence: tuple[str, ...] = ()
    source: Source | None = None
    confidence: float = 1.0
    state: State | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    note: str | None = None  # "says what no longer holds", "taken back", "disputed with …"
    guess: bool = False
    last_said: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """The block given to the model. `str()` is the block."""

    text: str
    hits: tuple[Hit, ...]
    tokens: int
    omitted: tuple[tuple[str, str], ...]  # (id, reason) of what was left out

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Quote:
    """Words heard, in their conversation."""

    message_id: str
    role: Role
    speaker: str | None
    at: datetime
    session: str | None
    text: str  # the span quoted, or the whole message where no span was given
    content: str  # the whole message


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why memory holds a belief: the observations, the words quoted, the rule applied, what it displaced."""

    belief: Belief
    rule: str
    observations: tuple[Observation, ...]
    quotes: tuple[Quote, ...]
    displaced: tuple[Belief, ...]
    changes_if: str  # what would change it

    @property
    def tag(self) -> str:
        """Tells this story from another one: give it as `expected=` to act on the belief only if it is still so."""
        told = json.dumps(to_json(self), ensure_ascii=False, sort_keys=True)
        return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The explanation as a person reads it."""
        out = [f"{self.belief.text}  [{self.belief.state}, {self.belief.source}, {self.belief.confidence:.2f}]"]
        for quote in self.quotes:
            who = quote.speaker or quote.role
            out.append(f'  {quote.at:%Y-%m-%d} {who}: "{quote.text}"  ({quote.message_id})')
        out.append(f"  rule: {self.rule}")
        out.extend(f"  displaced: {old.text} ({old.state}: {old.reason})" for old in self.displaced)
        out.append(f"  would change it: {self.changes_if}")
        return out


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation, as the ledger has it."""

    id: str | None
    messages: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration of a server's tables did."""

    ran: tuple[str, ...]  # names of the steps; empty when everything was there
    version: int  # of the schema, now
    granted: tuple[str, ...] = ()  # roles that may use the tables
    sharded: tuple[str, ...] = ()  # names of the tables that were sharded by tenant now


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy of a whole store holds. Two copies of the same store have the same digest."""

    owners: int
    rows: int  # of all tables
    digest: str  # of every row, read back from the copy and compared with the source
    resumed: bool  # whether an earlier run had begun it


@dataclass(frozen=True, slots=True)
class Proof:
    """What a search of the raw bytes found after an erasure. No content.

    `pieces` of what went (words, ids, hashes of words, vectors) were looked for in `places`; of those that rows hold
    which are still there (`said_elsewhere`) bytes prove nothing. `unreached` is where a search cannot look.
    """

    places: tuple[str, ...]
    pieces: int
    said_elsewhere: int
    traces: tuple[str, ...]  # where something was found; empty: nothing is left
    unreached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """What an erasure removed: counts and keyed digests, no content.

    `complete` is False while something keeps the bytes of rows that are gone (another process reads an older state, the
    disk is full): `left` says what, and opening the store again or `maintain` goes on.
    """

    messages: int
    observations: int
    beliefs: int
    digests: tuple[str, ...] = ()
    complete: bool = True
    left: str = ""
    proof: Proof | None = None  # where one was asked for


@dataclass(frozen=True, slots=True)
class Report:
    """What a rebuild or an import found."""

    equal: bool
    owners: int
    messages: int
    observations: int
    beliefs: int
    different: tuple[str, ...] = ()  # owners whose beliefs came out otherwise
    duplicates: int = 0
    refused: int = 0


def micros(at: datetime) -> int:
    """The instant in whole microseconds since 1970, without rounding through a float."""
    delta = at - EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def from_micros(value: int) -> datetime:
    """The UTC time of an instant in microseconds since 1970."""
    return EPOCH + timedelta(microseconds=value)


def to_json(value: Any) -> Any:
    """The JSON form of any value in this module; times become ISO 8601 with their offset."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value.value if isinstance(value, StrEnum) else value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    raise TypeError(f"no JSON form for {type(value).__name__}")


def message_from_json(data: Mapping[str, Any]) -> Message:
    """The message whose `to_json` form this is."""
    given = dict(data)
    given["role"] = Role(given["role"])
    given["at"] = datetime.fromisoformat(given["at"])
    given["position"] = Position(*given["position"])
    return Message(**given)


def observation_from_json(data: Mapping[str, Any]) -> Observation:
    """The observation whose `to_json` form this is; what is None may be left out of it."""
    given = {"attribute": None, "value": None, **data}
    for name, kind in (("act", Act), ("kind", Kind), ("source", Source), ("verdict", Verdict)):
        given[name] = kind(given[name])
    for name in ("said_at", "valid_from", "valid_to", "expires_at"):
        given[name] = _time_from_json(given.get(name))
    given["position"] = Position(*given["position"])
    given["evidence"] = tuple(Evidence(**each) for each in given.get("evidence", ()))
    if given.get("target") is not None:
        target = dict(given["target"])
        for name in ("valid_from", "valid_to"):
            target[name] = _time_from_json(target.get(name))
        given["target"] = Target(**target)
    return Observation(**given)


def _time_from_json(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
