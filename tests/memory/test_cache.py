"""What recall keeps in memory is bounded, and being let go changes no answer."""

from __future__ import annotations

import pytest

from firsthand import InvalidInput, Memory
from firsthand.memory import User


def talked(memory: Memory, name: str) -> User:
    """A person who said two things, and was asked about them."""
    user = memory.user(name)
    user.observe([f"{name} keeps bees in the orchard.", "The kettle is broken."])
    user.recall("Where are the bees?")
    return user


def test_owners_asked_longest_ago_leave_when_the_cache_is_full() -> None:
    """Issue: memory bounded by a stated cache."""
    with Memory(":memory:") as memory:
        talked(memory, "ana")
        one = memory.snapshots.nbytes
    with Memory(":memory:", cache=3 * one) as memory:
        for number in range(8):
            talked(memory, f"u{number}")
            assert 0 < memory.snapshots.nbytes <= 3 * one


def test_an_owner_who_left_the_cache_is_found_again() -> None:
    """Ours: the cache saves time and nothing else; the owner asked last stays, however small it is."""
    with Memory(":memory:", cache=0) as memory:
        ana, ben = talked(memory, "ana"), talked(memory, "ben")
        for user in (ana, ben, ana):
            (hit,) = user.recall("Where are the bees?", limit=1)
            assert hit.text.startswith(user.owner.user)


def test_what_is_kept_is_counted_once_and_let_go_with_its_owner() -> None:
    """Ours: the count neither drifts as owners grow nor outlives them."""
    with Memory(":memory:") as memory:
        ana = talked(memory, "ana")
        first = memory.snapshots.nbytes
        for number in range(50):
            ana.observe(f"Row {number} of beans.")
            ana.recall("beans")
        grown = memory.snapshots.nbytes
        assert first < grown < 3 * first
        ana.erase()
        assert memory.snapshots.nbytes == 0


def test_a_cache_of_less_than_nothing_is_refused() -> None:
    """Style: bad input is refused whole, before anything is opened."""
    with pytest.raises(InvalidInput, match="cache="):
        Memory(":memory:", cache=-1)
