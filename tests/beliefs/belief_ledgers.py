"""Ledgers for the tests of the fold: a policy with every merge rule, and a small voice to tell stories in.

Days count from 2026-01-01, so that a test reads "Berlin since day 1, London since day 5".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from firsthand.beliefs.fold import Folded, fold_slot
from firsthand.beliefs.slots import owner_key, slot_of
from firsthand.beliefs.view import View, view
from firsthand.model import (
    CONFIDENCE,
    Act,
    Belief,
    Evidence,
    Kind,
    Observation,
    Owner,
    Position,
    Source,
    State,
    Target,
    Verdict,
    micros,
)
from firsthand.policy import parse
from firsthand.ports import Cell, Row

KEY = owner_key(Owner("", "alex"))
START = datetime(2026, 1, 1, tzinfo=UTC)

POLICY = parse("""
[attributes.lives_in]
cardinality = "one"
merge = "latest"
phrase = "lives in {value}"
aliases = ["resides_in"]

[attributes.relationship]
cardinality = "one"
merge = "ranked"

[attributes.employer]
cardinality = "one"
merge = "alternatives"

[attributes.diet]
cardinality = "one"
merge = "confirm"

[attributes.mood]
cardinality = "one"
merge = "latest"
lifetime_days = 10

[attributes.likes]
cardinality = "many"
opposite = "dislikes"

[attributes.dislikes]
cardinality = "many"
opposite = "likes"

[attributes.tag]
cardinality = "many"

[attributes.allergy]
cardinality = "many"
merge = "confirm"
sensitivity = "health"
""")


def day(number: float) -> datetime:
    """That many days after the start of the year."""
    return START + timedelta(days=number)


@dataclass
class Story:
    """What is told about one subject, row by row; ids are r1, r2, … unless named."""

    attribute: str | None = "lives_in"
    subject: str = "user"
    rows: list[Row] = field(default_factory=list)

    def say(
        self, value: str | None, at: float, source: Source = Source.STATED, *, act: Act = Act.ASSERT, **more: Any
    ) -> str:
        """Somebody says something on a day; `since` and `until` are days, too. Returns the id."""
        number = len(self.rows) + 1
        since, until, expires = (more.pop(name, None) for name in ("since", "until", "expires"))
        row = {name: more.pop(name) for name in ("witnesses", "voided", "evidence_position") if name in more}
        given: dict[str, Any] = {
            "id": f"r{number}",
            "act": act,
            "subject": self.subject,
            "attribute": self.attribute,
            "value": value,
            "kind": Kind.SEMANTIC,
            "source": source,
            "confidence": CONFIDENCE[source],
            "said_at": day(at),
            "position": Position(micros(day(100 + number)), number, "s"),
            "valid_from": None if since is None else day(since),
            "valid_to": None if until is None else day(until),
            "expires_at": None if expires is None else day(expires),
        }
        self.rows.append(Row(Observation(**(given | more)), **row))
        return str(self.rows[-1].observation.id)

    def infer(self, value: str, at: float, **more: Any) -> str:
        """A model infers something."""
        return self.say(value, at, Source.INFERRED, **more)

    def quote(self, value: str, at: float, **more: Any) -> str:
        """The person's words are quoted."""
        return self.say(value, at, Source.QUOTED, **more)

    def note(self, value: str, at: float, **more: Any) -> str:
        """The agent notes something."""
        return self.say(value, at, Source.AGENT, **more)

    def act(self, act: Act, on: Belief | str, at: float, value: str | None = None, **more: Any) -> str:
        """An act is aimed at a belief, by itself or by its value, as it is seen on that day."""
        belief = on if isinstance(on, Belief) else self.one(on, at)
        source = Source.CORRECTED if act is Act.CORRECT else Source.STATED
        source = more.pop("source", source)
        keeps = act in (Act.CONFIRM, Act.END)
        return self.say(belief.value if keeps else value, at, source, act=act, target=target(belief), **more)

    def correct(self, on: Belief | str, value: str, at: float, **more: Any) -> str:
        """A belief is corrected to another value."""
        return self.act(Act.CORRECT, on, at, value, **more)

    def retract(self, on: Belief | str, at: float, **more: Any) -> str:
        """A belief is taken back."""
        return self.act(Act.RETRACT, on, at, **more)

    def reject(self, on: Belief | str, at: float, **more: Any) -> str:
        """A belief is rejected."""
        return self.act(Act.REJECT, on, at, **more)

    def confirm(self, on: Belief | str, at: float, **more: Any) -> str:
        """A belief is confirmed."""
        return self.act(Act.CONFIRM, on, at, **more)

    def end(self, value: str | None, at: float, source: Source = Source.STATED, **more: Any) -> str:
        """A value, or whatever holds, is over."""
        return self.say(value, at, source, act=Act.END, **more)

    # -- what follows ----------------------------------------------------------------------------------------------

    def fold(self) -> Folded:
        """All slots of the story, folded from nothing."""
        return folded(self.rows)

    def view(self, at: float = 99) -> View:
        """What is believed on a day."""
        return view(self.fold().cells, POLICY, day(at))

    def beliefs(self, at: float = 99) -> dict[str, Belief]:
        """Beliefs of a day by id."""
        return {belief.id: belief for belief in self.view(at).beliefs}

    def one(self, value: str, at: float = 99) -> Belief:
        """The belief with this value: the one that holds or waits, if there is one, else the last."""
        mine = [belief for belief in self.view(at).beliefs if belief.value == value]
        alive = [b for b in mine if b.state in (State.ACTIVE, State.PENDING, State.SCHEDULED)]
        return (alive or mine)[-1]

    def states(self, at: float = 99) -> list[tuple[str, str]]:
        """(value, state) of every belief, in the view's order."""
        return [(belief.value, belief.state.value) for belief in self.view(at).beliefs]

    def active(self, at: float = 99) -> list[str]:
        """Values that hold on a day."""
        return [belief.value for belief in self.view(at).beliefs if belief.state is State.ACTIVE]

    def spans(self) -> list[tuple[str, float, float | None]]:
        """(value, from day, to day) of everything that ever holds."""
        holds = (State.ACTIVE, State.SUPERSEDED, State.SCHEDULED)
        return [
            (b.value, days(b.valid_from), None if b.valid_to is None else days(b.valid_to))
            for b in self.view(999).beliefs
            if b.state in holds
        ]


