"""Two histories of one person become one: an export is taken in, another store is merged.

Same ids once, what was erased on either side is erased on both, and beliefs fold again. What comes out does not depend
on which side took in which: where both have an id with other particulars (told to each by itself), the row that was
recorded first stands.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from firsthand import upkeep
from firsthand.beliefs.slots import owner_key
from firsthand.beliefs.view import view
from firsthand.errors import Conflict, InvalidInput
from firsthand.ledger import erasure
from firsthand.ledger.cleansing import cleansed, masked_alike
from firsthand.ledger.export import Ledger
from firsthand.model import Message, Observation, Owner, Position, Report, micros, to_json
from firsthand.ports import MessageQuery, Reading, Removal, SearchRow, Store, Writing
from firsthand.reads import messages_of
from firsthand.text import term_hashes
from firsthand.upkeep import Place

Row = TypeVar("Row", Message, Observation)

_AHEAD = timedelta(days=1)  # that another machine's clock may be ahead of this one's


def merge(place: Place, other: Store) -> Report:
    """Take in everything that another store holds or has erased, owner by owner."""
    owners = dict.fromkeys([*other.owners(), *place.parts.store.owners()])
    reports = [take_in(place, _ledger_of(other, owner), restore_erased=False) for owner in owners]
    return Report(
        equal=True,
        owners=len(owners),
        messages=sum(each.messages for each in reports),
        observations=sum(each.observations for each in reports),
        beliefs=sum(each.beliefs for each in reports),
        duplicates=sum(each.duplicates for each in reports),
        refused=sum(each.refused for each in reports),
    )


def _ledger_of(store: Store, owner: Owner) -> Ledger:
    with store.reading(owner) as work:
        return Ledger(
            owner,
            "",
            tuple(work.messages.walk(MessageQuery())),
            tuple(row.observation for row in work.observations.walk()),
            work.beside.uses(),
            work.tombstones(),
        )


def take_in(place: Place, given: Ledger, *, restore_erased: bool) -> Report:
    """Take in another history of one owner. `restore_erased` brings back what was erased here and is in it.

    Raises InvalidInput, Conflict where a message has another content here; then nothing is taken in.
    """
    now, given = place.parts.clock(), cleansed(given)
    _check_times(given, micros(now + _AHEAD))
    with place.parts.store.writing(given.owner, now) as work:
        if restore_erased:
            ids = [*(m.id for m in given.messages), *(o.id for o in given.observations)]
            work.lift(erasure.tombstones(owner_key(given.owner), ids))
        union = _Union.of(work, given)
        changed = union.write(work, place)
        if changed:
            upkeep.folder_of(place, work).rebuild()
        held = len(view(work.beliefs.cells(), place.policy, now).beliefs)
    place.snapshots.forget(given.owner)
    return Report(
        equal=True,
        owners=1,
        messages=len(union.messages) - len(union.known_messages),
        observations=len(union.observations) - len(union.known_observations),
        beliefs=held,
        duplicates=union.duplicates,
        refused=union.refused,
    )


def _check_times(given: Ledger, latest: int) -> None:
    """What claims to have been recorded in the future would push this owner's clock there for good."""
    rows: list[Message | Observation] = [*given.messages, *given.observations]
    for row in rows:
        if row.position.recorded_at > latest:
            raise InvalidInput(f"{row.id!r} says that it was recorded in the future; nothing was taken in")


