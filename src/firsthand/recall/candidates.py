"""Candidates: what may become a hit, with the terms of its score.

Messages come from the index as arrays and become candidates one by one, best first, as the walk needs them; beliefs
above the floor all become candidates at once. What outranks what beyond the score is in `recall.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.model import Belief, Kind, Message, Observation, Role, State, micros
from firsthand.recall.index import OwnerIndex
from firsthand.recall.postings import Figures, Rows
from firsthand.recall.question import Question
from firsthand.recall.relevance import leaning_of, leanings, relevance
from firsthand.recall.score import FIRSTHAND, FLOOR, WEIGHTS, Weights, recency, use
from firsthand.recall.signals import Signals, belief_signals, embeds, message_signals, sharpened
from firsthand.recall.standing import Held, tiers

_ROLES = tuple(Role)
_FIRSTHAND = np.array([FIRSTHAND[role] for role in _ROLES], dtype=np.float32)
_POOL = 400  # messages whose cosines are made exact, of a large index
_DOUBT = 1.0  # log odds by which an estimated cosine may be off, when the floor is first applied


@dataclass(frozen=True, slots=True)
class Beside:
    """What recall needs beside index and beliefs; all of it is the owner's."""

    messages: Callable[[Sequence[str]], Mapping[str, Message]]  # loads some messages by id
    uses: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # id -> (count, last use)
    taken_back: Mapping[str, Observation] = field(default_factory=dict)  # message id -> the act that retracts it
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of beliefs, by id; for filters


@dataclass(slots=True)
class Candidate:
    """Something that may become a hit, while its place is being found."""

    type: str
    id: str
    at: int  # when last said, microseconds since 1970
    terms: dict[str, float]
    score: float
    belief: Belief | None = None
    message: Message | None = None
    last: int = 0  # 0 among the rest, 1 after the rest, 2 last of all
    note: str | None = None
    evidence: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()  # terms of its text, once that is loaded

    @property
    def place(self) -> tuple[int, float, int, str, str]:
        """Sorts candidates: those that come last after the rest, by score, by when they were last said, and by id."""
        return (self.last, -self.score, -self.at, self.type, self.id)


@dataclass(frozen=True, slots=True)
class Asking:
    """A question with all that it is put to."""

    question: Question
    index: OwnerIndex
    held: Held
    beside: Beside

    @property
    def weights(self) -> Weights:
        """The weights of the score that follow from what is asked."""
        return WEIGHTS[self.question.asked.tense]

    @property
    def reference(self) -> datetime:
        """The moment that recency counts from."""
        return self.question.now if self.question.valid_at is None else self.question.valid_at

    def rescored(self, candidate: Candidate) -> None:
        """Set the candidate's score from its terms and from whether it comes after the rest."""
        candidate.score = self.weights.score(candidate.terms) * self.weights.lowest**candidate.last


@dataclass(frozen=True, slots=True)
class Pool:
    """The messages that may be hits, with their figures, by row. Shape of each array: (messages,)."""

    asking: Asking
    rows: Rows
    signals: Signals
    terms: Mapping[str, Figures]
    last: NDArray[np.int8]  # see Candidate.last
    scores: Figures
    below_floor: int  # messages looked at and found not relevant enough

    def candidate(self, at: int) -> Candidate:
        """The candidate of one entry."""
        index = self.asking.index
        row = int(self.rows[at])
        figures = {name: float(column[at]) for name, column in self.terms.items()}
        return Candidate(
            type="message",
            id=index.ids[row],
            at=int(index.columns.at[row]),
            terms=figures | signal_terms(self.signals, at),
            score=float(self.scores[at]),
            last=int(self.last[at]),
        )

    def of_rows(self, rows: Sequence[int]) -> dict[int, Candidate]:
        """The candidates of those of the rows that are in the pool, by entry."""
        places = np.searchsorted(self.rows, rows).tolist()
        there = (at for at, row in zip(places, rows, strict=True) if at < len(self.rows) and self.rows[at] == row)
        return {at: self.candidate(at) for at in there}

    def ranked(self, without: frozenset[int]) -> Iterator[Candidate]:
        """Candidates best first, but for these entries."""
        index = self.asking.index
        said = index.columns.at[self.rows]
        ids = index.ids
        order = sorted(
            np.flatnonzero(self.terms["relevance"] >= FLOOR).tolist(),
            key=lambda at: (self.last[at], -self.scores[at], -said[at], ids[self.rows[at]]),
        )
        return (self.candidate(at) for at in order if at not in without)


