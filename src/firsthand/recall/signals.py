"""Signals: what speaks for each row, before anything is weighed.

Everything is exact over all rows of the owner, but for cosines in a large index: there they are estimated for all rows
and made exact for those that come near. Statistics are the owner's own, so no other owner's text can move anything.
How signals become relevance is in `relevance.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from firsthand.model import Belief, Role
from firsthand.recall.index import BeliefRows, OwnerIndex, belief_document
from firsthand.recall.postings import Figures, Found, Hashes, Rows, evenness, rarity, saturated, unpack
from firsthand.recall.question import Question
from firsthand.recall.vectors import NEIGHBOUR
from firsthand.text import term_hash, term_hashes

_ROLES = tuple(Role)
_NONE = np.zeros(1, dtype=np.float32)  # what a neighbour of -1 reads, at the end of an array


@dataclass(frozen=True, slots=True)
class Signals:
    """Figures of some rows, each of shape (rows,)."""

    words: Figures  # BM25 as a share of what every word of the question, said once, would score
    words_around: Figures  # the same of the turn and its two neighbours read as one text
    vector: Figures  # cosine with the question, on the embedder's scale; 0 where there is no vector
    vector_around: Figures  # the same of the turn's vector and its neighbours' at half weight
    speaker: Figures  # 1 where the row is by, or about, whom the question asks about
    period: Figures  # 1 where it was said in the period asked about, less the further from it
    kind: Figures  # 1 where it is of the kind asked for

    def at(self, rows: Rows | NDArray[np.intp]) -> Signals:
        """The figures of these rows only."""
        return Signals(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Words:
    """The question's terms, what each says in this owner's memory, and where each stands."""

    hashes: Hashes
    rarities: Figures  # shape (terms,); counts messages and beliefs
    said: tuple[Found, ...]  # postings of messages
    held: tuple[Found, ...]  # postings of beliefs

    @property
    def ideal(self) -> np.float32:
        """What a text of average length scores that says every word once."""
        return np.float32(float(self.rarities.sum()) or 1.0)

    def share(self, scores: Figures) -> Figures:
        """Scores as shares of the ideal, at most 1."""
        return np.asarray(np.minimum(scores / self.ideal, np.float32(1)), dtype=np.float32)


def words_of(question: Question, index: OwnerIndex) -> Words:
    """The question's terms as this owner's memory knows them."""
    hashes = np.array([term_hash(term) for term in question.asked.terms], dtype=np.uint64)
    said, held = tuple(index.postings.find(hashes)), tuple(index.beliefs.postings.find(hashes))
    total = index.rows + len(index.beliefs.rows)
    rarities = [rarity(total, len(a.rows) + len(b.rows)) for a, b in zip(said, held, strict=True)]
    return Words(hashes, np.array(rarities, dtype=np.float32), said, held)


# -- messages -----------------------------------------------------------------------------------------------------


def message_signals(question: Question, index: OwnerIndex) -> Signals:
    """Signals of every message row. Cosines are estimates where `index.vectors.exact` is False."""
    words = words_of(question, index)
    columns = index.columns
    own = np.zeros(index.rows, dtype=np.float32)
    around = np.zeros(index.rows, dtype=np.float32)
    for found, weight in zip(words.said, words.rarities, strict=True):
        own[found.rows] += weight * saturated(found.counts, columns.evenly[found.rows])
        windows = columns.windows(found)
        around[windows.rows] += weight * saturated(windows.counts, columns.evenly_around[windows.rows])
    vector = _near(question, index)
    window = _window(vector, columns.beside(vector), columns.window_norm)
    speaker, period = _speakers(question, index), _period(question, columns.at)
    return Signals(words.share(own), words.share(around), vector, window, speaker, period, _no_figures(index.rows))


def sharpened(question: Question, index: OwnerIndex, rows: Rows, signals: Signals) -> Signals:
    """The signals of these rows, with exact cosines."""
    some = signals.at(rows)
    if index.vectors.exact or question.vector is None or not embeds(question, index):
        return some
    columns = index.columns
    before, after = columns.before[rows], columns.after[rows]
    together = np.concatenate((rows, before, after))
    needed = np.unique(together[together >= 0]).astype(np.int32)
    exact = np.zeros(index.rows, dtype=np.float32)
    exact[needed] = _scaled(index.vectors.cosines(question.vector, needed), question)
    around = _window(exact[rows], _beside(exact, before, after), columns.window_norm[rows])
    return replace(some, vector=exact[rows], vector_around=around)


def embeds(question: Question, index: OwnerIndex) -> bool:
    """Whether the question's vector can be compared with the messages'."""
    return question.vector is not None and question.vector.shape == (index.vectors.dimensions,)


def _near(question: Question, index: OwnerIndex) -> Figures:
    if question.vector is None or not embeds(question, index):
        return _no_figures(index.rows)
    return _scaled(index.vectors.near(question.vector), question)


def _scaled(cosines: Figures, question: Question) -> Figures:
    """Cosines on the embedder's scale. A cosine of exactly 0 is that of a row without a vector, and stays 0."""
    scale = question.scale
    figures = (cosines - np.float32(scale.unrelated)) / np.float32(scale.width)
    figures[cosines == 0] = 0
    return np.asarray(figures, dtype=np.float32)


