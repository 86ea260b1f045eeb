"""The contract of `ports.Reading`, `ports.Writing` and `ports.Store`: snapshots, atomic changes, places, facts."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from firsthand.errors import InvalidInput, StoreError
from firsthand.model import Head, Owner, Position, micros
from firsthand.ports import Cell, MessageQuery, Store

from .base import Bench
from .samples import ALEX, NOW, SAM, claim, contents, fill, message, say


class _Changed(Exception):
    """Raised inside a block to undo it."""


class WorkContract(Bench):
    """A reading is one moment, a writing is all or nothing, and places never go backwards."""

    def test_an_owner_who_never_wrote_has_nothing(self, store: Store) -> None:
        """Ours: no row, no error."""
        with store.reading(ALEX) as read:
            assert read.head() == Head()
            assert not any(contents(read).values())
        assert store.owners() == []

    def test_a_change_that_raises_is_undone_whole(self, store: Store) -> None:
        """Design: nothing half done, in any table, the head row included."""
        fill(store, ALEX, "kept")
        with store.reading(ALEX) as read:
            before, head = contents(read), read.head()
        with pytest.raises(_Changed), store.writing(ALEX, NOW) as work:  # noqa: PT012 - the block is what is tested
            say(work, "m9")
            claim(work, "o9", ("m9",))
            work.beliefs.save([Cell("slot kept", "", "user", None, "changed")], [])
            work.beside.add_use(["m9"], 1)
            work.search.forget_vectors()
            work.bump_epoch()
            raise _Changed
        with store.reading(ALEX) as read:
            assert (contents(read), read.head()) == (before, head)

    def test_work_goes_on_after_a_change_was_undone(self, store: Store) -> None:
        """Ours: the next block has no memory of the last one."""
        with pytest.raises(_Changed), store.writing(ALEX, NOW):
            raise _Changed
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
        with store.reading(ALEX) as read:
            assert [each.id for each in read.messages.walk(MessageQuery())] == ["m1"]

    def test_a_writing_reads_its_own_changes(self, store: Store) -> None:
        """Ours: so that one verb can go through several stages."""
        with store.writing(ALEX, NOW) as work:
            said = say(work, "m1")
            assert list(work.messages.walk(MessageQuery())) == [said]
            assert [facts.id for facts in work.search.messages()] == ["m1"]

    def test_a_reading_stays_at_its_moment(self, store: Store) -> None:
        """Design: a consistent snapshot, whatever is written meanwhile."""
        fill(store, ALEX, "first")
        with store.reading(ALEX) as read:
            before, head = contents(read), read.head()
            with store.writing(ALEX, NOW) as work:
                say(work, "m9")
                work.beliefs.clear()
            assert (contents(read), read.head()) == (before, head)
        with store.reading(ALEX) as read:
            assert read.head().version == head.version + 1

    def test_a_reading_waits_for_no_writer(self, store: Store) -> None:
        """C055: reads take no write lock; they see what was committed."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
            with ThreadPoolExecutor(1) as other:
                seen = other.submit(self._ids, store).result()
        assert seen == []
        assert self._ids(store) == ["m1"]

    def test_another_handle_sees_what_was_committed(self, store: Store, second: Store) -> None:
        """C054: several processes share the rows; none works on a copy of its own."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
            assert self._ids(second) == []
        with second.writing(ALEX, NOW) as work:
            assert work.head().version == 1
            say(work, "m2")
        assert self._ids(store) == ["m1", "m2"]
        assert second.owners() == [ALEX]

    def test_rows_outlive_the_handle(self, store: Store, place: Path) -> None:
        """Design: the ledger is kept. A store that is not kept is opened empty."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
        store.close()
        again = self.open_store(place)
        assert self._ids(again) == (["m1"] if self.shared else [])
        again.close()

    def test_threads_lose_nothing_and_share_one_order(self, store: Store) -> None:
        """C054: appends by many all survive, each writer's in its own order."""
        ready = threading.Barrier(6)

        def add(writer: int) -> None:
            ready.wait()
            for n in range(10):
                with store.writing(ALEX, NOW) as work:
                    say(work, f"{writer} {n}")
                self._ids(store)

        with ThreadPoolExecutor(6) as threads:
            list(threads.map(add, range(6)))
        ids = self._ids(store)
        assert [[n for n in ids if n.startswith(f"{w} ")] for w in range(6)] == [
            [f"{w} {n}" for n in range(10)] for w in range(6)
        ]
        with store.reading(ALEX) as read:
            assert (read.head().version, read.head().counter) == (60, 60)

    def test_places_never_go_backwards(self, store: Store) -> None:
        """Design: recorded_at never goes backwards for an owner, whatever the clock does."""
        places: list[Position] = []
        for hours in (0, -5, 0, 1):
            with store.writing(ALEX, NOW + timedelta(hours=hours)) as work:
                said = [message(work, f"{hours} {len(places)} {n}") for n in range(2)]
                work.messages.add(said)
                places.extend(each.position for each in said)
        assert places == sorted(set(places))
        assert {each.store for each in places} == {store.id}
        assert [each.recorded_at for each in places[::2]] == [micros(NOW)] * 3 + [micros(NOW + timedelta(hours=1))]

    def test_each_writing_that_changes_something_is_one_version(self, store: Store) -> None:
        """Design: version is what caches go by; looking does not move it."""
        with store.writing(ALEX, NOW) as work:
            work.next_position()
        assert (self._head(store), store.owners()) == (Head(), [])
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
            say(work, "m2")
        head = self._head(store)
        assert (head.version, head.epoch, head.recorded_at) == (1, 0, micros(NOW))
        with store.writing(ALEX, NOW) as work:
            list(work.messages.walk(MessageQuery()))
        assert self._head(store) == head
        with store.writing(ALEX, NOW) as work:
            work.beside.add_use(["m1"], 1)
        assert self._head(store).version == 2

    def test_bumping_the_epoch_is_a_change(self, store: Store) -> None:
        """Design: bumped whenever derived rows were replaced wholesale; twice in one change is once."""
        with store.writing(ALEX, NOW) as work:
            work.bump_epoch()
            work.bump_epoch()
        assert (self._head(store).version, self._head(store).epoch) == (1, 1)

    def test_rows_of_an_earlier_place_make_caches_start_anew(self, store: Store) -> None:
        """Design: merging stores commutes; caches look only above their position, so they must be told."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
        with store.writing(ALEX, NOW) as work:
            say(work, "merged", position=Position(micros(NOW) - 5, 99, "elsewhere"))
        head = self._head(store)
        assert (head.version, head.epoch, head.recorded_at) == (2, 1, micros(NOW))
        assert self._ids(store) == ["merged", "m1"]

    def test_later_places_follow_merged_rows(self, store: Store) -> None:
        """Design: also those of a store whose clock runs ahead."""
        ahead = Position(micros(NOW) + 1_000_000, 7, "elsewhere")
        with store.writing(ALEX, NOW) as work:
            say(work, "merged", position=ahead)
            assert work.next_position() > ahead
        with store.writing(ALEX, NOW) as work:
            assert work.next_position() > ahead
            work.advance_to(ahead.recorded_at + 5)
            assert work.next_position().recorded_at == ahead.recorded_at + 5
        with store.writing(ALEX, NOW) as work:
            assert work.next_position().recorded_at == ahead.recorded_at + 5

    def test_an_iterator_ends_with_its_block(self, store: Store) -> None:
        """Ours: what is read after the moment is over is an error, never another moment's rows."""
        with store.writing(ALEX, NOW) as work:
            for n in range(3):
                say(work, f"m{n}")
        with store.reading(ALEX) as read:
            messages, facts = read.messages.walk(MessageQuery()), read.search.messages()
            assert (next(messages).id, next(facts).id) == ("m0", "m0")
        for left in (messages, facts):
            with pytest.raises(StoreError):
                list(left)

    def test_an_owner_writes_while_another_reads_on(self, store: Store) -> None:
        """Ours: a walk that its caller takes slowly holds nobody up, the same thread included."""
        with store.writing(ALEX, NOW) as work:
            for n in range(3):
                say(work, f"m{n}")
        with store.reading(ALEX) as read:
            for said in read.messages.walk(MessageQuery()):
                with store.writing(SAM, NOW) as work:
                    say(work, said.id)
        assert self._ids(store, SAM) == ["m0", "m1", "m2"]

    def test_facts_are_set_one_by_one(self, store: Store) -> None:
        """Design: policy and embedder are in the store; setting one leaves the others alone."""
        store.set_facts({"policy": "a = 1\n", "embedder": "static/1"})
        store.set_facts({"policy": "ünï"})
        facts = store.facts()
        assert (facts["policy"], facts["embedder"], facts["store"]) == ("ünï", "static/1", store.id)

    @pytest.mark.parametrize("name", ["store", "schema"])
    def test_what_the_store_says_of_itself_is_not_for_setting(self, store: Store, name: str) -> None:
        """Ours: its own id is part of every position."""
        with pytest.raises(InvalidInput, match=name):
            store.set_facts({"embedder": "x", name: "other"})
        assert "embedder" not in store.facts()

    def test_a_sound_store_has_no_faults(self, store: Store) -> None:
        """Issue 2: the file can be checked; and again after rows were erased from it."""
        fill(store, ALEX, "sound")
        fill(store, SAM, "sound")
        store.scrub()
        assert store.check() == []

    def test_damaged_words_are_found(self, store: Store, place: Path) -> None:
        """C058: damage is named, and the words themselves are not repeated."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1", "I live in Lisbon")
            say(work, "m2", "I live in Porto")
        self.damage_message(place, "m2")
        (fault,) = store.check()
        assert "m2" in fault
        assert "Porto" not in fault

    def test_a_closed_store_says_so(self, store: Store) -> None:
        """Ours: closing twice is safe, using it afterwards is an error of the tree."""
        store.close()
        store.close()
        with pytest.raises(StoreError, match="closed"), store.reading(ALEX):
            pass
        with pytest.raises(StoreError, match="closed"), store.writing(ALEX, NOW):
            pass

    def _ids(self, store: Store, owner: Owner = ALEX) -> list[str]:
        with store.reading(owner) as read:
            return [each.id for each in read.messages.walk(MessageQuery())]

    def _head(self, store: Store) -> Head:
        with store.reading(ALEX) as read:
            return read.head()
