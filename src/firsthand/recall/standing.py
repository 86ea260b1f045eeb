"""Standing: what outranks what, whatever the score says.

What a slot holds stands above what it held, and above messages that say what no longer holds, whether or not something
took its place. A question about the past turns that round; one that names a time, or what came before or after
something, puts what held then first. How things score before that is in `score.py`; in which order they are walked is
in `recall.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from firsthand.model import Belief, State, micros
from firsthand.recall.asked import Asked
from firsthand.recall.index import BeliefRows
from firsthand.recall.periods import Period
from firsthand.recall.postings import Rows
from firsthand.recall.tense import Tense
from firsthand.text import question_terms, value_key

_TRUE_ONCE = frozenset({State.ACTIVE, State.SCHEDULED, State.SUPERSEDED, State.EXPIRED})
RECALLED = _TRUE_ONCE | {State.PENDING}


@dataclass(frozen=True)
class Held:
    """What an owner's memory believes at the times asked, in all states, with what recall looks up in it.

    `rows` names each belief's search row; a belief without one is looked for by its words alone. The same value serves
    many questions: it may be kept as long as the beliefs are the same.
    """

    beliefs: Sequence[Belief] = ()
    rows: Mapping[str, str] = field(default_factory=dict)  # belief id -> id of its search row
    single: frozenset[str] = frozenset()  # attributes that hold one value at a time

    @cached_property
    def by_id(self) -> dict[str, Belief]:
        """Beliefs by id."""
        return {each.id: each for each in self.beliefs}

    @cached_property
    def of_message(self) -> dict[str, list[Belief]]:
        """The beliefs that rest on each message."""
        out: dict[str, list[Belief]] = {}
        for belief in self.beliefs:
            for message_id in belief.evidence:
                out.setdefault(message_id, []).append(belief)
        return out

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """Whom beliefs are about, other than the owner's person, in alphabetical order."""
        return tuple(sorted({each.subject for each in self.beliefs if each.subject != "user"}))

    @cached_property
    def recalled(self) -> NDArray[np.bool_]:
        """Which beliefs may be recalled: all but withdrawn and rejected ones. Shape (beliefs,)."""
        return np.array([each.state in RECALLED for each in self.beliefs], dtype=np.bool_)

    @cached_property
    def last_said(self) -> NDArray[np.int64]:
        """When each belief was last said, microseconds since 1970. Shape (beliefs,)."""
        return np.array([micros(each.last_said) for each in self.beliefs], dtype=np.int64)

    @cached_property
    def lines(self) -> tuple[tuple[Belief, ...], ...]:
        """What took whose place: for each slot, all that it has held, oldest first; only where that is more than one.

        Of an attribute with one value at a time this is all that was ever true of it, and what was corrected; of any
        other, a belief and those that superseded or corrected it.
        """
        found: dict[tuple[str, ...], list[Belief]] = {}
        for belief in self.beliefs:
            if belief.state in _TRUE_ONCE or belief.superseded_by is not None:
                found.setdefault(self._line(belief), []).append(belief)
        ordered = (sorted(line, key=lambda each: (each.valid_from, each.id)) for line in found.values())
        return tuple(tuple(line) for line in ordered if len(line) > 1)

    @cached_property
    def _holders(self) -> dict[str, Belief]:
        """For each belief that ended and is in a line, what the line holds now, if it holds one thing."""
        out = {}
        for line in self.lines:
            holding = [each for each in line if each.state is State.ACTIVE]
            if len(holding) == 1:
                out.update({each.id: holding[0] for each in line if each.state is not State.ACTIVE})
        return out

    def holder(self, belief: Belief) -> Belief | None:
        """What holds now in place of a belief that ended or was corrected; None where nothing does."""
        return self._holders.get(belief.id)

    def _line(self, belief: Belief) -> tuple[str, ...]:
        """Equal for beliefs that took each other's place."""
        if belief.attribute in self.single:
            return (value_key(belief.subject), belief.attribute or "")
        passed = {belief.id}
        while (newer := self.successor(belief)) is not None and newer.id not in passed:
            passed.add(newer.id)
            belief = newer
        return (min(passed) if newer is not None else belief.id,)

    @cached_property
    def _numbers(self) -> dict[int, tuple[BeliefRows, Rows]]:
        return {}

    def rows_in(self, compiled: BeliefRows) -> Rows:
        """The row of each belief among the compiled search rows, -1 where there is none. Shape (beliefs,)."""
        kept = self._numbers.get(0)
        if kept is None or kept[0] is not compiled:
            number, named = compiled.number, self.rows
            found = [number.get(named.get(each.id, ""), -1) for each in self.beliefs]
            kept = (compiled, np.array(found, dtype=np.int32))
            self._numbers[0] = kept
        return kept[1]

    def successor(self, belief: Belief) -> Belief | None:
        """The belief that superseded or corrected this one, where it has one."""
        return None if belief.superseded_by is None else self.by_id.get(belief.superseded_by)

    def gist(self, message_id: str, weigh: Callable[[Belief], float]) -> Belief | None:
        """Of the beliefs that rest on this message, the one closest to the question; None where none does.

        `weigh` says how close a belief is.
        """
        resting = self.of_message.get(message_id)
        if not resting:
            return None
        return max(resting, key=lambda each: (weigh(each), each.state is State.ACTIVE, each.valid_from, each.id))


