"""The contract of `ports.Search`: terms and vectors, as recall packs them."""

from __future__ import annotations

import pytest

from firsthand.errors import InvalidInput
from firsthand.model import Role, micros
from firsthand.ports import MessageFacts, SearchRow, Store, Writing

from .base import Bench
from .samples import ALEX, NOW, message, say

_BYTES = bytes(range(256))


def _add(work: Writing, *ids: str) -> None:
    work.messages.add([message(work, id_) for id_ in ids])


class SearchContract(Bench):
    """Search rows come back byte for byte, with what recall keeps of their messages."""

    @pytest.mark.parametrize("together", [True, False])
    def test_a_messages_row_carries_what_recall_needs(self, store: Store, together: bool) -> None:
        """Ours: the same whether the row is put with its message or later."""
        with store.writing(ALEX, NOW) as work:
            said = message(work, "m1", role=Role.ASSISTANT, name="Ada", agent="helper", session="s9", recalled=True)
            work.messages.add([said])
            if together:
                work.search.put([SearchRow("message", "m1", _BYTES, _BYTES[::-1])])
        if not together:
            with store.writing(ALEX, NOW) as work:
                work.search.put([SearchRow("message", "m1", _BYTES, _BYTES[::-1])])
        with store.reading(ALEX) as read:
            (facts,) = read.search.messages()
        assert facts == MessageFacts(
            id="m1",
            position=said.position,
            session="s9",
            agent="helper",
            role=Role.ASSISTANT,
            name="Ada",
            at=micros(said.at),
            terms=_BYTES,
            vector=_BYTES[::-1],
            recalled=True,
        )

    def test_messages_come_in_ledger_order_after_a_position(self, store: Store) -> None:
        """Design: caches load rows above their position."""
        with store.writing(ALEX, NOW) as work:
            _add(work, "b", "a", "bare", "c")
            work.search.put([SearchRow("message", id_, b"", None) for id_ in ("c", "a", "b", "gone")])
        with store.reading(ALEX) as read:
            facts = list(read.search.messages())
            later = list(read.search.messages(after=facts[0].position))
        assert [each.id for each in facts] == ["b", "a", "c"]
        assert later == facts[1:]

    @pytest.mark.parametrize("together", [True, False])
    def test_putting_again_replaces(self, store: Store, together: bool) -> None:
        """Ours: the last row put is the one that is found."""
        rows = [SearchRow("message", "m1", b"new", b"v"), SearchRow("belief", "a\x1fb\x1fc", b"new", b"v")]
        old = [SearchRow(row.type, row.id, b"old", None) for row in rows]
        with store.writing(ALEX, NOW) as work:
            _add(work, "m1")
            work.search.put([*old, *rows] if together else old)
        if not together:
            with store.writing(ALEX, NOW) as work:
                work.search.put(rows)
        with store.reading(ALEX) as read:
            assert [(each.terms, each.vector) for each in read.search.messages()] == [(b"new", b"v")]
            assert list(read.search.beliefs()) == [rows[1]]

    def test_beliefs_come_back_all_or_by_id(self, store: Store) -> None:
        """Ours: a belief's row is named by slot, cell and claim, and by nothing shorter."""
        rows = [SearchRow("belief", f"s\x1f{n}\x1fé", bytes([n]), None) for n in range(3)]
        with store.writing(ALEX, NOW) as work:
            work.search.put(rows)
        with store.reading(ALEX) as read:
            assert list(read.search.beliefs()) == rows
            assert list(read.search.beliefs([rows[2].id, "s", rows[2].id])) == [rows[2]]
            assert list(read.search.beliefs([])) == []

    def test_drop_removes_what_is_there(self, store: Store) -> None:
        """Ours: dropping twice, or what never was, is no error; the message itself stays."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
            say(work, "m2")
            work.search.put([SearchRow("belief", "m1", b"t", None)])
            work.search.drop([("message", "m1"), ("message", "gone"), ("belief", "m2")])
            work.search.drop([("message", "m1")])
        with store.reading(ALEX) as read:
            assert [facts.id for facts in read.search.messages()] == ["m2"]
            assert [row.id for row in read.search.beliefs()] == ["m1"]
            assert len(read.messages.sessions()) == 1

    def test_due_gives_rows_without_a_vector_until_they_have_one(self, store: Store) -> None:
        """Design: vectors may be filled in later, a batch at a time."""
        with store.writing(ALEX, NOW) as work:
            for n in range(3):
                say(work, f"m{n}", f"text {n}")
            work.search.put([SearchRow("belief", "b", b"t", None), SearchRow("message", "m1", b"t", b"v")])
        with store.reading(ALEX) as read:
            assert read.search.due(10) == [
                ("message", "m0", "text 0"),
                ("message", "m2", "text 2"),
                ("belief", "b", ""),
            ]
            assert read.search.due(1) == [("message", "m0", "text 0")]
            assert read.search.due(0) == []
        with store.writing(ALEX, NOW) as work:
            filled = [SearchRow("message", f"m{n}", b"t", b"v") for n in range(3)]
            work.search.put([*filled, SearchRow("belief", "b", b"t", b"v")])
            assert work.search.due(10) == []

    def test_forgetting_vectors_makes_every_row_due(self, store: Store) -> None:
        """C061: another embedder is another space; words are kept, vectors are made again."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1", "hello")
            work.search.put([SearchRow("message", "m1", b"t", b"v"), SearchRow("belief", "b", b"t", b"v")])
        with store.writing(ALEX, NOW) as work:
            work.search.forget_vectors()
        with store.reading(ALEX) as read:
            assert read.search.due(10) == [("message", "m1", "hello"), ("belief", "b", "")]
            assert [(facts.terms, facts.vector) for facts in read.search.messages()] == [(b"t", None)]

    def test_rows_of_another_type_are_refused(self, store: Store) -> None:
        """Ours: a typo is an error, never a row that nobody finds."""
        with store.writing(ALEX, NOW) as work:
            with pytest.raises(InvalidInput, match="page"):
                work.search.put([SearchRow("page", "m1", b"", None)])
            with pytest.raises(InvalidInput, match="page"):
                work.search.drop([("page", "m1")])
