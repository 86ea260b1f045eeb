"""The index of one owner: every message and belief row that recall looks at, in memory.

An `OwnerIndex` is a snapshot that never changes: `extended` and `with_beliefs` give a new one that shares what stayed
the same, so readers need no lock. It is built from the store's search rows alone and holds no text. Who keeps it for
how long is in `cache.py`; what is computed from it for a question, in `signals.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.model import Belief, Position, Role
from firsthand.ports import MessageFacts, SearchRow
from firsthand.recall.postings import Figures, Found, Postings, Rows, changes, evenness
from firsthand.recall.vectors import Vectors
from firsthand.text import terms

_HOUR = 3_600_000_000  # microseconds
_STREAM_GAP = _HOUR  # turns without a session are neighbours only when said within an hour of each other
_ROLES = tuple(Role)
_ROLE_NUMBER = {role: number for number, role in enumerate(_ROLES)}
_COMMON = 64  # a term held by more than one row in so many is counted over all rows, a rarer one row by row
_COUNT_BITS = 32  # of a row and a count sorted as one number
_PAGE = 2048  # search rows that are taken apart at once
_PER_BELIEF = 4_000  # bytes of a belief in Python, with its cell and all that points to it
_PER_ID = 150  # bytes that an id costs in Python, with its place in the table of ids


@dataclass(frozen=True, slots=True)
class Columns:
    """One entry per message, in ledger order. -1 stands for none."""

    at: NDArray[np.int64]  # when said, microseconds since 1970
    recorded: NDArray[np.int64]  # when told, microseconds since 1970
    session: Rows  # number of its session
    agent: Rows
    speaker: Rows  # number of its speaker's name
    role: NDArray[np.int8]
    recalled: NDArray[np.bool_]
    length: Figures  # terms
    length_around: Figures  # terms of the turn and its two neighbours
    evenly: Figures  # `postings.evenness` of the lengths
    evenly_around: Figures
    before: Rows  # the row of the turn before it in its session
    after: Rows
    joined: Figures  # 1 where the turn before it is the row before it, as for most; else 0
    apart: Rows  # rows that have a neighbour somewhere else
    window_norm: Figures  # see Vectors.window_norms

    @property
    def rows(self) -> int:
        """How many messages."""
        return len(self.at)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(getattr(self, name).nbytes for name in self.__slots__)

    def beside(self, figures: Figures) -> Figures:
        """The sum of both neighbours' figures, for every row."""
        out = np.zeros(self.rows, dtype=np.float32)
        out[1:] = figures[:-1] * self.joined[1:]
        out[:-1] += figures[1:] * self.joined[1:]
        if len(self.apart):
            padded = np.append(figures, np.float32(0))  # a neighbour of -1 reads the zero at the end
            out[self.apart] = padded[self.before[self.apart]] + padded[self.after[self.apart]]
        return out

    def windows(self, found: Found) -> Found:
        """One term's postings in turns read together with their neighbours."""
        if _COMMON * len(found.rows) > self.rows:
            counts = np.zeros(self.rows, dtype=np.float32)
            counts[found.rows] = found.counts
            counts += self.beside(counts)
            rows = np.flatnonzero(counts > 0)
            return Found(rows.astype(np.int32), counts[rows])
        rows = np.concatenate((found.rows, self.before[found.rows], self.after[found.rows]))
        keys = (rows.astype(np.int64) << _COUNT_BITS) | np.tile(found.counts.astype(np.int64), 3)
        keys = np.sort(keys[rows >= 0])
        rows = keys >> _COUNT_BITS
        at = np.flatnonzero(changes(rows))
        counts = np.add.reduceat((keys & ((1 << _COUNT_BITS) - 1)).astype(np.float32), at)
        return Found(rows[at].astype(np.int32), counts)


def _no_columns() -> Columns:
    kinds = {
        "at": np.int64,
        "recorded": np.int64,
        "role": np.int8,
        "recalled": np.bool_,
        "length": np.float32,
        "length_around": np.float32,
        "evenly": np.float32,
        "evenly_around": np.float32,
        "joined": np.float32,
        "window_norm": np.float32,
    }
    return Columns(**{name: np.zeros(0, dtype=kinds.get(name, np.int32)) for name in Columns.__slots__})


@dataclass(frozen=True, slots=True)
class BeliefRows:
    """The search rows of beliefs, by id, compiled once per change."""

    rows: Mapping[str, SearchRow] = field(default_factory=dict)
    number: Mapping[str, int] = field(default_factory=dict)  # row id -> row
    postings: Postings = field(default_factory=Postings)
    vectors: Vectors = field(default_factory=Vectors)
    evenly: Figures = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    average: float = 0.0  # terms in a row

    @classmethod
    def of(cls, rows: Mapping[str, SearchRow]) -> BeliefRows:
        """Compile these rows."""
        ids = sorted(rows)
        packed = [rows[each].terms for each in ids]
        lengths = np.array([len(each) >> 3 for each in packed], dtype=np.float32)
        return cls(
            rows,
            {each: number for number, each in enumerate(ids)},
            Postings().appended(packed, 0),
            Vectors().appended([rows[each].vector for each in ids]),
            evenness(lengths),
            float(lengths.mean()) if ids else 0.0,
        )