@dataclass(frozen=True, slots=True)
class _Union:
    """What has to change here so that both histories are one."""

    messages: tuple[Message, ...]  # new here, or recorded earlier there under the same id
    known_messages: tuple[str, ...]  # those of them that are here in another form
    gone_messages: tuple[str, ...]  # that are here and were erased there
    observations: tuple[Observation, ...]  # new here, or read otherwise from now on
    known_observations: tuple[str, ...]
    gone_observations: tuple[str, ...]
    tombstones: Mapping[str, int]  # of both sides, and of what goes along with what was erased
    uses: Mapping[str, tuple[int, int]]
    duplicates: int
    refused: int

    @classmethod
    def of(cls, work: Reading, given: Ledger) -> _Union:
        """Compare what is here with what is given."""
        key = owner_key(given.owner)
        marks = _Marks(key, _later(work.tombstones(), given.tombstones))
        ours = {row.observation.id: row.observation for row in work.observations.walk()}
        theirs = {o.id: o for o in given.observations}
        here = messages_of(work, (m.id for m in given.messages))
        there = {m.id: _as_here(m, here.get(m.id)) for m in given.messages}
        heard = {id_: _first(marks.unbound(here.get(id_), there[id_])) for id_ in there}
        told = {id_: _first(marks.unbound(ours.get(id_), theirs.get(id_))) for id_ in ours.keys() | theirs.keys()}
        standing = {facts.id for facts in work.search.messages() if not marks.binds(facts.id, facts.position)}
        standing = (standing - heard.keys()) | {id_ for id_, message in heard.items() if message is not None}
        ledger = sorted((o for o in told.values() if o is not None), key=lambda o: o.position)
        dead = marks.dead(ledger, standing | {o.id for o in ledger})
        plan = erasure.plan(dead, (), ledger, gone_before=dead)
        digests = erasure.tombstones(key, plan.observation_ids)
        along = {mark: o.position.recorded_at for mark, o in zip(digests, plan.observations, strict=True)}
        final = {o.id: o for o in (*ledger, *plan.stripped)}
        for each in plan.observation_ids:
            del final[each]
        fresh = tuple(m for id_, m in heard.items() if m is not None and m != here.get(id_))
        changed = tuple(o for o in final.values() if ours.get(o.id) != o)
        return cls(
            messages=fresh,
            known_messages=tuple(m.id for m in fresh if m.id in here),
            gone_messages=tuple(f.id for f in work.search.messages() if f.id not in standing),
            observations=changed,
            known_observations=tuple(o.id for o in changed if o.id in ours),
            gone_observations=tuple(sorted(ours.keys() - final.keys())),
            tombstones=_later(marks.at, along),
            uses={name: use for name, use in given.uses.items() if _base(name) in standing | final.keys()},
            duplicates=len(here.keys() & there.keys() & standing) + len(ours.keys() & theirs.keys() & final.keys()),
            refused=len(there.keys() - standing) + len(theirs.keys() - final.keys()),
        )

    def write(self, work: Writing, place: Place) -> bool:
        """Make it so. Returns whether anything of the ledger changed."""
        work.bury(self.tombstones)
        again = self._remove(work)
        work.messages.add(self.messages)
        vectors = place.vectors([m.content for m in self.messages])
        found = zip(self.messages, vectors, strict=True)
        work.search.put([SearchRow("message", m.id, term_hashes(m.content), vector) for m, vector in found])
        work.observations.add([*again, *self.observations])
        work.beside.merge_uses(self.uses)
        rows: list[Message | Observation] = [*self.messages, *self.observations]
        work.advance_to(max((row.position.recorded_at for row in rows), default=0))
        return bool(rows or self.gone_messages or self.gone_observations)

    def _remove(self, work: Writing) -> list[Observation]:
        """Take out what is gone and what comes back in another form. Returns what is to be added again as it was."""
        replaced = {*self.gone_observations, *self.known_observations}
        again = [o for o in work.observations.citing(self.known_messages) if o.id not in replaced]
        messages = [*self.gone_messages, *self.known_messages]
        if messages or replaced:
            uses = work.beside.uses()
            work.erase(Removal(messages, [*replaced, *(o.id for o in again)]), [])
            back = {*self.known_messages, *self.known_observations, *(o.id for o in again)}
            work.beside.merge_uses({name: use for name, use in uses.items() if _base(name) in back})
        return again


@dataclass(frozen=True, slots=True)
class _Marks:
    """Marks of what was erased on either side, and up to when what they mark was recorded."""

    key: bytes
    at: Mapping[str, int]

    def binds(self, name: str, position: Position) -> bool:
        """Whether a row was erased after it was recorded."""
        return bool(self.at) and self.at.get(erasure.tombstones(self.key, [name])[0], -1) >= position.recorded_at

    def unbound(self, *rows: Row | None) -> list[Row]:
        """Those of the rows that were not erased."""
        return [row for row in rows if row is not None and not self.binds(row.id, row.position)]

    def dead(self, ledger: Iterable[Observation], alive: Collection[str]) -> set[str]:
        """Ids that rows name, were erased, and are nobody's now."""
        named = sorted(set(_names(ledger)) - set(alive)) if self.at else []
        found = zip(named, erasure.tombstones(self.key, named), strict=True)
        return {name for name, mark in found if mark in self.at}


def _later(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {mark: max(one.get(mark, 0), other.get(mark, 0)) for mark in one.keys() | other.keys()}


def _as_here(given: Message, here: Message | None) -> Message:
    """The message given; the one that is here where they differ only in which secrets are masked."""
    if here is None or (given.role, given.content, given.name) == (here.role, here.content, here.name):
        return given
    if (given.role, given.name) != (here.role, here.name) or not masked_alike(given.content, here.content):
        raise Conflict(f"message {given.id!r} is here with other content; nothing was taken in")
    return here


def _first(rows: Sequence[Row]) -> Row | None:
    """Of rows with one id, the one recorded first; of two that differ otherwise the same one, whoever asks."""
    return min(rows, key=lambda row: (row.position, json.dumps(to_json(row), sort_keys=True)), default=None)


def _base(name: str) -> str:
    return name.partition("@")[0]


def _names(observations: Iterable[Observation]) -> Iterator[str]:
    for observation in observations:
        yield from (evidence.message_id for evidence in observation.evidence)
        if observation.target is not None:
            yield from filter(None, (observation.target.observation_id, observation.target.message_id))
