"""Which claim holds when: the timeline of one cell, from its standing claims.

At any time the claim with the latest start holds, among those whose valid_to is not reached: painting over what was
there, and giving it back at an explicit valid_to. A claim that an act ended leaves nothing behind it: who quits a job
is not back in the one before. Where values stand side by side (`alternatives`), all claims of the highest rank that
is there hold together.

Functions take the standing claims in order of (start, replay); `beside` says that values stand side by side.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from firsthand.beliefs.moments import own
from firsthand.beliefs.state import FOREVER, Claim


@dataclass(slots=True)
class Run:
    """A maximal stretch over which one value holds."""

    value_key: str
    start: int
    end: int  # FOREVER when it is open
    last: Claim  # the one through which it holds when it ends
    claims: list[Claim] = field(default_factory=list)  # those that hold in it, each once

    @property
    def changed(self) -> bool:
        """Whether it ends because something else began, not because it was over by itself."""
        return self.end != FOREVER and stops(self.last) > self.end

    def goes_on(self, to: int, claim: Claim) -> None:
        """It holds up to this time, too, through this claim."""
        if to > self.end or stops(claim) > stops(self.last):
            self.last = claim
        self.end = to
        if all(claim is not each for each in self.claims):
            self.claims.append(claim)


def starting(run: Run) -> list[Claim]:
    """The claims of a run that begin in it; none when it only resumes."""
    return [claim for claim in run.claims if claim.start >= run.start]


def stops(claim: Claim) -> int:
    """When the claim itself is over."""
    until = FOREVER if claim.until is None else claim.until
    return until if claim.ended is None else min(until, claim.ended)


def clears(claim: Claim) -> int:
    """When the claim gives way to what it covers: an ending of an open claim never does."""
    return FOREVER if claim.until is None else stops(claim)


def ever_holds(claim: Claim) -> bool:
    """Whether there is a time at all at which it may hold."""
    return stops(claim) > claim.start


def holding(standing: Sequence[Claim], value_key: str, at: int, *, beside: bool) -> Claim | None:
    """The claim through which a value holds at a time, if it does."""
    if beside:
        mine = [c for c in standing if c.value_key == value_key and c.start <= at < stops(c)]
        return mine[-1] if mine else None
    claim = holder(standing, at)
    return claim if claim is not None and claim.value_key == value_key else None


def holder(standing: Sequence[Claim], at: int) -> Claim | None:
    """The claim that holds at a time, of a cell where one value does."""
    for place in range(_started(standing, at) - 1, -1, -1):
        claim = standing[place]
        if clears(claim) > at:
            return claim if stops(claim) > at else None
    return None


def displaced(standing: Sequence[Claim], over: tuple[int, int], value_key: str, *, beside: bool) -> list[Claim]:
    """The claims of other values that a new one over [start, end) would take from, all begun by its start."""
    start, end = over
    if beside:
        return [c for c in standing if c.value_key != value_key and c.start <= start < stops(c)]
    first = next((c for c in _begun(standing, start) if clears(c) > start), None)
    if first is None:
        return []
    if clears(first) >= end:  # what nearly always happens: one claim fills all of it
        return [first] if first.value_key != value_key and stops(first) > start else []
    taken = {
        claim.key: claim
        for since, to, claim in _segments(standing)
        if since < end and to > start and claim.start <= start and claim.value_key != value_key
    }
    return list(taken.values())


def runs(standing: Sequence[Claim], *, beside: bool) -> list[Run]:
    """All stretches over which a value holds, in order of their start."""
    found: list[Run] = []
    last: dict[str, Run] = {}
    for since, to, claim in _layers(standing) if beside else _segments(standing):
        run = last.get(claim.value_key)
        if run is None or run.end < since or (not beside and run is not found[-1]):
            run = last[claim.value_key] = Run(claim.value_key, since, to, claim)
            found.append(run)
        run.goes_on(to, claim)
    return found


def _segments(standing: Sequence[Claim]) -> Iterator[tuple[int, int, Claim]]:
    """(since, to, claim) for each stretch between moments at which anything begins or is over."""
    if len(standing) == 1:
        yield standing[0].start, stops(standing[0]), standing[0]
        return
    covering: list[Claim] = []
    begun = 0
    for since, to in _stretches(standing):
        while begun < len(standing) and standing[begun].start <= since:
            covering.append(standing[begun])
            begun += 1
        while covering and clears(covering[-1]) <= since:
            covering.pop()
        if covering and stops(covering[-1]) > since:
            yield own(since, covering[-1].start), own(to, stops(covering[-1])), covering[-1]


def _layers(standing: Sequence[Claim]) -> Iterator[tuple[int, int, Claim]]:
    """As `_segments`, with every claim that holds: all those of values of the highest rank that is there."""
    for since, to in _stretches(standing):
        there = [claim for claim in standing if claim.start <= since < stops(claim)]
        ranks: dict[str, int] = {}
        for claim in there:
            ranks[claim.value_key] = max(claim.level, ranks.get(claim.value_key, 0))
        highest = max(ranks.values(), default=0)
        highest_there = [claim for claim in there if ranks[claim.value_key] == highest]
        yield from ((own(since, claim.start), own(to, stops(claim)), claim) for claim in highest_there)


def _stretches(standing: Sequence[Claim]) -> Iterator[tuple[int, int]]:
    moments = sorted({moment for claim in standing for moment in (claim.start, stops(claim))} | {FOREVER})
    return pairwise(moments)


def _started(standing: Sequence[Claim], at: int) -> int:
    return bisect_right(standing, at, key=_start)


def _begun(standing: Sequence[Claim], at: int) -> Iterator[Claim]:
    return (standing[place] for place in range(_started(standing, at) - 1, -1, -1))


def _start(claim: Claim) -> int:
    return claim.start
