"""Filters: a real tree, each operator as a plain evaluation has it, keys and values never read as anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidInput
from firsthand.recall.filters import parse

ROWS: list[dict[str, Any]] = [{"n": 5}, {"n": 15}, {"n": 25}, {}, {"n": None}]


def passing(filters: Mapping[str, Any], rows: Sequence[Mapping[str, Any]] = ROWS) -> list[int]:
    """Which rows pass."""
    passes = parse(filters)
    return [at for at, row in enumerate(rows) if passes(row)]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"n": 15}, [1]),
        ({"n": None}, [4]),
        ({"n": {"ne": 15}}, [0, 2, 3, 4]),
        ({"n": {"gte": 10, "lt": 20}}, [1]),
        ({"AND": [{"n": {"gte": 10}}, {"n": {"lt": 20}}]}, [1]),
        ({"n": {"gt": 5}}, [1, 2]),
        ({"n": {"lte": 5}}, [0]),
        ({"n": {"in": [5, 25]}}, [0, 2]),
        ({"n": {"nin": [5, 25]}}, [1, 3, 4]),
        ({"NOT": {"n": {"in": [5, 25]}}}, [1, 3, 4]),
        ({"n": {"exists": True}}, [0, 1, 2, 4]),
        ({"n": {"exists": False}}, [3]),
        ({"OR": [{"n": 5}, {"NOT": {"OR": [{"n": {"lt": 20}}, {"n": {"exists": False}}]}}]}, [0, 2, 4]),
        ({"OR": []}, []),
        ({"AND": []}, [0, 1, 2, 3, 4]),
    ],
)
def test_conditions_hold_as_written_also_for_missing_keys_and_nulls(
    filters: dict[str, Any], expected: list[int]
) -> None:
    """C065: two conditions on one key both count; NOT is not joined by OR."""
    assert passing(filters) == expected


def test_a_negated_list_with_a_missing_key_stays_within_the_rest_of_the_tree() -> None:
    """C065: NOT (tag in [x, y]), ANDed with the owner, matches nobody else's rows."""
    rows: list[dict[str, Any]] = [
        {"owner": "a"},
        {"owner": "b"},
        {"owner": "a", "tag": "x"},
        {"owner": "a", "tag": "z"},
    ]
    assert passing({"AND": [{"owner": "a"}, {"NOT": {"tag": {"in": ["x", "y"]}}}]}, rows) == [0, 3]


def test_tags_are_compared_exactly_and_any_and_all_are_different_things() -> None:
    """C067: 'art' is neither 'start' nor 'Art'."""
    rows: list[dict[str, Any]] = [
        {"tags": ["art", "x"]},
        {"tags": ["start"]},
        {"tags": ["Art"]},
        {"tags": ["a,b", "a%"]},
        {"tags": "art"},
    ]
    assert passing({"tags": {"all": ["art", "x"]}}, rows) == [0]
    assert passing({"tags": {"any": ["art", "a%"]}}, rows) == [0, 3]
    assert passing({"tags": ["art", "x"]}, rows) == [0]


def test_nothing_is_coerced() -> None:
    """Ours: 1 is not "1" nor true, and an order exists between like and like only."""
    rows: list[dict[str, Any]] = [{"v": 1}, {"v": "1"}, {"v": True}, {"v": 1.0}]
    assert passing({"v": 1}, rows) == [0, 3]
    assert passing({"v": True}, rows) == [2]
    assert passing({"v": {"gte": 1}}, rows) == [0, 3]
    assert passing({"v": {"gte": "0"}}, rows) == [1]


def test_times_compare_as_instants_whatever_their_spelling() -> None:
    """C014: one instant, many spellings."""
    rows: list[dict[str, Any]] = [
        {"at": "2026-01-01T12:00:00+00:00"},
        {"at": "2026-01-01T13:00:00+02:00"},
        {"at": "noon"},
        {"at": 3},
    ]
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert passing({"at": {"gte": noon}}, rows) == [0]
    assert passing({"at": {"lt": noon}}, rows) == [1]
    assert passing({"at": noon}, rows) == [0]


@pytest.mark.parametrize(
    "filters",
    [
        [],
        "n = 1",
        {"n": {"= 1 OR 1": 1}},
        {"n": {"gt": None}},
        {"n": {"gt": True}},
        {"n": {"in": "abc"}},
        {"n": {"exists": 1}},
        {"n": {}},
        {"AND": {"n": 1}},
        {"OR": [1]},
        {"NOT": [{"n": 1}]},
        {1: 2},
        {"n": {"gt": datetime(2026, 1, 1)}},  # noqa: DTZ001 - naive on purpose
    ],
)
def test_what_is_no_filter_is_refused_in_words(filters: Any) -> None:
    """C073: operators come from a fixed list; anything else is an error, never a guess."""
    with pytest.raises(InvalidInput, match="filters"):
        parse(filters)


def test_a_tree_too_deep_is_refused() -> None:
    """Ours: no input can exhaust the stack."""
    tree: dict[str, Any] = {"n": 1}
    for _ in range(5000):
        tree = {"NOT": tree}
    with pytest.raises(InvalidInput, match="deeper"):
        parse(tree)


@pytest.mark.parametrize("key", ["x') OR 1=1 --", "a.b", "$.a", 'a"b', "", "k" * 1000, "type", "owner"])
def test_any_key_is_data(key: str) -> None:
    """C073, C039: keys are looked up and never read as anything else; no name is reserved in metadata."""
    assert passing({key: 1}, [{key: 1}, {"a": {"b": 1}}, {}]) == [0]


VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", "1"])


@given(st.dictionaries(st.sampled_from("xyz"), VALUES), st.sampled_from("xyz"), VALUES, st.lists(VALUES, max_size=3))
def test_negations_are_exact_complements(metadata: dict[str, Any], key: str, value: Any, choices: list[Any]) -> None:
    """Ours: two-valued logic, with no third outcome for missing keys."""
    for one, other in (({"eq": value}, {"ne": value}), ({"in": choices}, {"nin": choices})):
        assert parse({key: one})(metadata) is not parse({key: other})(metadata)
        assert parse({"NOT": {key: one}})(metadata) is parse({key: other})(metadata)
