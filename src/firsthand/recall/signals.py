"""Signals: what speaks for each row, before anything is weighed.

Everything is exact over all rows of the owner, but for cosines in a large index: there they are estimated for all rows
and made exact for those that come near. Statistics are the owner's own, so no other owner's text can move anything.
How signals become relevance is in `relevance.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firsthand.model import Belief, Role
from firsthand.recall.index import BeliefRows, OwnerIndex, belief_document
from firsthand.recall.postings import Figures, Found, Hashes, Rows, rarity, saturated, unpack
from firsthand.recall.question import Question
from firsthand.recall.vectors import NEIGHBOUR
from firsthand.text import term_hash, term_hashes

_ROLES = tuple(Role)


@dataclass(frozen=True, slots=True)
class Signals:
    """Figures of some rows, each of shape (rows,)."""

    words: Figures  # BM25 as a share of what every word of the question, said once, would score
    words_around: Figures  # the same of the turn and its two neighbours read as one text
    vector: Figures  # cosine with the question, on the embedder's scale; 0 where there is no vector
    vector_around: Figures  # the same of the turn's vector and its neighbours' at half weight
    speaker: Figures  # 1 where the row is by, or about, whom the question asks about

    def at(self, rows: Rows | NDArray[np.intp]) -> Signals:
        """The figures of these rows only."""
        return Signals(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Words:
    """The question's terms with what each says in this owner's memory."""

    hashes: Hashes
    rarities: Figures  # shape (terms,)

    @property
    def ideal(self) -> float:
        """What a text of average length scores that says every word once."""
        return float(self.rarities.sum()) or 1.0


def words_of(question: Question, index: OwnerIndex) -> tuple[Words, list[Found], list[Found]]:
    """The question's terms, with their postings in messages and in beliefs; rarity counts both."""
    hashes = np.array([term_hash(term) for term in question.asked.terms], dtype=np.uint64)
    said, held = list(index.postings.find(hashes)), list(index.beliefs.postings.find(hashes))
    total = index.rows + len(index.beliefs.rows)
    rarities = [rarity(total, len(a.rows) + len(b.rows)) for a, b in zip(said, held, strict=True)]
    return Words(hashes, np.array(rarities, dtype=np.float32)), said, held


def message_signals(question: Question, index: OwnerIndex) -> Signals:
    """Signals of every message row. Cosines are estimates where `index.vectors.exact` is False."""
    words, said, _ = words_of(question, index)
    own, around = _words_over(words, said, index)
    vector = _near(question, index)
    columns = index.columns
    beside = _beside(vector, columns.before, columns.after)
    return Signals(own, around, vector, _window(vector, beside, columns.window_norm), _speakers(question, index))


def sharpened(question: Question, index: OwnerIndex, rows: Rows, signals: Signals) -> Signals:
    """The signals of these rows, with exact cosines."""
    some = signals.at(rows)
    if index.vectors.exact or question.vector is None:
        return some
    columns = index.columns
    before, after = columns.before[rows], columns.after[rows]
    together = np.concatenate((rows, before, after))
    needed = np.unique(together[together >= 0]).astype(np.int32)
    exact = np.zeros(index.rows, dtype=np.float32)
    exact[needed] = _scaled(index.vectors.cosines(question.vector, needed), question)
    around = _window(exact[rows], _beside(exact, before, after), columns.window_norm[rows])
    return Signals(some.words, some.words_around, exact[rows], around, some.speaker)


def belief_signals(question: Question, index: OwnerIndex, beliefs: Sequence[Belief], rows: Rows) -> Signals:
    """Signals of these beliefs, whose search rows are `rows` of the index, -1 where there is none.

    A belief has no neighbours but itself.
    """
    own = _belief_words(question, index, beliefs, rows)
    vector = _belief_cosines(question, index.beliefs, rows)
    about = [1.0 if _about(question, belief) else 0.0 for belief in beliefs]
    return Signals(own, own, vector, vector, np.array(about, dtype=np.float32))


def _belief_words(question: Question, index: OwnerIndex, beliefs: Sequence[Belief], rows: Rows) -> Figures:
    words, _, held = words_of(question, index)
    lengths = index.beliefs.length
    average = np.float32((float(lengths.mean()) if len(lengths) else 0.0) or 1.0)
    every = np.zeros(len(lengths) + 1, dtype=np.float32)  # the last entry serves rows of -1
    for found, weight in zip(held, words.rarities, strict=True):
        every[found.rows] += weight * saturated(found.counts, lengths[found.rows] / average)
    own = every[rows]
    for at in np.flatnonzero(rows < 0).tolist():
        own[at] = _words_in(belief_document(beliefs[at]), words, average)
    return np.asarray(np.minimum(own / np.float32(words.ideal), np.float32(1)), dtype=np.float32)


