"""Small things kept beside the owner's ledger: receipts under their keys, what was dropped, what served."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from firsthand.errors import Conflict
from firsthand.model import Dropped, Owner, Position

from .queries import Queries


class BesideTables:
    """`ports.Ledgerside` of one owner."""

    def __init__(self, queries: Queries, owner: Owner) -> None:
        self._queries = queries
        self._owner = (owner.tenant, owner.user)

    def remembered_receipt(self, key: str) -> tuple[str, str] | None:
        """(body digest, receipt as JSON) stored under an idempotency key."""
        found = self._queries.one("receipt", *self._owner, key)
        return None if found is None else (found[0], found[1])

    def remember_receipt(self, key: str, digest: str, receipt: str) -> None:
        """Store the receipt of a write under its idempotency key. A key that is taken raises Conflict."""
        if self.remembered_receipt(key) is not None:
            raise Conflict(f"idempotency key {key!r} is taken")
        self._queries.all("add_receipt", *self._owner, key, digest, receipt)

    def add_dropped(self, dropped: Sequence[Dropped], position: Position) -> None:
        """Record what was not let in: reason, rule and message, never the text."""
        ((before,),) = self._queries.all("dropped_at", *self._owner, *position)
        self._queries.many(
            "add_dropped",
            (
                (*self._owner, *position, place, each.message_id, each.reason, each.rule)
                for place, each in enumerate(dropped, before)
            ),
        )

    def dropped(self, message_ids: Sequence[str] | None = None) -> list[tuple[str | None, str, str | None]]:
        """(message id, reason, rule) of what was not let in, oldest first."""
        if message_ids is None:
            found = self._queries.all("dropped", *self._owner)
        else:
            wanted = ((*self._owner, each) for each in dict.fromkeys(message_ids))
            found = sorted(self._queries.many("dropped_from_message", wanted), key=lambda fields: fields[:4])
        return [(message_id, reason, rule) for *_, message_id, reason, rule in found]

    def add_use(self, ids: Sequence[str], at: int) -> None:
        """Count one use of each id."""
        counted = Counter(ids)
        self._queries.many("add_use", ((*self._owner, each, count, at) for each, count in counted.items()))

    def merge_uses(self, uses: Mapping[str, tuple[int, int]]) -> None:
        """Take in uses counted elsewhere: the higher count and the later time stand."""
        self._queries.many("merge_use", ((*self._owner, each, *figures) for each, figures in uses.items()))

    def uses(self) -> dict[str, tuple[int, int]]:
        """(count, last use in microseconds) of each id that was ever used."""
        return {id_: (count, last) for id_, count, last in self._queries.all("uses", *self._owner)}
