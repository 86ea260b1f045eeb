"""Recall on LoCoMo: how often the turns that answer a question are among the first k hits.

    python -m evals.locomo --data locomo10.json [--embedder static|onnx|none]

Messages only, one hit one turn, through the public surface: every conversation is a user of its own, its turns are
observed as they were said (an image's caption is part of its turn), and each question of categories 1 to 4 is asked at
the time of the last turn, when recency speaks loudest. Recall@k is the mean over questions of the share of their
evidence among the first k hits. The lines below the first stand for simpler ways of recall over the same rows:
relevance alone (the other three terms of the score left out), and a turn's own BM25 and a turn's own vector alone,
both with the speakers' names taken out of the question, which is kind to them. The full data is at
https://github.com/snap-research/locomo (CC BY-NC 4.0).
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand import Hit, Memory
from firsthand.memory import User
from firsthand.recall.question import Conditions, People, ask
from firsthand.recall.signals import message_signals

DEPTHS = (1, 5, 10, 20, 50)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}  # 5 has no answer in the conversation
LOOKED_AT = 200  # hits asked for, so that other orders of them can be formed
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its words, its category and the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its turns as messages, by session, and what is asked of it."""

    name: str
    sessions: Mapping[str, Sequence[Mapping[str, Any]]]
    questions: Sequence[Asked]
    last: datetime


@dataclass(slots=True)
class Outcome:
    """What one way of recall brought for every question."""

    shares: list[list[float]] = field(default_factory=list)  # recall at each depth
    ranks: list[float] = field(default_factory=list)  # reciprocal rank of the first turn that answers
    tokens: list[list[int]] = field(default_factory=list)  # tokens of the hits at each depth
    categories: list[int] = field(default_factory=list)


def conversations(path: Path) -> list[Conversation]:
    """The conversations of a LoCoMo file."""
    return [_conversation(sample) for sample in json.loads(path.read_text("utf-8"))]


