"""The same story told to a file and to a server: the same answers, word for word and to the last digit."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand import Memory, User
from firsthand.errors import FirsthandError
from firsthand.model import to_json
from postgres_place import Place
from stopped_clock import StoppedClock

PEOPLE = ("user", "Joe")
VALUES = {
    "lives_in": ("Lisbon", "Porto", "lisbon."),
    "likes": ("tea", "coffee", "東京の寿司"),
    "employer": ("Acme", "NUL\x00 and SUB\x1a", "Initech"),
    "name": ("Alex", "Sasha"),
}
TALK = (
    "I moved to Lisbon last week",
    "I love tea and my dog Rex",
    "Actually, I work at Initech now",
    "Forget that, I was joking",
    "My sister lives in Porto",
    "remember that I prefer short answers",
    "👩‍👩‍👧 naïve café, 東京",
)
QUESTIONS = ("where does the user live?", "what did I say about tea?", "who is Joe?", "東京", "sister Porto dog")

claims = st.sampled_from(sorted(VALUES)).flatmap(
    lambda attribute: st.fixed_dictionaries(
        {
            "text": st.sampled_from(VALUES[attribute]),
            "attribute": st.sampled_from((attribute, None)),
            "subject": st.sampled_from(PEOPLE),
            "source": st.sampled_from(("stated", "inferred", "agent", "record")),
            "days": st.integers(-40, 3),
        }
    )
)
talk = st.tuples(
    st.lists(st.tuples(st.sampled_from(("user", "assistant")), st.sampled_from(TALK)), min_size=1, max_size=3),
    st.sampled_from(("s1", "s2", None)),
)
acts = st.tuples(
    st.sampled_from(("correct", "end", "retract", "confirm", "reject", "forget", "used")), st.integers(0, 9)
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), claims),
        st.tuples(st.just("observe"), talk),
        st.tuples(st.just("act"), acts),
    ),
    min_size=1,
    max_size=14,
)


def _do(person: User, clock: StoppedClock, step: tuple[str, Any]) -> Any:
    """One step; what it answers, or what it is refused with."""
    kind, what = step
    try:
        if kind == "remember":
            options = {name: value for name, value in what.items() if name not in ("text", "days")}
            since = clock() + timedelta(days=what["days"])
            return person.remember(what["text"], valid_from=since, **options)
        if kind == "observe":
            said, session = what
            return person.observe([{"role": role, "content": text} for role, text in said], session=session)
        verb, place = what
        ids = [belief.id for belief in person.beliefs(state="all")] + [message.id for message in person.messages()]
        name = ids[place % len(ids)] if ids else "none"
        if verb == "correct":
            return person.correct(name, "Faro")
        if verb == "used":
            return person.used([name])
        return getattr(person, verb)(name)
    except FirsthandError as error:
        return type(error).__name__, str(error)


def _answers(person: User) -> dict[str, Any]:
    beliefs = person.beliefs(state="all")
    return {
        "beliefs": beliefs,
        "pending": person.pending(),
        "profile": person.profile(),
        "history": person.history("user", "lives_in"),
        "messages": list(person.messages()),
        "sessions": person.sessions(),
        "recall": [person.recall(question, limit=20) for question in QUESTIONS],
        "context": [str(person.context(question)) for question in QUESTIONS],
        "why": [person.why(belief.id) for belief in beliefs],
        "rebuild": person.memory.rebuild(),
        "after": person.beliefs(state="all"),
        "health": {k: v for k, v in person.memory.health().items() if k != "embedder"},
    }


@contextmanager
def _told(location: str, story: list[tuple[str, Any]]) -> Iterator[tuple[User, list[Any]]]:
    clock = StoppedClock()
    with Memory(location, clock=clock) as memory:
        number = itertools.count()
        memory.parts = replace(memory.parts, ids=lambda: f"id{next(number):04}")
        person = memory.user("alex")
        answers = []
        for step in story:
            clock.forward(hours=7)
            answers.append(_do(person, clock, step))
        yield person, answers


BYTES = {"complete", "left", "erasure_unfinished"}  # of what was erased: a file's are gone at once, a server's later


def _without_store(value: Any) -> Any:
    """JSON without the store's own id, in which two stores differ, and without when erased bytes are gone."""
    if isinstance(value, dict):
        return {name: _without_store(each) for name, each in value.items() if name not in BYTES}
    if isinstance(value, list | tuple):
        if len(value) == 3 and isinstance(value[0], int) and isinstance(value[2], str):
            return [*value[:2], "store"]
        return [_without_store(each) for each in value]
    return value


@pytest.fixture
def compare(postgres: Place) -> Callable[[list[tuple[str, Any]]], None]:
    """Tell a story to both, and hold their answers against each other."""

    def told(story: list[tuple[str, Any]]) -> None:
        postgres.empty()
        with _told(":memory:", story) as (one, receipts), _told(postgres.url, story) as (other, others):
            assert _without_store(to_json(receipts)) == _without_store(to_json(others))
            wanted, found = _answers(one), _answers(other)
            for name in wanted:
                assert _without_store(to_json(found[name])) == _without_store(to_json(wanted[name])), name

    return told


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(story=steps)
def test_a_random_story_gets_the_same_answers(
    compare: Callable[[list[tuple[str, Any]]], None], story: list[tuple[str, Any]]
) -> None:
    """Issue: fold, recall order, scores and errors: both stores agree on random ledgers."""
    compare(story)


def test_an_export_of_one_is_taken_in_by_the_other(postgres: Place, tmp_path: Path) -> None:
    """Design: lossless both ways, whatever the text."""
    story: list[tuple[str, Any]] = [
        ("observe", ([("user", text) for text in TALK], "s1")),
        ("remember", {"text": VALUES["employer"][1], "attribute": "employer", "subject": "user", "days": -3}),
        ("act", ("correct", 0)),
    ]
    postgres.empty()
    later = StoppedClock("2026-06-02T12:00:00+00:00")
    with _told(":memory:", story) as (one, _), Memory(postgres.url, clock=later) as other:
        one.export(tmp_path / "one.jsonl")
        assert other.import_(tmp_path / "one.jsonl").refused == 0
        there = other.user("alex")
        there.export(tmp_path / "other.jsonl")
        assert there.beliefs(state="all") == one.beliefs(state="all")
        assert list(there.messages()) == list(one.messages())
    told, heard = ((tmp_path / name).read_text().splitlines() for name in ("one.jsonl", "other.jsonl"))
    assert heard[1:-1] == told[1:-1], "but for the first and last line, which name the store"
