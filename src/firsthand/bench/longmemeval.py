"""LongMemEval: what a person told an assistant over months, and questions that need some of those sessions.

Two kinds of file: the published one, whose rows bring their own haystacks (`longmemeval_s.json` and its kin), and rows
of evidence alone, for which haystacks are made here: each question's evidence among other sessions of the same kind,
drawn by a seed, at times drawn between the first evidence and the question, so that dates give nothing away. Ids that
tell which sessions hold the answer are not used. The data: https://github.com/xiaowu0162/LongMemEval (MIT).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from firsthand.bench import invented
from firsthand.bench.corpus import ANSWERED, ELSEWHERE, MADE_UP, UNANSWERED, Asked, Suite, Talk
from firsthand.bench.reading import need, rows_of
from firsthand.errors import InvalidInput

SESSIONS = 48  # of a haystack
DEPTHS = (1, 3, 5, 10)
# Said before a question about what changed, they ask for what it was.
PAST = ("Previously: ", "Before the latest change: ", "In the past: ", "Originally: ")
_ASKS_FOR_OLDER = re.compile(
    r"^(?!.*\bcurrently\b).*\b(?:initial|original|previous|former|earlier|before|used to|in the first)", re.IGNORECASE
)
_LEAD = timedelta(days=30)  # before the first evidence
_NO_DATE = datetime(2023, 7, 1, tzinfo=UTC)  # when a row says no date


@dataclass(frozen=True, slots=True)
class Haystacks:
    """How haystacks are made for rows that bring none."""

    distractors: Path | None = None  # sessions that hold no evidence, one a line
    seed: int = 1
    sessions: int = SESSIONS


@dataclass(frozen=True, slots=True)
class _Session:
    at: datetime
    turns: Sequence[Mapping[str, Any]]
    answers: bool = False


def suite(path: Path, haystacks: Haystacks) -> Suite:
    """The questions of a LongMemEval file. Raises InvalidInput when it is no such file."""
    rows = rows_of(path)
    need(all(isinstance(row, dict) and "question" in row and "question_id" in row for row in rows), path, "LongMemEval")
    ready = all("haystack_sessions" in row for row in rows)
    others = [] if ready else _distractors(haystacks)
    how = (
        "haystacks as published"
        if ready
        else f"haystacks of {haystacks.sessions} sessions from {len(others)} distractors, seed {haystacks.seed}"
    )

    def talks() -> Iterator[Talk]:
        for number, row in enumerate(rows):
            sessions = _published(row) if ready else _made(row, others, haystacks)
            yield _talk(row, sorted(sessions, key=lambda each: each.at), rows[(number + len(rows) // 2) % len(rows)])

    return Suite(
        "LongMemEval",
        talks,
        by_session=True,
        listens=True,
        depths=DEPTHS,
        headline=("any@5", "all@5", "ndcg@5"),
        notes=(
            f"session level, {len(rows)} questions, {how}; the rules writer listens, beliefs count as their sessions",
            f"past order: {len(PAST)} phrasings of each question about what changed, which ask for what it was",
        ),
    )


def _talk(row: Mapping[str, Any], sessions: Sequence[_Session], other: Mapping[str, Any]) -> Talk:
    name = str(row["question_id"])
    now = _date(row.get("question_date")) or max((each.at for each in sessions), default=_NO_DATE) + timedelta(hours=1)
    said = {f"s{at}": _messages(f"s{at}", each) for at, each in enumerate(sessions)}
    answers = [f"s{at}" for at, each in enumerate(sessions) if each.answers]
    return Talk(name, {at: each for at, each in said.items() if each}, list(_questions(row, answers, other)), now)


def _questions(row: Mapping[str, Any], answers: Sequence[str], other: Mapping[str, Any]) -> Iterator[Asked]:
    name, text, kind = str(row["question_id"]), str(row["question"]), str(row["question_type"])
    expected = tuple(frozenset((each,)) for each in answers)
    if name.endswith("_abs"):
        yield Asked(name, text, "abstention", (), UNANSWERED)
    elif expected:
        changed = kind == "knowledge-update" and len(answers) == 2 and not _ASKS_FOR_OLDER.search(text)  # noqa: PLR2004 - an old and a new
        succession = (answers[0], answers[1]) if changed else None
        yield Asked(name, text, kind, expected, ANSWERED, succession)
        for number, lead in enumerate(PAST if changed else ()):
            yield Asked(f"{name}:past{number}", lead + text, "past", expected, ANSWERED, succession, past=True)
    yield Asked(f"{name}:elsewhere", str(other["question"]), "elsewhere", (), ELSEWHERE)
    yield Asked(f"{name}:made-up", invented.question(name), "made-up", (), MADE_UP)


def _messages(session: str, said: _Session) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{session}-{at}",
            "role": turn["role"],
            "content": turn["content"],
            "at": said.at + timedelta(seconds=20 * at),
        }
        for at, turn in enumerate(said.turns)
        if turn.get("content")
    ]


def _published(row: Mapping[str, Any]) -> list[_Session]:
    answers = set(row.get("answer_session_ids", ()))
    each = zip(row["haystack_dates"], row["haystack_session_ids"], row["haystack_sessions"], strict=True)
    return [_Session(_date(date) or _NO_DATE, turns, name in answers) for date, name, turns in each]


def _made(row: Mapping[str, Any], others: Sequence[Mapping[str, Any]], haystacks: Haystacks) -> list[_Session]:
    chance = random.Random(f"{haystacks.seed} {row['question_id']}")  # noqa: S311 - figures must repeat
    evidence = [_Session(_date(each["date"]) or _NO_DATE, each["turns"], answers=True) for each in row["evidence"]]
    now = _date(row.get("question_date")) or max((each.at for each in evidence), default=_NO_DATE)
    first = min((each.at for each in evidence), default=now) - _LEAD
    drawn = chance.sample(others, max(0, haystacks.sessions - len(evidence)))
    return [*evidence, *(_Session(first + chance.random() * (now - first), each["turns"]) for each in drawn)]


def _distractors(haystacks: Haystacks) -> list[Mapping[str, Any]]:
    if haystacks.distractors is None:
        raise InvalidInput(
            "these rows bring no haystacks: say with --distractors where sessions without evidence are, or use the"
            " published longmemeval_s.json (https://github.com/xiaowu0162/LongMemEval)"
        )
    rows = rows_of(haystacks.distractors)
    need(all(isinstance(row, dict) and "turns" in row for row in rows), haystacks.distractors, "file of sessions")
    if len(rows) < haystacks.sessions:
        raise InvalidInput(
            f"{haystacks.distractors}: {len(rows)} sessions; haystacks of {haystacks.sessions} need more"
        )
    return rows


def _date(text: object) -> datetime | None:
    """A date as LongMemEval writes it: "2023/05/20 (Sat) 02:21"."""
    return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC) if isinstance(text, str) else None
