"""Plain text: a transcript, or else paragraphs, each a message of the person who owns it."""

from __future__ import annotations

import re
from typing import Any

from firsthand.ledger.formats import speakers
from firsthand.ledger.formats.conversation import Found
from firsthand.ledger.formats.dated import date_in
from firsthand.ledger.formats.speakers import speaker
from firsthand.model import Role

_TURN = re.compile(r"(?:\[(?P<when>[^\]\n]{8,40})\]\s*)?(?P<who>[^\W\d_][\w .'\u2019-]{0,39}):[ \t]+(?P<words>\S.*)")
_GAP = re.compile(r"\n(?:[ \t]*\n)+")
_LONGEST_SESSION = 200  # room for a number or a sample behind it
_SPEAKERS = 2  # a transcript has at least two, one of whom speaks twice; a note "Tip: …" is none
_LINES = 3


def found(text: str, name: str) -> list[Found]:
    """The text as one conversation, named after the file."""
    turns = _turns(text) or speakers.turns(text)
    return [Found(stem(name), turns if turns is not None else _paragraphs(text))]


def stem(name: str) -> str:
    """A file's name without its ending, as a session."""
    return (name.rpartition(".")[0] or name)[:_LONGEST_SESSION]


def _turns(text: str) -> list[tuple[str, dict[str, Any]]] | None:
    """The turns of a transcript, or None when it is not one: every paragraph has to begin with a speaker."""
    lines = text.split("\n")
    begun = [_TURN.fullmatch(line) for line in lines]
    names = [turn["who"].casefold() for turn in begun if turn]
    if len(set(names)) < _SPEAKERS or len(names) < _LINES or len(set(names)) == len(names):
        return None
    if any(line.strip() and not turn and _starts_paragraph(lines, at) for at, (line, turn) in _pairs(lines, begun)):
        return None
    return _collected(lines, begun)


def _pairs(lines: list[str], begun: list[re.Match[str] | None]) -> list[tuple[int, tuple[str, re.Match[str] | None]]]:
    return list(enumerate(zip(lines, begun, strict=True)))


def _starts_paragraph(lines: list[str], at: int) -> bool:
    return at == 0 or not lines[at - 1].strip()


def _collected(lines: list[str], begun: list[re.Match[str] | None]) -> list[tuple[str, dict[str, Any]]]:
    turns: list[tuple[str, dict[str, Any]]] = []
    for at, (line, turn) in _pairs(lines, begun):
        if turn:
            turns.append((f"line {at + 1}", _message(turn)))
        elif line.strip() and turns:
            turns[-1][1]["content"] += "\n" + line
    return turns


def _message(turn: re.Match[str]) -> dict[str, Any]:
    who = turn["who"].strip()
    message: dict[str, Any] = {**speaker(who), "content": turn["words"]}
    when = date_in(turn["when"]) if turn["when"] else None
    return {**message, "at": when} if when else message


def _paragraphs(text: str) -> list[tuple[str, dict[str, Any]]]:
    messages, at = [], 0
    for gap in [*_GAP.finditer(text), None]:
        paragraph = text[at : gap.start() if gap else len(text)]
        if paragraph.strip():
            begins = at + len(paragraph) - len(paragraph.lstrip())
            line = text.count("\n", 0, begins) + 1
            messages.append((f"line {line}", {"role": Role.USER.value, "content": paragraph.strip("\n").rstrip()}))
        at = gap.end() if gap else at
    return messages
