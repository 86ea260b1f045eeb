"""The contract of `ports.Ledgerside`: repeats, drops, use."""

from __future__ import annotations

import pytest

from firsthand.errors import Conflict
from firsthand.model import Dropped
from firsthand.ports import Store

from .base import Bench
from .samples import ALEX, NOW, ODD_TEXTS


class BesideContract(Bench):
    """Small things kept beside the ledger."""

    @pytest.mark.parametrize("text", ODD_TEXTS)
    def test_a_receipt_is_found_under_its_key(self, store: Store, text: str) -> None:
        """Design: the same idempotency key is a repeat, which gets the same answer."""
        with store.writing(ALEX, NOW) as work:
            assert work.beside.remembered_receipt(text) is None
            work.beside.remember_receipt(text, "digest", f'{{"text": "{len(text)}"}}')
        with store.reading(ALEX) as read:
            assert read.beside.remembered_receipt(text) == ("digest", f'{{"text": "{len(text)}"}}')
            assert read.beside.remembered_receipt(f"{text} ") is None

    def test_a_key_is_given_out_once(self, store: Store) -> None:
        """Design: the same key with another body is an error; the first answer stands."""
        with store.writing(ALEX, NOW) as work:
            work.beside.remember_receipt("key", "first", "{}")
        with store.writing(ALEX, NOW) as work:
            with pytest.raises(Conflict, match="key"):
                work.beside.remember_receipt("key", "second", "{}")
            assert work.beside.remembered_receipt("key") == ("first", "{}")

    def test_what_was_dropped_is_listed_oldest_first_without_its_text(self, store: Store) -> None:
        """Design: the reason is kept, what was dropped never."""
        with store.writing(ALEX, NOW) as work:
            first, second = work.next_position(), work.next_position()
            work.beside.add_dropped([Dropped("secret", "a credential", "m2", "credentials")], second)
            work.beside.add_dropped([Dropped("b", "no subject"), Dropped("c", "a guess", "m1")], first)
            work.beside.add_dropped([Dropped("d", "a guess", "m2")], first)
            work.beside.add_dropped([], first)
        with store.reading(ALEX) as read:
            everything = [
                (None, "no subject", None),
                ("m1", "a guess", None),
                ("m2", "a guess", None),
                ("m2", "a credential", "credentials"),
            ]
            assert read.beside.dropped() == everything
            assert read.beside.dropped(["m2", "gone", "m2"]) == everything[2:]
            assert read.beside.dropped([]) == []

    def test_uses_are_counted_with_their_last_time(self, store: Store) -> None:
        """Design: the caller reports use; a report that comes late does not turn the time back."""
        for ids, at in ((["a", "b"], 10), (["a"], 30), (["a"], 20)):
            with store.writing(ALEX, NOW) as work:
                work.beside.add_use(ids, at)
        with store.reading(ALEX) as read:
            assert read.beside.uses() == {"a": (3, 30), "b": (1, 10)}
