"""A model's answer, as it comes, to the observations in it. What they are worth is judged in `grounding.py`.

Models wrap what they were asked for: in fences, in prose, after thinking aloud. They cut it off, leave a comma too
many, or give two answers. What has one plain meaning is repaired; everything else is `Unusable`, never "nothing found".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST_ANSWER = 200_000  # characters
MOST_OBSERVATIONS = 60  # of one answer; a model that finds more in a batch is making them up
LONGEST_VALUE = 500  # characters; what is longer is a message, and is kept as one
KEY = "observations"

KINDS = ("semantic", "episodic", "procedural")
ACTS = ("assert", "end")

_THINKS = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_EDGE = re.compile(rf"<(/?)(?:{_THINKS})\b[^>]*>|[{{\[]", re.IGNORECASE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_COMMA_TOO_MANY = re.compile(r",(\s*[}\]])")
_WORDS = re.compile(r"\b(?:True|False|None)\b")
_JSON_WORDS = {"True": "true", "False": "false", "None": "null"}
_DECODER = json.JSONDecoder(strict=False)  # models break lines inside strings
_MOST_TRIES = 50  # brackets that may open no JSON before the answer is given up


class Unusable(Exception):
    """The answer has no plain meaning; the message says why, in words that a model can be told."""


@dataclass(frozen=True, slots=True)
class Found:
    """One observation as the model gives it, with nothing checked but its form."""

    turn: int
    quote: str
    subject: str
    attribute: str | None
    value: str
    kind: str
    act: str
    since: str | None
    stated: bool
    lasting: bool
    handover: bool


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with an observation that is none, and what it says as far as that can be told."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer as read: observations, and what is wrong with those that are none."""

    found: tuple[Found, ...]
    faults: tuple[Fault, ...] = ()


def read(text: str) -> Reading:
    """The observations of an answer. Raises Unusable."""
    if len(text) > LONGEST_ANSWER:
        raise Unusable("it is too long")
    items = _listed(text)
    if len(items) > MOST_OBSERVATIONS:
        raise Unusable(f"it holds {len(items)} observations; {MOST_OBSERVATIONS} are the most")
    found, faults = [], []
    for number, item in enumerate(items, 1):
        try:
            found.append(_observation(item))
        except Unusable as fault:
            faults.append(Fault(_said_in(item), f"observation {number}: {fault}"))
    return Reading(tuple(found), tuple(faults))


def _said_in(item: object) -> str:
    """What a malformed observation is about: its value, else its quote, else all of it."""
    told = [item.get(name) for name in ("value", "quote")] if isinstance(item, Mapping) else []
    text = next((each for each in told if isinstance(each, str) and each.strip()), None)
    return (json.dumps(item, ensure_ascii=False) if text is None else text)[:LONGEST_VALUE]


# -- finding the answer ------------------------------------------------------------------------------------------


def _listed(text: str) -> list[Any]:
    answers = list(_answers(text))
    if not answers:
        raise Unusable(_why_none(text))
    if any(each != answers[0] for each in answers):
        raise Unusable("it holds several answers that differ; give one JSON object")
    return answers[0]


def _why_none(text: str) -> str:
    if not text.strip():
        return "it is empty"
    if f'"{KEY}"' in text:
        return "its JSON is broken or cut off"
    return f'it holds no JSON object with "{KEY}"'


def _answers(text: str) -> Iterator[list[Any]]:
    """Every answer outside of thinking, in order. What stands before a lone end of thinking was thinking too."""
    try:
        whole = _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        pass
    else:
        answer = _answer_in(whole)
        if answer is not None:
            yield answer
        return
    kept: list[list[Any]] = []
    at = depth = missed = 0
    while missed < _MOST_TRIES and (edge := _EDGE.search(text, at)) is not None:
        at = edge.end()
        if edge[0][0] == "<":
            if edge[1] and not depth:
                kept.clear()
            depth = max(0, depth + (-1 if edge[1] else 1))
        elif not depth:
            value, at = _value_at(text, edge.start())
            answer = _answer_in(value)
            if answer is not None:
                kept.append(answer)
            missed += value is None
    yield from kept


