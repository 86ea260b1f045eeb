"""LongMemEval: questions with the dated sessions around them. Only the sessions are read.

Session ids that begin with `answer_` and turns marked `has_answer` give the answer away: sessions get an id made
from their words, and turns keep their role and content alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger.formats.conversation import Found, digest
from firsthand.ledger.formats.dated import date_in

_Dated = tuple[str | None, list[Any]]


def fits(value: Any) -> bool:
    """Whether it is a row with haystack sessions, dated turns or dated evidence, or a list of them."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return False
    evidence = first.get("evidence")
    return (
        isinstance(first.get("haystack_sessions"), list)
        or (isinstance(first.get("turns"), list) and "date" in first)
        or (isinstance(evidence, list) and bool(evidence) and fits(evidence))
    )


def found(value: Any, _name: str) -> list[Found]:
    """Every session once, in the file's order. Raises InvalidInput."""
    rows = value if isinstance(value, list) else [value]
    conversations: dict[str, Found] = {}
    for number, row in enumerate(rows, 1):
        for date, turns in _sessions(row, f"row {number}"):
            each = _conversation(date, turns, f"row {number}")
            conversations.setdefault(str(each.session), each)
    return list(conversations.values())


def _sessions(row: Any, where: str) -> Iterator[_Dated]:
    if not isinstance(row, dict):
        raise InvalidInput(f"{where}: it is no object")
    if isinstance(row.get("haystack_sessions"), list):
        dates = row.get("haystack_dates")
        dates = dates if isinstance(dates, list) else []
        for at, turns in enumerate(row["haystack_sessions"]):
            yield _dated(dates[at] if at < len(dates) else None, turns, where)
    elif isinstance(row.get("turns"), list):
        yield _dated(row.get("date"), row["turns"], where)
    elif isinstance(row.get("evidence"), list):
        for each in row["evidence"]:
            yield from _sessions(each, where)


def _dated(date: Any, turns: Any, where: str) -> _Dated:
    if not isinstance(turns, list):
        raise InvalidInput(f"{where}: a session is no list of turns")
    return (date_in(date) if isinstance(date, str) else None), turns


def _conversation(date: str | None, turns: list[Any], where: str) -> Found:
    messages: list[tuple[str, dict[str, Any]]] = []
    for number, turn in enumerate(turns, 1):
        if not isinstance(turn, dict):
            raise InvalidInput(f"{where}: turn {number} is no object")
        if turn.get("content"):
            message = {"role": turn.get("role"), "content": turn["content"]}
            messages.append((f"{where}, turn {number}", {**message, "at": date} if date else message))
    words = [str(message["content"]) for _, message in messages]
    return Found(f"session-{digest(date, *words)}", messages)
