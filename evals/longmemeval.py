"""Recall on LongMemEval: is the session with the answer found, is the newer statement first, is nothing made up.

    python -m evals.longmemeval --data longmemeval.jsonl --distractors sessions.jsonl [--embedder static|onnx|none]

Each question has a haystack of its own: its evidence sessions among distractor sessions drawn with a seed, 48 in all,
each message with its own time, asked at the question's date. Session level: a session ranks where its best message
does. recall_any@k and recall_all@k are the official metrics. *Update order* is the share of knowledge-update questions
with two dated statements in which the newer ranks above the older; its *mirror* asks the same questions about the past
("Before the latest change, ..."), where the older must rank first. *Refusal* puts questions that nothing answers (those
that the data marks as unanswerable and that have no evidence, and the questions of other haystacks) against the loss of
answerable ones, by the relevance of the best hit. The full data is at https://github.com/xiaowu0162/LongMemEval (MIT).
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from firsthand import Hit, Memory
from firsthand.memory import User

DEPTHS = (1, 3, 5, 10)
SESSIONS = 48
SEED = 20
LOOKED_AT = 300  # messages asked for, so that every session has its chance
MIRROR = "Before the latest change: "
FLOORS = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50)


@dataclass(frozen=True, slots=True)
class Talk:
    """One session: its name, and its turns as messages."""

    name: str
    messages: Sequence[Mapping[str, Any]]

    @property
    def start(self) -> datetime:
        """When it was held."""
        first: datetime = self.messages[0]["at"]
        return first


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its haystack."""

    text: str
    kind: str
    at: datetime
    evidence: Sequence[Talk]
    distractors: Sequence[Talk]
    answerable: bool


@dataclass(slots=True)
class Figures:
    """What was measured over all questions."""

    found: dict[str, list[list[int]]] = field(default_factory=dict)  # way -> ranks of the evidence sessions
    kinds: list[str] = field(default_factory=list)
    order: dict[str, list[bool]] = field(default_factory=dict)  # way -> newer first
    mirror: list[bool] = field(default_factory=list)  # older first, where the past is asked about
    answered: list[float] = field(default_factory=list)  # best relevance of answerable questions
    unanswerable: list[float] = field(default_factory=list)  # of those that nothing answers
    foreign: list[float] = field(default_factory=list)  # of the questions of other haystacks


def said(text: str) -> datetime:
    """The time of a session as LongMemEval writes it: "2023/04/10 (Mon) 14:47"."""
    day, _, clock = text.split()
    return datetime.strptime(f"{day} {clock}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def talk(name: str, session: Mapping[str, Any]) -> Talk:
    """A session of the file as messages, a second apart."""
    start = said(session["date"])
    turns = [each for each in session["turns"] if each["content"].strip()]
    return Talk(
        name,
        [
            {"role": t["role"], "content": t["content"], "at": start + timedelta(seconds=n), "id": f"{name}.{n}"}
            for n, t in enumerate(turns)
        ],
    )


def _talks(prefix: str, sessions: Iterable[Mapping[str, Any]]) -> list[Talk]:
    """Sessions that say something, under names that give nothing away but to `_note`."""
    return [each for n, session in enumerate(sessions) if (each := talk(f"{prefix}{n}", session)).messages]


def questions(data: Path, distractors: Path, seed: int) -> Iterator[Asked]:
    """Every question with its haystack."""
    spare = _talks("d", map(json.loads, distractors.read_text("utf-8").splitlines()))
    for line in data.read_text("utf-8").splitlines():
        row = json.loads(line)
        evidence = _talks("e", row["evidence"])
        draw = random.Random(f"{seed}/{row['question_id']}")  # noqa: S311 - a haystack is no secret
        others = draw.sample(spare, max(0, min(len(spare), SESSIONS - len(evidence))))
        answerable = not row["question_id"].endswith("_abs")
        last = max(t.start for t in (evidence or others)) + timedelta(hours=1)  # some questions carry no date
        asked_at = max(said(row["question_date"]), last) if row["question_date"] else last
        yield Asked(row["question"], row["question_type"], asked_at, evidence, others, answerable)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="questions with their evidence, one a line")
    parser.add_argument("--distractors", type=Path, required=True, help="sessions without evidence, one a line")
    parser.add_argument("--embedder", default="static", choices=("static", "onnx", "none"))
    parser.add_argument("--seed", type=int, default=SEED, help="of the draw of distractors")
    given = parser.parse_args()
    asked = list(questions(given.data, given.distractors, given.seed))
    figures = measured(asked, given.embedder)
    print(f"LongMemEval, session level, haystacks of {SESSIONS}, seed {given.seed}, {given.embedder}")
    _print_found(figures)
    _print_order(figures)
    _print_refusal(figures)


