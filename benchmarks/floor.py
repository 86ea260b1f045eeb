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
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from firsthand.ports import Embedder
from firsthand.text import STOP_WORDS

RESCORED = 400
BEST = 50
Timed = dict[str, float]


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

    def timed(self, question: str) -> Timed:
        """Milliseconds of each part for one question, and `floor`, their sum with the quicker vector search."""
        embedded, vector = _timed(lambda: self.embedder.embed([question])[0])
        exact, _ = _timed(lambda: self._exact(vector))
        coded, _ = _timed(lambda: self._coded(vector))
        full_text, _ = _timed(lambda: self._words(question))
        return {
            "embed": embedded,
            "exact": exact,
            "1-bit": coded,
            "FTS5": full_text,
            "floor": embedded + min(exact, coded) + full_text,
        }

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


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    out = run()
    return 1000 * (time.perf_counter() - started), out


def _best(figures: NDArray[Any], count: int) -> NDArray[np.intp]:
    """The places of the largest figures, best first."""
    if count < len(figures):
        some = np.argpartition(-figures, count)[:count]
        return some[np.argsort(-figures[some], kind="stable")]
    return np.argsort(-figures, kind="stable")


def _codes(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    packed = np.packbits(vectors > 0, axis=1, bitorder="little")
    return np.ascontiguousarray(packed.view(np.uint64).T)
