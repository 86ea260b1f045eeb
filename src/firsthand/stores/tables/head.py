"""The owner's head row: the last place given out, the version, the epoch; and what is left of it after an erasure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from operator import itemgetter

from firsthand.model import Head, Owner, Position

from .queries import Fields, Queries


class OwnerHead:
    """The head row as it was when the work began, and what the work adds to it."""

    def __init__(self, queries: Queries, owner: Owner, secret: bytes, found: Fields | None) -> None:
        self.alias = alias(owner, secret)
        self._queries = queries
        self._owner = (owner.tenant, owner.user)
        self._tenant = owner.tenant
        self._anew = found is None or found[0] == 0  # a row of version 0 is there only to be locked
        if self._anew:
            found = queries.one("erased_head", self._tenant, self.alias)
        self.before = Head(*found) if found is not None else Head()
        self._last = (self.before.recorded_at, self.before.counter)
        self._bumped = False
        self.advanced = False  # the row is to be written even where no other is

    @property
    def next_version(self) -> int:
        """What this work's rows are stamped with."""
        return self.before.version + 1

    @property
    def bumped(self) -> bool:
        """Whether every cache of this owner starts anew."""
        return self._bumped

    def bump(self) -> None:
        """Make every cache of this owner start anew."""
        self._bumped = True

    def next_place(self, now: int) -> tuple[int, int]:
        """The next (recorded_at, counter): later than every one before it, whatever the clock says."""
        recorded_at, counter = self._last
        self._last = (max(now, recorded_at), counter + 1)
        return self._last

    def advance_to(self, recorded_at: int) -> None:
        """Let later places be no earlier than this."""
        if recorded_at > self._last[0]:
            self._last = (recorded_at, self._last[1])
            self.advanced = True

    def close_before(self, now: int) -> int:
        """A time that no earlier place is later than, and that every later place is."""
        at = max(now, self._last[0])
        self.advance_to(at + 1)
        return at

    def place(self, positions: Sequence[Position]) -> None:
        """Take note of rows added. Caches look only for what is later, so rows of the past make them start anew."""
        if not positions:
            return
        first = min(positions)
        self._bumped = self._bumped or first[:2] <= (self.before.recorded_at, self.before.counter)
        recorded_at = max(positions).recorded_at
        counter = max(map(itemgetter(1), positions))
        self._last = (max(self._last[0], recorded_at), max(self._last[1], counter))

    def save(self) -> None:
        """Write the row, one version on."""
        self._queries.all("set_head", *self._owner, *self._after())
        if self._anew:
            self._queries.all("drop_erased_head", self._tenant, self.alias)

    def save_erased(self) -> None:
        """Write what is left of it when the owner is gone."""
        self._queries.all("set_erased_head", self._tenant, self.alias, *self._after())

    def _after(self) -> tuple[int, int, int, int]:
        return (self.next_version, self.before.epoch + self._bumped, *self._last)


def alias(owner: Owner, secret: bytes) -> str:
    """The name that an owner has once erased: a keyed digest, which says nothing to who does not ask for the owner."""
    named = json.dumps([owner.tenant, owner.user]).encode()
    return hashlib.blake2b(named, key=secret, digest_size=16).hexdigest()
