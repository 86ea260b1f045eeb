"""What is remembered of a cell between folds, and its JSON form.

A claim is one value over one interval, with the support it has from each rank. Repeats are counted, never listed, so
that the state of a cell does not grow with them. The same rows always give the same bytes: `digest.py` relies on it.
Times are moments (`moments.py`): microseconds since 1970 that know their offset. What the fields mean for the timeline
is in `timeline.py`, how they come about in `replay.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from firsthand.beliefs.moments import packed, unpacked

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
    whole: dict[str, Any] = {}
    if state.claims:
        whole["claims"] = [_claim_to_json(claim) for claim in state.claims]
    if state.endings:
        whole["endings"] = [_ending_to_json(ending) for ending in state.endings]
    if state.vetoes:
        whole["vetoes"] = {key: [v.level, v.by, v.status, v.why] for key, v in sorted(state.vetoes.items())}
    if state.ever_said:
        whole["ever_said"] = 1
    if state.guessed:
        whole["guessed"] = 1
    whole["tail"] = state.tail
    return json.dumps(whole, separators=(",", ":"))  # ASCII: any string survives any store


def decode(text: str) -> CellState:
    """The state whose JSON this is; a fresh one for the empty text."""
    if not text:
        return CellState()
    whole = json.loads(text)
    tail = whole["tail"]
    return CellState(
        claims=[_claim_from_json(claim) for claim in whole.get("claims", ())],
        endings=[_ending_from_json(each) for each in whole.get("endings", ())],
        vetoes={key: Veto(v[0], v[1], Status(v[2]), v[3]) for key, v in whole.get("vetoes", {}).items()},
        ever_said="ever_said" in whole,
        guessed="guessed" in whole,
        tail=None if tail is None else tuple(tail),
    )


_MOMENTS = ("until", "ended")
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


def _ending_to_json(e: Ending) -> list[Any]:
    return [e.value_key, packed(e.first), packed(e.last), e.level, e.first_by, e.last_by]


def _ending_from_json(given: list[Any]) -> Ending:
    value_key, first, last, *rest = given
    return Ending(value_key, unpacked(first), unpacked(last), *rest)


def _claim_to_json(claim: Claim) -> dict[str, Any]:
    made: dict[str, Any] = {name: getattr(claim, name) for name in _ALWAYS}
    made["start"] = packed(claim.start)
    if claim.value_key != claim.value:
        made["value_key"] = claim.value_key
    if claim.status is not Status.STANDING:
        made["status"] = claim.status
    for name, usual in _SOMETIMES:
        given = getattr(claim, name)
        if given != usual:
            made[name] = packed(given) if name in _MOMENTS else given
    made["supports"] = [
        [level, s.count, s.founder, s.confidence, s.source, packed(s.last), s.witnesses, packed(s.expires), s.spelling]
        for level, s in sorted(claim.supports.items())
    ]
    return made


def _claim_from_json(given: Mapping[str, Any]) -> Claim:
    following = given.get("next")
    return Claim(
        key=given["key"],
        value_key=given.get("value_key", given["value"]),
        value=given["value"],
        subject=given["subject"],
        kind=given["kind"],
        start=unpacked(given["start"]),
        until=unpacked(given.get("until")),
        supports={s[0]: _support_from_json(s) for s in given["supports"]},
        status=Status(given.get("status", "standing")),
        cause=Cause(given.get("cause", "")),
        why=given.get("why", ""),
        ended=unpacked(given.get("ended")),
        ended_by=given.get("ended_by"),
        asks=given.get("asks"),
        waits=given.get("waits", False),
        resumed=given.get("resumed"),
        next=None if following is None else (following[0], following[1]),
        also=tuple(given.get("also", ())),
    )


def _support_from_json(given: list[Any]) -> Support:
    _, count, founder, confidence, source, last, witnesses, expires, spelling = given
    seen = tuple((session, message) for session, message in witnesses)
    return Support(count, tuple(founder), confidence, source, unpacked(last), seen, unpacked(expires), spelling)
