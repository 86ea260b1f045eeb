"""Update order: of two statements about the same thing, which one is recalled first.

    python -m evals.update_order --data longmemeval.jsonl --distractors sessions.jsonl [--embedder static|onnx|none]

LongMemEval's knowledge-update questions, each over a haystack of its two evidence sessions and others drawn with the
seed printed. *As asked* counts the questions in which the best hit of the newer session ranks above the best of the
older one; a question that asks for the earlier state itself ("my previous …") counts the other way round. The *mirror*
is the same question reworded to ask about the past, by fixed templates of ours; there the older must win. *Both in 5*
is the share in which both sessions are among the first five hits, so that an order is not bought with recall. *BM25
alone* is each message's own BM25 over the same haystacks, with equal scores in order of time, newest first.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from firsthand import Memory
from firsthand.memory import User
from firsthand.recall.asked import People
from firsthand.recall.question import Conditions, ask
from firsthand.recall.signals import message_signals

HAYSTACK = 48  # sessions
LOOKED_AT = 50  # hits
OLDER, NEWER = "older", "newer"
Row = Mapping[str, Any]

_ASKS_EARLIER = re.compile(r"\b(?:previous|initially|earlier|before i|first three)\b", re.IGNORECASE)
_ASKS_LATEST = re.compile(r"\b(?:currently|now)\b", re.IGNORECASE)
_PRESENT = re.compile(r"\b(?:currently|current|now|most recently|most recent|so far|latest|recent) ?\b", re.IGNORECASE)
_TO_PAST = tuple(
    (re.compile(rf"\b{present}\b"), past)
    for present, past in (
        ("(What|Where|Who|Which) is", r"\1 was"), ("(What|Where|Who|Which) are", r"\1 were"), ("do (I|we)", r"did \1"),
        ("have I been", "had I been"), (r"have (I|my \w+)", r"had \1"), ("am I", "was I"),
    )
)  # fmt: skip
_TEMPLATES = (
    "Previously, {lower}?", "{upper} originally?", "{upper} back then, before it changed?", "In the past, {lower}?",
    "{upper} at first?", "{upper} the first time I mentioned it?", "What did I say earlier: {lower}?",
)  # fmt: skip


@dataclass(slots=True)
class Count:
    """How often the right one came first, and how often both were among the first five."""

    right: list[bool] = field(default_factory=list)
    both: list[bool] = field(default_factory=list)

    def note(self, places: Mapping[str, int], first: str) -> None:
        """Count one question."""
        second = OLDER if first == NEWER else NEWER
        self.right.append(places.get(first, LOOKED_AT) < places.get(second, LOOKED_AT))
        self.both.append(max(places.get(each, LOOKED_AT) for each in (OLDER, NEWER)) < 5)

    def row(self, name: str) -> str:
        """One line of the table."""
        right, both = (100 * float(np.mean(each)) for each in (self.right, self.both))
        return f"{name:<28}{sum(self.right):4d} of {len(self.right):<4d}{right:8.1f}{both:12.1f}"


def mirrored(question: str) -> list[str]:
    """The question reworded to ask about the past, once for each template."""
    text = " ".join(_PRESENT.sub("", question).split()).rstrip(" ?")
    for present, past in _TO_PAST:
        text = present.sub(past, text)
    lower = text if text.startswith("I ") else text[0].lower() + text[1:]
    return [each.format(upper=text, lower=lower) for each in _TEMPLATES]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="LongMemEval questions with their evidence turns")
    parser.add_argument("--distractors", type=Path, required=True, help="sessions that hold no evidence")
    parser.add_argument("--embedder", default="static", choices=("static", "onnx", "none"))
    parser.add_argument("--seed", type=int, default=11)
    given = parser.parse_args()
    questions = [each for each in _rows(given.data) if _is_update(each)]
    others = [each for each in _rows(given.distractors) if each["turns"]]
    draw = random.Random(given.seed)  # noqa: S311 - haystacks, not secrets
    counts: dict[str, Count] = {}
    for each in questions:
        _measure(each, draw.sample(others, min(HAYSTACK - 2, len(others))), given.embedder, counts)
    print(f"{len(questions)} knowledge updates, {HAYSTACK} sessions each, seed {given.seed}, {given.embedder}")
    print(f"{'':<28}{'right first':>12}{'%':>8}{'both in 5':>12}")
    for name, count in counts.items():
        print(count.row(name))


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _is_update(question: Row) -> bool:
    return question["question_type"] == "knowledge-update" and len(question["evidence"]) == 2


def _measure(question: Row, others: Sequence[Row], embedder: str, counts: dict[str, Count]) -> None:
    now = _time(question["question_date"])
    with Memory(":memory:", embedder=embedder, writer="none", clock=lambda: now) as memory:
        user = memory.user("person")
        for name, session in _haystack(question, others):
            user.observe(list(_messages(name, session)), session=name)
        for name, text, first in _asked(question["question"]):
            hits = [hit.id for hit in user.recall(text, limit=LOOKED_AT, include="messages")]
            counts.setdefault(name, Count()).note(_places(hits), first)
            counts.setdefault(f"  BM25 alone, {name}", Count()).note(_places(_by_words(user, text)), first)


def _asked(question: str) -> Iterator[tuple[str, str, str]]:
    """What is asked: the table's row, the words, and which statement must come first."""
    if _ASKS_EARLIER.search(question) and not _ASKS_LATEST.search(question):
        yield "as asked", question, OLDER
        return
    yield "as asked", question, NEWER
    for text in mirrored(question):
        yield "mirror", text, OLDER


def _haystack(question: Row, others: Sequence[Row]) -> list[tuple[str, Row]]:
    """All sessions by date; names tell which is which and are no part of what is searched."""
    named = [(f"other{at}", each) for at, each in enumerate(others)]
    older, newer = sorted(question["evidence"], key=lambda each: _time(each["date"]))
    return sorted([*named, (OLDER, older), (NEWER, newer)], key=lambda each: _time(each[1]["date"]))


def _messages(name: str, session: Row) -> Iterator[dict[str, Any]]:
    start = _time(session["date"])
    for at, turn in enumerate(session["turns"]):
        said = start + timedelta(seconds=at)
        yield {"role": turn["role"], "content": turn["content"], "at": said, "id": f"{name}-{at}"}


def _places(ids: Sequence[str]) -> dict[str, int]:
    """The place of the best hit of each session."""
    out: dict[str, int] = {}
    for place, each in enumerate(ids):
        out.setdefault(each.rpartition("-")[0], place)
    return out


def _by_words(user: User, text: str) -> list[str]:
    memory = user.memory
    with memory.parts.store.reading(user.owner) as work:
        index = memory.snapshots.see(work, memory.policy, memory.parts.clock()).index
    words = message_signals(ask(text, memory.parts.clock(), People(), Conditions()), index).words
    order = sorted(range(index.rows), key=lambda row: (-words[row], -index.columns.at[row]))
    return [index.ids[row] for row in order[:LOOKED_AT] if words[row] > 0]


def _time(text: str) -> datetime:
    """A time as LongMemEval writes it: "2023/05/25 (Thu) 20:21"."""
    return datetime.strptime(re.sub(r" \(\w+\)", "", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


if __name__ == "__main__":
    main()
