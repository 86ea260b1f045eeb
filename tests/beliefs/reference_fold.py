"""The rules of the fold once more, as slowly and plainly as they can be written: day by day over one whole slot.

Written from the rules, and sharing no code with `firsthand.beliefs`: every question ("what holds on that day?", "what
would this displace?") is answered by going through all claims and all days. It says which values hold on which day
and which wait, for times that are whole days from 0 to 8. It knows no acts on acts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from firsthand.model import INFERRED, RANK, SAID, Act, Observation, Source, Verdict
from firsthand.policy import Policy
from firsthand.ports import Row
from firsthand.text import value_key

NEVER = 99
DAYS = range(10)  # day 9 stands for all that comes after
LONG_AGO = -99

Name = tuple[str, str]  # which values are rivals, and which of them


@dataclass(eq=False)
class Held:
    """One value since a day."""

    name: Name
    start: int
    until: int  # an explicit end, after which what it covered is back
    ended: int  # an act says that it was over
    ranks: set[int]
    waits: bool = False

    @property
    def rank(self) -> int:
        """The highest rank that speaks for it."""
        return max(self.ranks)

    @property
    def over(self) -> int:
        """The day from which it holds no longer."""
        return min(self.until, self.ended)

    def blocks(self, day: int) -> bool:
        """Whether nothing older shows through on a day: an open value that was ended leaves nothing behind it."""
        return self.start <= day and (self.until == NEVER or day < self.over)


@dataclass
class Stretch:
    """Days in a row on which one value holds."""

    start: int
    end: int
    held: list[Held] = field(default_factory=list)

    @property
    def last(self) -> Held:
        """What it holds through in the end."""
        return self.held[-1]


class Reference:
    """A slot under the rules."""

    def __init__(self, policy: Policy, attribute: str | None) -> None:
        known = None if attribute is None else policy.attribute(attribute)
        self.policy = policy
        self.many = known is not None and known.cardinality == "many"
        self.opposites = known is not None and known.opposite is not None
        self.merge = "ranked" if known is None else known.merge
        if self.opposites:
            self.merge = "latest"
        self.beside = self.merge == "alternatives"
        self.standing: list[Held] = []
        self.waiting: list[Held] = []
        self.vetoes: dict[Name, int] = {}
        self.endings: list[tuple[Name | None, str | None, int, int]] = []  # of what, in which group, when, rank
        self.person_spoke = False

    # -- what can be asked of it -----------------------------------------------------------------------------------

    def on(self, day: int, group: str) -> list[Held]:
        """Everything that holds on a day among rivals."""
        alive = [h for h in self.standing if h.name[0] == group and h.start < h.over]
        if self.beside:
            there = [h for h in alive if h.start <= day < h.over]
            best = {h.name: max(o.rank for o in there if o.name == h.name) for h in there}
            return [h for h in there if best[h.name] == max(best.values())]
        blocking = [h for h in alive if h.blocks(day)]
        if not blocking:
            return []
        top = max(blocking, key=lambda h: (h.start, self.standing.index(h)))
        return [top] if day < top.over else []

    def holds(self, name: Name, day: int) -> Held | None:
        """The value, if it holds on a day, in whatever rank among values side by side."""
        if self.beside:
            there = [h for h in self.standing if h.name == name and h.start <= day < h.over]
            return max(there, key=lambda h: (h.start, self.standing.index(h)), default=None)
        return next((h for h in self.on(day, name[0]) if h.name == name), None)

    def stretches(self, name: Name) -> list[Stretch]:
        """The days on which a value holds, in one piece each."""
        found: list[Stretch] = []
        for day in DAYS:
            here = [h for h in self.on(day, name[0]) if h.name == name]
            if not here:
                continue
            if not found or found[-1].end != day:
                found.append(Stretch(day, day))
            found[-1].end = day + 1 if day < DAYS[-1] else NEVER
            for held in here:
                if held in found[-1].held:
                    found[-1].held.remove(held)
                found[-1].held.append(held)
        return found

    def stretch_at(self, name: Name, day: int) -> Stretch | None:
        """The stretch of a value that a day lies in."""
        return next((s for s in self.stretches(name) if s.start <= day < s.end), None)

    def result(self) -> tuple[list[set[Name]], set[Name]]:
        """(what holds on each day, what waits)."""
        groups = {h.name[0] for h in self.standing}
        days = [{h.name for group in groups for h in self.on(day, group)} for day in DAYS]
        shown = {h for day in DAYS for group in groups for h in self.on(day, group)}
        hidden = {h.name for h in self.standing if h.start < h.over and h not in shown}
        return days, {h.name for h in self.waiting} | hidden

    # -- claims ----------------------------------------------------------------------------------------------------

    def claim(self, row: Row, name: Name, start: int, until: int, ended: int = NEVER) -> Held | None:
        """Somebody claims a value since a day."""
        observation, rank = row.observation, row.observation.rank.level
        asks = observation.verdict is Verdict.NEEDS_CONFIRM
        if row.voided >= rank or until <= start:
            return None
        if rank == SAID.level and not asks:
            self.vetoes.pop(name, None)
        held = self.holds(name, start)
        if held is None and self.vetoed(name, rank):
            return None
        fresh = Held(name, start, until, ended, {rank}, waits=asks)
        if asks:
            if held is not None and held.rank == SAID.level:
                held.ranks.add(rank)
            else:
                self.wait(fresh)
            return None
        if held is not None:
            self.repeat(held, fresh, observation)
        elif self.may_stand(fresh, observation.source):
            self.found(fresh)
        else:
            self.wait(fresh)
        if rank == SAID.level:
            self.bear_out(name, start)
        return fresh

    def vetoed(self, name: Name, rank: int) -> bool:
        """Whether it was taken back, and this rank cannot bring it back."""
        return rank < SAID.level and rank <= self.vetoes.get(name, 0)

    def may_stand(self, fresh: Held, source: Source) -> bool:
        """What may paint over what, who may stand at all, and guesses stay guesses."""
        if self.beside:
            under = [h for h in self.standing if h.name != fresh.name and h.start <= fresh.start < h.over]
        else:
            mine = [day for day in DAYS if fresh.start <= day < fresh.until]
            under = [h for day in mine for h in self.on(day, fresh.name[0])]
            under = [h for h in under if h.name != fresh.name and h.start <= fresh.start]
        quoted_later = self.merge == "latest" and source is Source.QUOTED
        if any(h.rank > fresh.rank for h in under) and not quoted_later:
            return False
        if self.merge == "confirm" and fresh.rank < SAID.level:
            return False
        if fresh.rank == INFERRED.level:
            return not self.person_spoke and not any(
                self.concerns(ending, fresh.name) and ending[2] <= fresh.start and ending[3] == SAID.level
                for ending in self.endings
            )
        return True

    def concerns(self, ending: tuple[Name | None, str | None, int, int], name: Name) -> bool:
        """Whether an ending speaks of this value."""
        of, group, *_ = ending
        return of == name if of is not None else group in (None, name[0])

    def found(self, fresh: Held) -> None:
        """It holds from its start on; another value of the very same start was a mistake."""
        known = [e[2] for e in self.endings if self.concerns(e, fresh.name) and e[3] >= fresh.rank]
        fresh.ended = min([fresh.ended, *(at for at in known if fresh.start < at < fresh.over)])
        for other in list(self.standing):
            rivals = other.name[0] == fresh.name[0] and other.name != fresh.name and other.start < other.over
            if rivals and other.start == fresh.start and (not self.beside or other.rank < fresh.rank):
                self.standing.remove(other)
        self.standing.append(fresh)
        self.settle()

    def repeat(self, held: Held, again: Held, observation: Observation) -> None:
        """What holds only gains evidence, unless it is told until when."""
        rank = again.rank
        stretch = self.stretch_at(again.name, again.start)
        if observation.act is Act.ASSERT and again.until != NEVER and stretch is not None:
            if again.until < stretch.end:
                running = [h for h in self.standing if h.name == again.name and h.start < again.until < h.over]
                if all(h.rank <= rank for h in running):
                    for each in running:
                        each.until = again.until
                        if each.ended >= again.until:
                            each.ended = NEVER
                    held.ranks.add(rank)
                    self.settle()
                return
            by_itself = stretch.last.over == stretch.end
            if again.until > stretch.end and by_itself and not self.vetoed(again.name, rank):
                rest = Held(again.name, stretch.end, again.until, NEVER, {rank})
                if rank < held.rank:
                    self.wait(rest)
                elif self.may_stand(rest, observation.source):
                    self.found(rest)
                else:
                    held.ranks.add(rank)
                return
        held.ranks.add(rank)

    def wait(self, fresh: Held) -> None:
        """It waits; one question for one value is enough."""
        alike = [
            w
            for w in self.waiting
            if w.name == fresh.name and w.waits == fresh.waits and w.start <= fresh.start < w.over
        ]
        for each in alike:
            if each.rank >= fresh.rank:
                each.ranks |= fresh.ranks
                return
        for each in alike:
            self.waiting.remove(each)
            fresh.ranks |= each.ranks
        self.waiting.append(fresh)

    def bear_out(self, name: Name, start: int) -> None:
        """The person said it: what waited for that is answered."""
        stretch = self.stretch_at(name, start)
        if stretch is not None:
            for each in [
                w for w in self.waiting if w.name == name and w.start < stretch.end and w.over > stretch.start
            ]:
                self.waiting.remove(each)
                (self.holds(name, each.start) or self.holds(name, start) or each).ranks.update(each.ranks)

    def settle(self) -> None:
        """What waited only because something else held, and holds by now, is evidence."""
        for each in list(self.waiting):
            held = self.holds(each.name, each.start)
            if held is not None and not each.waits:
                self.waiting.remove(each)
                held.ranks |= each.ranks

    # -- acts ------------------------------------------------------------------------------------------------------

    def end(self, of: Name | None, groups: Iterable[str], at: int, reach: int) -> None:
        """It was true and is over since a day: said of one value, or of whatever holds."""
        for group in groups:
            running = [h for h in self.standing if h.name[0] == group and h.start <= at < h.over]
            running = [h for h in running if of in (None, h.name)]
            if of is None:
                running = [h for h in running if h.start < at] or running
            for each in running:
                if each.rank <= reach:
                    each.ended = at
        self.settle()

    def take_back(self, name: Name, since: int, to: int, reach: int) -> None:
        """It was never so: the value is gone from those days, and nothing below what is said brings it back."""
        met = [s for s in self.stretches(name) if s.start < to and s.end > since]
        resumed = [(s, h) for s in met for h in s.held if h.start < s.start]
        _, kept = self.strike(name, since, to, reach)
        for stretch, held in resumed:
            if held.rank <= reach:
                held.ended = stretch.start
            else:
                kept.append(held)
        if reach and not kept:
            self.vetoes[name] = max(self.vetoes.get(name, 0), reach)
        self.settle()

    def strike(self, name: Name, since: int, to: int, reach: int) -> tuple[list[Held], list[Held]]:
        """Take away what the act may touch: (what fell, what of it still stands)."""
        stretches = self.stretches(name)
        shown = {h for s in stretches for h in s.held}
        met = [s for s in stretches if s.start < to and s.end > since]
        hit = [h for s in met for h in s.held if h.start >= s.start]
        hit += [h for h in self.standing if h.name == name and h not in shown and _meets(h, since, to)]
        fallen = [h for h in hit if h.rank <= reach]
        kept = [h for h in hit if h.rank > reach]
        self.standing = [h for h in self.standing if h not in fallen]
        waiting = [w for w in self.waiting if w.name == name and _meets(w, since, to)]
        self.waiting = [w for w in self.waiting if w not in waiting or w.rank > reach]
        for each in [*kept, *(w for w in waiting if w.rank > reach)]:
            each.ranks = {rank for rank in each.ranks if rank > reach}
        return fallen, kept

    def extent(self, row: Row, name: Name, since: int, to: int) -> tuple[int, int]:
        """How long what an act is aimed at lasts: (explicit end, end by an act)."""
        met = [s.last for s in self.stretches(name) if s.start < to and s.end > since]
        met = met or sorted(
            [h for h in self.standing if h.name == name and _meets(h, since, to)], key=lambda h: h.start
        )
        if met and _reach(row.observation):
            return met[-1].until, met[-1].ended
        target = row.observation.target
        return (NEVER if target is None or target.valid_to is None else _day(target.valid_to)), NEVER

    # -- rows ------------------------------------------------------------------------------------------------------

    def name_of(self, observation: Observation, value: str) -> Name:
        """Values of one slot are rivals where it holds one; where it holds many, opposites of one value are."""
        key = value_key(value)
        if self.opposites:
            return key, self.policy.canonical(observation.attribute or "")
        return (key if self.many else ""), key

    def take(self, row: Row) -> None:
        """Let a row take effect."""
        o = row.observation
        if o.verdict is Verdict.DROP:
            return
        reach = _reach(o)
        target = o.target
        aimed = None if target is None else target.value
        since = LONG_AGO if target is None or target.valid_from is None else _day(target.valid_from)
        to = NEVER if target is None or target.valid_to is None else _day(target.valid_to)
        to = max(to, since + 1)
        start = _day(o.starts)
        if o.act is Act.ASSERT:
            if o.value is not None:
                until = NEVER if o.valid_to is None else _day(o.valid_to)
                self.claim(row, self.name_of(o, o.value), start, until)
            return
        if row.voided >= o.rank.level:
            return
        if target is not None and target.valid_from is not None and o.act in (Act.CONFIRM, Act.CORRECT):
            start = _day(target.valid_from)
        if o.act is Act.END:
            value = o.value if o.value is not None else aimed
            at = _day(o.valid_to or o.valid_from or o.said_at)
            self._end(o, value, min(max(at, since), to), reach)
        elif o.act is Act.CONFIRM and aimed is not None:
            name = self.name_of(o, aimed)
            until, ended = self.extent(row, name, since, to)
            self.claim(row, name, start, until, ended)
        elif o.act is Act.CORRECT and o.value is not None and aimed is not None:
            old, new = self.name_of(o, aimed), self.name_of(o, o.value)
            until, ended = self.extent(row, old, since, to)
            fallen = [] if old == new else self.strike(old, since, to, reach)[0]
            self.claim(row, new, min([start, *(h.start for h in fallen)]), until, ended)
        elif o.act in (Act.RETRACT, Act.REJECT) and aimed is not None:
            self.take_back(self.name_of(o, aimed), since, to, reach)

    def _end(self, o: Observation, value: str | None, at: int, reach: int) -> None:
        of = None if value is None else self.name_of(o, value)
        if of is not None:
            self.end(of, [of[0]], at, reach)
            ending: tuple[Name | None, str | None, int, int] = (of, None, at, reach)
        elif not self.opposites:
            self.end(None, {h.name[0] for h in self.standing}, at, reach)
            ending = (None, None, at, reach)
        else:
            raise NotImplementedError("ends of all opposites")
        if reach:
            self.endings.append(ending)


def fold(rows: Sequence[Row], policy: Policy, attribute: str | None) -> tuple[list[set[Name]], set[Name]]:
    """(what holds on each of the days, what waits) after these rows, in the order in which they were said."""
    slot = Reference(policy, attribute)
    slot.person_spoke = any(_speaks(row) for row in rows)
    for row in sorted(rows, key=_said_order):
        slot.take(row)
    return slot.result()


def _said_order(row: Row) -> tuple[object, ...]:
    o = row.observation
    span = o.evidence[0].start if o.evidence else 0
    return (o.said_at, row.evidence_position or o.position, span or 0, o.position)


def _speaks(row: Row) -> bool:
    o = row.observation
    claims = o.act in (Act.ASSERT, Act.CORRECT, Act.CONFIRM)
    meant = o.act is Act.ASSERT or row.voided < o.rank.level
    value = o.target.value if o.act is Act.CONFIRM and o.target is not None else o.value
    return claims and meant and value is not None and o.rank == SAID and o.verdict is Verdict.WRITE


def _reach(o: Observation) -> int:
    return 0 if o.verdict is Verdict.NEEDS_CONFIRM else RANK[o.source].level


def _meets(held: Held, since: int, to: int) -> bool:
    return held.start < to and (held.over > since or held.start >= since)


def _day(at: object) -> int:
    from belief_ledgers import days

    return int(days(at))  # type: ignore[arg-type]
