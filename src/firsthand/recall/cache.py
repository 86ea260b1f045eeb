"""Indexes kept in memory between questions: the most recently asked owners, within a bound of bytes.

An index is valid for an owner's head: a newer version only adds rows, another epoch makes it start anew. Rows come
from the store's `Search` port; what an index is, is in `index.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from firsthand.model import Head, Owner
from firsthand.ports import Search
from firsthand.recall.index import OwnerIndex

DEFAULT_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Kept:
    head: Head
    index: OwnerIndex


class IndexCache:
    """Keeps indexes by owner. Safe to use from many threads."""

    def __init__(self, max_bytes: int = DEFAULT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Owner, _Kept] = OrderedDict()
        self._building: dict[Owner, Lock] = {}
        self._lock = Lock()

    def get(self, owner: Owner, head: Head, search: Search) -> OwnerIndex:
        """The owner's index as of `head`, from the search rows of the same snapshot where it is not kept.

        A reader whose snapshot is older than what is kept gets an index of its own, which is not kept.
        """
        kept = self._at(owner, head)
        if kept is not None:
            return kept
        with self._gate(owner):
            kept = self._at(owner, head)
            return self._brought_up(owner, head, search) if kept is None else kept

    def drop(self, owner: Owner | None = None) -> None:
        """Forget one owner's index, or all of them."""
        with self._lock:
            if owner is None:
                self._kept.clear()
            else:
                self._kept.pop(owner, None)

    @property
    def nbytes(self) -> int:
        """Roughly the bytes held."""
        with self._lock:
            return sum(each.index.nbytes for each in self._kept.values())

    def _at(self, owner: Owner, head: Head) -> OwnerIndex | None:
        with self._lock:
            kept = self._kept.get(owner)
            if kept is None or (kept.head.version, kept.head.epoch) != (head.version, head.epoch):
                return None
            self._kept.move_to_end(owner)
            return kept.index

    def _gate(self, owner: Owner) -> Lock:
        with self._lock:
            return self._building.setdefault(owner, Lock())

    def _brought_up(self, owner: Owner, head: Head, search: Search) -> OwnerIndex:
        with self._lock:
            kept = self._kept.get(owner)
        if kept is not None and kept.head.epoch == head.epoch and kept.head.version < head.version:
            index = kept.index.extended(search.messages(kept.index.position)).only_beliefs(search.beliefs())
        else:
            index = OwnerIndex.build(search.messages(None), search.beliefs())
        if kept is None or (kept.head.epoch, kept.head.version) < (head.epoch, head.version):
            self._keep(owner, _Kept(head, index))
        return index

    def _keep(self, owner: Owner, kept: _Kept) -> None:
        with self._lock:
            self._kept[owner] = kept
            self._kept.move_to_end(owner)
            total = sum(each.index.nbytes for each in self._kept.values())
            while total > self._max_bytes and len(self._kept) > 1:
                gone, dropped = self._kept.popitem(last=False)
                self._building.pop(gone, None)
                total -= dropped.index.nbytes
