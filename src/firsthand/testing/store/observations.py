"""The contract of `ports.Observations`: the ledger, and what the messages cited contribute to each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from firsthand.errors import Conflict
from firsthand.model import (
    RANK,
    Act,
    Evidence,
    Kind,
    Observation,
    Position,
    Role,
    Source,
    Target,
    Verdict,
    micros,
)
from firsthand.ports import Row, Store, Writing

from .base import Bench
from .samples import ALEX, NOW, ODD_TEXTS, claim, say, settle, take_back


def _row(store: Store, make: Callable[[Writing], Observation]) -> Row:
    """The row of the observation made, which every surface gives alike."""
    with store.writing(ALEX, NOW) as work:
        made = make(work)
        settle(work, made.id, slot="here")
    with store.reading(ALEX) as read:
        (row,) = read.observations.rows([made.id])
        assert [row] == read.observations.of_slots(["here"])
        assert row in list(read.observations.walk())
    return row


class ObservationContract(Bench):
    """Claims and acts come back as they were made, with what the fold needs of their messages."""

    @pytest.mark.parametrize("text", ODD_TEXTS)
    def test_every_field_comes_back(self, store: Store, text: str) -> None:
        """Design: the ledger is append-only and lossless, whatever the text."""
        with store.writing(ALEX, NOW) as work:
            made = claim(
                work,
                f"o {text}",
                act=Act.CORRECT,
                subject=text,
                attribute=text,
                value=text,
                kind=Kind.PROCEDURAL,
                source=Source.CORRECTED,
                confidence=0.1 + 0.2,
                valid_from=NOW - timedelta(days=3),
                valid_to=NOW + timedelta(days=3),
                expires_at=NOW + timedelta(days=9),
                evidence=(Evidence("m1", 2, 5, text), Evidence("m2")),
                target=Target("o0", None, text, text, text, "~slot", NOW, NOW),
                verdict=Verdict.NEEDS_CONFIRM,
                reason=text,
                session=text,
                agent=text,
                origin=text,
                writer="rules/1:lives_in",
                metadata={"note": text, "nested": {"a": [1, None, {}]}},
            )
            bare = claim(work, "bare", attribute=None, value=None, confidence=0.0)
        with store.reading(ALEX) as read:
            assert read.observations.get([made.id, "bare", "gone"]) == {made.id: made, "bare": bare}
            assert [row.observation for row in read.observations.walk()] == [made, bare]

    def test_walk_goes_from_a_position_to_a_known_time(self, store: Store) -> None:
        """Design: known_at is always record time."""
        for day in range(4):
            with store.writing(ALEX, NOW + timedelta(days=day)) as work:
                settle(work, claim(work, f"o{day}").id)
        with store.reading(ALEX) as read:
            ledger = [row.observation for row in read.observations.walk()]
            assert [each.id for each in ledger] == ["o0", "o1", "o2", "o3"]
            after = [row.observation.id for row in read.observations.walk(after=ledger[1].position)]
            known = [row.observation.id for row in read.observations.walk(known_at=micros(NOW + timedelta(days=1)))]
            slot = read.observations.of_slots(["user\x1flives_in"], known_at=micros(NOW + timedelta(days=1)))
        assert after == ["o2", "o3"]
        assert known == ["o0", "o1"]
        assert [row.observation.id for row in slot] == ["o0", "o1"]

    def test_rows_come_in_ledger_order_each_once(self, store: Store) -> None:
        """Ours: whatever order and however often the ids and slots are given."""
        with store.writing(ALEX, NOW) as work:
            for id_, slot in (("b", "s1"), ("a", "s2"), ("c", "s1")):
                say(work, f"m{id_}")
                claim(work, id_, (f"m{id_}", f"m{id_}"))
                settle(work, id_, slot=slot)
                settle(work, id_, slot=slot, cell="other")
        with store.reading(ALEX) as read:
            rows = read.observations.rows(["c", "gone", "b", "c"])
            placed = read.observations.of_slots(["s2", "s1", "s2", "none"])
        assert [row.observation.id for row in rows] == ["b", "c"]
        assert [row.observation.id for row in placed] == ["b", "a", "c"]

    def test_a_row_just_added_is_in_no_slot_until_it_is_placed(self, store: Store) -> None:
        """Design: the fold says where a row goes."""
        with store.writing(ALEX, NOW) as work:
            claim(work, "o1")
            assert work.observations.of_slots(["user\x1flives_in"]) == []
            assert [row.observation.id for row in work.observations.rows(["o1"])] == ["o1"]
            settle(work, "o1")
            assert [row.observation.id for row in work.observations.of_slots(["user\x1flives_in"])] == ["o1"]

    def test_citing_finds_each_observation_once(self, store: Store) -> None:
        """Design: erasure and `why` go from messages to what rests on them."""
        with store.writing(ALEX, NOW) as work:
            for id_ in ("m1", "m2"):
                say(work, id_)
            both = claim(work, "both", ("m1", "m2", "m1"))
            claim(work, "none")
            one = claim(work, "one", ("m2",))
        with store.reading(ALEX) as read:
            assert read.observations.citing(["m2", "m1"]) == [both, one]
            assert read.observations.citing(["m1"]) == [both]
            assert read.observations.citing(["gone"]) == []

    def test_a_claim_without_evidence_has_no_witness(self, store: Store) -> None:
        """Ours: nothing to place it by, nothing to take back."""
        row = _row(store, lambda work: claim(work, "o1"))
        assert (row.evidence_position, row.witnesses, row.voided) == (None, (), 0)

    def test_the_first_cited_message_that_exists_places_the_row(self, store: Store) -> None:
        """Design: rows are replayed by the position of the evidence message."""
        positions: dict[str, Position] = {}

        def make(work: Writing) -> Observation:
            positions.update({id_: say(work, id_).position for id_ in ("m1", "m2")})
            return claim(work, "o1", ("gone", "m2", "m1"))

        assert _row(store, make).evidence_position == positions["m2"]

    def test_only_the_persons_own_words_are_witnesses(self, store: Store) -> None:
        """Design: repetition counts distinct user messages; recalled context fed back is not evidence."""

        def make(work: Writing) -> Observation:
            say(work, "u1", session="s1")
            say(work, "u2", session=None)
            say(work, "a1", role=Role.ASSISTANT)
            say(work, "t1", role=Role.TOOL)
            say(work, "r1", recalled=True)
            return claim(work, "o1", ("u2", "a1", "u1", "r1", "t1", "u2", "gone"))

        assert _row(store, make).witnesses == (("", "u2"), ("s1", "u1"))

    @pytest.mark.parametrize(
        ("acts", "level"),
        [
            ((), 0),
            (("m1",), 0),
            (("m1", "m2"), RANK[Source.STATED].level),
            (("m1", "m2", "agent m1"), RANK[Source.STATED].level),
            (("m1", "agent m2"), RANK[Source.AGENT].level),
            (("m1", "agent m2", "m2"), RANK[Source.STATED].level),
            (("m1", "waiting m2"), 0),
        ],
    )
    def test_a_row_is_voided_when_every_message_it_cites_was_taken_back(
        self, store: Store, acts: tuple[str, ...], level: int
    ) -> None:
        """Design: by an act of no lower rank; one message that still stands keeps the claim."""

        def make(work: Writing) -> Observation:
            for id_ in ("m1", "m2"):
                say(work, id_)
            for n, act in enumerate(acts):
                *how, message_id = act.split()
                source = Source.AGENT if "agent" in how else Source.STATED
                verdict = Verdict.NEEDS_CONFIRM if "waiting" in how else Verdict.WRITE
                take_back(work, f"act{n}", message_id, source=source, verdict=verdict)
            return claim(work, "o1", ("m1", "m2"))

        assert _row(store, make).voided == level

    def test_a_message_taken_back_later_was_not_yet_at_an_earlier_known_time(self, store: Store) -> None:
        """Design: as-of answers are stable."""
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
            claim(work, "o1", ("m1",))
        with store.writing(ALEX, NOW + timedelta(days=1)) as work:
            take_back(work, "act", "m1")
        with store.reading(ALEX) as read:
            (before,) = read.observations.walk(known_at=micros(NOW))
            after, _ = read.observations.walk()
        assert (before.voided, after.voided) == (0, RANK[Source.STATED].level)

    @pytest.mark.parametrize("batch", [["o2", "o1"], ["o2", "o3", "o2"]])
    def test_an_id_that_is_taken_refuses_the_whole_batch(self, store: Store, batch: list[str]) -> None:
        """Design: the ledger is append-only; a batch is stored whole or not at all."""
        with store.writing(ALEX, NOW) as work:
            made = claim(work, "o1")
            again = [replace(made, id=id_, position=work.next_position()) for id_ in batch]
            with pytest.raises(Conflict, match="o1" if "o1" in batch else "o2"):
                work.observations.add(again)
            claim(work, "o9")
        with store.reading(ALEX) as read:
            assert [row.observation.id for row in read.observations.walk()] == ["o1", "o9"]
