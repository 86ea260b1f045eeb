"""Words: which rows hold which terms, and exact BM25 over all rows of one owner.

Postings are immutable segments in compressed sparse rows. New rows make a small segment; segments of like size are
merged, so that appending costs a logarithm and a question looks into few places. What the terms of a text are is in
`text.py`; how the figures found here are weighed is in `relevance.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Rows = NDArray[np.int32]
Figures = NDArray[np.float32]

SATURATION = 1.2  # k1: how soon repeating a term stops helping
LENGTH_SHARE = 0.75  # b: how much a long text is held against its terms


def unpack(terms: bytes) -> Hashes:
    """The packed term hashes of one text, in text order, repeats kept. Shape (terms,)."""
    return np.frombuffer(terms, dtype="<u8").astype(np.uint64, copy=False)


@dataclass(frozen=True, slots=True)
class Segment:
    """The postings of a run of rows: term `terms[i]` is held by `rows[starts[i]:starts[i + 1]]`."""

    terms: Hashes  # distinct, ascending
    starts: NDArray[np.int64]  # shape (terms + 1,)
    rows: Rows
    counts: Figures  # how often the row holds the term

    @classmethod
    def of(cls, packed: Sequence[bytes], first_row: int) -> Self:
        """The segment of these texts' packed terms; the first of them is row `first_row`."""
        lengths = np.fromiter((len(each) >> 3 for each in packed), dtype=np.int64, count=len(packed))
        hashes = unpack(b"".join(packed))
        terms = _distinct(hashes)
        shift = np.uint64(max(len(packed) - 1, 1).bit_length())
        places = np.repeat(np.arange(len(packed), dtype=np.uint64), lengths)
        pairs = np.sort(_numbered(hashes, terms, shift) | places)  # ten times as fast as sorting terms and rows
        at = np.flatnonzero(changes(pairs))
        counts = np.diff(np.append(at, len(pairs))).astype(np.float32)
        pairs = pairs[at]
        starts = np.append(np.flatnonzero(changes(pairs >> shift)), len(pairs))
        rows = (pairs & ((np.uint64(1) << shift) - np.uint64(1))).astype(np.int32) + np.int32(first_row)
        return cls(terms, starts, rows, counts)

    @classmethod
    def merged(cls, older: Self, newer: Self) -> Self:
        """One segment in place of two; the rows of `newer` all come after those of `older`."""
        hashes = np.concatenate((older.spread(), newer.spread()))
        order = np.argsort(hashes, kind="stable")
        rows = np.concatenate((older.rows, newer.rows))[order]
        return cls._grouped(hashes[order], rows, np.concatenate((older.counts, newer.counts))[order])

    @classmethod
    def _grouped(cls, hashes: Hashes, rows: Rows, counts: Figures) -> Self:
        at = np.flatnonzero(changes(hashes))
        return cls(hashes[at], np.append(at, len(hashes)), rows, counts)

    def spread(self) -> Hashes:
        """The term of each posting."""
        return np.repeat(self.terms, np.diff(self.starts))

    def find(self, wanted: Hashes) -> list[tuple[int, int]]:
        """Where each wanted term's postings lie, as (start, end); equal where it has none."""
        if not len(self.terms):
            return [(0, 0)] * len(wanted)
        at = np.searchsorted(self.terms, wanted)
        known = self.terms[np.minimum(at, len(self.terms) - 1)] == wanted
        return [
            (int(self.starts[i]), int(self.starts[i + 1])) if hit else (0, 0)
            for i, hit in zip(at.tolist(), known.tolist(), strict=True)
        ]

    @property
    def size(self) -> int:
        """Postings held."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.terms.nbytes + self.starts.nbytes + self.rows.nbytes + self.counts.nbytes


def _numbered(hashes: Hashes, terms: Hashes, shift: np.uint64) -> Hashes:
    """Numbers that sort as the hashes do, with so many low bits free. `terms` are the distinct hashes, ascending."""
    if changes(terms >> shift).all():
        return hashes >> shift << shift
    return np.searchsorted(terms, hashes).astype(np.uint64) << shift  # two terms differ only in the low bits


def _distinct(hashes: Hashes) -> Hashes:
    """Ascending, each once."""
    ordered = np.sort(hashes)
    return ordered[changes(ordered)]


def changes(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a figure differs from the one before it; the first one does."""
    out = np.ones(len(ordered), dtype=np.bool_)
    out[1:] = ordered[1:] != ordered[:-1]
    return out


@dataclass(frozen=True, slots=True)
class Found:
    """One term's postings over all segments."""

    rows: Rows
    counts: Figures


@dataclass(frozen=True, slots=True)
class Postings:
    """All rows' postings, as segments in row order."""

    segments: tuple[Segment, ...] = ()

    def appended(self, packed: Sequence[bytes], first_row: int) -> Postings:
        """These postings with more rows at the end."""
        if not packed:
            return self
        segments = [*self.segments, Segment.of(packed, first_row)]
        while len(segments) > 1 and segments[-2].size <= 2 * segments[-1].size:
            newer = segments.pop()
            segments[-1] = Segment.merged(segments[-1], newer)
        return Postings(tuple(segments))

    def find(self, wanted: Hashes) -> Iterator[Found]:
        """The postings of each wanted term, in the order asked."""
        places = [segment.find(wanted) for segment in self.segments]
        for which in range(len(wanted)):
            parts = [
                (segment.rows[start:end], segment.counts[start:end])
                for segment, place in zip(self.segments, places, strict=True)
                for start, end in (place[which],)
                if end > start
            ]
            if len(parts) == 1:
                yield Found(*parts[0])
            elif parts:
                yield Found(np.concatenate([each[0] for each in parts]), np.concatenate([each[1] for each in parts]))
            else:
                yield Found(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(segment.nbytes for segment in self.segments)


def rarity(total: int, holding: int) -> float:
    """How much a term says: the inverse document frequency of BM25, never negative. `total` rows, `holding` it."""
    return float(np.log1p((total - holding + 0.5) / (holding + 0.5)))


def evenness(lengths: Figures) -> Figures:
    """What BM25 sets against the counts of each text: more for texts longer than the average. Shape (texts,)."""
    average = float(lengths.mean()) if len(lengths) else 0.0
    shares = lengths / np.float32(average or 1.0)
    return np.asarray(SATURATION * (1 - LENGTH_SHARE) + SATURATION * LENGTH_SHARE * shares, dtype=np.float32)


def saturated(counts: Figures, evenly: Figures) -> Figures:
    """BM25's share of each posting: 1.0 for one mention in a text of average length, at most 1 + k1.

    `evenly` are the texts' figures from `evenness`.
    """
    return np.asarray(counts * np.float32(SATURATION + 1) / (counts + evenly), dtype=np.float32)