def _answer_in(value: Any) -> list[Any] | None:
    if isinstance(value, dict) and isinstance(value.get(KEY), list):
        return list(value[KEY])
    if isinstance(value, list) and value and all(isinstance(each, dict) and "quote" in each for each in value):
        return value
    return None


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value at a bracket, mended where that is plain, and where it ends; None and the next place otherwise."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    else:
        return value, end
    closing = _closing(text, start)
    if closing is None:
        return None, start + 1
    try:
        return _DECODER.decode(_mended(text[start:closing])), closing
    except (ValueError, RecursionError):
        return None, start + 1


def _closing(text: str, start: int) -> int | None:
    """Where the bracket at `start` closes, strings left out; None when it does not."""
    depth, at = 0, start
    while at < len(text):
        letter = text[at]
        if letter == '"':
            string = _STRING.match(text, at)
            if string is None:
                return None
            at = string.end()
            continue
        depth += (letter in "{[") - (letter in "}]")
        at += 1
        if depth == 0:
            return at
    return None


def _mended(text: str) -> str:
    """JSON with Python's words and a comma too many put right, outside of strings."""
    parts, at = [], 0
    for string in _STRING.finditer(text):
        parts += [_plain(text[at : string.start()]), string[0]]
        at = string.end()
    return "".join([*parts, _plain(text[at:])])


def _plain(text: str) -> str:
    return _COMMA_TOO_MANY.sub(r"\1", _WORDS.sub(lambda word: _JSON_WORDS[word[0]], text))


# -- one observation ---------------------------------------------------------------------------------------------


def _observation(item: Any) -> Found:
    if not isinstance(item, dict):
        raise Unusable("it is no object")
    return Found(
        turn=_turn(item.get("turn")),
        quote=_words(item, "quote"),
        subject=_words(item, "subject"),
        attribute=_words(item, "attribute") if item.get("attribute") is not None else None,
        value=_words(item, "value"),
        kind=_one_of(item, "kind", KINDS),
        act=_one_of(item, "act", ACTS),
        since=_words(item, "since") if item.get("since") is not None else None,
        stated=_flag(item, "stated"),
        lasting=_flag(item, "lasting"),
        handover=_flag(item, "handover"),
    )


def _turn(given: Any) -> int:
    """The number of a turn; models also write it as text."""
    if isinstance(given, str) and given.strip().removeprefix("#").isdecimal():
        return int(given.strip().removeprefix("#"))
    if isinstance(given, bool) or not isinstance(given, int):
        raise Unusable('"turn" is no number')
    return given


def _words(item: Mapping[str, Any], key: str) -> str:
    given = item.get(key)
    if key == "value" and isinstance(given, (int, float)) and not isinstance(given, bool):
        given = json.dumps(given)
    if not isinstance(given, str) or not given.strip():
        raise Unusable(f'"{key}" is missing or no text')
    if key != "quote" and len(given) > LONGEST_VALUE:
        raise Unusable(f'"{key}" is longer than {LONGEST_VALUE} characters')
    if any("\ud800" <= letter <= "\udfff" or letter == "\x00" for letter in given):
        raise Unusable(f'"{key}" holds what is no text')
    return given if key == "quote" else given.strip()


def _one_of(item: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    given = item.get(key, allowed[0])
    if given not in allowed:
        raise Unusable(f'"{key}" is none of {", ".join(allowed)}')
    return str(given)


def _flag(item: Mapping[str, Any], key: str) -> bool:
    """A flag that is missing is false: what a model does not vouch for does not count."""
    given = item.get(key, False)
    if not isinstance(given, bool):
        raise Unusable(f'"{key}" is neither true nor false')
    return given