def measured(asked: Sequence[Asked], embedder: str) -> Figures:
    """Everything, question by question."""
    out = Figures()
    clock = [asked[0].at]
    with Memory(":memory:", embedder=embedder, writer="none", clock=lambda: clock[0]) as memory:
        for number, each in enumerate(asked):
            clock[0] = each.at
            user = memory.user(f"q{number}")
            for session in sorted([*each.evidence, *each.distractors], key=lambda t: t.start):
                user.observe(list(session.messages), session=session.name)
            _note(out, user, each, asked[(number + len(asked) // 2) % len(asked)])
            memory.snapshots.forget(user.owner)
    return out


def _note(out: Figures, user: User, asked: Asked, other: Asked) -> None:
    hits = user.recall(asked.text, limit=LOOKED_AT, include="messages")
    best = max((hit.terms["relevance"] for hit in hits), default=0.0)
    foreign = user.recall(other.text, limit=1, include="messages")
    out.foreign.append(foreign[0].terms["relevance"] if foreign else 0.0)
    if not asked.answerable:
        if not asked.evidence:
            out.unanswerable.append(best)
        return
    if not asked.evidence:
        return
    out.answered.append(best)
    out.kinds.append(asked.kind)
    for way, sessions in _ways(hits).items():
        ranks = [sessions.index(t.name) + 1 if t.name in sessions else LOOKED_AT for t in asked.evidence]
        out.found.setdefault(way, []).append(ranks)
    if asked.kind == "knowledge-update" and len(asked.evidence) == 2:
        _note_order(out, user, asked, hits)


def _note_order(out: Figures, user: User, asked: Asked, hits: Sequence[Hit]) -> None:
    older, newer = (t.name for t in sorted(asked.evidence, key=lambda t: t.start))
    about_past = "past" in "".join(user.search(asked.text, limit=1).trace.asked)
    for way, sessions in _ways(hits).items():
        first, second = (older, newer) if about_past and way == "firsthand" else (newer, older)
        out.order.setdefault(way, []).append(_before(sessions, first, second))
    mirrored = user.recall(MIRROR + asked.text[0].lower() + asked.text[1:], limit=LOOKED_AT, include="messages")
    out.mirror.append(_before(_ways(mirrored)["firsthand"], older, newer))


def _before(sessions: Sequence[str], first: str, second: str) -> bool:
    if first not in sessions:
        return False
    return second not in sessions or sessions.index(first) < sessions.index(second)


def _ways(hits: Sequence[Hit]) -> dict[str, list[str]]:
    """Sessions, best first, of each way to rank the same messages."""
    return {
        "firsthand": _sessions(hits),
        "words alone": _sessions(sorted(hits, key=lambda hit: -hit.terms["words"])),
        "vectors alone": _sessions(sorted(hits, key=lambda hit: -hit.terms["vector"])),
    }


def _sessions(hits: Sequence[Hit]) -> list[str]:
    return list(dict.fromkeys(hit.session or "" for hit in hits))


def _print_found(figures: Figures) -> None:
    header = "".join(f"any@{depth}".rjust(9) for depth in DEPTHS) + "".join(f"all@{depth}".rjust(9) for depth in DEPTHS)
    print(f"{'':<34}{header}")
    for way, ranks in figures.found.items():
        print(_row(f"{way} ({len(ranks)})", ranks))
    for kind in sorted(set(figures.kinds)):
        ranks = [r for r, k in zip(figures.found["firsthand"], figures.kinds, strict=True) if k == kind]
        print(_row(f"  {kind} ({len(ranks)})", ranks))


def _row(name: str, ranks: Sequence[Sequence[int]]) -> str:
    some = [100 * float(np.mean([min(r) <= depth for r in ranks])) for depth in DEPTHS]
    every = [100 * float(np.mean([max(r) <= depth for r in ranks])) for depth in DEPTHS]
    return f"{name:<34}" + "".join(f"{share:9.1f}" for share in (*some, *every))


def _print_order(figures: Figures) -> None:
    print("\nupdate order: the newer statement above the older one")
    for way, kept in figures.order.items():
        print(f"  {way:<16}{sum(kept):4d} of {len(kept)}  {100 * float(np.mean(kept)):5.1f} %")
    share = 100 * float(np.mean(figures.mirror))
    print(f"  mirror, the older first: {sum(figures.mirror)} of {len(figures.mirror)}, {share:.1f} %")


def _print_refusal(figures: Figures) -> None:
    print("\nrefusal (nothing answers) against loss (something does), by the relevance that the best hit must have")
    print(f"  {'floor':>6}{'refused':>10}{'foreign refused':>18}{'lost':>8}")
    for floor in FLOORS:
        shares = [
            100 * float(np.mean([best < floor for best in bests]))
            for bests in (figures.unanswerable, figures.foreign, figures.answered)
        ]
        print(f"  {floor:6.2f}{shares[0]:10.1f}{shares[1]:18.1f}{shares[2]:8.1f}")
    pairs = [(yes > no) + 0.5 * (yes == no) for yes in figures.answered for no in figures.foreign]
    print(f"  area under the curve, foreign questions: {float(np.mean(pairs)):.3f}")


if __name__ == "__main__":
    main()