def days(at: datetime) -> float:
    """The number of the day."""
    return (at - START) / timedelta(days=1)


def target(belief: Belief) -> Target:
    """A belief as an act's target."""
    return Target(
        observation_id=belief.id.partition("@")[0],
        subject=belief.subject,
        attribute=belief.attribute,
        value=belief.value,
        slot=belief.slot if belief.attribute is None else None,
        valid_from=belief.valid_from,
        valid_to=belief.valid_to,
    )


def by_slot(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by their slot."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(slot_of(row.observation, POLICY, KEY), []).append(row)
    return found


def folded(rows: Iterable[Row]) -> Folded:
    """All slots, folded from nothing."""
    each = [fold_slot(mine, POLICY, KEY) for _, mine in sorted(by_slot(rows).items())]
    cells: tuple[Cell, ...] = tuple(cell for one in each for cell in one.cells)
    return Folded(cells, tuple(placed for one in each for placed in one.placements))


def quoted_from(row: Row, *messages: str) -> Row:
    """The row, citing messages."""
    evidence = tuple(Evidence(message) for message in messages)
    return replace(row, observation=replace(row.observation, evidence=evidence))


def waiting(verdict: Verdict = Verdict.NEEDS_CONFIRM, reason: str = "health waits") -> dict[str, Any]:
    """What admission says of a claim that waits."""
    return {"verdict": verdict, "reason": reason}


def values(beliefs: Sequence[Belief]) -> list[str]:
    """The values of beliefs."""
    return [belief.value for belief in beliefs]
