"""Removing an owner's rows with all that hangs on them. That their bytes are gone too is `scrub`, in the adapter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from firsthand.errors import StoreError
from firsthand.model import Owner
from firsthand.ports import Removal

from .queries import Queries
from .rows import body_checksum, body_of, observation_of

EVERYTHING = (
    "erase_all_messages",
    "erase_all_observations",
    "erase_all_evidence",
    "erase_all_placements",
    "erase_all_cells",
    "erase_all_search_messages",
    "erase_all_search_beliefs",
    "erase_all_receipts",
    "erase_all_dropped",
    "erase_all_uses",
    "erase_all_cursors",
    "erase_all_spending",
    "erase_owner",
)


class Eraser:
    """Removes rows of one owner."""

    def __init__(self, queries: Queries, owner: Owner) -> None:
        self._queries = queries
        self._owner = (owner.tenant, owner.user)

    def remove(self, removal: Removal) -> None:
        """Remove the rows named. The derived state of the slots they were in goes too, and has to be folded again."""
        messages, observations = list(dict.fromkeys(removal.messages)), list(dict.fromkeys(removal.observations))
        self._drop_derived(observations)
        self._strip(set(messages), set(observations))
        self._each(messages, "drop_search_message", "erase_message", "erase_evidence_in_message")
        self._each(messages, "erase_dropped_from_message", "erase_use")
        self._each(observations, "erase_observation", "erase_evidence_of_observation", "drop_placements", "erase_use")
        self._drop_receipts({*messages, *observations})
        self._queries.all("erase_idle_cursors", *self._owner)  # a session's name may be telling

    def remove_everything(self) -> None:
        """Remove every row of the owner, and count that none is left."""
        for name in EVERYTHING:
            self._queries.all(name, *self._owner)
        ((left,),) = self._queries.all("rows_left", *self._owner)
        if left:
            raise StoreError(f"an erasure left {left} rows behind; nothing was erased")

    def _each(self, ids: Sequence[str], *names: str) -> None:
        for name in names:
            self._queries.many(name, ((*self._owner, each) for each in ids))

    def _drop_derived(self, observations: Sequence[str]) -> None:
        found = self._queries.many("slots_of_observation", ((*self._owner, each) for each in observations))
        slots = sorted({slot for (slot,) in found})
        self._each(slots, "drop_cells_of_slot")
        self._queries.many("drop_search_beliefs_of_slot", ((*self._owner, *_names_in(slot)) for slot in slots))

    def _strip(self, messages: set[str], observations: set[str]) -> None:
        """Take the words of erased messages out of the observations that stay."""
        citing = self._queries.many("citing", ((*self._owner, each) for each in messages))
        for id_, body in {id_: body for id_, body in citing if id_ not in observations}.items():
            observation = observation_of(body)
            left = tuple(each for each in observation.evidence if each.message_id not in messages)
            bare = body_of(replace(observation, evidence=left))
            self._queries.all("set_body", *self._owner, id_, bare, body_checksum(bare))

    def _drop_receipts(self, erased: set[str]) -> None:
        """Receipts that name what was erased may repeat its words in a question."""
        found = self._queries.all("receipts", *self._owner)
        naming = [key for key, receipt in found if not erased.isdisjoint(_strings(json.loads(receipt)))]
        self._each(naming, "drop_receipt")


def _names_in(slot: str) -> tuple[str, str]:
    """The bounds of the names of search rows in a slot: `slot`, separator, cell, separator, claim."""
    return f"{slot}\x1f", f"{slot}\x20"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        inner: Iterable[Any] = value.values() if isinstance(value, dict) else value
        for each in inner:
            yield from _strings(each)
