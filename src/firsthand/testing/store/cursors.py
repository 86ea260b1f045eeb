"""The contract of `ports.Cursors`: how far models have read, whose turn it is, what it cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firsthand.model import Position
from firsthand.ports import Cursor, Removal, Spending, Store

from .base import Bench
from .samples import ALEX, NOW, ODD_TEXTS, SAM, say


class CursorContract(Bench):
    """Small rows that hold no words, one for each session."""

    def test_a_session_that_nobody_read_has_a_cursor_at_nothing(self, store: Store) -> None:
        """Ours: no row, no error."""
        with store.reading(ALEX) as read:
            assert read.cursors.get("s1") == Cursor("s1")
            assert read.cursors.due(1) == []
        assert store.due(1) == []

    @pytest.mark.parametrize("session", ODD_TEXTS)
    def test_a_cursor_is_what_was_saved_last(self, store: Store, session: str) -> None:
        """Design: a cursor per session; '' stands for messages of no session."""
        first = Cursor(session, None, 5, 0, "", 0)
        then = Cursor(session, Position(7, 0, "store"), None, 9, "holder", 3)
        for cursor in (first, then):
            with store.writing(ALEX, NOW) as work:
                work.cursors.save(cursor)
                assert work.cursors.get(session) == cursor
            with store.reading(ALEX) as read:
                assert read.cursors.get(session) == cursor
        with store.reading(SAM) as read:
            assert read.cursors.get(session) == Cursor(session)

    def test_what_is_due_and_free_is_listed_the_longest_due_first(self, store: Store) -> None:
        """Issue: picked up later, by whichever process comes first."""
        with store.writing(ALEX, NOW) as work:
            for session, due_at, leased_until in (
                ("late", 8, 0),
                ("early", 3, 0),
                ("later", 11, 0),
                ("held", 3, 11),
                ("let go", 3, 10),
                ("never", None, 0),
            ):
                work.cursors.save(Cursor(session, due_at=due_at, leased_until=leased_until))
        with store.writing(SAM, NOW) as work:
            work.cursors.save(Cursor("s1", due_at=20))
        with store.reading(ALEX) as read:
            assert [each.session for each in read.cursors.due(10)] == ["early", "let go", "late"]
            assert read.cursors.due(2) == []
        assert store.due(10) == [ALEX]
        assert store.due(20) == [ALEX, SAM]
        assert store.due(2) == []

    def test_one_of_two_claims_of_a_session_sees_the_other(self, store: Store, second: Store) -> None:
        """Issue: two workers never read one batch twice."""
        with store.writing(ALEX, NOW) as work:
            work.cursors.save(Cursor("s1", due_at=1))
        with store.writing(ALEX, NOW) as work:
            (mine,) = work.cursors.due(5)
            work.cursors.save(replace(mine, leased_until=10, holder="me"))
        with second.writing(ALEX, NOW) as work:
            assert work.cursors.due(5) == []
            assert work.cursors.get("s1").holder == "me"

    def test_spending_adds_up_over_owners_by_day(self, store: Store) -> None:
        """Issue: cost is counted; a cap holds for all owners together."""
        for owner, day, calls, tokens in (
            (ALEX, "d1", 1, 10),
            (ALEX, "d1", 2, 20),
            (SAM, "d1", 3, 30),
            (SAM, "d2", 1, 1),
        ):
            with store.writing(owner, NOW) as work:
                work.cursors.spend(day, Spending(calls, tokens))
        assert store.spent("d1") == Spending(6, 60)
        assert store.spent("d3") == Spending()

    def test_the_cursor_of_a_session_goes_with_its_last_message(self, store: Store) -> None:
        """Ours: the name of a session may be telling, so it does not outlive what was said in it."""
        with store.writing(ALEX, NOW) as work:
            for id_, session in (("m1", "s1"), ("m2", "s1"), ("m3", "s2"), ("m4", None)):
                say(work, id_, session=session)
                work.cursors.save(Cursor(session or "", due_at=1))
        for erased, left in (("m1", ["", "s1", "s2"]), ("m2", ["", "s2"]), ("m4", ["s2"])):
            with store.writing(ALEX, NOW) as work:
                work.erase(Removal(messages=[erased]), [])
            with store.reading(ALEX) as read:
                assert [each.session for each in read.cursors.due(1)] == left
