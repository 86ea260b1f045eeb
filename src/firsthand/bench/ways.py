"""Ways of recall over the same rows: firsthand, and the plain ones it is compared with.

Plain BM25 and plain vectors see the owner's messages and nothing else: no neighbours, no speakers, no time, no
beliefs. They get the question without the names of the speakers in it, which is kind to them: in a talk of two people
names say little and drown the other words.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from firsthand.bench.measures import Ranked
from firsthand.memory import User
from firsthand.model import Hit
from firsthand.recall.asked import People, read
from firsthand.recall.index import OwnerIndex
from firsthand.recall.postings import Figures, rarity, saturated
from firsthand.text import question_terms, term_hash

OURS = "firsthand"
RELEVANCE = "relevance alone"
BM25 = "BM25 alone"
VECTORS = "vectors alone"
LOOKED_AT = 200  # hits asked for


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question brought, by each way of recall."""

    hits: Sequence[Hit]
    ranked: dict[str, Ranked]
    milliseconds: float  # of a recall of ten hits


@dataclass(frozen=True, slots=True)
class Respondent:
    """One person's memory, asked in every way."""

    user: User
    include: str = "all"  # or "messages"

    def answer(self, question: str) -> Answer:
        """The hits of each way of recall, best first."""
        _, spent = self.timed(question)
        hits = self.user.recall(question, limit=LOOKED_AT, include=self.include)
        by_relevance = sorted(hits, key=lambda hit: -hit.terms["relevance"])
        ranked: dict[str, Ranked] = {OURS: _ranked(hits), RELEVANCE: _ranked(by_relevance)}
        return Answer(hits, ranked | self._plain(question), spent)

    def timed(self, question: str) -> tuple[list[Hit], float]:
        """Ten hits, and the milliseconds that they took."""
        started = time.perf_counter()
        hits = self.user.recall(question, limit=10, include=self.include)
        return hits, 1000 * (time.perf_counter() - started)

    def _plain(self, question: str) -> dict[str, Ranked]:
        memory = self.user.memory
        now = memory.parts.clock()
        with memory.parts.store.reading(self.user.owner) as work:
            index = memory.snapshots.see(work, memory.policy, now).index
        topic = read(question, People(index.names), now).topic
        out = {BM25: _first(index, words(index, topic))}
        if memory.parts.embedder is not None and index.vectors.dimensions:
            vector = memory.parts.embedder.embed([topic])[0]
            every = np.arange(index.rows, dtype=np.int32)
            out[VECTORS] = _first(index, index.vectors.cosines(vector, every))
        return out


def ids_of(hit: Hit) -> frozenset[str]:
    """What a hit stands for: a message for itself, a belief for itself and for what was said."""
    return frozenset((hit.id,)) if hit.type == "message" else frozenset((hit.id, *hit.evidence))


def words(index: OwnerIndex, text: str) -> Figures:
    """Plain BM25 of every message, shape (rows,)."""
    hashes = np.array([term_hash(term) for term in question_terms(text)], dtype=np.uint64)
    scores = np.zeros(index.rows, dtype=np.float32)
    for found in index.postings.find(hashes):
        weight = np.float32(rarity(index.rows, len(found.rows)))
        scores[found.rows] += weight * saturated(found.counts, index.columns.evenly[found.rows])
    return scores


def _ranked(hits: Sequence[Hit]) -> Ranked:
    return [ids_of(hit) for hit in hits]


def _first(index: OwnerIndex, figures: Figures) -> Ranked:
    order = np.argsort(-figures, kind="stable")[:LOOKED_AT]
    return [frozenset((index.ids[at],)) for at in order.tolist()]
