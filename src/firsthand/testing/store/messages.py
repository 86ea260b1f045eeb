"""The contract of `ports.Messages`."""

from __future__ import annotations

from datetime import timedelta, timezone
from pathlib import Path

import pytest

from firsthand.errors import Conflict, InvalidInput
from firsthand.model import Role, Source, Verdict
from firsthand.ports import MessageQuery, Store, Writing

from .base import Bench
from .samples import ALEX, NOW, ODD_TEXTS, message, say, take_back


def _talk(work: Writing, count: int = 6) -> list[str]:
    """Messages a day apart, in two sessions in turn, the odd ones of another agent and origin."""
    ids = [f"m{n}" for n in range(count)]
    for n, id_ in enumerate(ids):
        odd = n % 2 == 1
        session, agent, origin = ("s2", "helper", "import") if odd else ("s1", None, None)
        say(work, id_, session=session, agent=agent, origin=origin, at=NOW + timedelta(days=n))
    return ids


def _walk(store: Store, query: MessageQuery) -> list[str]:
    with store.reading(ALEX) as work:
        return [each.id for each in work.messages.walk(query)]


class MessageContract(Bench):
    """Messages come back as they were said, in order, under every filter."""

    @pytest.mark.parametrize("text", ODD_TEXTS)
    def test_any_text_comes_back_as_it_was_said(self, store: Store, text: str) -> None:
        """Issue 2: any Unicode survives the round trip, in content, ids, names and metadata alike."""
        with store.writing(ALEX, NOW) as work:
            said = message(
                work,
                f"id {text}",
                text,
                name=text,
                session=f"session {text}",
                agent=text,
                origin=text,
                at_original=text,
                raw={"content": [{"type": "text", "text": text}], "n": [1, 1.5, None, True]},
                metadata={"note": text, "nested": {"a": [1, 2]}},
                recalled=True,
                masked=2,
                role=Role.TOOL,
            )
            work.messages.add([said])
        with store.reading(ALEX) as read:
            assert list(read.messages.walk(MessageQuery())) == [said]
            assert list(read.messages.walk(MessageQuery(ids=[said.id]))) == [said]

    def test_what_is_absent_stays_absent(self, store: Store) -> None:
        """Ours: no name, session or metadata is not an empty one."""
        with store.writing(ALEX, NOW) as work:
            said = message(work, "m1", session=None)
            work.messages.add([said])
        with store.reading(ALEX) as read:
            (back,) = read.messages.walk(MessageQuery())
        assert (back.name, back.session, back.agent, back.origin, back.at_original, back.raw) == (None,) * 6
        assert back == said

    @pytest.mark.parametrize("minutes", [0, 120, -210, 345, 840])
    def test_times_keep_their_offset(self, store: Store, minutes: int) -> None:
        """Design: times keep the offset they were given with; the instant is exact to the microsecond."""
        at = NOW.replace(microsecond=123_457).astimezone(timezone(timedelta(minutes=minutes)))
        with store.writing(ALEX, NOW) as work:
            say(work, "m1", at=at)
        with store.reading(ALEX) as read:
            (back,) = read.messages.walk(MessageQuery())
        assert back.at.isoformat() == at.isoformat()

    def test_the_words_are_where_others_can_read_them(self, store: Store, place: Path) -> None:
        """Ours: a fault that undoes itself on the way back is found by reading past the store."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1", "I moved to Lisbon")
        assert self.stored_messages(place) == {("default", "alex", "m1", "I moved to Lisbon")}

    def test_walk_is_in_ledger_order_whatever_the_time_said(self, store: Store) -> None:
        """Design: the order of the ledger is the order in which memory was told."""
        with store.writing(ALEX, NOW) as work:
            say(work, "late", at=NOW)
            say(work, "early", at=NOW - timedelta(days=400))
        assert _walk(store, MessageQuery()) == ["late", "early"]
        assert _walk(store, MessageQuery(newest_first=True)) == ["early", "late"]

    @pytest.mark.parametrize("newest_first", [False, True])
    def test_filters_narrow_the_walk(self, store: Store, newest_first: bool) -> None:
        """Design: session and agent are read filters; origin is what `forget_source` goes by."""
        with store.writing(ALEX, NOW) as work:
            ids = _talk(work)
        step = -1 if newest_first else 1
        for query, wanted in (
            (MessageQuery(session="s1", newest_first=newest_first), ids[::2]),
            (MessageQuery(agent="helper", newest_first=newest_first), ids[1::2]),
            (MessageQuery(origin="import", newest_first=newest_first), ids[1::2]),
            (MessageQuery(session="s2", agent="helper", newest_first=newest_first), ids[1::2]),
            (MessageQuery(session="s1", agent="helper", newest_first=newest_first), []),
            (MessageQuery(session="s", newest_first=newest_first), []),
        ):
            assert _walk(store, query) == wanted[::step]

    def test_since_takes_its_moment_in_and_until_leaves_it_out(self, store: Store) -> None:
        """Ours: half-open, so that adjoining ranges cover each message once."""
        with store.writing(ALEX, NOW) as work:
            ids = _talk(work)
        middle = NOW + timedelta(days=3)
        assert _walk(store, MessageQuery(since=middle)) == ids[3:]
        assert _walk(store, MessageQuery(until=middle)) == ids[:3]
        assert _walk(store, MessageQuery(since=middle, until=middle)) == []

    def test_pages_cover_each_message_once_while_others_write(self, store: Store) -> None:
        """C068: a stable cursor over ledger order, despite inserts between the pages."""
        with store.writing(ALEX, NOW) as work:
            ids = _talk(work, 25)
        seen: list[str] = []
        after = None
        while True:
            with store.reading(ALEX) as read:
                page = list(read.messages.walk(MessageQuery(after=after, limit=4)))
            if not page:
                break
            seen.extend(each.id for each in page)
            after = page[-1].position
            if len(seen) <= 8:
                with store.writing(ALEX, NOW) as work:
                    say(work, f"new{len(seen)}")
        assert seen == [*ids, "new4", "new8"]

    def test_limits_are_defined_at_their_ends(self, store: Store) -> None:
        """C068: zero gives nothing, a huge one everything, a negative one is refused."""
        with store.writing(ALEX, NOW) as work:
            ids = _talk(work)
        assert _walk(store, MessageQuery(limit=0)) == []
        assert _walk(store, MessageQuery(limit=2)) == ids[:2]
        assert _walk(store, MessageQuery(limit=2, newest_first=True)) == [ids[5], ids[4]]
        assert _walk(store, MessageQuery(limit=10**30)) == ids
        assert _walk(store, MessageQuery(ids=ids, limit=2)) == ids[:2]
        with pytest.raises(InvalidInput, match="limit"):
            _walk(store, MessageQuery(limit=-1))

    def test_named_messages_come_in_the_order_named(self, store: Store) -> None:
        """Ours: unknown ids are left out, repeated ones come once, filters hold."""
        with store.writing(ALEX, NOW) as work:
            _talk(work)
        assert _walk(store, MessageQuery(ids=["m4", "gone", "m1", "m4"])) == ["m4", "m1"]
        assert _walk(store, MessageQuery(ids=["m4", "m1"], session="s1")) == ["m4"]
        assert _walk(store, MessageQuery(ids=[])) == []

    def test_many_ids_at_once_are_no_trouble(self, store: Store) -> None:
        """Ours: no database's limit on the parameters of a statement shows through."""
        ids = [f"m{n}" for n in range(40_000)]
        with store.writing(ALEX, NOW) as work:
            say(work, "m39999")
        assert _walk(store, MessageQuery(ids=ids)) == ["m39999"]

    @pytest.mark.parametrize("batch", [["m2", "m1"], ["m2", "m3", "m2"]])
    def test_an_id_that_is_taken_refuses_the_whole_batch(self, store: Store, batch: list[str]) -> None:
        """Design: a batch is stored whole or not at all, and the error names the id."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
            named = "m1" if "m1" in batch else "m2"
            with pytest.raises(Conflict, match=named):
                work.messages.add([message(work, id_) for id_ in batch])
            say(work, "m9")
        assert _walk(store, MessageQuery()) == ["m1", "m9"]

    def test_sessions_come_by_their_first_message(self, store: Store) -> None:
        """API: every session with its size and span; messages without one are counted together."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1", session="z", at=NOW)
            say(work, "m2", session=None, at=NOW)
            say(work, "m3", session="a", at=NOW - timedelta(days=9))
            say(work, "m4", session="z", at=NOW - timedelta(days=1))
        with store.reading(ALEX) as read:
            sessions = [(each.id, each.messages, each.first, each.last) for each in read.messages.sessions()]
        assert sessions == [
            ("z", 2, NOW - timedelta(days=1), NOW),
            (None, 1, NOW, NOW),
            ("a", 1, NOW - timedelta(days=9), NOW - timedelta(days=9)),
        ]

    def test_a_message_taken_back_names_the_first_act_that_did_it(self, store: Store) -> None:
        """Design: a joke that was never extracted is marked in recall. An act that waits takes nothing back."""
        with store.writing(ALEX, NOW) as work:
            for id_ in ("m1", "m2", "m3"):
                say(work, id_)
            take_back(work, "waits", "m1", verdict=Verdict.NEEDS_CONFIRM)
            first = take_back(work, "first", "m1", source=Source.AGENT)
            take_back(work, "second", "m1")
            other = take_back(work, "other", "m3")
        with store.reading(ALEX) as read:
            assert read.messages.retracted() == {"m1": first, "m3": other}
            assert read.messages.retracted(["m2", "m3", "gone"]) == {"m3": other}
            assert read.messages.retracted([]) == {}
