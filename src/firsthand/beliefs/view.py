"""From cells to beliefs, as of a time: states, ids, confidence and reasons. Pure; the time is passed in.

A belief is a stretch over which a value holds, or a claim that waits, was rejected or was taken back. Its evidence is
left empty: whoever knows the placements fills it in through `View.claims`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from firsthand.beliefs import rules
from firsthand.beliefs.moments import day, later, stamp, when
from firsthand.beliefs.opencell import joined
from firsthand.beliefs.slots import SEPARATOR, SLOT_CELL, Shape, shape_of
from firsthand.beliefs.state import FOREVER, Claim, Founder, Status, Support, decode
from firsthand.beliefs.timeline import Run, ever_holds, runs, starting, stops
from firsthand.model import INFERRED, NOTED, Act, Belief, Kind, Source, State, micros
from firsthand.policy import Policy
from firsthand.ports import Cell

ClaimName = tuple[str, str, str]  # slot, cell, claim: as placements have it

_DAY = timedelta(days=1) // timedelta(microseconds=1)
_REPEATED = 0.8
_PER_SESSION = 0.1
_GUESS_AT_MOST = 0.6
_STATES = {Status.PENDING: State.PENDING, Status.WITHDRAWN: State.WITHDRAWN, Status.REJECTED: State.REJECTED}


@dataclass(frozen=True, slots=True)
class View:
    """Beliefs as of a time, sorted by (subject, attribute, valid_from, position of the founder, id)."""

    beliefs: tuple[Belief, ...]
    next_change: datetime | None  # the earliest later moment at which any state would differ
    claims: Mapping[str, tuple[ClaimName, ...]] = field(default_factory=dict)  # by belief id; the first names it
    proposals: Mapping[str, Act] = field(default_factory=dict)  # by belief id: the act that a pending one asks for
    homes: Mapping[ClaimName, str] = field(default_factory=dict, repr=False)  # the belief that a claim supports

    def resolve(self, slot: str, cell: str, claim: str) -> str | None:
        """The id of the belief that a placement's claim supports now; None when it has none."""
        return self.homes.get((slot, cell, claim))


@dataclass(slots=True)
class _Draft:
    """A belief in the making."""

    id: str
    cell: Cell
    attribute: str | None
    lead: Claim  # the claim it is shown as
    claims: Sequence[Claim]
    supports: Mapping[int, Support]
    start: int
    end: int
    state: State
    expires: int | None = None
    reason: str = ""
    changes: int = FOREVER  # when its state is another
    follower: str | None = None  # id of the belief that took its place
    rivals: tuple[str, ...] = ()


def view(cells: Iterable[Cell], policy: Policy, valid_at: datetime) -> View:
    """What is believed as of a time, in every state, from the cells of any slots."""
    reader = _Reader(policy, micros(valid_at))
    drafts = [draft for cell in cells if cell.state for draft in reader.read(cell)]
    homes = _homes(drafts, reader.at)
    drafts.sort(key=_order)
    change = min((draft.changes for draft in drafts), default=FOREVER)
    return View(
        beliefs=tuple([reader.belief(draft, homes) for draft in drafts]),
        next_change=None if change == FOREVER else when(change),
        claims={draft.id: tuple(_names(draft)) for draft in drafts},
        proposals={draft.id: Act(draft.lead.asks) for draft in drafts if draft.lead.asks and _waits(draft)},
        homes=homes,
    )


