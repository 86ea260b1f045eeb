"""Recall: from a question to the few things in memory that answer it, best first.

    question ──> signals ──> relevance, floor, score ──> standing ──> walk ──> hits
                 signals.py  relevance.py, score.py      here         walk.py  hits.py

Reads an `OwnerIndex` and values that the caller loaded; never the store, never a clock. The same question over the
same memory gives the same hits in the same order. Higher scores are better; equal ones are ordered by when they were
last said, newest first, and then by id.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from firsthand.recall.question import Question, Tense
from firsthand.recall.score import BELOW, FLOOR
from firsthand.recall.standing import Held
from firsthand.recall.walk import Walk

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
    pairs = _concerned(asking, beliefs)
    pool = _messages(asking, beliefs, pairs)
    placed = _placed(asking, beliefs, pool, pairs)
    walk = Walk(asking)
    kept = walk.over(_in_order(placed, pool))
    hits = tuple(hit_of(each, asking, beliefs) for each in kept)
    below = beliefs.below_floor + (0 if pool is None else pool.below_floor)
    return Found(hits, Trace(question.asked.notes, below, seen(hits), tuple(walk.cuts)))


Pair = tuple[Belief, Belief]  # older, newer


def _concerned(asking: Asking, beliefs: BeliefPool) -> list[Pair]:
    """The successions that the question is about at all."""
    close = beliefs.closeness
    return [pair for pair in asking.held.successions if max(close(pair[0]), close(pair[1])) >= FLOOR]


def _messages(asking: Asking, beliefs: BeliefPool, pairs: list[Pair]) -> Pool | None:
    if not wants_messages(asking.question) or not asking.index.rows:
        return None
    telling = {row for pair in pairs for belief in pair for row in _telling(asking, beliefs, belief)}
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


def _placed(asking: Asking, beliefs: BeliefPool, pool: Pool | None, pairs: list[Pair]) -> _Placed:
    """Beliefs, and the messages that tell of a succession, each where it stands."""
    messages: dict[int, Candidate] = {}  # by entry of the pool
    stands: dict[str, list[Candidate]] = {}
    for belief in {each.id: each for pair in pairs for each in pair}.values():
        own = beliefs.candidates.get(belief.id)
        stands[belief.id] = [] if own is None else [own]
        told = {} if pool is None else pool.of_rows(_telling(asking, beliefs, belief))
        stands[belief.id] += [messages.setdefault(at, each) for at, each in told.items()]
    _set_standing(asking, [(stands[older.id], stands[newer.id]) for older, newer in pairs])
    near = [each for each in messages.values() if each.terms["relevance"] >= FLOOR]
    return _Placed([*beliefs.candidates.values(), *near], frozenset(messages))


def _set_standing(asking: Asking, pairs: list[tuple[list[Candidate], list[Candidate]]]) -> None:
    """Lift what holds to the relevance of what it superseded, and lower that below it; of a past, the other way round.

    `pairs` are those who stand for an older and for a newer belief, the latest successions first. Both are about the
    same thing, so both are as relevant as the more relevant of them.
    """
    if asking.question.asked.tense is Tense.PAST:
        ordered = [(newer, older) for older, newer in reversed(pairs)]
    else:
        ordered = pairs
    for lower, upper in reversed(ordered):
        nearest = max((each.terms["relevance"] for each in lower), default=0.0)
        for each in upper:
            if each.terms["relevance"] < nearest:
                each.terms["relevance"] = nearest
                asking.rescored(each)
    for lower, upper in ordered:
        for each in lower:
            others = [other.score for other in upper if other is not each and other.last <= each.last]
            each.score = min(each.score, BELOW * min(others, default=1.0))


def _in_order(placed: _Placed, pool: Pool | None) -> Iterator[Candidate]:
    singly = sorted(placed.candidates, key=_place)
    return merge(singly, () if pool is None else pool.ranked(placed.entries), key=_place)


def _place(candidate: Candidate) -> tuple[float, int, str, str]:
    return candidate.place
