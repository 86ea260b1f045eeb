"""What holds of the fold for every ledger, however odd: random rows of one slot, any acts, ranks, times, verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from belief_ledgers import KEY, POLICY, Story, by_slot, day, folded, waiting
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.beliefs.digest import digest
from firsthand.beliefs.fold import advance, fold_slot, replay_key
from firsthand.beliefs.slots import aimed_act, cells_of
from firsthand.beliefs.view import view
from firsthand.model import (
    CONFIDENCE,
    INFERRED,
    SAID,
    Act,
    Belief,
    Evidence,
    Kind,
    Observation,
    Position,
    Source,
    State,
    Target,
    Verdict,
    micros,
)
from firsthand.ports import Cell, Row

ATTRIBUTES = ("lives_in", "relationship", "employer", "diet", "likes", "dislikes", "tag", "allergy", None)
VALUES = ("Berlin", "berlin.", "London", "Porto")
HELD = (State.ACTIVE, State.SUPERSEDED, State.SCHEDULED, State.EXPIRED)

few = settings(max_examples=60, deadline=None)
days = st.integers(0, 8).map(day)
maybe_days = st.none() | days


@st.composite
def targets(draw: st.DrawFn, attribute: str | None) -> Target:
    """What an act may be aimed at, with an interval that may be anything."""
    return Target(
        observation_id=f"o{draw(st.integers(0, 12))}",
        subject="user",
        attribute=attribute,
        value=draw(st.none() | st.sampled_from(VALUES)),
        slot=None if attribute is not None else "~0",
        valid_from=draw(maybe_days),
        valid_to=draw(maybe_days),
    )


@st.composite
def observations(draw: st.DrawFn, number: int, attribute: str | None) -> Observation:
    """Any observation of one slot."""
    source = draw(st.sampled_from([source for source in Source if source is not Source.REPEATED]))
    act = draw(st.sampled_from([Act.ASSERT, Act.ASSERT, Act.ASSERT, *Act]))
    name = draw(st.sampled_from(["likes", "dislikes"])) if attribute in ("likes", "dislikes") else attribute
    return Observation(
        id=f"o{number}",
        act=act,
        subject="user",
        attribute=name,
        value=draw(st.none() | st.sampled_from(VALUES)) if act is not Act.ASSERT else draw(st.sampled_from(VALUES)),
        kind=Kind.SEMANTIC,
        source=source,
        confidence=CONFIDENCE[source],
        said_at=draw(days),
        position=Position(micros(day(100)), number, "s"),
        valid_from=draw(maybe_days),
        valid_to=draw(maybe_days),
        expires_at=draw(st.none() | days),
        evidence=tuple(Evidence(f"m{n}", start=n) for n in draw(st.lists(st.integers(0, 3), max_size=1))),
        target=draw(targets(name)) if act is not Act.ASSERT else None,
        verdict=draw(st.sampled_from([Verdict.WRITE] * 6 + [Verdict.NEEDS_CONFIRM, Verdict.DROP])),
    )


@st.composite
def ledgers(draw: st.DrawFn, most: int = 10) -> list[Row]:
    """Rows of one attribute, in ledger order."""
    attribute = draw(st.sampled_from(ATTRIBUTES))
    rows = []
    for number in range(draw(st.integers(0, most))):
        seen = tuple((draw(st.sampled_from(["", "a", "b"])), f"m{number}") for _ in range(draw(st.integers(0, 1))))
        rows.append(
            Row(
                observation=draw(observations(number, attribute)),
                witnesses=seen,
                voided=draw(st.sampled_from([0, 0, 0, 0, 1, 2, 3])),
                evidence_position=draw(st.none() | st.just(Position(micros(day(90)), number % 3, "s"))),
            )
        )
    return rows


def see(rows: list[Row], at: datetime | None = None) -> tuple[Belief, ...]:
    return view(folded(rows).cells, POLICY, at or day(4)).beliefs


@few
@given(ledgers(), st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(rows: list[Row], chance: Any) -> None:
    """Design: same ledger, same beliefs, whatever order the rows are given in."""
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert digest(folded(shuffled).cells) == digest(folded(rows).cells)
    assert sorted(map(str, folded(shuffled).placements)) == sorted(map(str, folded(rows).placements))


@few
@given(ledgers(), st.integers(1, 4))
def test_incremental_equals_full(rows: list[Row], step: int) -> None:
    """Design: incremental = rebuilt, by digest, however the rows are cut into batches."""
    for mine in by_slot(rows).values():
        saved: dict[str, Cell] = {}
        placed: dict[str, object] = {}
        for cut in range(0, len(mine), step):
            batch = mine[cut : cut + step]
            wanted = {name for row in batch for name in cells_of(row.observation, POLICY)}
            done = advance([saved[name] for name in sorted(wanted) if name in saved], batch, POLICY, KEY)
            if done is None:
                done = fold_slot(mine[: cut + step], POLICY, KEY)
                saved = {}
            saved |= {cell.cell: replace(cell, version=7) for cell in done.cells}
            placed |= {placement.observation_id: placement for placement in done.placements}
        full = fold_slot(mine, POLICY, KEY)
        assert digest(saved.values()) == digest(full.cells)
        assert placed == {placement.observation_id: placement for placement in full.placements}


@few
@given(ledgers())
def test_rows_in_replay_order_advance_without_a_full_fold(rows: list[Row]) -> None:
    """Ours: what is told in order is folded row by row, but for the few cases that the fold names."""
    for mine in by_slot(rows).values():
        saved: dict[str, Cell] = {}
        for number, row in enumerate(sorted(mine, key=replay_key)):
            done = advance(list(saved.values()), [row], POLICY, KEY)
            earlier = sorted(mine, key=replay_key)[:number]
            first_word = row.observation.rank == SAID and any(r.observation.rank == INFERRED for r in earlier)
            if done is None:
                assert first_word or aimed_act(row.observation) or row.observation.act is Act.END
                break
            saved |= {cell.cell: cell for cell in done.cells}


@few
@given(ledgers(), st.sets(st.integers(0, 9)))
def test_inferences_change_nothing_that_was_said(rows: list[Row], without: set[int]) -> None:
    """Design, the Joe guarantee: leave any inferences out, and what was said and noted beside it stands as it stood."""
    fewer = [r for n, r in enumerate(rows) if r.observation.rank != INFERRED or n not in without]
    for at in (day(0), day(4), day(9)):
        assert _said(see(rows, at)) == _said(see(fewer, at))


@few
@given(ledgers())
def test_a_guess_holds_nowhere_where_something_was_said(rows: list[Row]) -> None:
    """Design: at most pending, also from before, and after the said value is retracted or ends."""
    for mine in by_slot(rows).values():
        told = [r.observation for r in mine if r.observation.act is Act.ASSERT]
        if any(observation.rank == SAID and observation.verdict is Verdict.WRITE for observation in told):
            assert not [b for at in (day(0), day(4), day(9)) for b in see(mine, at) if b.guess and b.state in HELD]


def _said(beliefs: tuple[Belief, ...]) -> list[Belief]:
    """All of what was said but for its identity and the number of its supporters, which inferences may add to."""
    said = [b for b in beliefs if b.source in (Source.RECORD, Source.STATED, Source.CORRECTED)]
    said = [b for b in said if not b.text.startswith(("no longer: ", "never: "))]  # proposals about a guess go with it
    same = [replace(b, id="", support=0, recorded_at=day(0), superseded_by=None, disputed_with=()) for b in said]
    return sorted(same, key=str)


@few
@given(ledgers())
def test_a_slot_of_one_value_never_holds_two_at_once(rows: list[Row]) -> None:
    """Design: nothing decides which one holds is the second story; here something always does."""
    cells = [cell for cell in folded(rows).cells if cell.attribute in ("lives_in", "relationship", "diet", None)]
    held = sorted(
        (b.slot, b.valid_from, b.valid_to or day(99))
        for b in view(cells, POLICY, day(4)).beliefs
        if b.state in HELD and b.valid_from != b.valid_to
    )
    assert all(one[2] <= other[1] for one, other in pairwise(held) if one[0] == other[0])


@few
@given(ledgers())
def test_every_claim_leads_to_a_belief_and_ids_are_unique(rows: list[Row]) -> None:
    """Design: any supporter's id resolves to the belief it supports now."""
    done = folded(rows)
    seen = view(done.cells, POLICY, day(4))
    ids = [belief.id for belief in seen.beliefs]
    assert len(ids) == len(set(ids))
    assert set(seen.claims) == set(ids)
    for placed in done.placements:
        if placed.claim:
            home = seen.resolve(placed.slot, placed.cell, placed.claim)
            assert home in ids
            assert (placed.slot, placed.cell, placed.claim) in [n for id_ in ids for n in seen.claims[id_]]