class _Reader:
    """Reads cells under one policy as of one time."""

    def __init__(self, policy: Policy, at: int) -> None:
        self.at = at
        self._policy = policy
        self._shapes: dict[str, Shape] = {}
        self._known: dict[str | None, tuple[int | None, str | None]] = {}

    def read(self, cell: Cell) -> list[_Draft]:
        """The beliefs of a cell."""
        shape = self._shape(cell.slot)
        state = decode(cell.state)
        standing = [c for c in state.claims if c.status is Status.STANDING and ever_holds(c)]
        stretches = runs(standing, beside=shape.beside)
        drafts = [self._stretch(cell, shape, run) for run in stretches]
        for place, (draft, run) in enumerate(zip(drafts, stretches, strict=True)):
            others = drafts if shape.beside else drafts[place + 1 : place + 2]
            self._follow(draft, run, others)
        shown = {id(claim) for run in stretches for claim in run.claims}
        drafts.extend(self._aside(cell, shape, claim) for claim in state.claims if id(claim) not in shown)
        return drafts

    def belief(self, draft: _Draft, homes: Mapping[ClaimName, str]) -> Belief:
        """The belief itself, once the ids of all others are known."""
        lead, supports = draft.lead, draft.supports
        level = max(supports)
        source, confidence = _weight(level, supports[level])
        value = lead.supports[max(lead.supports)].spelling or lead.value
        follower = draft.follower
        if lead.next is not None and draft.state is State.WITHDRAWN:
            follower = homes.get((draft.cell.slot, *lead.next))
        expires = draft.expires
        return Belief(
            id=draft.id,
            subject=lead.subject,
            attribute=draft.attribute,
            value=value,
            text=rules.proposed(lead.asks, self._policy.phrase(lead.subject, draft.attribute, value)),
            kind=Kind(lead.kind),
            source=source,
            confidence=confidence,
            state=draft.state,
            valid_from=when(draft.start),
            valid_to=None if draft.end == FOREVER else when(draft.end),
            recorded_at=when(_founder(supports)[0]),
            reason=draft.reason,
            slot=draft.cell.slot,
            support=sum(support.count for support in supports.values()),
            last_said=when(_last_said(supports)),
            disputed_with=draft.rivals,
            expires_at=None if expires is None else when(expires),
            guess=level == INFERRED.level,
            sensitivity=self._about(draft.attribute)[1],
            superseded_by=follower,
        )

    # -- what holds at some time -----------------------------------------------------------------------------------

    def _stretch(self, cell: Cell, shape: Shape, run: Run) -> _Draft:
        begun = starting(run)
        claims = begun + [claim for claim in run.claims if claim.start < run.start]
        supports = _together(claims)
        level = max(supports)
        lead = next((c for c in claims if c.level == level), claims[0])
        name = _founder(_together(begun))[3] if begun else _resumed(run.claims[0], run.start)
        draft = _Draft(name, cell, _attribute(shape, lead), lead, claims, supports, run.start, run.end, State.ACTIVE)
        draft.expires = self._expiry(draft)
        self._judge(draft)
        return draft

    def _judge(self, draft: _Draft) -> None:
        """Its state at the time of the view, and until when."""
        expires = FOREVER if draft.expires is None else draft.expires
        if self.at < draft.start:
            draft.state, draft.changes = State.SCHEDULED, draft.start
            draft.reason = f"from {day(draft.start)} on"
        elif draft.end <= self.at:
            draft.state = State.SUPERSEDED
        elif expires <= self.at:
            draft.state, draft.changes = State.EXPIRED, draft.end
            draft.reason = f"expired on {day(expires)}"
        else:
            draft.changes = min(draft.end, expires)

    def _follow(self, draft: _Draft, run: Run, others: Sequence[_Draft]) -> None:
        """What is disputed with it, and what came after it."""
        draft.rivals = tuple(
            [other.id for other in others if other is not draft and other.start < draft.end and other.end > draft.start]
        )
        if draft.state is not State.SUPERSEDED:
            return
        after = next((other for other in others if other.start <= run.end < other.end), None)
        draft.follower = None if after is None else after.id
        if run.changed and after is not None:
            draft.reason = f'changed to "{rules.shown(_label(after))}" on {day(run.end)}'
        else:
            draft.reason = f"ended on {day(run.end)}"

    # -- what does not ---------------------------------------------------------------------------------------------

    def _aside(self, cell: Cell, shape: Shape, claim: Claim) -> _Draft:
        """A claim outside the timeline: it waits, was rejected or taken back, or never came to hold."""
        name = claim.key if claim.asks else _founder(claim.supports)[3]
        if claim.resumed is not None:
            name = _resumed(claim, claim.start)
        state = _STATES.get(claim.status, State.SUPERSEDED)
        end = max(stops(claim), claim.start)
        draft = _Draft(name, cell, _attribute(shape, claim), claim, [claim], claim.supports, claim.start, end, state)
        draft.reason = claim.why
        if claim.status is Status.STANDING and ever_holds(claim):
            draft.state, draft.reason = State.PENDING, rules.OUTRANKED
        elif claim.status is Status.STANDING:
            draft.reason = f"ended on {day(end)}"
        if draft.state is State.PENDING:
            draft.expires = self._expiry(draft)
        return draft

    # -- what the policy says --------------------------------------------------------------------------------------

    def _expiry(self, draft: _Draft) -> int | None:
        """When it stops being active: as its best support says, or a lifetime after it began or was last said."""
        moments = [draft.supports[max(draft.supports)].expires]
        lifetime = self._about(draft.attribute)[0]
        if lifetime is not None:
            moments.append(later(max(_last_said(draft.supports), draft.start), lifetime))
        return min((moment for moment in moments if moment is not None), default=None)

    def _about(self, attribute: str | None) -> tuple[int | None, str | None]:
        """(lifetime in microseconds, sensitive class) of an attribute."""
        if attribute is None:
            return None, None
        found = self._known.get(attribute)
        if found is None:
            known = self._policy.attribute(attribute)
            lifetime = None if known.lifetime_days is None else int(known.lifetime_days * _DAY)
            found = self._known[attribute] = (lifetime, known.sensitivity)
        return found

    def _shape(self, slot: str) -> Shape:
        name = slot.partition(SEPARATOR)[2]
        shape = self._shapes.get(name)
        if shape is None:
            shape = self._shapes[name] = shape_of(slot, self._policy)
        return shape