# -- messages -----------------------------------------------------------------------------------------------------


def wants_messages(question: Question) -> bool:
    """Whether messages are asked for at all."""
    return question.include != "beliefs" and (question.kinds is None or Kind.EPISODIC in question.kinds)


def message_pool(asking: Asking, besides: Rows) -> Pool:
    """The messages above the floor that can be among the first hits, and the rows `besides` whatever they score."""
    question, index = asking.question, asking.index
    every = message_signals(question, index)
    embedded = embeds(question, index)
    leaning = leanings(every, embedded=embedded)
    allowed = permitted(question, index)
    rows = _above(leaning, allowed, exact=index.vectors.exact or not embedded)
    considered = index.rows if allowed is None else int(allowed.sum())
    rows = _foremost(asking, rows, leaning)
    extra = besides if allowed is None else besides[allowed[besides]]
    rows = np.union1d(rows, extra).astype(np.int32)
    signals = sharpened(question, index, rows, every)
    near = relevance(leanings(signals, embedded=embedded))
    terms = _message_terms(asking, rows, near)
    last = _last(asking, rows)
    scores = sum_of(asking.weights, terms) * np.float32(asking.weights.lowest) ** last
    return Pool(asking, rows, signals, terms, last, scores, considered - int((near >= FLOOR).sum()))


def permitted(question: Question, index: OwnerIndex) -> NDArray[np.bool_] | None:
    """Which messages the question's conditions allow, shape (rows,); None when they allow all."""
    columns = index.columns
    conditions = []
    if question.sessions is not None:
        numbers = [number for number in map(index.sessions.known, question.sessions) if number >= 0]
        conditions.append(np.isin(columns.session, numbers))
    if question.agent is not None:
        conditions.append((columns.agent == index.agents.known(question.agent)) & (columns.agent >= 0))
    if question.since is not None:
        conditions.append(columns.at >= micros(question.since))
    if question.until is not None:
        conditions.append(columns.at < micros(question.until))
    if question.known_at is not None:
        conditions.append(columns.recorded <= micros(question.known_at))
    return np.logical_and.reduce(conditions) if conditions else None


def _above(leaning: Figures, allowed: NDArray[np.bool_] | None, *, exact: bool) -> Rows:
    """The rows that may be above the floor."""
    above = leaning >= leaning_of(FLOOR) - (0.0 if exact else _DOUBT)
    return np.flatnonzero(above if allowed is None else above & allowed).astype(np.int32)


def _foremost(asking: Asking, rows: Rows, leaning: Figures) -> Rows:
    """Of many rows those with the best scores, as far as estimates tell; all of them where each may be needed."""
    size = max(_POOL, 8 * asking.question.limit)
    if len(rows) <= size or asking.question.passes is not None:
        return rows
    scores = sum_of(asking.weights, _message_terms(asking, rows, relevance(leaning[rows])))
    return rows[np.argpartition(-scores, size - 1)[:size]]


def _message_terms(asking: Asking, rows: Rows, near: Figures) -> dict[str, Figures]:
    columns = asking.index.columns
    return {
        "relevance": near,
        "recency": recency(columns.at[rows], asking.reference),
        "confidence": _FIRSTHAND[columns.role[rows]],
        "use": _message_uses(asking, rows),
    }


def _last(asking: Asking, rows: Rows) -> NDArray[np.int8]:
    """Which rows come after the rest: 1 for what only carries recalled memory, 2 for what was taken back."""
    last = asking.index.columns.recalled[rows].astype(np.int8)
    gone = [row for row in map(asking.index.row, asking.beside.taken_back) if row >= 0]
    if gone:
        last[np.isin(rows, gone)] = 2
    return last


def _message_uses(asking: Asking, rows: Rows) -> Figures:
    out = np.zeros(len(rows), dtype=np.float32)
    uses = asking.beside.uses
    if uses:
        ids = asking.index.ids
        for at, row in enumerate(rows.tolist()):
            if ids[row] in uses:
                out[at] = use(uses[ids[row]][0])
    return out


