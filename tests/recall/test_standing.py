"""What one slot has held over time, and in which order a question gets it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from small_world import World, belief, days_ago, message

from firsthand.model import Belief, State

HOMES = {
    "naples": ("Naples", datetime(2019, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)),
    "leeds": ("Leeds", datetime(2024, 3, 1, tzinfo=UTC), datetime(2026, 3, 28, tzinfo=UTC)),
    "lisbon": ("Lisbon", datetime(2026, 3, 28, tzinfo=UTC), None),
}


def home(name: str) -> Belief:
    """A place lived in. Only Leeds has a successor by name: Naples simply ended, and was told of last."""
    value, start, end = HOMES[name]
    return belief(
        name,
        f"lives in {value}",
        attribute="lives_in",
        value=value,
        state=State.ACTIVE if end is None else State.SUPERSEDED,
        valid_from=start,
        valid_to=end,
        superseded_by="lisbon" if name == "leeds" else None,
        evidence=(f"m-{name}",),
        last_said=days_ago(1) if name == "naples" else start,
    )


@pytest.fixture
def moved_twice() -> World:
    """Somebody who lived in three places, one after the other."""
    said = [
        message("m-leeds", "I live in Leeds with one cat and eleven globes", at=HOMES["leeds"][1], session="a"),
        message("m-lisbon", "I moved to Lisbon, as announced, to live by the sea", at=HOMES["lisbon"][1], session="b"),
        message("m-naples", "Did I tell you where I did live? I lived in Naples", at=days_ago(1), session="c"),
    ]
    return World(said, [home(each) for each in HOMES], single=frozenset({"lives_in"}))


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("Where do I live?", ["lisbon", "leeds", "naples"]),
        ("Where do I live now?", ["lisbon", "leeds", "naples"]),
        ("Where did I live before Lisbon?", ["leeds", "naples", "lisbon"]),
        ("Where did I live before I moved to Lisbon?", ["leeds"]),
        ("Where did I live before Leeds?", ["naples"]),
        ("Where did I live after Naples?", ["leeds", "lisbon", "naples"]),
        ("Where did I live in 2020?", ["naples"]),
        ("Where did I live in May 2025?", ["leeds"]),
        ("Where did I live originally?", ["naples", "leeds", "lisbon"]),
    ],
)
@pytest.mark.parametrize("include", ["beliefs", "messages"])
def test_a_slot_is_answered_in_the_order_asked_for(
    moved_twice: World, question: str, order: list[str], include: str
) -> None:
    """Issue 2: what ended stands below what holds, successor or none; of the past, what held then is first."""
    named = [hit.id.removeprefix("m-") for hit in moved_twice.ask(question, include=include)]
    assert named[: len(order)] == order


def test_of_the_past_what_holds_now_comes_last(moved_twice: World) -> None:
    """Issue 2: unless the question is about the past."""
    assert [hit.id for hit in moved_twice.ask("Where did I use to live?", include="beliefs")][-1] == "lisbon"


def test_what_holds_is_found_though_only_what_ended_has_the_words() -> None:
    """Issue 2: a current belief outranks what it superseded, also when the question speaks of the old one."""
    start, change = days_ago(400), days_ago(30)
    old = belief("b1", "plays the cello in a quartet", attribute="hobby", value="cello", state=State.SUPERSEDED,
                 valid_from=start, valid_to=change)  # fmt: skip
    new = belief("b2", "draws maps", attribute="hobby", value="maps", valid_from=change)
    asked = "Do I play the cello in a quartet?"
    assert [hit.id for hit in World(beliefs=[old, new], single=frozenset({"hobby"})).ask(asked)] == ["b2", "b1"]
    assert [hit.id for hit in World(beliefs=[old, new]).ask(asked)] == ["b1"]


def test_what_was_never_true_comes_last_of_the_past_too() -> None:
    """Design: withdrawn means it never was."""
    wrong = belief("b1", "works at Faro", attribute="works_at", value="Faro", state=State.WITHDRAWN,
                   superseded_by="b2", evidence=("m1",))  # fmt: skip
    right = belief("b2", "works at Farol", attribute="works_at", value="Farol", evidence=("m2",))
    said = [message("m1", "I did work at Faro, did I?", session="a"), message("m2", "At Farol I work!", session="b")]
    world = World(said, [wrong, right], single=frozenset({"works_at"}))
    assert [hit.id for hit in world.ask("Where did I use to work?", include="messages")] == ["m2", "m1"]


def test_the_note_names_what_holds_now_not_what_came_next(moved_twice: World) -> None:
    """C004: what no longer holds is not mistaken for what does."""
    notes = {hit.id: hit.note for hit in moved_twice.ask("Where do I live?")}
    assert notes["naples"] == "no longer holds since 2021-01-01; now: lives in Lisbon"
    assert notes["m-leeds"] == "says what no longer holds: lives in Leeds; now: lives in Lisbon"