@few
@given(ledgers())
def test_states_last_until_the_next_change(rows: list[Row]) -> None:
    """Ours: `next_change` is the moment until which a view may be kept, and a change happens there."""
    cells = folded(rows).cells
    for start in (day(0), day(3)):
        seen = view(cells, POLICY, start)
        for at in [day(n / 2) for n in range(20)]:
            if at > start and (seen.next_change is None or at < seen.next_change):
                assert _states(view(cells, POLICY, at).beliefs) == _states(seen.beliefs)
        if seen.next_change is not None:
            assert _states(view(cells, POLICY, seen.next_change).beliefs) != _states(seen.beliefs)


def _states(beliefs: tuple[Belief, ...]) -> list[tuple[str, State]]:
    return [(belief.id, belief.state) for belief in beliefs]


@few
@given(ledgers(), st.sampled_from(["Berlin", "London"]), st.data())
def test_what_was_retracted_stays_retracted(rows: list[Row], value: str, data: st.DataObject) -> None:
    """Design: retract, then extract the same value again at a lower rank, and it holds nowhere."""
    story = Story("lives_in", rows=list(rows))
    story.rows = [r for r in rows if r.observation.attribute == "lives_in"]
    story.say(None, 9, act=Act.RETRACT, target=Target(subject="user", attribute="lives_in", value=value))
    before = story.spans()
    source = data.draw(st.sampled_from([Source.QUOTED, Source.AGENT, Source.INFERRED]))
    story.say(value, 9.5, source, since=data.draw(st.none() | st.integers(0, 12)))
    assert value.casefold() not in [held[0].casefold().rstrip(".") for held in story.spans()]
    assert story.spans() == before


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ({"source": Source.STATED}, {"source": Source.STATED}),
        ({"source": Source.STATED}, {"source": Source.INFERRED}),
        ({"source": Source.QUOTED}, {"source": Source.STATED, "verdict": Verdict.NEEDS_CONFIRM}),
        ({"source": Source.STATED}, {"source": Source.STATED, "act": Act.END}),
        ({"source": Source.STATED}, {"source": Source.AGENT, "act": Act.END}),
        ({"source": Source.STATED}, {"source": Source.AGENT, "act": Act.RETRACT}),
        ({"source": Source.STATED}, {"source": Source.STATED, "act": Act.RETRACT}),
        ({"source": Source.STATED}, {"source": Source.STATED, "voided": 3}),
        ({"source": Source.STATED}, {"source": Source.STATED, "until": 0}),
        ({"source": Source.STATED}, {"source": Source.STATED, "act": Act.CONFIRM}),
        ({"source": Source.STATED}, {"source": Source.CORRECTED, "act": Act.CORRECT, "target": Target(value="London")}),
        ({"source": Source.STATED}, {"source": Source.AGENT, "act": Act.CORRECT, "target": Target(value="London")}),
        ({"source": Source.STATED}, {"source": Source.STATED, "act": Act.END, **waiting()}),
    ],
)
@pytest.mark.parametrize("attribute", ["lives_in", "tag"])
def test_repeats_do_not_make_a_cell_grow(attribute: str, first: dict[str, Any], again: dict[str, Any]) -> None:
    """Design: a slot's ten-thousandth repeat costs what its tenth did."""
    story = Story(attribute)
    story.say("Berlin", 1, **first)
    story.say("London", 1, **first)
    sizes = {}
    for number in range(2_000):
        story.say("Berlin", 2 + number / 100, witnesses=((f"s{number}", f"m{number}"),), **again)
        if number in (9, 1_999):
            sizes[number] = sum(len(cell.state) for cell in folded(story.rows).cells)
    assert sizes[1_999] <= sizes[9] + 30
    assert all(json.loads(cell.state) for cell in folded(story.rows).cells)
