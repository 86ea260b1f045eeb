"""What is remembered of a cell between folds, and its JSON form.

A claim is one value over one interval, with the support it has from each rank. Repeats are counted, never listed, so
that the state of a cell does not grow with them. The same rows always give the same bytes: `digest.py` relies on it.
Times are microseconds since 1970; what the fields mean for the timeline is in `timeline.py`, how they come about in
`replay.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

FOREVER = 2**62  # later than any time that can be written
WITNESSES = 3  # sessions that repetition counts: 0.4 rises to 0.6 in two further ones

# (recorded_at, counter, store, observation id): ordered as the ledger is
Founder = tuple[int, int, str, str]
# The replay key: said_at, evidence position, span start, own position, id.
ReplayKey = tuple[int, int, int, str, int, int, int, str, str]


class Status(StrEnum):
    """How a claim stands, apart from any time at which it is looked at."""

    STANDING = "standing"
    PENDING = "pending"
    WITHDRAWN = "withdrawn"
    REJECTED = "rejected"


class Cause(StrEnum):
    """Why a claim is withdrawn or rejected."""

    NONE = ""
    CORRECTED = "corrected"
    TAKEN_BACK = "taken back"
    VOIDED = "voided"  # the message it was quoted from was taken back
    EMPTY = "empty"  # its interval ends before it starts


@dataclass(slots=True)
class Support:
    """What speaks for a claim, of one rank."""

    count: int
    founder: Founder  # the lowest position
    confidence: float  # the best stored one
    source: str  # of the best
    last: int  # when it was last said
    witnesses: tuple[tuple[str, str], ...] = ()  # (session, message), one of each of the first sessions
    expires: int | None = None  # as the latest that says so has it
    spelling: str | None = None  # of the value, where it differs from the claim's


@dataclass(slots=True, eq=False)
class Claim:
    """One value over one interval. Compared by identity."""

    key: str  # id of its first observation in replay order; names it in placements
    value_key: str
    value: str  # as its first observation spells it
    subject: str
    kind: str
    start: int
    until: int | None  # the valid_to it came with: what it covers resumes then
    supports: dict[int, Support]  # by rank level
    status: Status = Status.STANDING
    cause: Cause = Cause.NONE
    why: str = ""
    ended: int | None = None  # an act says that it was over then: nothing resumes
    ended_by: str | None = None
    asks: str | None = None  # a proposal: the act that waits for somebody of higher rank
    waits: bool = False  # admission asks for confirmation
    resumed: str | None = None  # key of the claim whose resumed interval this withdrawn one records
    next: tuple[str, str] | None = None  # (cell, claim) of the claim that took its place
    also: tuple[str, ...] = ()  # keys of pending claims that were brought in

    @property
    def level(self) -> int:
        """The rank level of the highest support."""
        return max(self.supports)


@dataclass(slots=True)
class Ending:
    """It is known that a value, or whatever held, was over at a time, and still was at a later one."""

    value_key: str | None
    first: int
    last: int
    level: int
    first_by: str
    last_by: str


@dataclass(slots=True)
class Veto:
    """A value that was taken back: below what is said, nothing founds it again."""

    level: int
    by: str
    status: Status
    why: str


@dataclass(slots=True)
class CellState:
    """All that is remembered of a cell. Claims are in order of their start, then of replay."""

    claims: list[Claim] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    vetoes: dict[str, Veto] = field(default_factory=dict)
    ever_said: bool = False  # kept in the slot's own cell: something of rank said was ever claimed in the slot
    guessed: bool = False  # likewise: something was ever inferred in it
    tail: ReplayKey | None = None  # of the last row folded in


def encode(state: CellState) -> str:
    """The canonical JSON of a state."""
    packed: dict[str, Any] = {}
    if state.claims:
        packed["claims"] = [_claim_to_json(claim) for claim in state.claims]
    if state.endings:
        packed["endings"] = [[e.value_key, e.first, e.last, e.level, e.first_by, e.last_by] for e in state.endings]
    if state.vetoes:
        packed["vetoes"] = {key: [v.level, v.by, v.status, v.why] for key, v in sorted(state.vetoes.items())}
    if state.ever_said:
        packed["ever_said"] = 1
    if state.guessed:
        packed["guessed"] = 1
    packed["tail"] = state.tail
    return json.dumps(packed, separators=(",", ":"))  # ASCII: any string survives any store


def decode(text: str) -> CellState:
    """The state whose JSON this is; a fresh one for the empty text."""
    if not text:
        return CellState()
    packed = json.loads(text)
    tail = packed["tail"]
    return CellState(
        claims=[_claim_from_json(claim) for claim in packed.get("claims", ())],
        endings=[Ending(*each) for each in packed.get("endings", ())],
        vetoes={key: Veto(v[0], v[1], Status(v[2]), v[3]) for key, v in packed.get("vetoes", {}).items()},
        ever_said="ever_said" in packed,
        guessed="guessed" in packed,
        tail=None if tail is None else tuple(tail),
    )


_ALWAYS = ("key", "value", "subject", "kind", "start")
_SOMETIMES: tuple[tuple[str, Any], ...] = (
    ("until", None),
    ("cause", Cause.NONE),
    ("why", ""),
    ("ended", None),
    ("ended_by", None),
    ("asks", None),
    ("waits", False),
    ("resumed", None),
    ("next", None),
    ("also", ()),
)


def _claim_to_json(claim: Claim) -> dict[str, Any]:
    packed: dict[str, Any] = {name: getattr(claim, name) for name in _ALWAYS}
    if claim.value_key != claim.value:
        packed["value_key"] = claim.value_key
    if claim.status is not Status.STANDING:
        packed["status"] = claim.status
    for name, usual in _SOMETIMES:
        given = getattr(claim, name)
        if given != usual:
            packed[name] = given
    packed["supports"] = [
        [level, s.count, s.founder, s.confidence, s.source, s.last, s.witnesses, s.expires, s.spelling]
        for level, s in sorted(claim.supports.items())
    ]
    return packed


def _claim_from_json(packed: Mapping[str, Any]) -> Claim:
    following = packed.get("next")
    return Claim(
        key=packed["key"],
        value_key=packed.get("value_key", packed["value"]),
        value=packed["value"],
        subject=packed["subject"],
        kind=packed["kind"],
        start=packed["start"],
        until=packed.get("until"),
        supports={s[0]: _support_from_json(s) for s in packed["supports"]},
        status=Status(packed.get("status", "standing")),
        cause=Cause(packed.get("cause", "")),
        why=packed.get("why", ""),
        ended=packed.get("ended"),
        ended_by=packed.get("ended_by"),
        asks=packed.get("asks"),
        waits=packed.get("waits", False),
        resumed=packed.get("resumed"),
        next=None if following is None else (following[0], following[1]),
        also=tuple(packed.get("also", ())),
    )


def _support_from_json(packed: list[Any]) -> Support:
    _, count, founder, confidence, source, last, witnesses, expires, spelling = packed
    seen = tuple((session, message) for session, message in witnesses)
    return Support(count, tuple(founder), confidence, source, last, seen, expires, spelling)
