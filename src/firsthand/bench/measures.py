"""What the figures mean. Each function takes one question's hits, best first, and gives a figure in [0, 1]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log2

Expected = Sequence[frozenset[str]]  # of each thing expected, any of these ids will do
Ranked = Sequence[frozenset[str]]  # hits, best first: the ids that each one stands for


def recall_at(ranked: Ranked, expected: Expected, depth: int) -> float:
    """The share of what is expected that the first hits bring."""
    found = frozenset[str]().union(*ranked[:depth])
    return sum(1 for each in expected if each & found) / len(expected)


def any_at(ranked: Ranked, expected: Expected, depth: int) -> float:
    """1 when the first hits bring anything expected."""
    return float(recall_at(ranked, expected, depth) > 0)


def all_at(ranked: Ranked, expected: Expected, depth: int) -> float:
    """1 when the first hits bring all that is expected."""
    return float(recall_at(ranked, expected, depth) == 1)


def reciprocal_rank(ranked: Ranked, expected: Expected) -> float:
    """1 by the place of the first hit that is expected; 0 when none is."""
    places = (place for place, each in enumerate(ranked, 1) if any(each & wanted for wanted in expected))
    return 1 / next(places, float("inf"))


def ndcg_at(ranked: Ranked, expected: Expected, depth: int) -> float:
    """How near the first hits come to having everything expected first, as LongMemEval defines it.

    Gains are 0 or 1, the first place counts whole, and a place p after it 1 / log2(p).
    """
    gains = [float(any(each & wanted for wanted in expected)) for each in ranked[:depth]]
    ideal = [1.0] * min(depth, len(expected))
    return _discounted(gains) / _discounted(ideal)


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / max(1.0, log2(place)) for place, gain in enumerate(gains, 1))


def in_order(ranked: Ranked, lower: str, upper: str) -> float:
    """1 when a hit of `upper` comes before every hit of `lower`; 0 as well when `upper` is not there."""
    for each in ranked:
        if upper in each:
            return 1.0
        if lower in each:
            return 0.0
    return 0.0


def tells(text: frozenset[str], fact: frozenset[str]) -> bool:
    """Whether a text tells a fact, as far as words can say: it has two thirds of the fact's terms."""
    return 3 * len(text & fact) >= 2 * len(fact)


def refusals(unanswerable: Sequence[float], answers: Sequence[float]) -> list[tuple[float, float, float]]:
    """Points (floor, loss, refusal) of the curve that a rising floor under relevance draws.

    `unanswerable` is the best relevance that any hit of each unanswerable question has, `answers` that of the hit
    which answers each answerable one. Refusal is the share of the former that fall below the floor, loss that of the
    latter.
    """
    floors = [0.0, *sorted({*unanswerable, *answers}), 1.01]
    return [(floor, _below(answers, floor), _below(unanswerable, floor)) for floor in floors]


def area(points: Sequence[tuple[float, float, float]]) -> float:
    """The area under refusal against loss: 0.5 by chance, 1.0 when a floor tells all of them apart."""
    total = 0.0
    for (_, loss, refusal), (_, further, higher) in pairwise(points):
        total += (further - loss) * (refusal + higher) / 2
    return total


def _below(figures: Sequence[float], floor: float) -> float:
    return sum(each < floor for each in figures) / len(figures)
