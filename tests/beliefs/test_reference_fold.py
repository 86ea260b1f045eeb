"""The fold against an independent, naive one that was written from the rules alone (`reference_fold.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

import pytest
import reference_fold
from belief_ledgers import POLICY, day, folded
from belief_ledgers import days as in_days
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.beliefs.fold import replay_key
from firsthand.beliefs.view import view
from firsthand.model import (
    CONFIDENCE,
    Act,
    Belief,
    Kind,
    Observation,
    Position,
    Source,
    State,
    Target,
    Verdict,
    micros,
)
from firsthand.ports import Row
from firsthand.text import value_key

VALUES = ("Berlin", "berlin.", "London")
HELD = (State.ACTIVE, State.SUPERSEDED, State.SCHEDULED, State.EXPIRED)


SOURCES = (*(source for source in Source if source is not Source.REPEATED), Source.STATED, Source.QUOTED)
ACTS = (*[Act.ASSERT] * 7, Act.END, Act.END, Act.CORRECT, Act.RETRACT, Act.REJECT, Act.CONFIRM)
VERDICTS = (*[Verdict.WRITE] * 9, Verdict.NEEDS_CONFIRM, Verdict.DROP)
ONE_AT_A_TIME = ("lives_in", "relationship", "employer", "diet")
MANY = ("likes", "dislikes", "tag", "allergy")
Ledger = tuple[str, list[Row]]


def ledger_of(seed: int) -> Ledger:
    """Four to nine rows of one slot, dense on a few days: any act, source, verdict and time, aimed at values.

    Drawn by a plain generator, since one that shrinks also seeks the simple, and rules meet each other in the others.
    """
    chance = Random(seed)  # noqa: S311 - test data
    attribute = chance.choice((*ONE_AT_A_TIME, *ONE_AT_A_TIME, *MANY))
    claiming = chance.choice((SOURCES, SOURCES, (Source.INFERRED, Source.QUOTED), (Source.STATED,)))
    rows = [_row(chance, number, attribute, claiming) for number in range(chance.randint(4, 9))]
    return attribute, _with_few_endings(rows)


def _row(chance: Random, number: int, attribute: str, claiming: Sequence[Source]) -> Row:
    act = chance.choice(ACTS)
    source = chance.choice(SOURCES if act is not Act.ASSERT else claiming)
    name = chance.choice(("likes", "dislikes")) if attribute in ("likes", "dislikes") else attribute
    value, other = chance.choice(VALUES), chance.choice(VALUES)
    since = _some_day(chance, 0.5)
    aim = Target(subject="user", attribute=name, value=other, valid_from=since, valid_to=_later(chance, since))
    ends_all = act is Act.END and attribute not in ("likes", "dislikes") and chance.random() < 0.4
    observation = Observation(
        id=f"o{number}",
        act=act,
        subject="user",
        attribute=name,
        value=None if ends_all else value,
        kind=Kind.SEMANTIC,
        source=source,
        confidence=CONFIDENCE[source],
        said_at=day(chance.randint(0, 8)) if chance.random() < 0.3 else day(number),
        position=Position(micros(day(100)), number, "s"),
        valid_from=_some_day(chance, 0.6),
        valid_to=_some_day(chance, 0.3),
        target=None if act in (Act.ASSERT, Act.END) else aim,
        verdict=chance.choice(VERDICTS),
    )
    cited = chance.choice((None, Position(micros(day(90)), number % 3, "s")))
    return Row(observation, evidence_position=cited, voided=chance.choice((*[0] * 9, 1, 2, 3)))


def _some_day(chance: Random, often: float) -> datetime | None:
    return day(chance.randint(0, 8)) if chance.random() < often else None


def _later(chance: Random, since: datetime | None) -> datetime | None:
    if since is None or chance.random() < 0.6:
        return None
    return since + timedelta(days=chance.randint(1, 4))


def _with_few_endings(rows: list[Row]) -> list[Row]:
    """Two endings at most: of more than that a cell keeps the first and the last, so that repeats cost nothing."""
    ends = [row for row in rows if row.observation.act is Act.END]
    return [row for row in rows if row not in ends[2:]]


def smallest(ledger: Ledger) -> Ledger:
    """As few rows as still disagree."""
    attribute, rows = ledger
    for row in list(rows):
        fewer = [each for each in rows if each is not row]
        if outcome(fewer, attribute) != reference_fold.fold(fewer, POLICY, attribute):
            return smallest((attribute, fewer))
    return ledger


def outcome(rows: list[Row], attribute: str) -> tuple[list[set[tuple[str, str]]], set[tuple[str, str]]]:
    """What the real fold says, in the reference's words."""
    seen = view(folded(rows).cells, POLICY, day(4))
    many = POLICY.attribute(attribute).cardinality == "many"

    def name(b: Belief) -> tuple[str, str]:
        if POLICY.attribute(attribute).opposite is not None:
            return value_key(b.value), str(b.attribute)
        return (value_key(b.value) if many else ""), value_key(b.value)

    held = [b for b in seen.beliefs if b.state in HELD]
    days_of = [
        {name(b) for b in held if b.valid_from <= day(d) and (b.valid_to is None or day(d) < b.valid_to)}
        for d in reference_fold.DAYS
    ]
    waits = {name(b) for b in seen.beliefs if b.state is State.PENDING and b.id not in seen.proposals}
    return days_of, waits


@settings(max_examples=600, deadline=None)
@given(st.integers(0, 2**48))
def test_the_fold_agrees_with_the_rules_read_plainly(seed: int) -> None:
    """Design, the rules of the fold: day by day what holds, and what waits, for every act, rank, merge and time."""
    attribute, rows = ledger_of(seed)
    if outcome(rows, attribute) != reference_fold.fold(rows, POLICY, attribute):
        attribute, rows = smallest((attribute, rows))
        told = "\n".join(_told(row) for row in sorted(rows, key=replay_key))
        found, right = outcome(rows, attribute), reference_fold.fold(rows, POLICY, attribute)
        pytest.fail(f"{attribute}\n{told}\nfold:      {found}\nreference: {right}")


def _told(row: Row) -> str:
    o = row.observation
    moments = (
        o.said_at,
        o.valid_from,
        o.valid_to,
        *(() if o.target is None else (o.target.valid_from, o.target.valid_to)),
    )
    on = [None if at is None else int(in_days(at)) for at in moments]
    aimed = "" if o.target is None else f" at {o.target.value} {on[3:]}"
    return (
        f"{o.act} {o.value} by {o.source}, said {on[0]}, from {on[1]} to {on[2]}{aimed} {o.verdict} voided {row.voided}"
    )