@dataclass(frozen=True, slots=True)
class Names:
    """Numbers for the names of sessions, agents and speakers, in order of appearance. Grows, never changes."""

    number: dict[str, int] = field(default_factory=dict)

    def of(self, name: str | None) -> int:
        """The number of a name, given out when it is new; -1 for None."""
        return -1 if name is None else self.number.setdefault(name, len(self.number))

    def of_all(self, names: Sequence[str | None]) -> list[int]:
        """The numbers of many names, -1 for None; new ones in order of appearance."""
        number = self.number
        for name in dict.fromkeys(names):
            self.of(name)
        return [-1 if name is None else number[name] for name in names]

    def known(self, name: str) -> int:
        """The number of a name; -1 when it never appeared."""
        return self.number.get(name, -1)


@dataclass(frozen=True, slots=True)
class OwnerIndex:
    """What recall keeps of one owner, as of one moment. Made by `build`, grown by `extended`."""

    ids: list[str] = field(default_factory=list)  # shared with later snapshots: only the first `rows` are ours
    row_of: dict[str, int] = field(default_factory=dict)  # shared likewise
    columns: Columns = field(default_factory=_no_columns)
    postings: Postings = field(default_factory=Postings)
    vectors: Vectors = field(default_factory=Vectors)
    sessions: Names = field(default_factory=Names)
    agents: Names = field(default_factory=Names)
    speakers: Names = field(default_factory=Names)
    last: Mapping[int, int] = field(default_factory=dict)  # session -> its latest row
    position: Position | None = None  # of the latest message
    beliefs: BeliefRows = field(default_factory=BeliefRows)

    @classmethod
    def build(cls, facts: Iterable[MessageFacts], beliefs: Iterable[SearchRow] = ()) -> OwnerIndex:
        """The index of these messages (in ledger order) and belief rows."""
        index = cls().extended(facts)
        rows = {row.id: row for row in beliefs}
        return index.with_beliefs(rows.values()) if rows else index

    def extended(self, facts: Iterable[MessageFacts]) -> OwnerIndex:
        """The index with more messages, recorded after all that it holds. One caller at a time; readers may go on."""
        news = _News.of(facts, self)
        if not news.ids:
            return self
        first = self.rows
        ids, row_of = self._own_ids()
        ids += news.ids
        row_of.update(zip(news.ids, range(first, first + len(news.ids)), strict=True))
        grown = replace(
            self,
            ids=ids,
            row_of=row_of,
            postings=self.postings.appended(news.terms, first),
            vectors=self.vectors.appended(news.vectors),
            position=news.position,
        )
        return _with_columns(grown, news)

    def with_beliefs(self, rows: Iterable[SearchRow], gone: Iterable[str] = ()) -> OwnerIndex:
        """The index with these belief rows added or replaced, and those of the ids `gone` left out."""
        merged = dict(self.beliefs.rows)
        for each in gone:
            merged.pop(each, None)
        merged.update((row.id, row) for row in rows)
        return replace(self, beliefs=BeliefRows.of(merged))

    def only_beliefs(self, rows: Iterable[SearchRow]) -> OwnerIndex:
        """The index with exactly these belief rows."""
        return replace(self, beliefs=BeliefRows.of({row.id: row for row in rows}))

    def row(self, message_id: str) -> int:
        """The row of a message; -1 when this snapshot does not hold it."""
        row = self.row_of.get(message_id, -1)
        return row if row < self.rows else -1

    @property
    def rows(self) -> int:
        """How many messages."""
        return self.columns.rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of speakers, in order of appearance."""
        return tuple(self.speakers.number)

    @property
    def has_vectors(self) -> bool:
        """Whether anything here has a vector to compare a question's with."""
        return bool(self.vectors.dimensions or self.beliefs.vectors.dimensions)

    @property
    def sole_speaker(self) -> str | None:
        """The one name that turns of the role user carry, where they carry no other; None for none or several."""
        if not self.speakers.number:
            return None
        named = self.columns.speaker[(self.columns.role == _ROLE_NUMBER[Role.USER]) & (self.columns.speaker >= 0)]
        return self.names[int(named[0])] if len(named) and (named == named[0]).all() else None

    @property
    def nbytes(self) -> int:
        """Roughly the bytes held, for bounding a cache."""
        arrays = self.columns.nbytes + self.postings.nbytes + self.vectors.nbytes
        beliefs = self.beliefs.postings.nbytes + 2 * self.beliefs.vectors.nbytes + _PER_BELIEF * len(self.beliefs.rows)
        return arrays + beliefs + _PER_ID * self.rows

    def _own_ids(self) -> tuple[list[str], dict[str, int]]:
        if len(self.ids) == self.rows:
            return self.ids, self.row_of
        ids = self.ids[: self.rows]
        return ids, {each: row for row, each in enumerate(ids)}