def sum_of(weights: Weights, terms: Mapping[str, Figures]) -> Figures:
    """The scores of many candidates at once."""
    return np.asarray(
        np.float32(weights.relevance) * terms["relevance"]
        + np.float32(weights.recency) * terms["recency"]
        + np.float32(weights.confidence) * terms["confidence"]
        + np.float32(weights.use) * terms["use"],
        dtype=np.float32,
    )


def signal_terms(signals: Signals, at: int) -> dict[str, float]:
    """The signals of one entry as terms of a hit, each in [0, 1]."""
    return {
        "words": float(signals.words[at]),
        "vector": _unit(signals.vector[at]),
        "window": _unit(max(signals.words_around[at], signals.vector_around[at])),
        "speaker": float(signals.speaker[at]),
        "period": float(signals.period[at]),
        "kind": float(signals.kind[at]),
    }


def _unit(figure: float) -> float:
    return min(1.0, max(0.0, float(figure)))


# -- beliefs ------------------------------------------------------------------------------------------------------


Line = list[list[Belief]]  # see standing.tiers


@dataclass(frozen=True, slots=True)
class BeliefPool:
    """The beliefs with their closeness to the question, and those of them that may be hits."""

    near: Mapping[str, float]  # relevance of every belief held, whatever its state, by id
    candidates: dict[str, Candidate]
    lines: Sequence[Line] = ()  # the lines that the question is about at all
    below_floor: int = 0

    def closeness(self, belief: Belief) -> float:
        """How relevant a belief is to the question."""
        return self.near.get(belief.id, 0.0)


def belief_pool(asking: Asking) -> BeliefPool:
    """Every belief held, weighed. Candidates are those that the conditions allow and that are above the floor.

    What stands first in a line that the question is about is a candidate whatever its own words are.
    """
    question, index, held = asking.question, asking.index, asking.held
    if not held.beliefs:
        return BeliefPool({}, {})
    signals = belief_signals(question, index, held.beliefs, held.rows_in(index.beliefs))
    near = relevance(leanings(signals, embedded=question.vector is not None))
    by_id = {belief.id: figure for belief, figure in zip(held.beliefs, near.tolist(), strict=True)}
    lines = [tiers(line, question.asked) for line in held.lines if max(by_id[each.id] for each in line) >= FLOOR]
    if question.include == "messages":
        return BeliefPool(by_id, {}, lines)
    foremost = {each.id for line in lines for each in line[0]}
    close = near >= FLOOR
    wanted = close | np.array([each.id in foremost for each in held.beliefs], dtype=np.bool_) if foremost else close
    fresh = recency(held.last_said, asking.reference)
    allowed = permitted(question, index)
    out: dict[str, Candidate] = {}
    for at in np.flatnonzero(held.recalled & wanted).tolist():
        belief = held.beliefs[at]
        if _admitted(belief, question, index, allowed):
            terms = {
                "relevance": float(near[at]),
                "recency": float(fresh[at]),
                "confidence": _unit(belief.confidence),
                "use": use(asking.beside.uses.get(belief.id, (0, 0))[0]),
            }
            out[belief.id] = _belief_candidate(asking, belief, terms | signal_terms(signals, at))
    return BeliefPool(by_id, out, lines, int((held.recalled & ~close).sum()))


def _belief_candidate(asking: Asking, belief: Belief, terms: dict[str, float]) -> Candidate:
    candidate = Candidate(
        type="belief",
        id=belief.id,
        at=micros(belief.last_said),
        terms=terms,
        score=0.0,
        belief=belief,
        last=1 if belief.state is State.PENDING else 0,
        evidence=belief.evidence,
    )
    asking.rescored(candidate)
    return candidate


def _admitted(belief: Belief, question: Question, index: OwnerIndex, allowed: NDArray[np.bool_] | None) -> bool:
    """Whether the question's conditions allow a belief: its own kind and time, and where its evidence comes from."""
    if question.kinds is not None and belief.kind not in question.kinds:
        return False
    if question.since is not None and belief.last_said < question.since:
        return False
    if question.until is not None and belief.last_said >= question.until:
        return False
    if question.sessions is None:
        return True  # an agent's beliefs are told apart by the caller, who knows who noted them
    rows = [row for row in map(index.row, belief.evidence) if row >= 0]
    return allowed is not None and bool(allowed[rows].any())
