"""Figures of recall are what their definitions say."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.bench.measures import (
    all_at,
    any_at,
    area,
    in_order,
    ndcg_at,
    recall_at,
    reciprocal_rank,
    refusals,
    tells,
)

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def hits(*names: str) -> list[frozenset[str]]:
    """Hits that stand for one id each."""
    return [frozenset((name,)) for name in names]


def test_recall_is_the_share_of_things_expected_and_a_thing_may_have_several_ids() -> None:
    """Ours: docs/measuring.md, R@k."""
    expected = [frozenset("a"), frozenset("bc")]
    assert recall_at(hits("x", "c", "a"), expected, 2) == 0.5
    assert recall_at(hits("x", "c", "a"), expected, 3) == 1.0
    assert recall_at([frozenset("ab")], expected, 1) == 1.0
    assert (any_at(hits("x", "c"), expected, 2), all_at(hits("x", "c"), expected, 2)) == (1.0, 0.0)


def test_gain_is_discounted_from_the_third_place_on() -> None:
    """Ours: LongMemEval's definition, in which the first two places count whole."""
    expected = hits("a", "b")
    assert ndcg_at(hits("a", "b"), expected, 5) == 1.0
    assert ndcg_at(hits("x", "a", "b"), expected, 5) == pytest.approx((1 + 1 / log2(3)) / 2)
    assert ndcg_at(hits("x", "y"), expected, 5) == 0.0


def test_rank_is_that_of_the_first_expected_hit() -> None:
    """Ours: docs/measuring.md, MRR."""
    assert reciprocal_rank(hits("x", "b"), hits("a", "b")) == 0.5
    assert reciprocal_rank(hits("x"), hits("a")) == 0.0


def test_an_order_counts_only_where_the_upper_one_is_there() -> None:
    """Issue: update order, newer above older; missing the newer is no success."""
    assert in_order(hits("new", "old"), "old", "new") == 1.0
    assert in_order(hits("old", "new"), "old", "new") == 0.0
    assert in_order(hits("x"), "old", "new") == 0.0


def test_two_thirds_of_its_terms_tell_a_fact() -> None:
    """Ours: docs/measuring.md, facts in."""
    assert tells(frozenset("abx"), frozenset("abc"))
    assert not tells(frozenset("axy"), frozenset("abc"))


@given(SHARES, SHARES)
def test_the_area_is_the_chance_that_an_answer_stands_above_a_question_without_one(
    unanswerable: list[float], answers: list[float]
) -> None:
    """Issue: refusal against loss as a curve and its area."""
    won = sum((each < other) + 0.5 * (each == other) for each in unanswerable for other in answers)
    assert area(refusals(unanswerable, answers)) == pytest.approx(won / len(unanswerable) / len(answers))
