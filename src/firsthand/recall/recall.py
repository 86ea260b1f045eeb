"""Recall: from a question to the few things in memory that answer it, best first.

    question ──> signals of every row ──> relevance, floor ──> score ──> standing ──> walk ──> hits
                 signals.py               relevance.py         score.py  standing.py  duplicates, metadata, limit

Reads an `OwnerIndex` and values that the caller loaded; never the store, never a clock. The same question over the
same memory gives the same hits in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.model import Belief, Hit, Kind, Message, Observation, Role, State, from_micros, micros
from firsthand.recall.explain import Cut, Trace, seen, why
from firsthand.recall.index import OwnerIndex
from firsthand.recall.postings import Figures, Rows
from firsthand.recall.question import Question, Tense
from firsthand.recall.relevance import ordering, relevance
from firsthand.recall.score import FIRSTHAND, FLOOR, WEIGHTS, Weights, recency, use
from firsthand.recall.signals import Signals, belief_signals, message_signals, sharpened
from firsthand.recall.standing import BELOW, RECALLED, Held
from firsthand.text import terms, value_key

_ROLES = tuple(Role)
_POOL = 400  # message rows whose cosines are made exact, and which are scored in full
_PAGE = 32  # messages loaded at once
_ARTICLES = frozenset({"a", "an", "the"})


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
    at: datetime
    terms: dict[str, float]
    belief: Belief | None = None
    message: Message | None = None
    score: float = 0.0
    last: int = 0  # 0 among the rest, 1 after the rest, 2 last of all
    note: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The hits and how they came about."""

    hits: tuple[Hit, ...]
    trace: Trace


def recall(question: Question, index: OwnerIndex, held: Held, beside: Beside) -> list[Hit]:
    """What memory holds that answers the question: at most `question.limit` hits, best first."""
    return list(search(question, index, held, beside).hits)


def search(question: Question, index: OwnerIndex, held: Held, beside: Beside) -> Found:
    """As `recall`, with the account of how each hit came about and what was left out."""
    return _Search(question, index, held, beside).run()