def _words_in(text: str, words: Words, average: np.float32) -> np.float32:
    """BM25 of a text that has no search row."""
    held = unpack(term_hashes(text))
    counts = np.array([(held == each).sum() for each in words.hashes], dtype=np.float32)
    lengths = np.full(len(counts), len(held), dtype=np.float32) / average
    return np.float32((words.rarities * saturated(counts, lengths)).sum())


def _words_over(words: Words, said: list[Found], index: OwnerIndex) -> tuple[Figures, Figures]:
    columns = index.columns
    own = np.zeros(index.rows, dtype=np.float32)
    around = np.zeros(index.rows, dtype=np.float32)
    if not index.rows:
        return own, around
    average = np.float32(float(columns.length.mean()) or 1.0)
    window = np.float32(float(columns.length_around.mean()) or 1.0)
    counts = np.zeros(index.rows, dtype=np.float32)
    for found, weight in zip(said, words.rarities, strict=True):
        if not len(found.rows):
            continue
        own[found.rows] += weight * saturated(found.counts, columns.length[found.rows] / average)
        touched = _spread(found, index, counts)
        around[touched] += weight * saturated(counts[touched], columns.length_around[touched] / window)
        counts[touched] = 0
    ideal = np.float32(words.ideal)
    return np.minimum(own / ideal, np.float32(1)), np.minimum(around / ideal, np.float32(1))


def _spread(found: Found, index: OwnerIndex, counts: Figures) -> Rows:
    """Add one term's counts to the rows that hold it and to their neighbours; the rows touched, repeats left in."""
    touched = [found.rows]
    counts[found.rows] += found.counts
    for side in (index.columns.before[found.rows], index.columns.after[found.rows]):
        there = side >= 0
        counts[side[there]] += found.counts[there]
        touched.append(side[there])
    marked = np.concatenate(touched)
    marked.sort()
    fresh = np.ones(len(marked), dtype=np.bool_)
    fresh[1:] = marked[1:] != marked[:-1]
    return marked[fresh]


def _near(question: Question, index: OwnerIndex) -> Figures:
    if question.vector is None or question.vector.shape != (index.vectors.dimensions,):
        return np.zeros(index.rows, dtype=np.float32)
    return _scaled(index.vectors.near(question.vector), question)


def _scaled(cosines: Figures, question: Question) -> Figures:
    """Cosines on the embedder's scale. A cosine of exactly 0 is that of a row without a vector, and stays 0."""
    scale = question.scale
    figures = (cosines - np.float32(scale.unrelated)) / np.float32(scale.width)
    figures[cosines == 0] = 0
    return np.asarray(figures, dtype=np.float32)


def _beside(vector: Figures, before: Rows, after: Rows) -> Figures:
    """The sum of both neighbours' figures; nothing where there is no neighbour."""
    if not len(vector):
        return vector
    none = np.float32(0)
    return np.asarray(np.where(before >= 0, vector[before], none) + np.where(after >= 0, vector[after], none))


def _window(vector: Figures, beside: Figures, norms: Figures) -> Figures:
    return np.asarray((vector + np.float32(NEIGHBOUR) * beside) / norms, dtype=np.float32)


def _speakers(question: Question, index: OwnerIndex) -> Figures:
    asked, columns = question.asked, index.columns
    wanted = [number for number in map(index.speakers.known, asked.named) if number >= 0]
    out = np.isin(columns.speaker, wanted) if wanted else np.zeros(index.rows, dtype=np.bool_)
    if asked.of_assistant:
        out |= columns.role == _ROLES.index(Role.ASSISTANT)
    elif asked.of_user:
        own = [index.speakers.known(name) for name in asked.user_names]
        out |= (columns.role == _ROLES.index(Role.USER)) & ((columns.speaker < 0) | np.isin(columns.speaker, own))
    return out.astype(np.float32)


def _belief_cosines(question: Question, compiled: BeliefRows, rows: Rows) -> Figures:
    vectors = compiled.vectors
    out = np.zeros(len(rows), dtype=np.float32)
    if question.vector is not None and question.vector.shape == (vectors.dimensions,):
        there = rows >= 0
        out[there] = _scaled(vectors.cosines(question.vector, rows[there]), question)
    return out


def _about(question: Question, belief: Belief) -> bool:
    if belief.subject == "user":
        return question.asked.of_user and not question.asked.of_assistant
    return belief.subject in question.asked.named
