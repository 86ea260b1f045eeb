"""The floor: the least work that a search by words and by meaning over the same rows can do.

Embed the question; look through the vectors, by exact float32 products or by 1-bit codes whose best 400 are scored
again in float32, whichever is quicker here; ask SQLite's FTS5 for the best 50 by BM25. Nothing is fused, dated,
explained or loaded. For writing, the least is one row with text and vector in a SQLite table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from firsthand.ports import Embedder
from firsthand.text import STOP_WORDS

RESCORED = 400
BEST = 50
PARTS = ("embed", "exact", "1-bit", "FTS5", "floor")
Timed = dict[str, float]
G = TypeVar("G")
T = TypeVar("T")


@dataclass(slots=True)
class Floor:
    """Rows to search, as plainly as can be."""

    embedder: Embedder
    vectors: NDArray[np.float32]  # unit rows, shape (rows, dimensions)
    words: apsw.Connection
    codes: NDArray[np.uint64] = field(init=False)  # shape (words of 64 dimensions, rows)

    def __post_init__(self) -> None:
        """Make the 1-bit codes."""
        self.codes = _codes(self.vectors)

    @classmethod
    def of(cls, texts: Sequence[str], embedder: Embedder) -> Floor:
        """The floor over these texts."""
        connection = apsw.Connection(":memory:")
        connection.execute("CREATE VIRTUAL TABLE rows USING fts5(content, tokenize = 'porter unicode61')")
        with connection:
            connection.executemany("INSERT INTO rows (content) VALUES (?)", ((text,) for text in texts))
        connection.execute("INSERT INTO rows (rows) VALUES ('optimize')")
        return cls(embedder, embedder.embed(texts), connection)

    def timed(self, questions: Sequence[str]) -> list[Timed]:
        """Milliseconds of CPU of each part for each question, and `floor`, with the quicker vector search of each.

        One part after the other over all the questions: no part pays for what another one drove out of the caches.
        """
        embedded, vectors = _timed(lambda each: self.embedder.embed([each])[0], questions)
        exact, _ = _timed(self._exact, vectors)
        coded, _ = _timed(self._coded, vectors)
        words, _ = _timed(self._words, questions)
        times = zip(embedded, exact, coded, words, strict=True)
        return [dict(zip(PARTS, (*each, each[0] + min(each[1:3]) + each[3]), strict=True)) for each in times]

    def _exact(self, vector: NDArray[np.float32]) -> NDArray[np.intp]:
        return _best(self.vectors @ vector, BEST)

    def _coded(self, vector: NDArray[np.float32]) -> NDArray[np.intp]:
        asked = _codes(vector[np.newaxis])
        differing = np.zeros(self.codes.shape[1], dtype=np.uint16)
        for theirs, ours in zip(self.codes, asked, strict=True):
            differing += np.bitwise_count(theirs ^ ours[0])
        near = _best(-differing.astype(np.int16), RESCORED)
        return near[_best(self.vectors[near] @ vector, BEST)]

    def _words(self, question: str) -> list[Any]:
        asked = [word for word in question.lower().strip("?").split() if word not in STOP_WORDS]
        syntax = " OR ".join(f'"{word}"' for word in asked) or '""'
        found = self.words.execute(f"SELECT rowid FROM rows WHERE rows MATCH ? ORDER BY rank LIMIT {BEST}", (syntax,))  # noqa: S608 - a constant
        return found.fetchall()


def bare_inserts(path: Path, messages: Sequence[dict[str, Any]], embedder: Embedder, batch: int) -> float:
    """Seconds to embed messages and insert them into a plain table, `batch` to a transaction."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    connection.execute(
        "CREATE TABLE messages (id TEXT PRIMARY KEY, session TEXT, role TEXT, at TEXT, content TEXT, vector BLOB)"
    )
    started = time.perf_counter()
    for first in range(0, len(messages), batch):
        _insert(connection, messages[first : first + batch], embedder)
    spent = time.perf_counter() - started
    connection.close()
    return spent


def _insert(connection: apsw.Connection, messages: Sequence[dict[str, Any]], embedder: Embedder) -> None:
    vectors = embedder.embed([each["content"] for each in messages]).astype("<f2")
    with connection:
        connection.executemany(
            "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)",
            (
                (each["id"], "s", each["role"], each["at"].isoformat(), each["content"], vector.tobytes())
                for each, vector in zip(messages, vectors, strict=True)
            ),
        )


def _timed(run: Callable[[G], T], given: Sequence[G]) -> tuple[list[float], list[T]]:
    """Milliseconds of CPU of each run, and what it gave."""
    spent, out = [], []
    for each in given:
        started = time.process_time()
        out.append(run(each))
        spent.append(1000 * (time.process_time() - started))
    return spent, out


def _best(figures: NDArray[Any], count: int) -> NDArray[np.intp]:
    """The places of the largest figures, best first."""
    if count < len(figures):
        some = np.argpartition(-figures, count)[:count]
        return some[np.argsort(-figures[some], kind="stable")]
    return np.argsort(-figures, kind="stable")


def _codes(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    packed = np.packbits(vectors > 0, axis=1, bitorder="little")
    return np.ascontiguousarray(packed.view(np.uint64).T)
