"""A question that calls the owner's person by name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firsthand import Hit, Memory, User
from stopped_clock import StoppedClock

TEA = "I drink a lot of tea these days"


@pytest.fixture
def mem(clock: StoppedClock) -> Iterator[Memory]:
    """A memory that looks at words alone."""
    with Memory(":memory:", embedder="none", writer="none", clock=clock) as memory:
        yield memory


def first(user: User, question: str) -> Hit:
    return user.recall(question)[0]


def named_by_alias(mem: Memory) -> User:
    return mem.user("u1", aliases=["Marcus"])


def named_by_belief(mem: Memory) -> User:
    user = mem.user("u1")
    user.remember("Marcus Rivera", subject="user", attribute="name")
    return user


def named_on_messages(mem: Memory) -> User:
    user = mem.user("u1")
    user.observe([{"role": "user", "name": "Marcus", "content": TEA}, {"role": "assistant", "content": "Noted."}])
    return user


def named_by_id(mem: Memory) -> User:
    return mem.user("marcus")


@pytest.mark.parametrize("known", [named_by_alias, named_by_belief, named_on_messages, named_by_id])
def test_the_person_is_found_by_name(mem: Memory, known: object) -> None:
    """Issue 2: the entity asked about; the person's own name means the person."""
    user: User = known(mem)  # type: ignore[operator]
    home = user.remember("Vermont", subject="user", attribute="lives_in").stored[0]
    user.remember("Boston", subject="Elena", attribute="lives_in")
    hit = first(user, "Where does Marcus live now?")
    assert hit.id == home
    assert hit.terms["speaker"] == 1


def test_several_speakers_are_not_the_person(mem: Memory) -> None:
    """Design, subjects: any other name in a group chat is its own subject."""
    user = mem.user("u1")
    user.observe([{"role": "user", "name": name, "content": f"{TEA}, says {name}"} for name in ("Marcus", "Elena")])
    user.remember("Vermont", subject="user", attribute="lives_in")
    assert all(hit.terms["speaker"] == 0 for hit in user.recall("Where does Marcus live now?", include="beliefs"))


def test_an_id_that_is_also_a_word_counts_only_with_a_capital(mem: Memory) -> None:
    """Ours: degrade to nothing rather than to wrong."""
    user = mem.user("will")
    user.remember("Vermont", subject="user", attribute="lives_in")
    assert first(user, "Where does Will live?").terms["speaker"] == 1
    assert first(user, "Vermont: who will live there?").terms["speaker"] == 0


TALK = "My sister Ana is a nurse and lives in Rome. I work at Nokia. My colleague Mira works at Siemens."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is Mira's employer?", "Mira works at Siemens"),
        ("Who is my employer?", "works at Nokia"),
        ("What company does Mira work for?", "Mira works at Siemens"),
        ("Which city is my sister in?", "Ana lives in Rome"),
        ("What is my sister's profession?", "Ana works as nurse"),
    ],
)
def test_an_attribute_is_found_by_its_other_names(clock: StoppedClock, question: str, answer: str) -> None:
    """Issue 2: an attribute goes by its names in the policy, in questions too."""
    with Memory(":memory:", embedder="none", clock=clock) as memory:
        user = memory.user("u1")
        user.observe(TALK)
        assert user.recall(question, include="beliefs")[0].text == answer


def test_what_somebody_is_to_the_person_names_them_only_where_it_is_one(clock: StoppedClock) -> None:
    """Ours: "my sister" is nobody in particular for who has two."""
    with Memory(":memory:", embedder="none", clock=clock) as memory:
        user = memory.user("u1")
        user.observe("My sister Ana lives in Rome.")
        (ana,) = (
            h for h in user.recall("Where does my sister live?", include="beliefs") if h.text == "Ana lives in Rome"
        )
        user.observe("My sister Eva lives in Bern.")
        (now,) = (
            h for h in user.recall("Where does my sister live?", include="beliefs") if h.text == "Ana lives in Rome"
        )
        assert (ana.terms["speaker"], now.terms["speaker"]) == (1, 0)
