"""LoCoMo: long talks of two people, with questions and the turns that answer them.

Every conversation is a person of its own, a turn is a message, an image's caption is part of its turn, and questions
are asked at the time of the last turn, when recency speaks loudest. Questions of category 5 have no answer, though
their topic is there: they are measured as refusals only. The data: https://github.com/snap-research/locomo (CC BY-NC
4.0).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from firsthand.bench.corpus import ANSWERED, UNANSWERED, Asked, Suite, Talk
from firsthand.bench.reading import json_of, need

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_UNANSWERED = 5
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D\d+:\d+")


def suite(path: Path) -> Suite:
    """The questions of a LoCoMo file. Raises InvalidInput when it is no such file."""
    samples = json_of(path)
    need(isinstance(samples, list) and all("conversation" in each and "qa" in each for each in samples), path, "LoCoMo")
    talks = [_talk(sample) for sample in samples]
    asked = sum(each.standing == ANSWERED for talk in talks for each in talk.questions)
    return Suite(
        "LoCoMo",
        lambda: talks,
        notes=(
            f"turn level, categories 1-4, {len(talks)} conversations, {asked} questions",
            "messages only, one hit one turn; questions asked at the time of the last turn",
            "R@1000t: shown in a context of 1000 tokens",
        ),
    )


def said(text: str) -> datetime:
    """The time of a session as LoCoMo writes it: "1:56 pm on 8 May, 2023"."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _talk(sample: Mapping[str, Any]) -> Talk:
    sessions = {name: turns for name, turns in _sessions(sample["conversation"]) if turns}
    known = {turn["id"] for turns in sessions.values() for turn in turns}
    last = max(turn["at"] for turns in sessions.values() for turn in turns)
    name = str(sample["sample_id"])
    return Talk(name, sessions, list(_questions(name, sample["qa"], known)), last)


def _sessions(talk: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name in sorted(filter(_SESSION.fullmatch, talk), key=lambda each: int(each.partition("_")[2])):
        start = said(talk[f"{name}_date_time"])
        yield name, [_message(turn, start + timedelta(seconds=at)) for at, turn in enumerate(talk[name])]


def _message(turn: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    caption = turn.get("blip_caption")
    content = f"{turn['text']} [image: {caption}]" if caption else turn["text"]
    return {"role": "user", "name": turn["speaker"], "content": content, "at": at, "id": turn["dia_id"]}


def _questions(name: str, asked: Sequence[Mapping[str, Any]], known: set[str]) -> Iterator[Asked]:
    """Evidence that names no turn is left out, and with it a question that has no other."""
    for number, each in enumerate(asked):
        named = _TURN.findall(" ".join(each.get("evidence", ())))
        expected = tuple(frozenset((turn,)) for turn in dict.fromkeys(named) if turn in known)
        standing = UNANSWERED if each["category"] == _UNANSWERED else ANSWERED
        if expected or standing == UNANSWERED:
            yield Asked(f"{name}:{number}", each["question"], CATEGORIES[each["category"]], expected, standing)
