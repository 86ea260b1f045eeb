"""The contract of ownership: every owner's rows are that owner's alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from firsthand.model import Owner
from firsthand.ports import MessageQuery, Remains, Removal, Store

from .base import Bench
from .samples import ALEX, NOW, SAM, contents, fill, say

LOOKALIKES = (
    Owner("default", "Alex"),
    Owner("default", "alex "),
    Owner("default", " alex"),
    Owner("default", "alex1"),
    Owner("default", "ale"),
    Owner("default", "ale_"),
    Owner("default", "%"),
    Owner("default", "\uff41\uff4c\uff45\uff58"),
    Owner("default", "al\x00ex"),
    Owner("default", ""),
    Owner("Default", "alex"),
    Owner("defaulta", "lex"),
    Owner("", "defaultalex"),
    Owner("alex", "default"),
)


class OwnerContract(Bench):
    """Owners are compared exactly, on every read and write."""

    @pytest.mark.parametrize("other", LOOKALIKES, ids=repr)
    def test_no_lookalike_reads_anothers_rows(self, store: Store, other: Owner) -> None:
        """C022: the owner is ANDed in at the storage boundary on every read surface; case, blanks and marks count."""
        fill(store, ALEX, "mine")
        with store.reading(other) as read:
            assert not any(contents(read).values())
            assert read.head().version == 0
            assert read.beside.remembered_receipt("key mine") is None

    @pytest.mark.parametrize("other", LOOKALIKES, ids=repr)
    def test_no_lookalike_changes_anothers_rows(self, store: Store, other: Owner) -> None:
        """C022: the same ids, keys and slots live side by side; erasing one leaves the other whole."""
        fill(store, ALEX, "mine")
        with store.reading(ALEX) as read:
            before, head = contents(read), read.head()
        fill(store, other, "theirs")
        with store.writing(other, NOW) as work:
            work.search.forget_vectors()
            work.search.drop([("message", "m1")])
            work.erase(Removal(messages=["m1"], observations=["o1"]), ["t"])
        with store.writing(other, NOW) as work:
            work.beliefs.clear()
            work.erase(Removal(everything=True), ["t"])
        with store.reading(ALEX) as read:
            assert (contents(read), read.head()) == (before, head)
            assert read.tombstoned(["t"]) == set()
        assert store.owners() == [ALEX]

    def test_marks_that_compose_alike_are_two_owners(self, store: Store) -> None:
        """Design: structured, compared exactly; nobody's name is normalised into another's."""
        for owner in (Owner("default", "zo\u00eb"), Owner("default", "zoe\u0308")):
            with store.writing(owner, NOW) as work:
                say(work, "m1", repr(owner))
        assert len(store.owners()) == 2

    def test_owners_are_listed_once_they_wrote(self, store: Store) -> None:
        """Ours: in one order, whoever came first."""
        for owner in (SAM, Owner("acme", "sam"), ALEX):
            with store.writing(owner, NOW) as work:
                say(work, "m1")
        with store.reading(Owner("default", "reader")):
            pass
        assert store.owners() == [Owner("acme", "sam"), ALEX, SAM]

    def test_interleaved_owners_stay_apart(self, store: Store) -> None:
        """C024: scope is an argument of each unit of work; there is no current owner to mix up."""
        owners = [Owner("default", f"u{n}") for n in range(4)]

        def talk(owner: Owner) -> list[str]:
            for n in range(8):
                with store.writing(owner, NOW) as work, store.reading(owner) as read:
                    say(work, f"m{n}", owner.user)
                    assert all(each.content == owner.user for each in read.messages.walk(MessageQuery()))
            with store.reading(owner) as read:
                return [each.content for each in read.messages.walk(MessageQuery())]

        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(talk, owners)) == [[owner.user] * 8 for owner in owners]

    def test_an_owner_taken_over_is_row_for_row_the_one_that_was_read(self, store: Store) -> None:
        """Ours: a copy of a store is made of these rows; whatever was there instead is gone, the head row too."""
        fill(store, ALEX, "mine")
        fill(store, SAM, "theirs")
        with store.reading(ALEX) as read:
            rows, head, held = list(read.stored()), read.head(), contents(read)
        assert {table for table, _ in rows} >= {"owners", "messages", "observations", "cells", "search_messages"}
        with store.writing(ALEX, NOW) as work:
            say(work, "later")
        with store.writing(ALEX, NOW) as work:
            work.take_over(rows)
        with store.reading(ALEX) as read:
            assert (sorted(map(repr, read.stored())), read.head()) == (sorted(map(repr, rows)), head)
            assert contents(read) == held
        assert store.owners() == [ALEX, SAM]

    def test_what_erasures_left_is_taken_over_as_it_is(self, store: Store) -> None:
        """C047: the digests that bind import bind it in a copy too, under the same secret."""
        for owner in (ALEX, SAM, Owner("acme", "sam")):
            fill(store, owner, "mine")
            with store.writing(owner, NOW) as work:
                work.erase(Removal(everything=True), [f"t {owner.user}"])
        left = store.remains()
        store.take_over(Remains(left.secret, left.rows[:1]))
        assert list(store.remains().rows) == list(left.rows[:1])
        store.take_over(left)
        assert sorted(map(repr, store.remains().rows)) == sorted(map(repr, left.rows))
        with store.reading(SAM) as read:
            assert read.tombstoned(["t sam", "t alex"]) == {"t sam"}
