"""Vectors: the rows' embeddings, and how near a question lies to each.

Up to `EXACT_ROWS` rows they are kept as float32 and every cosine is exact. Above it they are kept as float16, and a
question first reads one bit per dimension of every row; exact cosines follow for the rows that come near. Which rows
those are is decided in `signals.py`; what a cosine is worth, in `relevance.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float32]
Rows = NDArray[np.int32]

EXACT_ROWS = 8192  # beyond it, reading one bit per dimension is quicker than reading the floats
NEIGHBOUR = 0.5  # what a neighbouring turn's vector weighs in the window of a turn
_WORD = 64  # bits that are compared at once
_CHUNK = 4096  # rows whose windows are summed at once, to bound the memory of a build


class Growing:
    """An array that grows along its first axis; what was given out earlier is never written again."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self._buffer = rows
        self._used = len(rows)

    def appended(self, seen: int, rows: NDArray[Any]) -> tuple[Growing, NDArray[Any]]:
        """The first `seen` rows and then these; in place unless somebody else has grown it meanwhile."""
        total = seen + len(rows)
        if self._used == seen and total <= len(self._buffer):
            target = self
        else:
            room = np.empty((max(total, 2 * seen), *self._buffer.shape[1:]), dtype=self._buffer.dtype)
            room[:seen] = self._buffer[:seen]
            target = Growing(room)
        target._buffer[seen:total] = rows
        target._used = total
        return target, target._buffer[:total]


def unit_rows(packed: Sequence[bytes | None], dimensions: int) -> NDArray[np.float16]:
    """Vectors from their packed form, shape (rows, dimensions); zeros where there is none, or one of another size."""
    out = np.zeros((len(packed), dimensions), dtype=np.float16)
    for row, each in enumerate(packed):
        if each is not None and len(each) == 2 * dimensions:
            out[row] = np.frombuffer(each, dtype="<f2")
    return out


def size_of(packed: Sequence[bytes | None]) -> int:
    """Dimensions of the first vector there is; 0 where there is none."""
    return next((len(each) >> 1 for each in packed if each), 0)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The embeddings of rows 0, 1, 2 … as of one moment."""

    dimensions: int = 0
    floats: NDArray[Any] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    bits: tuple[NDArray[np.uint64], ...] = ()  # one array per 64 dimensions, each of shape (rows,); empty when exact
    grown: tuple[Growing, ...] = ()  # the arrays behind `floats` and `bits`
    absent: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.int32))  # rows without one, while others have

    @property
    def rows(self) -> int:
        """How many rows there are, those without a vector included."""
        return len(self.floats)

    @property
    def exact(self) -> bool:
        """Whether `near` is exact for every row."""
        return not self.bits

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.floats.nbytes + sum(each.nbytes for each in self.bits)

    def appended(self, packed: Sequence[bytes | None]) -> Vectors:
        """These and more rows at the end. The first vector ever seen decides the dimensions."""
        dimensions = self.dimensions or size_of(packed)
        fresh = unit_rows(packed, dimensions)
        if not self.dimensions:
            earlier = np.zeros((self.rows, dimensions), dtype=np.float16)
            return _started(dimensions, np.concatenate((earlier, fresh)))
        if self.exact and self.rows + len(packed) > EXACT_ROWS:
            return _started(dimensions, np.concatenate((self.floats.astype(np.float16), fresh)))
        news = (fresh.astype(self.floats.dtype), *(_bits(fresh) if self.bits else ()))
        grown, views = zip(
            *(each.appended(self.rows, new) for each, new in zip(self.grown, news, strict=True)), strict=True
        )
        absent = np.concatenate((self.absent, _absent(fresh) + np.int32(self.rows)))
        return Vectors(dimensions, views[0], tuple(views[1:]), tuple(grown), absent)

    def near(self, question: Figures) -> Figures:
        """The cosine of every row with a unit vector, shape (rows,): exact, or estimated from the bits."""
        if self.exact:
            return np.asarray(self.floats @ question, dtype=np.float32)
        asked = _bits(question[np.newaxis])
        differing = np.zeros(self.rows, dtype=np.uint16)
        for theirs, ours in zip(self.bits, asked, strict=True):
            differing += np.bitwise_count(theirs ^ ours[0])
        cosines = np.take(_cosine_of_bits(self.dimensions), differing)
        cosines[self.absent] = 0
        return cosines

    def cosines(self, question: Figures, rows: Rows) -> Figures:
        """The exact cosine of these rows with a unit vector, shape (len(rows),)."""
        return np.asarray(self.floats[rows].astype(np.float32, copy=False) @ question, dtype=np.float32)

    def window_norms(self, rows: Rows, before: Rows, after: Rows) -> Figures:
        """Length of each row's vector plus its neighbours' at half weight; 1 where nothing has a vector.

        `before` and `after` are the neighbours' rows, -1 where there is none. Shape (len(rows),).
        """
        out = np.ones(len(rows), dtype=np.float32)
        if not self.dimensions:
            return out
        for start in range(0, len(rows), _CHUNK):
            at = slice(start, start + _CHUNK)
            total = self.floats[rows[at]].astype(np.float32)
            for beside in (before[at], after[at]):
                there = beside >= 0
                total[there] += np.float32(NEIGHBOUR) * self.floats[beside[there]].astype(np.float32)
            out[at] = np.linalg.norm(total, axis=1)
        out[out == 0] = 1
        return out


def _started(dimensions: int, halves: NDArray[np.float16]) -> Vectors:
    if len(halves) <= EXACT_ROWS:
        floats = halves.astype(np.float32)
        return Vectors(dimensions, floats, (), (Growing(floats),), _absent(halves))
    bits = _bits(halves)
    return Vectors(dimensions, halves, bits, (Growing(halves), *(Growing(each) for each in bits)), _absent(halves))


def _absent(rows: NDArray[Any]) -> Rows:
    """Which rows are all zeros; none where there are no dimensions yet."""
    return np.flatnonzero(~rows.any(axis=1)).astype(np.int32) if rows.shape[1] else np.zeros(0, dtype=np.int32)


def _bits(rows: NDArray[Any]) -> tuple[NDArray[np.uint64], ...]:
    """The signs of each row, 64 dimensions to an array; the last is padded with zeros."""
    missing = -rows.shape[1] % _WORD
    signs = np.pad(rows > 0, ((0, 0), (0, missing)))
    packed = np.packbits(signs, axis=1, bitorder="little").view(np.uint64)
    return tuple(np.ascontiguousarray(packed[:, word]) for word in range(packed.shape[1]))


def _cosine_of_bits(dimensions: int) -> Figures:
    """The cosine that so many differing signs stand for: the angle is the share of them."""
    return np.cos(np.pi * np.arange(dimensions + 1) / dimensions).astype(np.float32)
