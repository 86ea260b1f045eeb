"""Recall: from a question to the few things in memory that answer it, best first.

    question ──> signals ──> relevance, floor, score ──> standing ──> walk ──> hits
                 signals.py  relevance.py, score.py      here         walk.py  hits.py

Reads an `OwnerIndex` and values that the caller loaded; never the store, never a clock. The same question over the
same memory gives the same hits in the same order. Higher scores are better; equal ones are ordered by when they were
last said, newest first, and then by id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

import numpy as np

from firsthand.model import Belief, Hit
from firsthand.recall.candidates import (
    Asking,
    BeliefPool,
    Beside,
    Candidate,
    Pool,
    belief_pool,
    message_pool,
    wants_messages,
)
from firsthand.recall.explain import Trace, seen
from firsthand.recall.hits import hit_of
from firsthand.recall.index import OwnerIndex
from firsthand.recall.question import Question
from firsthand.recall.score import BELOW, FLOOR
from firsthand.recall.standing import Held
from firsthand.recall.updates import in_order_of_time
from firsthand.recall.walk import Walk
from firsthand.text import value_key

__all__ = ["Beside", "Found", "Held", "recall", "search"]

_NO_ROWS = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Found:
    """The hits and how they came about."""

    hits: tuple[Hit, ...]
    trace: Trace


def recall(question: Question, index: OwnerIndex, held: Held, beside: Beside) -> list[Hit]:
    """What memory holds that answers the question: at most `question.limit` hits, best first."""
    return list(search(question, index, held, beside).hits)


def search(question: Question, index: OwnerIndex, held: Held, beside: Beside) -> Found:
    """As `recall`, with the account of how each hit came about and what was left out."""
    asking = Asking(question, index, held, beside)
    if question.limit == 0:
        return Found((), Trace(question.asked.notes))
    beliefs = belief_pool(asking)
    pool = _messages(asking, beliefs)
    placed = _placed(asking, beliefs, pool)
    walk = Walk(asking)
    kept = walk.over(in_order_of_time(asking, _in_order(placed, pool), placed.settled))
    hits = tuple(hit_of(each, asking, beliefs) for each in kept)
    below = beliefs.below_floor + (0 if pool is None else pool.below_floor)
    return Found(hits, Trace(question.asked.notes, below, seen(hits), tuple(walk.cuts)))


def _messages(asking: Asking, beliefs: BeliefPool) -> Pool | None:
    if not wants_messages(asking.question) or not asking.index.rows:
        return None
    inline = (belief for line in beliefs.lines for tier in line for belief in tier)
    telling = {row for belief in inline for row in _telling(asking, beliefs, belief)}
    return message_pool(asking, np.array(sorted(telling), dtype=np.int32) if telling else _NO_ROWS)


def _telling(asking: Asking, beliefs: BeliefPool, belief: Belief) -> list[int]:
    """The rows of the messages whose gist, for this question, is the belief."""
    rows = ((asking.index.row(each), each) for each in belief.evidence)
    return [row for row, each in rows if row >= 0 and asking.held.gist(each, beliefs.closeness) is belief]


# -- standing -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Placed:
    """Candidates whose place was decided one by one, and the entries of the message pool among them."""

    candidates: list[Candidate]
    entries: frozenset[int]
    settled: frozenset[str]  # ids of those that are in a line


def _placed(asking: Asking, beliefs: BeliefPool, pool: Pool | None) -> _Placed:
    """Beliefs, and the messages that tell of a line, each where it stands."""
    messages: dict[int, Candidate] = {}  # by entry of the pool
    for line in beliefs.lines:
        stands = []
        for tier in line:
            told = {} if pool is None else pool.of_rows([row for b in tier for row in _telling(asking, beliefs, b)])
            own = [beliefs.candidates[each.id] for each in tier if each.id in beliefs.candidates]
            near = max(beliefs.closeness(each) for each in tier)
            stands.append(_Tier([*own, *(messages.setdefault(at, each) for at, each in told.items())], near))
        _set_standing(asking, stands)
    _set_guesses(list(beliefs.candidates.values()))
    every = (*beliefs.candidates.values(), *messages.values())
    inline = {belief.id for line in beliefs.lines for tier in line for belief in tier}
    return _Placed(
        [each for each in every if each.terms["relevance"] >= FLOOR],
        frozenset(messages),
        frozenset(inline.union(each.id for each in messages.values())),
    )


@dataclass(frozen=True, slots=True)
class _Tier:
    """Beliefs and messages that stand equally high in a line."""

    candidates: Sequence[Candidate]
    near: float  # relevance of the most relevant belief, whether or not it is a candidate

    @property
    def nearest(self) -> float:
        """Relevance of the most relevant."""
        return max((self.near, *(each.terms["relevance"] for each in self.candidates)))


def _set_standing(asking: Asking, tiers: Sequence[_Tier]) -> None:
    """Lift those who stand above to the relevance of those below them, and keep those below under them.

    `tiers` are those of a line, the first to stand above all. They are about the same thing, so the first are as
    relevant as the most relevant of them.
    """
    nearest = 0.0
    for tier in reversed(tiers):
        for each in tier.candidates:
            if each.terms["relevance"] < nearest:
                each.terms["relevance"] = nearest
                asking.rescored(each)
        nearest = max(nearest, tier.nearest)
    above: list[Candidate] = []
    for tier in tiers:
        for each in tier.candidates:
            others = [other.score for other in above if other.last <= each.last]
            each.score = min(each.score, BELOW * min(others, default=1.0))
        above += tier.candidates


def _set_guesses(beliefs: Sequence[Candidate]) -> None:
    """Put guesses below all that was said or noted of the same subject."""
    least: dict[str, float] = {}
    for each in beliefs:
        if each.belief is not None and not each.belief.guess and not each.last:
            subject = value_key(each.belief.subject)
            least[subject] = min(each.score, least.get(subject, 1.0))
    for each in beliefs:
        if each.belief is not None and each.belief.guess:
            each.score = min(each.score, BELOW * least.get(value_key(each.belief.subject), 1.0))


def _in_order(placed: _Placed, pool: Pool | None) -> Iterator[Candidate]:
    singly = sorted(placed.candidates, key=_place)
    return merge(singly, () if pool is None else pool.ranked(placed.entries), key=_place)


def _place(candidate: Candidate) -> tuple[int, float, int, str, str]:
    return candidate.place
