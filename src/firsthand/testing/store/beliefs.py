"""The contract of `ports.Beliefs`: derived state that can be dropped and rebuilt."""

from __future__ import annotations

from firsthand.ports import Cell, Placement, Store

from .base import Bench
from .samples import ALEX, NOW, claim, say, settle


def _names(cells: list[Cell]) -> list[tuple[str, str]]:
    return [(cell.slot, cell.cell) for cell in cells]


class BeliefContract(Bench):
    """Cells and placements come back as saved, and tell caches what is newer."""

    def test_cells_come_back_by_slot_and_cell(self, store: Store) -> None:
        """Ours: all of them, those of some slots, or some by name, each once and in one order."""
        keys = [("b", "2"), ("b", ""), ("a", "x"), ("c", "")]
        with store.writing(ALEX, NOW) as work:
            work.beliefs.save([Cell(slot, cell, "Joe", None, f"{slot}{cell}!") for slot, cell in keys], [])
        with store.reading(ALEX) as read:
            version = read.head().version
            assert read.beliefs.cells() == [
                Cell(slot, cell, "Joe", None, f"{slot}{cell}!", version) for slot, cell in sorted(keys)
            ]
            assert _names(read.beliefs.cells(slots=["c", "b", "none", "b"])) == [("b", ""), ("b", "2"), ("c", "")]
            assert _names(read.beliefs.cells(keys=[("b", "2"), ("a", ""), ("a", "x"), ("b", "2")])) == [
                ("a", "x"),
                ("b", "2"),
            ]
            assert read.beliefs.cells(slots=[]) == []
            assert read.beliefs.cells(keys=[]) == []

    def test_saving_a_cell_replaces_it_with_a_new_version(self, store: Store) -> None:
        """Design: caches load what is newer than their version."""
        for state in ("old", "new"):
            with store.writing(ALEX, NOW) as work:
                work.beliefs.save([Cell("a", "", "user", "lives_in", state)], [])
        with store.writing(ALEX, NOW) as work:
            work.beliefs.save([Cell("b", "", "user", "likes", "first")], [])
        with store.reading(ALEX) as read:
            assert [(cell.slot, cell.state, cell.version) for cell in read.beliefs.cells()] == [
                ("a", "new", 2),
                ("b", "first", 3),
            ]
            assert _names(read.beliefs.cells(since_version=2)) == [("b", "")]
            assert _names(read.beliefs.cells(slots=["a"], since_version=2)) == []
            assert _names(read.beliefs.cells(keys=[("b", "")], since_version=2)) == [("b", "")]

    def test_a_cell_that_is_gone_shows_only_to_who_had_it(self, store: Store) -> None:
        """Design: a cache learns what to drop; a fresh one never sees it."""
        for state in ("here", ""):
            with store.writing(ALEX, NOW) as work:
                work.beliefs.save([Cell("a", "", "user", None, state)], [])
        with store.reading(ALEX) as read:
            assert read.beliefs.cells() == []
            assert read.beliefs.cells(slots=["a"]) == []
            assert [(cell.slot, cell.state) for cell in read.beliefs.cells(since_version=1)] == [("a", "")]

    def test_an_epoch_forgets_cells_that_are_gone(self, store: Store) -> None:
        """Ours: once every cache starts anew, not even the name of a gone cell is kept."""
        with store.writing(ALEX, NOW) as work:
            work.beliefs.save([Cell("a", "", "user", None, "")], [])
        with store.writing(ALEX, NOW) as work:
            work.bump_epoch()
        with store.reading(ALEX) as read:
            assert read.beliefs.cells(since_version=0) == []

    def test_saving_placements_replaces_all_of_an_observation(self, store: Store) -> None:
        """Design: a fold may move an observation to another claim, or into several cells."""
        with store.writing(ALEX, NOW) as work:
            second, first = (claim(work, id_) for id_ in ("o2", "o1"))
            work.beliefs.save([], [Placement("o1", "s", "old", "o1"), Placement("o2", "s", "", "o2")])
            work.beliefs.save([], [Placement("o1", "s", "a", "o2"), Placement("o1", "s", "b", "")])
        with store.reading(ALEX) as read:
            moved = [(Placement("o1", "s", "a", "o2"), first), (Placement("o1", "s", "b", ""), first)]
            stayed = (Placement("o2", "s", "", "o2"), second)
            assert read.beliefs.placements() == [stayed, *moved]
            assert read.beliefs.placements(observation_ids=["o1", "gone", "o1"]) == moved
            assert read.beliefs.placements(claims=[("s", "o2"), ("s", "o2"), ("t", "o2")]) == [stayed, moved[0]]
            assert read.beliefs.placements(claims=[]) == []

    def test_citations_follow_the_placements(self, store: Store) -> None:
        """Ours: each message cited by what was placed after a version, in ledger order."""
        with store.writing(ALEX, NOW) as work:
            for id_ in ("m1", "m2"):
                say(work, id_)
            claim(work, "o2", ("m2", "m1"))
            claim(work, "o1", ("m1",))
            claim(work, "silent")
            for id_ in ("silent", "o1", "o2"):
                settle(work, id_, slot="s")
        with store.writing(ALEX, NOW) as work:
            settle(work, "o1", slot="t")
        with store.reading(ALEX) as read:
            o2, o1 = Placement("o2", "s", "", "o2"), Placement("o1", "t", "", "o1")
            assert read.beliefs.cited() == [(o2, "m2"), (o2, "m1"), (o1, "m1")]
            assert read.beliefs.cited(since_version=1) == [(o1, "m1")]
            assert read.beliefs.cited(since_version=2) == []

    def test_clear_drops_everything_derived_and_nothing_else(self, store: Store) -> None:
        """Design: beliefs and their search rows can be dropped and rebuilt; messages' search rows are not theirs."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
            settle(work, claim(work, "o1", ("m1",)).id)
        with store.writing(ALEX, NOW) as work:
            work.beliefs.clear()
        with store.reading(ALEX) as read:
            assert (read.beliefs.cells(), read.beliefs.placements(), list(read.search.beliefs())) == ([], [], [])
            assert [row.observation.id for row in read.observations.walk()] == ["o1"]
            assert [facts.id for facts in read.search.messages()] == ["m1"]
            assert read.head().epoch == 1
