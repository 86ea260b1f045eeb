"""One row's effect on one cell: assertions, endings, and what is taken back, by the rules of `rules.py`.

The same functions serve a fold from nothing and the next row alone, so both come to the same state. Which cells a row
goes to, and in which order rows come, is in `fold.py`; how claims are kept is in `opencell.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from firsthand.beliefs import rules
from firsthand.beliefs.moments import day, moment, stamp
from firsthand.beliefs.opencell import OpenCell, add, support_of
from firsthand.beliefs.slots import Shape
from firsthand.beliefs.state import FOREVER, Cause, CellState, Claim, Ending, Status, Veto
from firsthand.beliefs.timeline import Run, displaced, starting, stops
from firsthand.model import INFERRED, SAID, Act, Verdict
from firsthand.ports import Row


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a row claims of a cell: a value over an interval."""

    row: Row
    value_key: str
    value: str
    subject: str
    start: int
    until: int | None = None
    ended: int | None = None  # copied from what is confirmed or corrected
    respells: bool = False  # a correction of the spelling alone

    @property
    def level(self) -> int:
        """The rank level of its source."""
        return self.row.observation.rank.level

    @property
    def end(self) -> int:
        """Where the interval it claims ends."""
        return FOREVER if self.until is None else self.until


@dataclass(frozen=True, slots=True)
class Aim:
    """What an act takes back: a value over an interval."""

    row: Row
    value_key: str
    since: int
    to: int

    @property
    def level(self) -> int:
        """The highest rank level that the act may touch."""
        return reach(self.row)


def reach(row: Row) -> int:
    """The highest rank level that an act may touch: none while it waits for confirmation itself."""
    return 0 if row.observation.verdict is Verdict.NEEDS_CONFIRM else row.observation.rank.level