def _beside(vector: Figures, before: Rows, after: Rows) -> Figures:
    """The sum of both neighbours' figures."""
    padded = np.concatenate((vector, _NONE))
    return np.asarray(padded[before] + padded[after], dtype=np.float32)


def _window(vector: Figures, beside: Figures, norms: Figures) -> Figures:
    return np.asarray((vector + np.float32(NEIGHBOUR) * beside) / norms, dtype=np.float32)


def _speakers(question: Question, index: OwnerIndex) -> Figures:
    asked, columns = question.asked, index.columns
    wanted = [number for number in map(index.speakers.known, asked.named) if number >= 0]
    out = _among(columns.speaker, wanted)
    if asked.of_assistant:
        out |= columns.role == _ROLES.index(Role.ASSISTANT)
    elif asked.of_user:
        own = [index.speakers.known(name) for name in asked.user_names]
        nameless = columns.speaker < 0
        out |= (columns.role == _ROLES.index(Role.USER)) & (nameless | _among(columns.speaker, own))
    return out.astype(np.float32)


def _among(column: Rows, numbers: Sequence[int]) -> NDArray[np.bool_]:
    """Where the column holds one of a few numbers, none of them negative."""
    out = np.zeros(len(column), dtype=np.bool_)
    for number in numbers:
        if number >= 0:
            out |= column == number
    return out


def _period(question: Question, at: NDArray[np.int64]) -> Figures:
    period = question.asked.period
    return _no_figures(len(at)) if period is None else period.fit(at)


def _no_figures(rows: int) -> Figures:
    return np.zeros(rows, dtype=np.float32)


# -- beliefs ------------------------------------------------------------------------------------------------------


def belief_signals(question: Question, index: OwnerIndex, beliefs: Sequence[Belief], rows: Rows) -> Signals:
    """Signals of these beliefs, whose search rows are `rows` of the index, -1 where there is none.

    A belief has no neighbours but itself. When it holds is for its state and interval to say, not for its signals.
    """
    own = _belief_words(words_of(question, index), index.beliefs, beliefs, rows)
    vector = _belief_cosines(question, index.beliefs, rows)
    about = np.array([_about(question, belief) for belief in beliefs], dtype=np.float32)
    kind = np.array([belief.kind is question.asked.kind for belief in beliefs], dtype=np.float32)
    return Signals(own, own, vector, vector, about, _no_figures(len(beliefs)), kind)


def _belief_words(words: Words, compiled: BeliefRows, beliefs: Sequence[Belief], rows: Rows) -> Figures:
    every = np.zeros(len(compiled.evenly) + 1, dtype=np.float32)  # the last entry serves rows of -1
    for found, weight in zip(words.held, words.rarities, strict=True):
        every[found.rows] += weight * saturated(found.counts, compiled.evenly[found.rows])
    own = every[rows]
    for at in np.flatnonzero(rows < 0).tolist():
        own[at] = _words_in(belief_document(beliefs[at]), words, compiled.average)
    return words.share(own)


def _words_in(text: str, words: Words, average: float) -> np.float32:
    """BM25 of a text that has no search row."""
    held = unpack(term_hashes(text))
    counts = np.array([(held == each).sum() for each in words.hashes], dtype=np.float32)
    lengths = np.array([len(held), average or len(held) or 1], dtype=np.float32)
    return np.float32((words.rarities * saturated(counts, evenness(lengths / lengths[1])[:1])).sum())


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
