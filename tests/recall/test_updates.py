"""Of statements about the same thing in free words, the order that a question asks for."""

from __future__ import annotations

import pytest
from small_world import World, belief, days_ago, message

from firsthand.model import Message, Role
from firsthand.recall.tense import Version, version_of

OLD, NEW = "m1", "m2"


def scores(*, apart: bool = True, name: str | None = None) -> list[Message]:
    """Two statements about the same thing; the older has more of the question's words."""
    return [
        message(OLD, "My high score in the boat game is 90 points, the best of us", at=days_ago(200), session="a"),
        message(NEW, "The boat game again: a high score of 132 points", at=days_ago(190 if apart else 200), session="b",
                name=name),
        message("m3", "Boat trips make me sick", at=days_ago(1), session="c"),
        *(message(f"t{at}", f"talk {at} of other things", at=days_ago(99), session=f"t{at}") for at in range(12)),
    ]  # fmt: skip


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("What is my current best high score in the boat game?", [NEW, OLD]),
        ("What is my high score in the boat game so far, the best of us?", [NEW, OLD]),
        ("What was my previous high score in the boat game, the best of us?", [OLD, NEW]),
        ("What was the high score in the boat game at first: 132 points?", [OLD, NEW]),
        ("Back then, before it changed, was the high score in the boat game 132 points?", [OLD, NEW]),
    ],
)
def test_a_word_of_time_decides_which_comes_first(question: str, order: list[str], vectors: bool) -> None:
    """Issue 3: the newer above the older, unless the question is about the past; the mirror where it is."""
    hits = World(scores(), vectors=vectors).ask(question)
    assert [hit.id for hit in hits][:2] == order
    assert hits[0].score > hits[1].score


def test_without_a_word_of_time_only_equals_change_places() -> None:
    """Issue 3: newest-first is not an answer; of what is as relevant, the newer comes first."""
    more = "What is my high score in the boat game, the best of us?"
    assert World(scores()).ask(more)[0].id == OLD
    said = [
        message(OLD, "the shed key hangs by the green door", at=days_ago(300), session="a"),
        message(NEW, "the shed key hangs by the white door", at=days_ago(299), session="b"),
    ]
    assert [hit.id for hit in World(said).ask("Where is the shed key: by which door?")] == [NEW, OLD]


def test_what_happened_is_left_to_relevance() -> None:
    """Issue 3: an event is not overtaken by another one."""
    assert World(scores()).ask("When did my high score in the boat game reach 90 points?")[0].id == OLD


@pytest.mark.parametrize("question", ["What is my current best high score in the boat game?"])
def test_another_speaker_overtakes_nobody(question: str) -> None:
    """Issue 3: first person against third; what Ben says of his score says nothing of mine."""
    assert World(scores(name="Ben")).ask(question)[0].id == OLD
    said = [
        each if each.id != NEW else message(NEW, each.content, role=Role.ASSISTANT, session="b") for each in scores()
    ]
    assert World(said).ask(question)[0].id == OLD


def test_what_shares_few_of_the_questions_words_overtakes_nothing() -> None:
    """Issue 3: only what is about the same thing is an update of it."""
    hits = World(scores()).ask("What is my current high score in the boat game, the best of us?")
    assert hits[-1].id == "m3"


def test_beliefs_in_free_text_are_put_in_order_and_guesses_stay_last() -> None:
    """Issue 3: free text needs its own signal; design: guesses stay guesses."""
    held = [
        belief("b1", "wants the weekly report on Monday, the weekly report", last_said=days_ago(200)),
        belief("b2", "wants the weekly report on Friday", last_said=days_ago(100)),
        belief("b3", "wants the weekly report on Sunday", last_said=days_ago(1), guess=True, confidence=0.4),
    ]
    assert [hit.id for hit in World(beliefs=held).ask("When is the weekly report currently wanted?")] == [
        "b2",
        "b1",
        "b3",
    ]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Where do I keep my shoes?", Version.STANDING),
        ("How many have I read so far?", Version.LATEST),
        ("Where do I currently keep them?", Version.LATEST),
        ("Where did I keep them originally?", Version.EARLIER),
        ("Where did she use to live?", Version.EARLIER),
        ("What did Nate use to make it?", Version.ANY),
        ("What did he do before that changed?", Version.EARLIER),
        ("How many fish before the second trip?", Version.EARLIER),
        ("What did he do the week before August 3?", Version.ANY),
        ("What did he do two days before the party?", Version.ANY),
        ("What should I do before lunch?", Version.STANDING),
        ("What is he currently doing in August 2023?", Version.ANY),
        ("When did I paint it?", Version.ANY),
        ("How do my current and my previous job compare?", Version.STANDING),
        ("Wo wohne ich jetzt?", Version.STANDING),
    ],
)
def test_which_version_is_asked_for_is_read_from_the_words(text: str, version: Version) -> None:
    """Issue 3: deterministic, and to nothing rather than to wrong."""
    assert version_of(text, dated="2023" in text or "August" in text) is version


@pytest.mark.parametrize("question", ["", "!!!", "?", "\u200b", "now", "previously"])
def test_a_question_without_words_is_answered_with_nothing_and_does_not_raise(question: str) -> None:
    """Ours: total, whatever is asked."""
    held = [belief("b1", "likes tea"), belief("b2", "likes milk")]
    assert World(beliefs=held, vectors=False).ask(question) == []
