"""A cell taken out of its JSON between two rows: its claims, indexed, and the few ways in which they change.

No rules here: who may do what to whom is decided in `replay.py`. Every list is kept in order of (start, replay), so
that a cell read back from its JSON goes on exactly as the one that was never put away.
"""

from __future__ import annotations

from bisect import insort_right
from collections import defaultdict
from dataclasses import replace

from firsthand.beliefs.moments import moment
from firsthand.beliefs.slots import Shape
from firsthand.beliefs.state import WITNESSES, Cause, CellState, Claim, Status, Support
from firsthand.beliefs.timeline import Run, ever_holds, holding, runs
from firsthand.ports import Row


class OpenCell:
    """A cell that is being folded."""

    def __init__(self, name: str, shape: Shape, state: CellState) -> None:
        self.name = name
        self.shape = shape
        self.state = state
        self.standing = [c for c in state.claims if c.status is Status.STANDING and ever_holds(c)]
        self.pending = [c for c in state.claims if c.status is Status.PENDING]
        self.by_value: dict[str, list[Claim]] = defaultdict(list)
        for claim in state.claims:
            self.by_value[claim.value_key].append(claim)

    # -- looking ---------------------------------------------------------------------------------------------------

    def holding(self, value_key: str, at: int) -> Claim | None:
        """The claim through which a value holds at a time."""
        return holding(self.standing, value_key, at, beside=self.shape.beside)

    def runs_of(self, value_key: str) -> list[Run]:
        """The stretches over which a value holds."""
        return [run for run in runs(self.standing, beside=self.shape.beside) if run.value_key == value_key]

    def run_at(self, value_key: str, at: int) -> Run | None:
        """The stretch over which a value holds at a time."""
        return next((run for run in self.runs_of(value_key) if run.start <= at < run.end), None)

    def standing_of(self, value_key: str) -> list[Claim]:
        """The claims of a value that may hold at some time, covered or not."""
        return [c for c in self.by_value[value_key] if c.status is Status.STANDING and ever_holds(c)]

    # -- changing --------------------------------------------------------------------------------------------------

    def place(self, claim: Claim) -> None:
        """Put a claim where it belongs."""
        places = [self.state.claims, self.by_value[claim.value_key]]
        if claim.status is Status.PENDING:
            places.append(self.pending)
        elif claim.status is Status.STANDING and ever_holds(claim):
            places.append(self.standing)
        for each in places:
            insort_right(each, claim, key=_start)

    def shelve(self, claim: Claim, status: Status, cause: Cause, why: str) -> None:
        """A claim that stood or waited does so no longer."""
        for each in (self.standing, self.pending):
            if claim in each:
                each.remove(claim)
        claim.status, claim.cause, claim.why = status, cause, why

    def refresh(self) -> None:
        """Find out again which claims may hold, after intervals changed."""
        self.standing = [c for c in self.state.claims if c.status is Status.STANDING and ever_holds(c)]

    def absorb(self, claim: Claim, into: Claim) -> None:
        """What waited becomes evidence of a claim."""
        for level, support in claim.supports.items():
            spelling = support.spelling or claim.value
            add(into, level, replace(support, spelling=None if spelling == into.value else spelling))
        self.alias(claim, into)

    def alias(self, claim: Claim, into: Claim) -> None:
        """What waited is answered by a claim, and leads to it from now on."""
        into.also = (*into.also, claim.key, *claim.also)
        for each in (self.pending, self.state.claims, self.by_value[claim.value_key]):
            each.remove(claim)


def support_of(row: Row, value: str, claim_value: str) -> Support:
    """What a row is worth to a claim spelled so."""
    observation = row.observation
    return Support(
        count=1,
        founder=(*observation.position, observation.id),
        confidence=_within_bounds(observation.confidence),
        source=observation.source.value,
        last=moment(observation.said_at),
        witnesses=_distinct(row.witnesses),
        expires=None if observation.expires_at is None else moment(observation.expires_at),
        spelling=None if value == claim_value else value,
    )


def add(claim: Claim, level: int, support: Support) -> None:
    """Support of this rank comes to a claim."""
    mine = claim.supports.get(level)
    claim.supports[level] = support if mine is None else joined(mine, support)


def joined(one: Support, other: Support) -> Support:
    """Support of one rank from two places; the first spells the value."""
    best = other if other.confidence > one.confidence else one
    later, earlier = (other, one) if other.last >= one.last else (one, other)
    return Support(
        count=one.count + other.count,
        founder=min(one.founder, other.founder),
        confidence=best.confidence,
        source=best.source,
        last=later.last,
        witnesses=_distinct((*one.witnesses, *other.witnesses)) if other.witnesses else one.witnesses,
        expires=earlier.expires if later.expires is None else later.expires,
        spelling=one.spelling,
    )


def _distinct(witnesses: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The first message of each of the first few sessions, no message twice."""
    kept: dict[str, str] = {}
    for session, message in witnesses:
        if len(kept) < WITNESSES and session not in kept and message not in kept.values():
            kept[session] = message
    return tuple(kept.items())


def _within_bounds(confidence: float) -> float:
    return min(1.0, max(0.0, float(confidence)))  # max(0, nan) is 0: not a number counts for nothing


def _start(claim: Claim) -> int:
    return claim.start