def said(text: str) -> datetime:
    """The time of a session as LoCoMo writes it: "1:56 pm on 8 May, 2023"."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a LoCoMo file")
    parser.add_argument("--embedder", default="static", choices=("static", "onnx", "none"))
    given = parser.parse_args()
    talks = conversations(given.data)
    ways, milliseconds = measured(talks, given.embedder)
    questions = sum(len(talk.questions) for talk in talks)
    print(f"LoCoMo, turn level, categories 1-4, {len(talks)} conversations, {questions} questions, {given.embedder}")
    print(f"{'':<22}{''.join(f'R@{depth}'.rjust(8) for depth in DEPTHS)}{'MRR':>8}")
    for name, outcome in ways.items():
        print(_row(name, outcome, range(len(outcome.shares))))
    print("\nfirsthand, by category")
    best = ways["firsthand"]
    for number, name in CATEGORIES.items():
        chosen = [at for at, category in enumerate(best.categories) if category == number]
        print(_row(f"{name} ({len(chosen)})", best, chosen))
    print("\ntokens of the first k hits, mean")
    means = np.mean(best.tokens, axis=0)
    print(f"{'':<22}{''.join(f'{mean:8.0f}' for mean in means)}")
    p50, p95 = np.percentile(milliseconds, (50, 95))
    print(f"\nrecall of 10 hits, wall time: p50 {p50:.1f} ms, p95 {p95:.1f} ms")


def measured(talks: Sequence[Conversation], embedder: str) -> tuple[dict[str, Outcome], list[float]]:
    """Outcomes by way of recall, and the milliseconds of each recall of 10 hits."""
    names = ["firsthand", "relevance alone", "BM25 alone"] + ["vectors alone"] * (embedder != "none")
    ways = {name: Outcome() for name in names}
    milliseconds = []
    for talk in talks:
        with Memory(":memory:", embedder=embedder, writer="none", clock=_at(talk.last)) as memory:
            user = memory.user(talk.name)
            for session, turns in talk.sessions.items():
                user.observe(list(turns), session=session)
            user.recall("warm up", limit=10, include="messages")
            texts = {message.id: message.content for message in user.messages()}
            for asked in talk.questions:
                started = time.perf_counter()
                user.recall(asked.text, limit=10, include="messages")
                milliseconds.append(1000 * (time.perf_counter() - started))
                for name, ranked in _ranked(user, asked.text).items():
                    _note(ways[name], asked, ranked, texts, memory)
    return ways, milliseconds


def _at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def _ranked(user: User, question: str) -> dict[str, list[str]]:
    """Message ids, best first, of each way of recall."""
    hits = user.recall(question, limit=LOOKED_AT, include="messages")
    out = {
        "firsthand": [hit.id for hit in hits],
        "relevance alone": [hit.id for hit in sorted(hits, key=_by_relevance)],
    }
    words, cosines, ids = _alone(user, question)
    out["BM25 alone"] = _first(ids, words)
    if user.memory.parts.embedder is not None:
        out["vectors alone"] = _first(ids, cosines)
    return out


def _by_relevance(hit: Hit) -> float:
    return -hit.terms["relevance"]


def _alone(user: User, question: str) -> tuple[NDArray[np.float32], NDArray[np.float32], list[str]]:
    """BM25 and cosine of every message with the question without the names of speakers."""
    memory = user.memory
    with memory.parts.store.reading(user.owner) as work:
        index = memory.snapshots.see(work, memory.policy, memory.parts.clock()).index
    plain = ask(question, memory.parts.clock(), People(index.names), Conditions())
    if memory.parts.embedder is not None:
        plain = plain.with_vector(memory.parts.embedder.embed([plain.asked.topic])[0], memory.scale)
    signals = message_signals(plain, index)
    return signals.words, signals.vector, index.ids


def _first(ids: Sequence[str], figures: NDArray[np.float32]) -> list[str]:
    return [ids[at] for at in np.argsort(-figures, kind="stable")[: DEPTHS[-1]].tolist()]


def _note(outcome: Outcome, asked: Asked, ranked: Sequence[str], texts: Mapping[str, str], memory: Memory) -> None:
    outcome.categories.append(asked.category)
    outcome.shares.append([len(asked.evidence.intersection(ranked[:depth])) / len(asked.evidence) for depth in DEPTHS])
    found = [place for place, each in enumerate(ranked, 1) if each in asked.evidence]
    outcome.ranks.append(1 / found[0] if found else 0.0)
    costs = [memory.parts.tokenizer.count(texts[each]) for each in ranked[: DEPTHS[-1]]]
    outcome.tokens.append([sum(costs[:depth]) for depth in DEPTHS])


def _row(name: str, outcome: Outcome, chosen: Sequence[int]) -> str:
    shares = np.mean([outcome.shares[at] for at in chosen], axis=0)
    rank = np.mean([outcome.ranks[at] for at in chosen])
    return f"{name:<22}{''.join(f'{100 * share:8.1f}' for share in shares)}{rank:8.3f}"


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    talk = sample["conversation"]
    sessions = {name: turns for name, turns in _sessions(talk) if turns}
    known = {turn["id"] for turns in sessions.values() for turn in turns}
    last = max(turn["at"] for turns in sessions.values() for turn in turns)
    return Conversation(str(sample["sample_id"]), sessions, list(_questions(sample["qa"], known)), last)


def _sessions(talk: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name in sorted(filter(_SESSION.fullmatch, talk), key=lambda each: int(each.partition("_")[2])):
        start = said(talk[f"{name}_date_time"])
        yield name, [_message(turn, start + timedelta(seconds=at)) for at, turn in enumerate(talk[name])]


def _message(turn: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    caption = turn.get("blip_caption")
    content = f"{turn['text']} [image: {caption}]" if caption else turn["text"]
    return {"role": "user", "name": turn["speaker"], "content": content, "at": at, "id": turn["dia_id"]}


def _questions(asked: Sequence[Mapping[str, Any]], known: set[str]) -> Iterator[Asked]:
    """Questions of the categories measured; evidence that names no turn is left out."""
    for each in asked:
        named = _TURN.findall(" ".join(each.get("evidence", ())))
        evidence = frozenset(named) & known
        if each["category"] in CATEGORIES and evidence:
            yield Asked(each["question"], each["category"], evidence)


if __name__ == "__main__":
    main()
