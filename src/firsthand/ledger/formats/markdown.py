"""Markdown: a chat where speakers take turns, or else notes.

Each section of notes is a message of the person who owns them, its heading included; long ones by paragraphs.

A date in a heading holds for its section and what lies below it; `date:` in the front matter holds for the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from firsthand.ledger.formats import speakers
from firsthand.ledger.formats.conversation import Found
from firsthand.ledger.formats.dated import date_in
from firsthand.ledger.formats.plain import stem
from firsthand.model import Role

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*")
_CODE = re.compile(r" {0,3}(```+|~~~+)")
_FRONT_DATE = re.compile(r"(?:date|created)\s*:\s*(.+)", re.IGNORECASE)
_LONG = 1500  # characters of a section above which its paragraphs become messages of their own


@dataclass(slots=True)
class _Section:
    """A heading with the text below it, up to the next heading."""

    line: int
    path: tuple[tuple[int, str, str | None], ...]  # (level, heading, its date) of this one and those above
    lines: list[str] = field(default_factory=list)

    @property
    def date(self) -> str | None:
        """The date of the nearest heading that names one."""
        return next((date for _, _, date in reversed(self.path) if date), None)


def found(text: str, name: str) -> list[Found]:
    """The text as one conversation, named after the file, titled by its first heading."""
    lines, skipped, date = _without_front_matter(text.split("\n"))
    sections = _sections(lines, skipped + 1)
    title = next((section.path[-1][1] for section in sections if section.path), None)
    messages = speakers.turns(text) or [message for section in sections for message in _messages(section, date)]
    return [Found(stem(name), messages, title)]


def _without_front_matter(lines: list[str]) -> tuple[list[str], int, str | None]:
    if lines[0].strip() != "---":
        return lines, 0, None
    end = next((at for at, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        return lines, 0, None
    dates = [date_in(hit[1]) for line in lines[1:end] if (hit := _FRONT_DATE.fullmatch(line.strip()))]
    return lines[end + 1 :], end + 1, next((date for date in dates if date), None)


def _sections(lines: list[str], first: int) -> list[_Section]:
    sections = [_Section(first, ())]
    fence = None
    for number, line in enumerate(lines, first):
        code = _CODE.match(line)
        if code and (fence is None or code[1].startswith(fence)):
            fence = code[1] if fence is None else None
        heading = _HEADING.fullmatch(line) if fence is None else None
        if heading:
            level, words = len(heading[1]), heading[2]
            above = tuple(each for each in sections[-1].path if each[0] < level)
            sections.append(_Section(number, (*above, (level, words, date_in(words)))))
        sections[-1].lines.append(line)
    return sections


def _messages(section: _Section, date: str | None) -> list[tuple[str, dict[str, Any]]]:
    """Its messages: none when a heading stands alone."""
    body = section.lines[1:] if section.path else section.lines
    if not any(line.strip() for line in body):
        return []
    common: dict[str, Any] = {"role": Role.USER.value}
    if section.date or date:
        common["at"] = section.date or date
    if section.path:
        common["metadata"] = {"heading": " > ".join(words for _, words, _ in section.path)}
    return [(f"line {section.line + at}", {**common, "content": text}) for at, text in _pieces(section.lines)]


def _pieces(lines: list[str]) -> list[tuple[int, str]]:
    """The section in one piece, or cut at blank lines outside code where that keeps pieces short."""
    if sum(map(len, lines)) <= _LONG:
        return [_trimmed(0, lines)]
    pieces: list[tuple[int, list[str]]] = []
    fence, size, gap = None, 0, True
    for at, line in enumerate(lines):
        if gap and fence is None and line.strip() and (not pieces or _is_full(pieces[-1][1], size + len(line))):
            pieces.append((at, []))
            size = 0
        code = _CODE.match(line)
        if code and (fence is None or code[1].startswith(fence)):
            fence = code[1] if fence is None else None
        if pieces:
            pieces[-1][1].append(line)
        size, gap = size + len(line), not line.strip()
    return [_trimmed(at, piece) for at, piece in pieces]


def _is_full(piece: list[str], size: int) -> bool:
    """Whether a paragraph more would make the piece too long; a heading stays with what follows it."""
    is_heading_alone = _HEADING.fullmatch(piece[0]) is not None and not any(line.strip() for line in piece[1:])
    return size > _LONG // 2 and not is_heading_alone


def _trimmed(at: int, lines: list[str]) -> tuple[int, str]:
    blank = next(number for number, line in enumerate(lines) if line.strip())
    return at + blank, "\n".join(lines[blank:]).rstrip()
