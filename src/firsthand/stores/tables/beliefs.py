"""The owner's derived state, in its tables. What a cell's state means is known to `firsthand.beliefs` alone."""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.model import Observation, Owner
from firsthand.ports import Cell, Placement

from .head import OwnerHead
from .queries import Fields, Queries
from .rows import observation_of

DERIVED = ("erase_all_cells", "erase_all_placements", "erase_all_search_beliefs")


class BeliefTables:
    """`ports.Beliefs` of one owner."""

    def __init__(self, queries: Queries, owner: Owner, head: OwnerHead) -> None:
        self._queries = queries
        self._owner = (owner.tenant, owner.user)
        self._head = head

    def cells(
        self,
        *,
        slots: Sequence[str] | None = None,
        keys: Sequence[tuple[str, str]] | None = None,
        since_version: int = -1,
    ) -> list[Cell]:
        """Cells by (slot, cell); those that are gone only where a version says since when."""
        if keys is not None:
            wanted = ((*self._owner, *key, since_version) for key in dict.fromkeys(keys))
            found = self._queries.many("cell", wanted)
        elif slots is not None:
            slots = list(dict.fromkeys(slots))
            found = self._queries.many("cells_of_slot", ((*self._owner, each, since_version) for each in slots))
        else:
            found = self._queries.all("cells", *self._owner, since_version)
        cells = sorted((Cell(*fields) for fields in found), key=lambda cell: (cell.slot, cell.cell))
        return cells if since_version >= 0 else [cell for cell in cells if cell.state]

    def placements(
        self, *, observation_ids: Sequence[str] | None = None, claims: Sequence[tuple[str, str]] | None = None
    ) -> list[tuple[Placement, Observation]]:
        """Placements with their observations, by ledger position: of these observations, or of these (slot, claim)."""
        if observation_ids is not None:
            wanted = ((*self._owner, each) for each in dict.fromkeys(observation_ids))
            found = self._queries.many("placements_of_observation", wanted)
        elif claims is not None:
            found = self._queries.many("placements_of_claim", ((*self._owner, *c) for c in dict.fromkeys(claims)))
        else:
            found = self._queries.all("placements", *self._owner)
        return sorted(map(_placed, found), key=lambda each: (each[1].position, *_key(each[0])))

    def cited(self, *, since_version: int = -1) -> list[tuple[Placement, str]]:
        """(placement, message id) for every message cited by an observation placed after a version, in ledger order."""
        found = self._queries.all("cited", *self._owner, since_version)
        return [(Placement(*fields[:4]), fields[4]) for fields in found]

    def save(self, cells: Sequence[Cell], placements: Sequence[Placement]) -> None:
        """Replace the cells named and the placements of the observations named."""
        version = self._head.next_version
        last = {(cell.slot, cell.cell): cell for cell in cells}.values()
        self._queries.many(
            "save_cell", ((*self._owner, c.slot, c.cell, c.subject, c.attribute, c.state, version) for c in last)
        )
        moved = dict.fromkeys(each.observation_id for each in placements)
        self._queries.many("drop_placements", ((*self._owner, each) for each in moved))
        self._queries.many(
            "add_placement", ((*self._owner, p.observation_id, *_key(p), version) for p in dict.fromkeys(placements))
        )

    def clear(self) -> None:
        """Drop all derived state of the owner, search rows of beliefs included; caches start anew."""
        for name in DERIVED:
            self._queries.all(name, *self._owner)
        self._head.bump()


def _key(placement: Placement) -> tuple[str, str, str]:
    return placement.slot, placement.cell, placement.claim


def _placed(fields: Fields) -> tuple[Placement, Observation]:
    return Placement(*fields[:4]), observation_of(fields[4])
