"""A client that resends its whole history, after something of it was erased."""

from __future__ import annotations

from typing import Any

import pytest

from firsthand import Conflict, User


def turns(*texts: str) -> list[dict[str, Any]]:
    """A talk of the user and the assistant by turns."""
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


def erased_and_resent(alex: User, *erased: str) -> list[str]:
    """What a session of a, b, c, d holds when some of it was erased and all of it is sent again with a new turn."""
    talk = turns("a", "b", "c", "d")
    alex.observe(talk, session="s", full=True)
    for message in list(alex.messages("s")):
        if message.content in erased:
            alex.forget(message.id)
    receipt = alex.observe([*talk, {"role": "user", "content": "new"}], session="s", full=True)
    assert [(text, "erased" in reason) for text, reason in receipt.dropped] == [(each, True) for each in erased]
    return [m.content for m in alex.messages("s")]


@pytest.mark.parametrize("erased", ["a", "b", "d", "ab", "cd", "bd", "abcd"])
def test_an_erased_turn_stays_erased_and_the_rest_goes_on(alex: User, erased: str) -> None:
    """Issue 5: erasure survives a client that sends its history again, and does not stop it."""
    left = [each for each in "abcd" if each not in erased]
    assert erased_and_resent(alex, *erased) == [*left, "new"]


def test_a_session_erased_piece_by_piece_keeps_its_places(alex: User) -> None:
    """Ours: places are counted with what was erased before."""
    talk = turns("a", "b", "c", "d", "e")
    alex.observe(talk, session="s", full=True)
    for each in ("b", "a", "d"):
        alex.forget(next(m.id for m in alex.messages("s") if m.content == each))
        alex.observe(talk, session="s", full=True)
    assert [m.content for m in alex.messages("s")] == ["c", "e"]


def test_another_session_and_live_talk_are_not_bound(alex: User) -> None:
    """Design: said again live, it starts anew."""
    erased_and_resent(alex, "a")
    alex.observe("a", session="s")
    alex.observe(turns("a", "b"), session="t", full=True)
    assert [m.content for m in alex.messages("t")] == ["a", "b"]
    assert [m.content for m in alex.messages("s")][-1] == "a"


def test_a_whole_source_sent_again_stays_away(alex: User) -> None:
    """Issue 5: forget_source rolls back a session; the client's next request does not bring it back."""
    talk = [{"role": "system", "content": "be kind"}, *turns("I live in Rome.", "ok")]
    alex.observe(talk, session="s", full=True)
    alex.forget_source(session="s")
    alex.observe(talk, session="s", full=True)
    assert [m.content for m in alex.messages("s")] == []
    assert alex.beliefs(state=None) == []


def test_a_history_that_differs_is_still_a_conflict(alex: User) -> None:
    """API: never guess which history is right."""
    erased_and_resent(alex, "b")
    with pytest.raises(Conflict, match="message 3"):
        alex.observe(turns("a", "b", "other"), session="s", full=True)


def test_an_erased_owner_starts_anew_whatever_is_sent(alex: User) -> None:
    """C050: nothing of an erasure is in the way of a person who begins again."""
    alex.observe(turns("a", "b"), session="s", full=True)
    alex.erase()
    alex.observe(turns("a", "b", "c"), session="s", full=True)
    assert [m.content for m in alex.messages("s")] == ["a", "b", "c"]