def _weight(level: int, support: Support) -> tuple[Source, float]:
    """Source and confidence. What is heard again in further sessions weighs more; its rank does not move."""
    sessions = len(support.witnesses)
    confidence = support.confidence
    if level == NOTED.level and sessions > 1:
        return Source.REPEATED, max(confidence, _REPEATED)
    if level == INFERRED.level and sessions > 1:
        raised = round(confidence + _PER_SESSION * (sessions - 1), 6)
        confidence = max(confidence, min(raised, _GUESS_AT_MOST))
    return Source(support.source), confidence


def _together(claims: Sequence[Claim]) -> Mapping[int, Support]:
    if len(claims) == 1:
        return claims[0].supports
    supports: dict[int, Support] = {}
    for claim in claims:
        for level, support in claim.supports.items():
            supports[level] = joined(supports[level], support) if level in supports else support
    return supports


def _founder(supports: Mapping[int, Support]) -> Founder:
    return min(support.founder for support in supports.values())


def _last_said(supports: Mapping[int, Support]) -> int:
    """When it was last said or noted. An inference refreshes nothing but inferences."""
    level = max(supports)
    return max(s.last for rank, s in supports.items() if rank > INFERRED.level or level == INFERRED.level)


def _resumed(claim: Claim, start: int) -> str:
    return f"{_founder(claim.supports)[3]}@{stamp(start)}"


def _attribute(shape: Shape, claim: Claim) -> str | None:
    return shape.attribute if shape.opposite is None else claim.value_key


def _label(draft: _Draft) -> str:
    if draft.attribute == draft.lead.value_key and draft.cell.cell != SLOT_CELL:
        return f"{draft.attribute.replace('_', ' ')} {draft.lead.value}"
    return draft.lead.value


def _waits(draft: _Draft) -> bool:
    return draft.state is State.PENDING


def _names(draft: _Draft) -> Iterator[ClaimName]:
    slot, cell = draft.cell.slot, draft.cell.cell
    for claim in draft.claims:
        yield slot, cell, claim.resumed or claim.key
    for claim in draft.claims:
        yield from ((slot, cell, key) for key in claim.also)


def _homes(drafts: Iterable[_Draft], at: int) -> dict[ClaimName, str]:
    """Where each claim is found now: in what it supports at the time, or else in what it began."""
    homes: dict[ClaimName, str] = {}
    for draft in drafts:
        if draft.lead.resumed is None:
            for name in _names(draft):
                if name not in homes or draft.start <= at < draft.end:
                    homes[name] = draft.id
    return homes


def _order(draft: _Draft) -> tuple[str, str, int, Founder, str]:
    return draft.lead.subject, draft.attribute or "", draft.start, _founder(draft.supports), draft.id