class _Search:
    """One search; its methods are the steps, in order."""

    def __init__(self, question: Question, index: OwnerIndex, held: Held, beside: Beside) -> None:
        self._question, self._index, self._held, self._beside = question, index, held, beside
        self._weights: Weights = WEIGHTS[question.asked.tense]
        self._lowest = self._weights.relevance * FLOOR
        self._cuts: list[Cut] = []
        self._below_floor = 0

    def run(self) -> Found:
        question = self._question
        if question.limit == 0:
            return Found((), Trace(question.asked.notes, 0, 0, (), ()))
        beliefs = self._beliefs()
        messages = self._messages()
        candidates = [*beliefs.values(), *messages.values()]
        for each in candidates:
            each.score = self._score(each)
        self._lift(beliefs, messages)
        self._stand(beliefs, messages)
        candidates.sort(key=_order)
        hits = tuple(self._hit(each) for each in self._walk(candidates))
        considered = len(candidates)
        return Found(hits, Trace(question.asked.notes, considered, self._below_floor, seen(hits), tuple(self._cuts)))

    # -- candidates ---------------------------------------------------------------------------------------------------

    def _messages(self) -> dict[str, Candidate]:
        if not self._wants_messages() or not self._index.rows:
            return {}
        rows, signals, near = self._pool()
        columns = self._index.columns
        fresh = recency(columns.at[rows], self._reference())
        out = {}
        for at in np.flatnonzero(near >= FLOOR).tolist():
            row = int(rows[at])
            message_id = self._index.ids[row]
            role = _ROLES[columns.role[row]]
            out[message_id] = Candidate(
                type="message",
                id=message_id,
                at=from_micros(int(columns.at[row])),
                terms=self._terms(near[at], fresh[at], FIRSTHAND[role], message_id) | _signal_terms(signals, at),
                last=1 if columns.recalled[row] else 0,
                note="carries recalled memory" if columns.recalled[row] else None,
            )
        return out

    def _pool(self) -> tuple[Rows, Signals, Figures]:
        """The rows worth scoring, with their signals and relevance: every one that can still be a hit."""
        every = message_signals(self._question, self._index)
        allowed = self._allowed()
        sums = np.where(allowed, ordering(every), -np.inf)
        size = min(max(_POOL, 8 * self._question.limit), int(allowed.sum()))
        if self._question.passes is not None:
            size = int(allowed.sum())  # most may fall to the filter, so all stay in
        top = np.argpartition(-sums, size - 1)[:size] if 0 < size < len(sums) else np.flatnonzero(allowed)
        rows = np.sort(top).astype(np.int32)
        signals = sharpened(self._question, self._index, rows, every)
        near = relevance(signals)
        self._below_floor += int((near < FLOOR).sum()) + int(allowed.sum()) - len(rows)
        return rows, signals, near

    def _allowed(self) -> NDArray[np.bool_]:
        question, index = self._question, self._index
        columns = index.columns
        allowed = np.ones(index.rows, dtype=np.bool_)
        if question.sessions is not None:
            allowed &= np.isin(columns.session, [index.sessions.known(each) for each in question.sessions])
            allowed &= columns.session >= 0
        if question.agent is not None:
            allowed &= (columns.agent == index.agents.known(question.agent)) & (columns.agent >= 0)
        if question.since is not None:
            allowed &= columns.at >= micros(question.since)
        if question.until is not None:
            allowed &= columns.at < micros(question.until)
        if question.known_at is not None:
            allowed &= columns.recorded <= micros(question.known_at)
        return allowed

    def _beliefs(self) -> dict[str, Candidate]:
        question = self._question
        if question.include == "messages" or not self._held.beliefs:
            self._closeness: dict[str, float] = {}
            return {}
        beliefs = list(self._held.beliefs)
        near, signals = self._belief_relevance(beliefs)
        said = np.array([micros(each.last_said) for each in beliefs], dtype=np.int64)
        fresh = recency(said, self._reference())
        out = {}
        for at, belief in enumerate(beliefs):
            if belief.state not in RECALLED or not self._admits(belief):
                continue
            if near[at] < FLOOR:
                self._below_floor += 1
                continue
            out[belief.id] = Candidate(
                type="belief",
                id=belief.id,
                at=belief.last_said,
                terms=self._terms(near[at], fresh[at], belief.confidence, belief.id) | _signal_terms(signals, at),
                belief=belief,
                last=1 if belief.state is State.PENDING else 0,
                note=_note(belief, self._held),
                evidence=belief.evidence,
            )
        return out

    def _belief_relevance(self, beliefs: Sequence[Belief]) -> tuple[Figures, Signals]:
        number = self._index.beliefs.number
        rows = np.array([number.get(self._held.rows.get(each.id, ""), -1) for each in beliefs], dtype=np.int32)
        signals = belief_signals(self._question, self._index, beliefs, rows)
        near = relevance(signals)
        self._closeness = {belief.id: float(figure) for belief, figure in zip(beliefs, near, strict=True)}
        return near, signals

    def _admits(self, belief: Belief) -> bool:
        question = self._question
        if question.kinds is not None and belief.kind not in question.kinds:
            return False
        if question.since is not None and belief.last_said < question.since:
            return False
        if question.until is not None and belief.last_said >= question.until:
            return False
        return self._admits_origin(belief)

    def _admits_origin(self, belief: Belief) -> bool:
        question, index = self._question, self._index
        if question.sessions is None and question.agent is None:
            return True
        rows = [row for row in map(index.row, belief.evidence) if row >= 0]
        allowed = self._allowed()
        return any(bool(allowed[row]) for row in rows)

    def _wants_messages(self) -> bool:
        question = self._question
        return question.include != "beliefs" and (question.kinds is None or Kind.EPISODIC in question.kinds)

    # -- score and standing -------------------------------------------------------------------------------------------

    def _reference(self) -> datetime:
        return self._question.now if self._question.valid_at is None else self._question.valid_at

    def _terms(self, near: float, fresh: float, confidence: float, key: str) -> dict[str, float]:
        count = self._beside.uses.get(key, (0, 0))[0]
        return {
            "relevance": float(near),
            "recency": float(fresh),
            "confidence": min(1.0, max(0.0, float(confidence))),
            "use": use(count),
        }

    def _score(self, candidate: Candidate) -> float:
        held, weights = candidate.terms, self._weights
        score = (
            weights.relevance * held["relevance"]
            + weights.recency * held["recency"]
            + weights.confidence * held["confidence"]
            + weights.use * held["use"]
        )
        return score * self._lowest**candidate.last

    def _lift(self, beliefs: dict[str, Candidate], messages: dict[str, Candidate]) -> None:
        """A belief is as relevant as what it superseded: both are about the same thing."""
        past = self._question.asked.tense is Tense.PAST
        for older, newer in self._successions(beliefs, messages):
            lower, upper = (newer, older) if past else (older, newer)
            if upper.terms["relevance"] < lower.terms["relevance"]:
                upper.terms["relevance"] = lower.terms["relevance"]
                upper.score = self._score(upper)

    def _stand(self, beliefs: dict[str, Candidate], messages: dict[str, Candidate]) -> None:
        for message_id, act in self._beside.taken_back.items():
            if message_id in messages:
                _take_back(messages[message_id], act)
                messages[message_id].score = self._score(messages[message_id])
        past = self._question.asked.tense is Tense.PAST
        pairs = list(self._successions(beliefs, messages))
        for older, newer in reversed(pairs) if past else pairs:
            lower, upper = (newer, older) if past else (older, newer)
            lower.score = min(lower.score, upper.score * BELOW)

    def _successions(
        self, beliefs: dict[str, Candidate], messages: dict[str, Candidate]
    ) -> Iterator[tuple[Candidate, Candidate]]:
        """Pairs of (older, newer) candidates about the same thing, the newest pairs first."""
        chain = sorted(
            (each for each in self._held.beliefs if self._held.successor(each) is not None),
            key=lambda each: (each.valid_from, each.id),
            reverse=True,
        )
        for older in chain:
            newer = self._held.successor(older)
            if newer is None or not self._concerns(older, newer):
                continue
            for below in self._standing_for(older, beliefs, messages):
                for above in self._standing_for(newer, beliefs, messages):
                    if below is not above:
                        yield below, above

    def _concerns(self, older: Belief, newer: Belief) -> bool:
        """Whether the question is about this slot at all."""
        return max(self._closeness.get(older.id, 1.0), self._closeness.get(newer.id, 1.0)) >= FLOOR

    def _standing_for(
        self, belief: Belief, beliefs: dict[str, Candidate], messages: dict[str, Candidate]
    ) -> list[Candidate]:
        """The candidates that stand for a belief: itself, and the messages whose gist it is."""
        out = [beliefs[belief.id]] if belief.id in beliefs else []
        told = (each for each in belief.evidence if each in messages and self._gist(each) is belief)
        return [*out, *(messages[each] for each in told)]

    def _gist(self, message_id: str) -> Belief | None:
        resting = self._held.of_message.get(message_id)
        if not resting:
            return None
        return max(resting, key=lambda each: (self._closeness.get(each.id, 0.0), each.valid_from, each.id))

    # -- the walk -----------------------------------------------------------------------------------------------------

    def _walk(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        kept: dict[str, Candidate] = {}
        for each in self._loaded(candidates):
            if not self._passes(each):
                self._cut(each, "does not pass the filter")
                continue
            key = _sameness(each)
            if key in kept:
                self._merge(kept[key], each)
                continue
            twin = next((other for other in kept.values() if _says_the_same(other, each)), None)
            if twin is None:
                if len(kept) == self._question.limit:
                    break
                kept[key] = each
            else:
                self._collapse(kept, twin, each)
        return sorted(kept.values(), key=_order)

    def _loaded(self, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        """The candidates in order, messages with their text, loaded a page at a time."""
        rest = iter(candidates)
        while page := list(islice(rest, _PAGE)):
            wanted = [each.id for each in page if each.type == "message"]
            texts = self._beside.messages(wanted) if wanted else {}
            for each in page:
                if each.type == "message":
                    each.message = texts.get(each.id)
                    if each.message is None:
                        self._cut(each, "is not there any more")
                        continue
                    each.at = each.message.at
                    each.note = each.note or self._message_note(each.id)
                yield each

    def _message_note(self, message_id: str) -> str | None:
        outdated = self._held.outdated(message_id, lambda each: self._closeness.get(each.id, 0.0))
        if outdated is None:
            return None
        verb = "was corrected" if outdated.state is State.WITHDRAWN else "no longer holds"
        successor = self._held.successor(outdated)
        now = "" if successor is None else f"; now: {successor.text}"
        return f"says what {verb}: {outdated.text}{now}"

    def _passes(self, candidate: Candidate) -> bool:
        if self._question.passes is None:
            return True
        if candidate.message is not None:
            return self._question.passes(candidate.message.metadata)
        return self._question.passes(self._beside.metadata.get(candidate.id, {}))

    def _merge(self, kept: Candidate, same: Candidate) -> None:
        """Keep one of two that say the same words; the other becomes evidence."""
        others = same.evidence if same.type == "belief" else (same.id,)
        own = kept.evidence or ((kept.id,) if kept.type == "message" else ())
        kept.evidence = tuple(dict.fromkeys((*own, *others)))
        self._cut(same, f"says the same as {kept.id}")

    def _collapse(self, kept: dict[str, Candidate], twin: Candidate, other: Candidate) -> None:
        """Of a belief and the message that it rests on, keep the belief."""
        if twin.type == "belief":
            self._cut(other, f"is what {twin.id} rests on")
            return
        for key in [key for key, each in kept.items() if _says_the_same(each, other)]:
            gone = kept.pop(key)
            other.terms["relevance"] = max(other.terms["relevance"], gone.terms["relevance"])
            other.score = max(other.score, gone.score)
            self._cut(gone, f"is what {other.id} rests on")
        kept[_sameness(other)] = other

    def _cut(self, candidate: Candidate, reason: str) -> None:
        self._cuts.append(Cut(candidate.type, candidate.id, reason))

    def _hit(self, candidate: Candidate) -> Hit:
        reason = why(self._question, candidate.terms, _text(candidate))
        if candidate.message is not None:
            return _message_hit(candidate, candidate.message, reason)
        if candidate.belief is None:
            raise AssertionError("a candidate is a message or a belief")
        return _belief_hit(candidate, candidate.belief, reason)


def _order(candidate: Candidate) -> tuple[Any, ...]:
    return (-candidate.score, -micros(candidate.at), candidate.type, candidate.id)


def _signal_terms(signals: Signals, at: int) -> dict[str, float]:
    return {
        "words": float(signals.words[at]),
        "vector": min(1.0, max(0.0, float(signals.vector[at]))),
        "window": min(1.0, max(0.0, float(max(signals.words_around[at], signals.vector_around[at])))),
        "speaker": float(signals.speaker[at]),
    }


def _take_back(candidate: Candidate, act: Observation) -> None:
    candidate.last = 2
    candidate.note = f"taken back on {act.said_at:%Y-%m-%d}" + (f": {act.reason}" if act.reason else "")


def _note(belief: Belief, held: Held) -> str | None:
    if belief.state is State.SUPERSEDED:
        successor = held.successor(belief)
        now = "" if successor is None else f"; now: {successor.text}"
        until = "" if belief.valid_to is None else f" since {belief.valid_to:%Y-%m-%d}"
        return f"no longer holds{until}{now}"
    if belief.state is State.EXPIRED:
        return "expired"
    if belief.state is State.SCHEDULED:
        return f"holds from {belief.valid_from:%Y-%m-%d}"
    if belief.state is State.PENDING:
        return "awaits confirmation" + (f": {belief.reason}" if belief.reason else "")
    if belief.disputed_with:
        others = [held.by_id[each].text for each in belief.disputed_with if each in held.by_id]
        return "disputed" + (f" with {'; '.join(others)}" if others else "")
    return None


def _text(candidate: Candidate) -> str:
    if candidate.message is not None:
        return candidate.message.content
    return "" if candidate.belief is None else candidate.belief.text


def _sameness(candidate: Candidate) -> str:
    """Equal for candidates that say the same words: of one speaker, or of one subject."""
    message, belief = candidate.message, candidate.belief
    if message is not None:
        words = " ".join(sorted(set(terms(message.content)) - _ARTICLES)) or value_key(message.content)
        return f"m\x1f{message.role}\x1f{message.name or ''}\x1f{words}"
    if belief is None:
        raise AssertionError("a candidate is a message or a belief")
    return f"b\x1f{value_key(belief.subject)}\x1f{belief.attribute or ''}\x1f{value_key(belief.text)}"


_FURTHER_WORDS = 8  # distinct terms that a message may hold beside the belief's value and still say the same


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    """Whether one is a belief and the other a message that it rests on which says little else."""
    belief = one.belief or other.belief
    message = one.message or other.message
    if belief is None or message is None or message.id not in belief.evidence:
        return False
    said, value = set(terms(message.content)), set(terms(belief.value))
    return value <= said and len(said - value) <= _FURTHER_WORDS


def _message_hit(candidate: Candidate, message: Message, reason: str) -> Hit:
    return Hit(
        type="message",
        id=message.id,
        kind=Kind.EPISODIC,
        text=message.content,
        at=message.at,
        score=candidate.score,
        terms=candidate.terms,
        why=reason,
        role=message.role,
        speaker=message.name,
        session=message.session,
        evidence=candidate.evidence or (message.id,),
        confidence=candidate.terms["confidence"],
        note=candidate.note,
        last_said=message.at,
        metadata=message.metadata,
    )


def _belief_hit(candidate: Candidate, belief: Belief, reason: str) -> Hit:
    return Hit(
        type="belief",
        id=belief.id,
        kind=belief.kind,
        text=belief.text,
        at=belief.last_said,
        score=candidate.score,
        terms=candidate.terms,
        why=reason,
        evidence=candidate.evidence,
        source=belief.source,
        confidence=belief.confidence,
        state=belief.state,
        valid_from=belief.valid_from,
        valid_to=belief.valid_to,
        subject=belief.subject,
        attribute=belief.attribute,
        value=belief.value,
        note=candidate.note,
        guess=belief.guess,
        last_said=belief.last_said,
    )


def names_of(beliefs: Iterable[Belief]) -> tuple[str, ...]:
    """Names of the owner's person, as active beliefs have them (attributes `name` and `nickname`)."""
    return tuple(
        dict.fromkeys(
            each.value
            for each in beliefs
            if each.subject == "user" and each.attribute in ("name", "nickname") and each.state is State.ACTIVE
        )
    )
