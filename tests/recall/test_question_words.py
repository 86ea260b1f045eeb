"""Reading a question: whom, when and what kind it asks about, and that no text is ever syntax."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_world import NOW

from firsthand.errors import InvalidInput
from firsthand.model import Kind
from firsthand.recall.asked import Asked, People, read
from firsthand.recall.question import Conditions, ask
from firsthand.recall.tense import Tense

NOBODY = People()


def asked(text: str, people: People = NOBODY) -> Asked:
    """What the words say."""
    return read(text, people, NOW)


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("Where do I live?", Tense.OPEN),
        ("When did Ana paint the fence?", Tense.OPEN),
        ("Where do I live now?", Tense.PRESENT),
        ("What is my current job?", Tense.PRESENT),
        ("Who do I work for these days?", Tense.PRESENT),
        ("Where did I use to live?", Tense.PAST),
        ("What was my previous address?", Tense.PAST),
        ("Where did I live before Lisbon?", Tense.PAST),
        ("Who was my manager?", Tense.PAST),
        ("What did my old job pay?", Tense.PAST),
        ("How do my current and my previous job compare?", Tense.OPEN),
        ("What should I do before lunch?", Tense.OPEN),
        ("Wo wohne ich?", Tense.OPEN),
    ],
)
def test_the_tense_of_a_question_is_read_from_its_words(text: str, tense: Tense) -> None:
    """Design: a question about the past does not punish age; where the words leave it open nothing is assumed."""
    assert asked(text).tense is tense


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How do I like my reports done?", Kind.PROCEDURAL),
        ("How should a release be tagged?", Kind.PROCEDURAL),
        ("What is the procedure for refunds?", Kind.PROCEDURAL),
        ("How does Ana feel about the move?", None),
        ("Where is the office?", None),
    ],
)
def test_a_how_to_asks_for_procedural_memory(text: str, kind: Kind | None) -> None:
    """Design: a how-to prefers procedural memory."""
    assert asked(text).kind is kind


def test_names_are_heard_in_full_by_first_name_and_with_an_ending() -> None:
    """Ours: who is asked about filters and boosts, and does not drown the rest of the words."""
    people = People(speakers=["Ana Lima", "Ben", "Li Ming"], subjects=["Joe"])
    assert asked("What does Ana's sister do?", people).named == ("Ana Lima",)
    assert asked("What did Ana Lima and BEN eat?", people).named == ("Ana Lima", "Ben")
    assert asked("Who is Joe?", people).named == ("Joe",)
    assert asked("Is Benjamin here?", people).named == ()


def test_a_first_name_that_two_people_have_names_neither() -> None:
    """Ours: degrade to nothing rather than to wrong."""
    people = People(speakers=["Ana Lima", "Ana Souza"])
    assert asked("Where does Ana work?", people).named == ()
    assert asked("Where does Ana Souza work?", people).named == ("Ana Souza",)


def test_the_topic_leaves_out_speakers_but_keeps_other_names() -> None:
    """Ours: a speaker's name is on every turn; the name of somebody talked about is a word like others."""
    people = People(speakers=["Ana"], subjects=["Joe"])
    read_so = asked("What did Ana's friend Joe research?", people)
    assert read_so.topic == "What did friend Joe research?"
    assert "ana" not in read_so.terms
    assert "joe" in read_so.terms


def test_a_name_is_the_topic_where_nothing_else_is_asked() -> None:
    """Ours: a question about a person alone is still answered."""
    read_so = asked("Who is Ana?", People(speakers=["Ana"]))
    assert read_so.topic == "Who is Ana?"
    assert read_so.terms == ("ana",)


def test_names_in_scripts_without_blanks_are_heard() -> None:
    """C028: words that run together are still words."""
    read_so = asked("田中さんは何が好き", People(speakers=["田中"]))
    assert read_so.named == ("田中",)
    assert read_so.terms


@pytest.mark.parametrize("text", ["Where do I live?", "What's my name?", "the user's diet", "What does Marcus eat?"])
def test_the_person_is_asked_about_by_i_my_user_or_their_name(text: str) -> None:
    """Ours: first person means the owner's person."""
    assert asked(text, People(user=["Marcus Rivera"])).of_user


def test_what_the_assistant_said_is_asked_of_the_assistant() -> None:
    """C007: who said it matters."""
    assert asked("What did you recommend for my garden?").of_assistant
    assert not asked("What do I recommend?").of_assistant


@given(st.text(), st.lists(st.text(max_size=8), max_size=4))
def test_no_text_raises_and_each_is_read_the_same_twice(text: str, names: list[str]) -> None:
    """C031: user text is never syntax."""
    people = People(names, names, names)
    assert asked(text, people) == asked(text, people)


@pytest.mark.parametrize(
    "text",
    [
        "pre-edit",
        "GB/s",
        "don't",
        '"--flag"',
        "v20.04",
        "a AND",
        "NEAR(",
        "*",
        "text:secret",
        "^x",
        ")",
        '"',
        "NOT",
        "(",
    ],
)
def test_the_syntax_of_other_engines_is_plain_words_here(text: str) -> None:
    """C031: hyphen, slash, colon, quote and operators are literal."""
    names = People(speakers=[text, "[", "a|b", "\\"])
    assert isinstance(asked(text, names), Asked)


@pytest.mark.parametrize(
    "conditions",
    [
        {"limit": -1},
        {"limit": True},
        {"limit": "3"},
        {"limit": 2.0},
        {"include": "everything"},
        {"kinds": ["gossip"]},
        {"sessions": [1]},
        {"since": datetime(2026, 1, 1)},  # noqa: DTZ001 - naive on purpose
        {"until": "yesterday"},
        {"filters": {"n": {"greater": 1}}},
        {"filters": []},
    ],
)
def test_conditions_that_mean_nothing_are_refused_in_words(conditions: dict[str, Any]) -> None:
    """C064, C065: a condition is applied exactly or refused."""
    with pytest.raises(InvalidInput, match=r"limit|include|kinds|sessions|since|until|filters"):
        ask("tea", NOW, NOBODY, Conditions(**conditions))


def test_kinds_and_sessions_take_one_name_or_many() -> None:
    """Ours: a lone name is a list of one, never a list of letters."""
    one = ask("tea", NOW, NOBODY, Conditions(kinds="episodic", sessions="abc"))
    assert (one.kinds, one.sessions) == (frozenset({Kind.EPISODIC}), frozenset({"abc"}))


def test_a_time_with_an_offset_is_taken_as_it_is() -> None:
    """C014: compared on the instant."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert ask("tea", NOW, NOBODY, Conditions(since=at, valid_at=at)).since == at
