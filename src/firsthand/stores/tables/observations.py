"""The owner's ledger of claims and acts, in its tables, and what the messages cited contribute to each row."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from firsthand.errors import Conflict
from firsthand.model import Observation, Owner, Position, Role
from firsthand.ports import Row

from .head import OwnerHead
from .queries import Fields, Queries
from .rows import BEGINNING, END, first_repeated, observation_of, observation_values


class ObservationTable:
    """`ports.Observations` of one owner."""

    def __init__(self, queries: Queries, owner: Owner, head: OwnerHead) -> None:
        self._queries = queries
        self._owner = (owner.tenant, owner.user)
        self._head = head

    def get(self, ids: Sequence[str]) -> dict[str, Observation]:
        """Those of the ids that exist, in the order given."""
        found = self._queries.many("observation", ((*self._owner, each) for each in dict.fromkeys(ids)))
        bodies: dict[str, str] = dict(found)
        return {each: observation_of(bodies[each]) for each in dict.fromkeys(ids) if each in bodies}

    def walk(self, *, after: Position | None = None, known_at: int | None = None) -> Iterator[Row]:
        """Every row, in ledger order, recorded after a position and no later than known_at (microseconds)."""
        known = END if known_at is None else known_at
        return _rows(self._queries.each("rows", *self._owner, *(after or BEGINNING), known))

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """The rows of these ids, in ledger order."""
        found = self._queries.many("rows_of_id", ((*self._owner, each) for each in dict.fromkeys(ids)))
        return _in_order(_rows(found))

    def of_slots(self, slots: Sequence[str], *, known_at: int | None = None) -> list[Row]:
        """All rows placed in these slots and recorded no later than known_at (microseconds), in ledger order."""
        known = END if known_at is None else known_at
        found = self._queries.many("rows_of_slot", ((*self._owner, each, known) for each in dict.fromkeys(slots)))
        return _in_order(_rows(found))

    def citing(self, message_ids: Sequence[str]) -> list[Observation]:
        """Observations with evidence in these messages, in ledger order."""
        found = self._queries.many("citing", ((*self._owner, each) for each in dict.fromkeys(message_ids)))
        distinct: dict[str, str] = dict(found)
        return sorted(map(observation_of, distinct.values()), key=lambda each: each.position)

    def add(self, observations: Sequence[Observation]) -> None:
        """Append them, with their evidence. An id that exists raises Conflict and nothing is added."""
        values = ((*self._owner, *observation_values(each)) for each in observations)
        if not self._queries.many_unless_taken("add_observation", values):
            raise Conflict(self._taken([each.id for each in observations]))
        self._queries.many(
            "add_evidence",
            (
                (*self._owner, each.id, place, evidence.message_id, evidence.start, evidence.end)
                for each in observations
                for place, evidence in enumerate(each.evidence)
            ),
        )
        self._head.place([each.position for each in observations])

    def _taken(self, ids: Sequence[str]) -> str:
        found = self._queries.many("observation_exists", ((*self._owner, each) for each in ids))
        if found:
            return f"observation {found[0][0]!r} exists already"
        twice = first_repeated(ids)
        return (
            f"observation {twice!r} is given twice" if twice else "another observation has the same place in the ledger"
        )


def _in_order(rows: Iterable[Row]) -> list[Row]:
    distinct = {row.observation.id: row for row in rows}
    return sorted(distinct.values(), key=lambda row: row.observation.position)


def _rows(found: Iterable[Fields]) -> Iterator[Row]:
    """One row for each observation, from one row for each message that it cites."""
    for _, cited in itertools.groupby(found, key=itemgetter(0)):
        yield _row(list(cited))


def _row(cited: Sequence[Fields]) -> Row:
    observation = observation_of(cited[0][1])
    if cited[0][2] is None:
        return Row(observation)
    there = [fields for fields in cited if fields[3] is not None]
    levels = [fields[9] or 0 for fields in cited]
    return Row(
        observation,
        Position(*there[0][3:6]) if there else None,
        tuple(dict.fromkeys((fields[6] or "", fields[2]) for fields in there if _testifies(fields))),
        min(levels),
    )


def _testifies(fields: Fields) -> bool:
    role, recalled = fields[7], fields[8]
    return bool(role == Role.USER.value and not recalled)