def belief_document(belief: Belief) -> str:
    """What is indexed and embedded of a belief: whom it is about, what of them, and its text."""
    about = "" if belief.subject == "user" else belief.subject
    attribute = "" if belief.attribute is None else belief.attribute.replace("_", " ")
    known = set(terms(belief.text))
    lead = [each for each in (about, attribute) if each and not set(terms(each)) <= known]
    return ". ".join([*lead, belief.text])


@dataclass(frozen=True, slots=True)
class _News:
    """Messages on their way in, column by column, so that no row outlives the page that it was read in."""

    ids: list[str] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    recorded: list[int] = field(default_factory=list)
    sessions: list[int] = field(default_factory=list)
    agents: list[int] = field(default_factory=list)
    speakers: list[int] = field(default_factory=list)
    roles: list[int] = field(default_factory=list)
    recalled: list[bool] = field(default_factory=list)
    terms: list[bytes] = field(default_factory=list)
    vectors: list[bytes | None] = field(default_factory=list)
    position: Position | None = None  # of the last one

    @classmethod
    def of(cls, facts: Iterable[MessageFacts], index: OwnerIndex) -> _News:
        """These messages, with the index's numbers for names."""
        news, rest, position = cls(), iter(facts), None
        while page := list(islice(rest, _PAGE)):
            ids, positions, sessions, agents, roles, names, at, terms, vectors, recalled = zip(*page, strict=True)
            news.ids.extend(ids)
            news.at.extend(at)
            news.recorded.extend([each.recorded_at for each in positions])
            news.sessions.extend(index.sessions.of_all(sessions))
            news.agents.extend(index.agents.of_all(agents))
            news.speakers.extend(index.speakers.of_all(names))
            news.roles.extend([_ROLE_NUMBER[each] for each in roles])
            news.recalled.extend(recalled)
            news.terms.extend(terms)
            news.vectors.extend(vectors)
            position = positions[-1]
        return replace(news, position=position)


def _with_columns(grown: OwnerIndex, news: _News) -> OwnerIndex:
    old = grown.columns
    first = old.rows
    before, after, last = _neighbours(grown, news)
    touched = _touched(before, first)
    length = _joined(old.length, [len(each) >> 3 for each in news.terms])
    length_around = _joined(old.length_around, [0] * len(news.ids))
    length_around[touched] = _length_around(length, touched, before, after)
    follows = (before >= 0) & (before == np.arange(-1, len(before) - 1))
    columns = Columns(
        at=_joined(old.at, news.at),
        recorded=_joined(old.recorded, news.recorded),
        session=_joined(old.session, news.sessions),
        agent=_joined(old.agent, news.agents),
        speaker=_joined(old.speaker, news.speakers),
        role=_joined(old.role, news.roles),
        recalled=_joined(old.recalled, news.recalled),
        length=length,
        length_around=length_around,
        evenly=evenness(length),
        evenly_around=evenness(length_around),
        before=before,
        after=after,
        joined=follows.astype(np.float32),
        apart=_apart(before, after, follows),
        window_norm=_joined(old.window_norm, [1.0] * len(news.ids)),
    )
    columns.window_norm[touched] = grown.vectors.window_norms(touched, before[touched], after[touched])
    return replace(grown, columns=columns, last=last)


def _neighbours(grown: OwnerIndex, news: _News) -> tuple[Rows, Rows, dict[int, int]]:
    first = grown.columns.rows
    before = _joined(grown.columns.before, [-1] * len(news.ids))
    after = _joined(grown.columns.after, [-1] * len(news.ids))
    last = dict(grown.last)
    for row, session in enumerate(news.sessions, first):
        earlier = last.get(session, -1)
        if earlier >= 0 and session < 0:
            said = int(grown.columns.at[earlier]) if earlier < first else news.at[earlier - first]
            earlier = earlier if abs(news.at[row - first] - said) <= _STREAM_GAP else -1
        if earlier >= 0:
            before[row], after[earlier] = earlier, row
        last[session] = row
    return before, after, last


def _apart(before: Rows, after: Rows, follows: NDArray[np.bool_]) -> Rows:
    """The rows with a neighbour that is not the row beside them."""
    leads = np.append(follows[1:], np.False_)
    return np.flatnonzero(((before >= 0) & ~follows) | ((after >= 0) & ~leads)).astype(np.int32)


def _touched(before: Rows, first: int) -> Rows:
    """The rows whose window is new: those from `first` on, and the turns before them."""
    earlier = before[first:]
    fresh = np.arange(first, len(before), dtype=np.int32)
    return np.unique(np.concatenate((fresh, earlier[(earlier >= 0) & (earlier < first)])))


def _length_around(length: Figures, rows: Rows, before: Rows, after: Rows) -> Figures:
    padded = np.append(length, np.float32(0))  # a neighbour of -1 reads the zero at the end
    return np.asarray(padded[rows] + padded[before[rows]] + padded[after[rows]], dtype=np.float32)


def _joined(old: NDArray[Any], news: Sequence[Any]) -> NDArray[Any]:
    return np.concatenate((old, np.array(news, dtype=old.dtype)))