# -- who stands above whom in a line ----------------------------------------------------------------------------------

_Place = tuple[float, ...]


def tiers(line: Sequence[Belief], asked: Asked) -> list[list[Belief]]:
    """The beliefs of a line in the order in which a question wants them, best first; equals share a tier.

    What never was true comes last, whatever is asked.
    """
    place = _placing([each for each in line if each.state is not State.WITHDRAWN], asked)
    out: dict[_Place, list[Belief]] = {}
    for belief in line:
        out.setdefault((inf,) if belief.state is State.WITHDRAWN else place(belief), []).append(belief)
    return [out[each] for each in sorted(out)]


def _placing(line: Sequence[Belief], asked: Asked) -> Callable[[Belief], _Place]:
    """Which place of a belief the question's words ask for: lower ones stand higher."""
    anchor = _named(line, asked.before)
    if anchor is not None:
        return _just_before(anchor)
    anchor = _named(line, asked.after)
    if anchor is not None:
        return _just_after(anchor)
    tense = _PLACINGS[asked.tense]
    period = asked.period
    if period is None or not any(_holds_within(each, period) for each in line):
        return tense if not asked.earliest else _earliest
    return lambda belief: (float(not _holds_within(belief, period)), *tense(belief))


def _named(line: Sequence[Belief], words: frozenset[str]) -> Belief | None:
    """The latest of the beliefs whose values share most with these terms; None where none does."""
    shared = [(len(words.intersection(question_terms(each.value))), each) for each in line] if words else []
    most = max((share for share, _ in shared), default=0)
    return [each for share, each in shared if share == most][-1] if most else None


def _just_before(anchor: Belief) -> Callable[[Belief], _Place]:
    def place(belief: Belief) -> _Place:
        earlier = belief is not anchor and belief.valid_from <= anchor.valid_from
        return (0.0, -belief.valid_from.timestamp()) if earlier else (1.0,)

    return place


def _just_after(anchor: Belief) -> Callable[[Belief], _Place]:
    def place(belief: Belief) -> _Place:
        later = belief is not anchor and belief.valid_from >= anchor.valid_from
        return (0.0, belief.valid_from.timestamp()) if later else (1.0,)

    return place


def _holds_within(belief: Belief, period: Period) -> bool:
    return belief.valid_from < period.until and (belief.valid_to is None or belief.valid_to > period.since)


def _holding_first(belief: Belief) -> _Place:
    """What holds, what will hold, and what held: of that the latest first."""
    if belief.state is State.ACTIVE:
        return (0.0,)
    if belief.state is State.SCHEDULED:
        return (1.0, belief.valid_from.timestamp())
    end = belief.valid_to or belief.expires_at or belief.valid_from
    return (2.0, -end.timestamp(), -belief.valid_from.timestamp())


def _ended_first(belief: Belief) -> _Place:
    """What held, then what holds: words and vectors decide which of several is meant."""
    if belief.state is State.SCHEDULED:
        return (2.0,)
    return (float(belief.state is State.ACTIVE),)


def _earliest(belief: Belief) -> _Place:
    return (belief.valid_from.timestamp(),)


_PLACINGS: Mapping[Tense, Callable[[Belief], _Place]] = {
    Tense.OPEN: _holding_first,
    Tense.PRESENT: _holding_first,
    Tense.PAST: _ended_first,
}
