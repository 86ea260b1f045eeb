"""Vectors: the rows' embeddings, and how near a question lies to each.

They are kept as float16. Up to `EXACT_ROWS` rows every cosine is exact. Above it a question first reads one bit per
dimension of every row; exact cosines follow for the rows that come near. Which rows those are is decided in
`signals.py`; what a cosine is worth, in `relevance.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float32]
Rows = NDArray[np.int32]

EXACT_ROWS = 8192  # beyond it, reading one bit per dimension is quicker than reading the floats
NEIGHBOUR = 0.5  # what a neighbouring turn's vector weighs in the window of a turn
_WORD = 64  # bits that are compared at once
_CHUNK = 1024  # rows that are made single at once, to stay in the processor's caches
_SPREAD = 4  # windows further apart than this many rows to one are gathered row by row


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
    size = 2 * dimensions
    if packed and all(each is not None and len(each) == size for each in packed):
        joined = b"".join(each for each in packed if each is not None)
        return np.frombuffer(joined, dtype="<f2").astype(np.float16, copy=False).reshape(len(packed), dimensions)
    out = np.zeros((len(packed), dimensions), dtype=np.float16)
    for row, each in enumerate(packed):
        if each is not None and len(each) == size:
            out[row] = np.frombuffer(each, dtype="<f2")
    return out


def size_of(packed: Sequence[bytes | None]) -> int:
    """Dimensions of the first vector there is; 0 where there is none."""
    return next((len(each) >> 1 for each in packed if each), 0)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The embeddings of rows 0, 1, 2 … as of one moment."""

    dimensions: int = 0
    floats: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float16))
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
            return _started(dimensions, np.concatenate((self.floats, fresh)))
        news: tuple[NDArray[Any], ...] = (fresh, *(_bits(fresh) if self.bits else ()))
        grown, views = zip(
            *(each.appended(self.rows, new) for each, new in zip(self.grown, news, strict=True)), strict=True
        )
        absent = np.concatenate((self.absent, _absent(fresh) + np.int32(self.rows)))
        return Vectors(dimensions, views[0], tuple(views[1:]), tuple(grown), absent)

    def near(self, question: Figures) -> Figures:
        """The cosine of every row with a unit vector, shape (rows,): exact, or estimated from the bits."""
        if self.exact:
            parts = [_single(self.floats[at : at + _CHUNK]) @ question for at in range(0, self.rows, _CHUNK)]
            return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)
        asked = _bits(question[np.newaxis])
        differing = np.zeros(self.rows, dtype=np.uint16)
        for theirs, ours in zip(self.bits, asked, strict=True):
            differing += np.bitwise_count(theirs ^ ours[0])
        cosines = np.take(_cosine_of_bits(self.dimensions), differing)
        cosines[self.absent] = 0
        return cosines

    def cosines(self, question: Figures, rows: Rows) -> Figures:
        """The exact cosine of these rows with a unit vector, shape (len(rows),)."""
        return np.asarray(_single(self.floats[rows]) @ question, dtype=np.float32)

    def window_norms(self, rows: Rows, before: Rows, after: Rows) -> Figures:
        """Length of each row's vector plus its neighbours' at half weight; 1 where nothing has a vector.

        `before` and `after` are the neighbours' rows, -1 where there is none. Shape (len(rows),).
        """
        out = np.ones(len(rows), dtype=np.float32)
        if not self.dimensions:
            return out
        for start in range(0, len(rows), _CHUNK):
            at = slice(start, start + _CHUNK)
            out[at] = np.sqrt(self._window_squares(rows[at], before[at], after[at]))
        out[out == 0] = 1
        return out

    def _window_squares(self, rows: Rows, before: Rows, after: Rows) -> Figures:
        """The squared lengths of windows. Rows that lie together, as they mostly do, are read only once."""
        weights = [np.where(each >= 0, np.float32(NEIGHBOUR), np.float32(0)) for each in (before, after)]
        places = np.concatenate((rows, *(np.where(each >= 0, each, rows) for each in (before, after))))
        first, last = int(places.min()), int(places.max())
        if last - first < _SPREAD * len(rows):
            floats = _single(self.floats[first : last + 1])
            places -= first
        else:
            needed, places = np.unique(places, return_inverse=True)
            floats = _single(self.floats[needed])
        own, *beside = np.split(places, 3)
        total = floats[own]
        for near, weight in zip(beside, weights, strict=True):
            total += floats[near] * weight[:, np.newaxis]
        return np.asarray(np.einsum("ij,ij->i", total, total), dtype=np.float32)


def _started(dimensions: int, halves: NDArray[np.float16]) -> Vectors:
    if len(halves) <= EXACT_ROWS:
        return Vectors(dimensions, halves, (), (Growing(halves),), _absent(halves))
    bits = _bits(halves)
    return Vectors(dimensions, halves, bits, (Growing(halves), *(Growing(each) for each in bits)), _absent(halves))


def _single(rows: NDArray[np.float16]) -> Figures:
    """The figures in single precision. All must be finite.

    A half has its bits moved to where a single has them, and the difference of their exponents made up by a factor:
    exact, and six times as fast as numpy's own conversion.
    """
    bits = rows.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(-0x70002000)  # sign, exponent and fraction, without the copies of the sign between them
    figures = bits.view(np.float32)
    figures *= np.float32(2.0**112)
    return figures


def _absent(rows: NDArray[Any]) -> Rows:
    """Which rows are all zeros; none where there are no dimensions yet."""
    return np.flatnonzero(~rows.any(axis=1)).astype(np.int32) if rows.shape[1] else np.zeros(0, dtype=np.int32)


def _bits(rows: NDArray[Any]) -> tuple[NDArray[np.uint64], ...]:
    """The signs of each row, 64 dimensions to an array; the last is padded with zeros."""
    positive = rows.view(np.int16) > 0 if rows.dtype == np.float16 else rows > 0  # as integers: no half is converted
    missing = -rows.shape[1] % _WORD
    if missing:
        positive = np.pad(positive, ((0, 0), (0, missing)))
    packed = np.packbits(positive, axis=1, bitorder="little").view(np.uint64)
    return tuple(np.ascontiguousarray(packed[:, word]) for word in range(packed.shape[1]))


@cache
def _cosine_of_bits(dimensions: int) -> Figures:
    """The cosine that so many differing signs stand for: the angle is the share of them."""
    return np.cos(np.pi * np.arange(dimensions + 1) / dimensions).astype(np.float32)