class CellReplay(OpenCell):
    """The effects that rows have on a cell.

    Each returns the key of the claim that the row went to, or '' when it changed none.
    """

    def __init__(self, name: str, shape: Shape, state: CellState) -> None:
        super().__init__(name, shape, state)
        self.guesses_wait = False  # something was said in the slot

    # -- assertions ------------------------------------------------------------------------------------------------

    def claim(self, claimed: Claimed) -> str:
        """A value is claimed to hold."""
        waits = claimed.row.observation.verdict is Verdict.NEEDS_CONFIRM
        if claimed.row.voided >= claimed.level:
            return self._keep(claimed, Status.WITHDRAWN, Cause.VOIDED, rules.VOIDED)
        if claimed.until is not None and claimed.until <= claimed.start:
            return self._keep(claimed, Status.WITHDRAWN, Cause.EMPTY, rules.NEVER_HELD)
        said = claimed.level == SAID.level and not waits
        if said:
            self.state.vetoes.pop(claimed.value_key, None)
        held = self.holding(claimed.value_key, claimed.start)
        if held is None and (veto := self._vetoed(claimed)) is not None:
            return self._keep(claimed, veto.status, Cause.TAKEN_BACK, veto.why)
        if waits:
            return self._ask(held, claimed)
        key = self._establish(claimed) if held is None else self._repeat(held, claimed)
        if said:
            self._bring_in(claimed)
        return key

    def _ask(self, held: Claim | None, claimed: Claimed) -> str:
        if held is not None and held.level == SAID.level:
            return self._support(held, claimed)
        return self._wait(claimed, claimed.row.observation.reason or rules.NEEDS_CONFIRMATION, waits=True)

    def _establish(self, claimed: Claimed) -> str:
        reason = self._against(claimed)
        return self._found(claimed) if reason is None else self._wait(claimed, reason)

    def _repeat(self, held: Claim, claimed: Claimed) -> str:
        if claimed.until is None or claimed.row.observation.act is not Act.ASSERT:
            return self._support(held, claimed)
        run = self.run_at(claimed.value_key, claimed.start)
        if run is not None and claimed.until < run.end:
            return self._shorten(held, claimed, claimed.until)
        if run is not None and claimed.until > run.end and not run.changed and self._vetoed(claimed) is None:
            return self._prolong(run, held, claimed)
        return self._support(held, claimed)

    def _shorten(self, held: Claim, claimed: Claimed, until: int) -> str:
        """The repeat says until when: it dates the ending, and what was covered resumes."""
        running = [c for c in self.standing_of(held.value_key) if c.start < until < stops(c)]
        if any(c.level > claimed.level for c in running):
            return self._propose(claimed.row, Act.END, held, until)
        for claim in running:
            claim.until = until
            if claim.ended is not None and claim.ended >= until:
                claim.ended = claim.ended_by = None
        key = self._support(held, claimed)
        self._settle()
        return key

    def _prolong(self, run: Run, held: Claim, claimed: Claimed) -> str:
        """The repeat says that it lasts longer than was known: the rest is painted, if it may be."""
        rest = replace(claimed, start=run.end)
        if claimed.level < held.level:
            return self._wait(rest, rules.outranked(self._named(held), held.level))
        return self._found(rest) if self._against(rest) is None else self._support(held, claimed)

    def _against(self, claimed: Claimed) -> str | None:
        """Why the claim may not stand; None when it may."""
        source = claimed.row.observation.source
        over = (claimed.start, claimed.end)
        for held in displaced(self.standing, over, claimed.value_key, beside=self.shape.beside):
            if not rules.may_paint(self.shape.merge, source, claimed.level, held.level):
                return rules.outranked(self._named(held), held.level)
        if not rules.may_found(self.shape.merge, claimed.level):
            return rules.ONLY_PERSON
        if claimed.level == INFERRED.level and self.guesses_wait:
            return rules.GUESS_WAITS
        if claimed.level == INFERRED.level and self._said_over(claimed):
            return rules.GUESS_OVER
        return None

    def _said_over(self, claimed: Claimed) -> bool:
        return any(
            ending.first <= claimed.start
            for ending in self.state.endings
            if ending.value_key in (None, claimed.value_key) and ending.level == SAID.level
        )

    def _vetoed(self, claimed: Claimed) -> Veto | None:
        veto = self.state.vetoes.get(claimed.value_key)
        return veto if veto is not None and claimed.level < SAID.level and claimed.level <= veto.level else None

    def _found(self, claimed: Claimed) -> str:
        claim = self._made(claimed)
        ending = self._ending_of(claim)
        if ending is not None and ending[0] < stops(claim):
            claim.ended, claim.ended_by = ending
        for other in [c for c in self.standing if c.start == claim.start and c.value_key != claim.value_key]:
            if not self.shape.beside or other.level < claim.level:
                self.shelve(other, Status.WITHDRAWN, Cause.CORRECTED, self._corrected(claim.value, claimed.row))
                other.next = (self.name, claim.key)
        self.place(claim)
        self._settle()
        return claim.key

    def _wait(self, claimed: Claimed, why: str, *, waits: bool = False) -> str:
        alike = [
            claim
            for claim in self.pending
            if claim.value_key == claimed.value_key and claim.asks is None and claim.waits is waits
            if claim.start <= claimed.start < stops(claim)
        ]
        for claim in alike:
            if claim.level >= claimed.level:
                return self._support(claim, claimed)
        fresh = self._made(claimed)
        fresh.status, fresh.why, fresh.waits = Status.PENDING, why, waits
        self.place(fresh)
        for claim in alike:  # of lower rank: one question is enough, and the higher one says since when
            self.absorb(claim, fresh)
        return fresh.key

    def _keep(self, claimed: Claimed, status: Status, cause: Cause, why: str) -> str:
        """Keep what never held, so that it can be shown why."""
        said = claimed.level == SAID.level  # which shows as it was said, not as somebody guessed before
        for claim in reversed(self.by_value[claimed.value_key]):
            if claim.cause is cause and claim.resumed is None and (claim.level == SAID.level or not said):
                return self._support(claim, claimed)
        claim = self._made(claimed)
        claim.status, claim.cause, claim.why = status, cause, why
        self.place(claim)
        return claim.key

    def _made(self, claimed: Claimed) -> Claim:
        observation = claimed.row.observation
        return Claim(
            key=observation.id,
            value_key=claimed.value_key,
            value=claimed.value,
            subject=claimed.subject,
            kind=observation.kind.value,
            start=claimed.start,
            until=claimed.until,
            ended=claimed.ended,
            supports={claimed.level: support_of(claimed.row, claimed.value, claimed.value)},
        )

    # -- support ---------------------------------------------------------------------------------------------------

    def _support(self, claim: Claim, claimed: Claimed) -> str:
        fresh = support_of(claimed.row, claimed.value, claim.value)
        add(claim, claimed.level, fresh)
        if claimed.respells:
            claim.supports[claimed.level].spelling = fresh.spelling
        return claim.key

    def _bring_in(self, claimed: Claimed) -> None:
        """What waited for the person's word is borne out by it."""
        waiting = [c for c in self.pending if c.value_key == claimed.value_key and c.asks is None]
        held = self.holding(claimed.value_key, claimed.start) if waiting else None
        run = self.run_at(claimed.value_key, claimed.start) if waiting else None
        if held is None or run is None:
            return
        for claim in waiting:
            if claim.start < run.end and stops(claim) > run.start:
                self.absorb(claim, self.holding(claim.value_key, claim.start) or held)

    def _settle(self) -> None:
        """After the timeline changed: what waits and holds by now is evidence; what is done already asks no more."""
        for claim in list(self.pending):
            if claim.asks is not None:
                self._settle_proposal(claim)
            elif not claim.waits and (held := self.holding(claim.value_key, claim.start)) is not None:
                self.absorb(claim, held)

    def _settle_proposal(self, proposal: Claim) -> None:
        since, to = proposal.start, stops(proposal)
        if proposal.asks == Act.END:
            since, to = to, to + 1
        if any(claim.start < to and stops(claim) > since for claim in self.standing_of(proposal.value_key)):
            return
        others = [c for c in self.by_value[proposal.value_key] if c.asks is None]
        if others:
            self.alias(proposal, others[-1])
        else:
            self.shelve(proposal, Status.WITHDRAWN, Cause.NONE, rules.MOOT)

    # -- endings ---------------------------------------------------------------------------------------------------

    def end(self, row: Row, value_key: str | None, at: int) -> str:
        """A value, or whatever holds, is said to be over at a time."""
        touched: list[Claim] = []
        protected: dict[str, Claim] = {}
        for claim in self._running(value_key, at):
            if claim.level <= reach(row):
                claim.ended, claim.ended_by = at, row.observation.id
                touched.append(claim)
            elif self.holding(claim.value_key, max(at - 1, claim.start)) is not None:
                protected[claim.value_key] = claim
        self.refresh()
        if reach(row):
            by = row.observation.id
            self._keep_ending(Ending(value_key, at, at, reach(row), by, by))
        proposed = [self._propose(row, Act.END, claim, at) for claim in protected.values()]
        self._settle()
        return touched[-1].key if touched else next(iter(proposed), "")

    def _running(self, value_key: str | None, at: int) -> list[Claim]:
        if value_key is not None:
            return [c for c in self.standing_of(value_key) if c.start <= at < stops(c)]
        running = [c for c in self.standing if c.start <= at < stops(c)]
        # What begins at the very moment is what came after, unless nothing was there before it.
        return [c for c in running if c.start < at] or running

    def _keep_ending(self, fresh: Ending) -> None:
        """Remember an ending for claims that come later; said again while nothing began, it is the same ending."""
        for known in self.state.endings:
            if (known.value_key, known.level) != (fresh.value_key, fresh.level):
                continue
            if known.first <= fresh.first <= known.last:
                return
            if fresh.first < known.first and not self._begins_in(fresh.value_key, fresh.first, known.first):
                known.first, known.first_by = fresh.first, fresh.first_by
                return
            if fresh.first > known.last and not self._begins_in(fresh.value_key, known.last, fresh.first):
                known.last, known.last_by = fresh.first, fresh.first_by
                return
        self.state.endings.append(fresh)

    def _begins_in(self, value_key: str | None, since: int, to: int) -> bool:
        mine = self.state.claims if value_key is None else self.by_value[value_key]
        return any(c.status is Status.STANDING and since <= c.start < to for c in mine)

    def _ending_of(self, claim: Claim) -> tuple[int, str] | None:
        """The first known ending after the claim's start, and the act that says so."""
        known = []
        for ending in self.state.endings:
            if ending.value_key in (None, claim.value_key) and ending.level >= claim.level:
                if claim.start < ending.first:
                    known.append((ending.first, ending.first_by))
                elif claim.start < ending.last:
                    known.append((ending.last, ending.last_by))
        return min(known, default=None)

    def _undo_ending(self, row: Row, aimed: str) -> str:
        """An ending is itself taken back, and what it ended goes on."""
        for ending in self.state.endings:
            if aimed in (ending.first_by, ending.last_by) and reach(row) >= ending.level:
                return self._undo(ending, aimed)
        return ""

    def _undo(self, ending: Ending, by: str) -> str:
        if ending.first_by == ending.last_by:
            self.state.endings.remove(ending)
        elif ending.first_by == by:
            ending.first, ending.first_by = ending.last, ending.last_by
        else:
            ending.last, ending.last_by = ending.first, ending.first_by
        revived = [c for c in self.state.claims if c.status is Status.STANDING and c.ended_by == by]
        for claim in revived:
            claim.ended = claim.ended_by = None
            other = self._ending_of(claim)
            if other is not None and other[0] < stops(claim):
                claim.ended, claim.ended_by = other
        self.refresh()
        self._settle()
        return revived[-1].key if revived else ""

    # -- what is taken back ----------------------------------------------------------------------------------------

    def take_back(self, aim: Aim, act: Act) -> str:
        """A value is said never to have held; what is of higher rank than the act stays, and the act asks."""
        rejects = act is Act.REJECT
        said = aim.row.observation
        why = rules.taken_back(rejects=rejects, at=moment(said.said_at), because=said.reason)
        status = Status.REJECTED if rejects else Status.WITHDRAWN
        resumed = list(self._resumed(aim))
        fallen, protected = self._strike(aim, status, Cause.TAKEN_BACK, why)
        for run, claim in resumed:
            if claim.level > aim.level:
                protected.append(claim)
            else:
                self._cut(run, claim, aim, why)
                fallen.append(claim)
        self.refresh()
        if protected:
            self._propose(aim.row, act, protected[-1], stops(protected[-1]))
        elif aim.level:
            self._veto(aim, status, why)
        self._settle()
        return (fallen or protected)[-1].key if fallen or protected else ""

    def _veto(self, aim: Aim, status: Status, why: str) -> None:
        known = self.state.vetoes.get(aim.value_key)
        if known is None or aim.level >= known.level:
            self.state.vetoes[aim.value_key] = Veto(aim.level, aim.row.observation.id, status, why)

    def correct_away(self, aim: Aim, value: str) -> list[Claim]:
        """What is corrected to another value is withdrawn; returned are the claims that were, and stood."""
        why = self._corrected(value, aim.row)
        touched, _ = self._strike(aim, Status.WITHDRAWN, Cause.CORRECTED, why)
        return touched

    def extent(self, aim: Aim) -> tuple[int | None, int | None]:
        """(until, ended) of what an act is aimed at, so that what takes its place lasts as long.

        The interval that the act copied may end where the next value began, which is no ending of this one. So what
        stands is asked first: where the person acts, no inference can stand. An act that waits itself asks nobody.
        """
        met = [run.last for run in self.runs_of(aim.value_key) if run.start < aim.to and run.end > aim.since]
        met = met or [c for c in self.by_value[aim.value_key] if c.status is Status.STANDING and _meets(aim, c)]
        if met and aim.level:
            return met[-1].until, met[-1].ended
        target = aim.row.observation.target
        return (None if target is None or target.valid_to is None else moment(target.valid_to)), None

    def _strike(self, aim: Aim, status: Status, cause: Cause, why: str) -> tuple[list[Claim], list[Claim]]:
        """Take the support that the act may touch from what it hits: (claims that fell, claims that still stand)."""
        fallen: list[Claim] = []
        protected: list[Claim] = []
        for claim in list(self._hit(aim)):
            if _stripped(claim, aim.level):
                self.shelve(claim, Status.WITHDRAWN, cause, why)
                fallen.append(claim)
            else:
                protected.append(claim)
        for claim in [c for c in self.pending if c.value_key == aim.value_key and c.asks is None]:
            if _meets(aim, claim) and _stripped(claim, aim.level):
                self.shelve(claim, status, cause, why)
        return fallen, protected

    def _hit(self, aim: Aim) -> Iterator[Claim]:
        """Claims that begin in the stretches the aim meets; and those that never show, if it meets their interval."""
        shown: list[Claim] = []
        for run in self.runs_of(aim.value_key):
            shown.extend(run.claims)
            if run.start < aim.to and run.end > aim.since:
                yield from starting(run)
        for claim in self.by_value[aim.value_key]:
            if claim.status is Status.STANDING and claim not in shown and _meets(aim, claim):
                yield claim

    def _resumed(self, aim: Aim) -> Iterator[tuple[Run, Claim]]:
        """Claims that began before a stretch which the aim meets, and are back in it."""
        for run in self.runs_of(aim.value_key):
            if run.start < aim.to and run.end > aim.since:
                yield from ((run, claim) for claim in run.claims if claim.start < run.start)

    def _cut(self, run: Run, claim: Claim, aim: Aim, why: str) -> None:
        """A stretch that only resumed is taken back; what the claim held before is not touched."""
        if not starting(run):
            self._record(claim, run, why)
        claim.ended, claim.ended_by = run.start, aim.row.observation.id

    def _record(self, claim: Claim, run: Run, why: str) -> None:
        record = replace(
            claim,
            key=f"{claim.key}@{stamp(run.start)}",
            resumed=claim.key,
            start=run.start,
            until=None if run.end == FOREVER else run.end,
            ended=None,
            ended_by=None,
            status=Status.WITHDRAWN,
            cause=Cause.TAKEN_BACK,
            why=why,
            also=(),
            supports={level: replace(support) for level, support in claim.supports.items()},
        )
        self.place(record)

    # -- proposals -------------------------------------------------------------------------------------------------

    def _propose(self, row: Row, act: Act, held: Claim, to: int) -> str:
        """An act that reaches too low waits for somebody of higher rank; once rejected it is not put again."""
        for claim in self.by_value[held.value_key]:
            if claim.asks == act and claim.status in (Status.PENDING, Status.REJECTED):
                add(claim, row.observation.rank.level, support_of(row, claim.value, claim.value))
                return claim.key
        several = row.observation.value is None and act is Act.END and (self.shape.many or self.shape.beside)
        proposal = Claim(
            key=f"{row.observation.id}@{_mark(self.name, held.value_key)}" if several else row.observation.id,
            value_key=held.value_key,
            value=held.value,
            subject=held.subject,
            kind=held.kind,
            start=held.start,
            until=None if to == FOREVER else to,
            supports={row.observation.rank.level: support_of(row, held.value, held.value)},
            status=Status.PENDING,
            why=rules.asks(act, self._named(held), to if act is Act.END else None),
            asks=act.value,
        )
        self.place(proposal)
        return proposal.key

    def answer(self, row: Row, aimed: str) -> str:
        """An act is aimed at an act: at a proposal, which is granted or declined, or at an ending, which is undone."""
        proposals = [c for c in self.pending if c.asks is not None and aimed in _named_by(c)]
        if row.observation.act is Act.CONFIRM:
            keys = [self._grant(row, proposal) for proposal in proposals]
        elif proposals:
            keys = [self._decline(row, proposal) for proposal in proposals]
        else:
            keys = [self._undo_ending(row, aimed)]
        return next((key for key in keys if key), "")

    def _grant(self, row: Row, proposal: Claim) -> str:
        """The waiting act is confirmed: it is done, as far as the one who confirms may."""
        if proposal.asks == Act.END:
            return self.end(row, proposal.value_key, stops(proposal))
        aim = Aim(row, proposal.value_key, proposal.start, max(stops(proposal), proposal.start + 1))
        return self.take_back(aim, Act(proposal.asks or Act.RETRACT))

    def _decline(self, row: Row, proposal: Claim) -> str:
        """The waiting act is turned down."""
        if reach(row) < proposal.level:
            return ""
        at, because = moment(row.observation.said_at), row.observation.reason
        why = rules.taken_back(rejects=True, at=at, because=because)
        self.shelve(proposal, Status.REJECTED, Cause.NONE, why)
        return proposal.key

    # -- words -----------------------------------------------------------------------------------------------------

    def _named(self, claim: Claim) -> str:
        if self.shape.opposite is None:
            return claim.value
        return f"{claim.value_key.replace('_', ' ')} {claim.value}"

    def _corrected(self, value: str, row: Row) -> str:
        return f'corrected to "{rules.shown(value)}" on {day(moment(row.observation.said_at))}'


def _named_by(proposal: Claim) -> set[str]:
    """The ids of acts by which a proposal is meant: one act may ask to end several values."""
    founders = (support.founder[3] for support in proposal.supports.values())
    return {proposal.key, proposal.key.partition("@")[0], *founders}


def _mark(*parts: str) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=4).hexdigest()


def _meets(aim: Aim, claim: Claim) -> bool:
    return claim.start < aim.to and (stops(claim) > aim.since or claim.start >= aim.since)


def _stripped(claim: Claim, level: int) -> bool:
    """Whether nothing of higher rank is left of a claim once support up to this rank level is taken from it."""
    if claim.level <= level:
        return True  # what it had stays, to show what fell
    claim.supports = {rank: support for rank, support in claim.supports.items() if rank > level}
    return False
