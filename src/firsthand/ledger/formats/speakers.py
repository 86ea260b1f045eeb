"""Chats written as text: who speaks is marked in bold, by a heading, a list item, a line of its own or a time stamp.

    **Dana** (09:00): words        ### Dana            - Dana: words        05/01/2026, 09:00 - Dana: words
    **Dana:** words                words               > **Dana**: words    User:
                                                                            words

Only a text in which speakers take turns is a chat: what is none is left to the readers of notes. What stands before
the first turn is nobody's words: it is kept as system text, of which nothing is concluded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firsthand.ledger.formats.dated import date_in
from firsthand.ledger.shapes import ROLES
from firsthand.model import Role

_PERSON = frozenset({"me", "i", "you", "user", "human", "you said"})
_MACHINES = frozenset(
    {"assistant", "ai", "chatgpt", "claude", "gemini", "copilot", "bot", "model", "chatgpt said", "claude said"}
)
_KNOWN = _PERSON | _MACHINES | ROLES.keys()
_LONGEST_LINE = 100_000  # characters; a longer one begins no turn
_NAME = r"(?P<who>[^\W\d_][\w .'\u2019-]{0,39}?)"
_CLOCK = r"(?P<when>[^)\]*\n]{0,20}\d{1,2}:\d{2}[^)\]*:\n]{0,8})"
_WHEN = rf"(?:[ \t]*[(\[]{_CLOCK}[)\]])?"
_LATER = rf"(?:[ \t]*[(\[\u00b7]{_CLOCK.replace('when', 'later')}[)\]]?)?"
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?[ \t]+\d{1,2}:\d{2}(?::\d{2})?(?:[ \t]?[APap]\.?[Mm]\.?)?"
_BULLET = r"[ \t]{0,3}(?:>[ \t]?|[-*+][ \t]+)?"
_MARKED = (
    rf"{_BULLET}\*\*{_NAME}{_WHEN}(?::\*\*|\*\*:|\*\*){_LATER}:?[ \t]*",  # **Dana:** or **Dana** · 09:00
    rf"{_BULLET}\*\*{_NAME}{_WHEN}(?::\*\*|\*\*{_LATER}:)[ \t]+(?P<words>\S.*)",  # **Dana** (09:00): words
    rf"[ \t]{{0,3}}[-*+>][ \t]+{_NAME}:[ \t]+(?P<words>\S.*)",  # - Dana: words
    rf"\[?(?P<when>{_DATE})\]?[ \t]+(?:-[ \t]+)?{_NAME}:[ \t]+(?P<words>\S.*)",  # 05/01/2026, 09:00 - Dana: words
)
_BARE = (
    rf"{_NAME}:[ \t]*",  # Dana:
    rf" {{0,3}}#{{1,6}}[ \t]+{_NAME}{_WHEN}:?[ \t]*",  # ### Dana
)
_FORMS = (
    (tuple(map(re.compile, _MARKED[:2])), False),
    *(((re.compile(form),), False) for form in _MARKED[2:]),
    *(((re.compile(form),), True) for form in _BARE),  # headings of notes look the same: a role must be among them
)
_SPEAKERS = 2  # a chat has two speakers at least
_TURNS = 3  # and three turns, one of them by somebody who spoke before; two do between a person and a machine
_OFTEN = 0.5  # share of a form's lines that must be of speakers heard twice: headings of notes are not


@dataclass(frozen=True, slots=True)
class _Turn:
    """A line that begins a turn."""

    line: int
    who: str
    when: str | None
    words: str


def turns(text: str) -> list[tuple[str, dict[str, Any]]] | None:
    """The turns of a chat with the line where each begins, or None when the text is no chat."""
    lines = text.split("\n")
    for forms, bare in _FORMS:
        begun = [_turn(at, found) for at, line in enumerate(lines) if (found := _first(forms, line))]
        if _is_chat(begun) and (not bare or any(turn.who.casefold() in _KNOWN for turn in begun)):
            return _collected(lines, begun)
    return None


def speaker(who: str) -> dict[str, str]:
    """Who speaks: "me" and "user" are the person, named people are people, known machines are assistants."""
    word = who.casefold()
    if word in _PERSON:
        return {"role": Role.USER.value}
    if word in _MACHINES:
        return {"role": Role.ASSISTANT.value}
    return {"role": ROLES[word].value} if word in ROLES else {"role": Role.USER.value, "name": who}


def _first(forms: Sequence[re.Pattern[str]], line: str) -> re.Match[str] | None:
    if len(line) > _LONGEST_LINE:
        return None
    return next((found for form in forms if (found := form.fullmatch(line))), None)


def _turn(at: int, found: re.Match[str]) -> _Turn:
    parts = found.groupdict()
    return _Turn(at, found["who"].strip(), parts.get("when") or parts.get("later"), parts.get("words") or "")


def _is_chat(begun: list[_Turn]) -> bool:
    heard = Counter(turn.who.casefold() for turn in begun)
    if len(heard) < _SPEAKERS:
        return False
    if heard.keys() & _PERSON and heard.keys() & _MACHINES:
        return True
    again = sum(count for count in heard.values() if count > 1)
    return len(begun) >= _TURNS and again > _OFTEN * len(begun)


def _collected(lines: list[str], begun: list[_Turn]) -> list[tuple[str, dict[str, Any]]]:
    day: str | None = None
    out = []
    before = "\n".join(lines[: begun[0].line]).strip()
    if before:
        out.append(("line 1", {"role": Role.SYSTEM.value, "content": before}))
        day = _day(lines[: begun[0].line])
    for turn, after in zip(begun, [*begun[1:], None], strict=True):
        rest = lines[turn.line + 1 : after.line if after else len(lines)]
        words = "\n".join([turn.words, *(_unquoted(line) for line in rest)]).strip()
        at = _time(turn.when, day)
        if words:
            out.append((f"line {turn.line + 1}", {**speaker(turn.who), "content": words, **({"at": at} if at else {})}))
        day = _day(rest) or day
    return out


def _unquoted(line: str) -> str:
    return line[1:].lstrip() if line.startswith(">") else line


def _day(lines: list[str]) -> str | None:
    """The last date that a heading names among these lines."""
    dates = [date_in(line) for line in lines if line.lstrip().startswith(("#", "**", "date:"))]
    return next((date[:10] for date in reversed(dates) if date), None)


def _time(when: str | None, day: str | None) -> str | None:
    """When a turn was said: as its mark says, with the day of the last heading that names one."""
    if when is None:
        return day
    return date_in(when) or (date_in(f"{day} {when}") if day else None)
