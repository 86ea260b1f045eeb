"""LoCoMo: two people who talk over many dated sessions. Both are people: role user, with their names.

A turn's id is its `dia_id`, which its questions cite. Where a file holds several samples, whose ids are alike, the
sample's id stands before it. Captions of pictures are part of the turn's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger import shapes
from firsthand.ledger.formats.conversation import Found
from firsthand.ledger.formats.dated import date_in
from firsthand.ledger.formats.plain import stem
from firsthand.model import Role

_SESSION = re.compile(r"session_(\d+)")


def fits(value: Any) -> bool:
    """Whether it is a sample, its conversation alone, or a list of samples."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and bool(_sessions(_talk(first)))


def found(value: Any, name: str) -> list[Found]:
    """Every session of every sample, by its number. Raises InvalidInput."""
    samples = value if isinstance(value, list) else [value]
    return [each for number, sample in enumerate(samples, 1) for each in _sample(sample, number, len(samples), name)]


def _sample(sample: Any, number: int, count: int, name: str) -> Iterator[Found]:
    if not isinstance(sample, dict):
        raise InvalidInput(f"sample {number}: it is no object")
    called = str(sample.get("sample_id") or (stem(name) if count == 1 else f"{stem(name)}-{number}"))
    talk = _talk(sample)
    for session in _sessions(talk):
        at = _date(talk.get(f"{session}_date_time"))
        before = "" if count == 1 else f"{called}/"
        turns = [
            (f"sample {number}, {session}, turn {place}", _turn(turn, at, before))
            for place, turn in enumerate(talk[session], 1)
            if isinstance(turn, dict)
        ]
        yield Found(f"{called}/{session}", turns)


def _talk(sample: dict[str, Any]) -> dict[str, Any]:
    inner = sample.get("conversation")
    return inner if isinstance(inner, dict) else sample


def _sessions(talk: dict[str, Any]) -> list[str]:
    """Names of the sessions that exist, in order; some dates name sessions that do not."""
    names = [name for name, turns in talk.items() if _SESSION.fullmatch(name) and _is_talk(turns)]
    return sorted(names, key=lambda name: int(name.removeprefix("session_")))


def _is_talk(turns: Any) -> bool:
    return isinstance(turns, list) and bool(turns) and isinstance(turns[0], dict) and "speaker" in turns[0]


def _date(value: Any) -> str | None:
    return date_in(value) if isinstance(value, str) else None


def _turn(turn: dict[str, Any], at: str | None, before: str) -> dict[str, Any]:
    caption = turn.get("blip_caption")
    pieces = [turn.get("text"), shapes.marker("image", caption) if caption else None]
    message: dict[str, Any] = {"role": Role.USER.value, "content": "\n".join(str(each) for each in pieces if each)}
    if turn.get("speaker"):
        message["name"] = turn["speaker"]
    if turn.get("dia_id"):
        message["id"] = f"{before}{turn['dia_id']}"
    return {**message, "at": at} if at else message
