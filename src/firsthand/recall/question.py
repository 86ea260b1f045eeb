"""The question: what was asked, and under which conditions. What its words say is read in `asked.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import InvalidInput
from firsthand.model import Kind
from firsthand.recall import filters as metadata_filters
from firsthand.recall.asked import Asked, People, read
from firsthand.recall.scale import Scale

__all__ = ["INCLUDE", "Conditions", "People", "Question", "ask"]

INCLUDE = ("all", "beliefs", "messages")


@dataclass(frozen=True, slots=True)
class Question:
    """One question with all its conditions. Made by `ask`."""

    text: str
    asked: Asked
    now: datetime
    limit: int = 10
    vector: NDArray[np.float32] | None = None  # unit vector of `asked.topic`, shape (dimensions,)
    scale: Scale = field(default_factory=Scale)  # of the embedder that made it
    kinds: frozenset[Kind] | None = None
    sessions: frozenset[str] | None = None
    agent: str | None = None
    since: datetime | None = None  # said at or after
    until: datetime | None = None  # said before
    valid_at: datetime | None = None  # None is now
    known_at: datetime | None = None  # None is now
    include: str = "all"
    passes: Callable[[Mapping[str, Any]], bool] | None = None  # parsed metadata filter

    def with_vector(self, vector: NDArray[np.float32] | None, scale: Scale | None = None) -> Question:
        """The question with the embedding of `asked.topic`, and the scale of the embedder that made it."""
        return replace(self, vector=vector, scale=self.scale if scale is None else scale)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the caller of recall may ask for besides the text; each None means no such condition."""

    limit: int = 10
    kinds: Iterable[Kind | str] | None = None
    sessions: Iterable[str] | None = None
    agent: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    valid_at: datetime | None = None
    known_at: datetime | None = None
    include: str = "all"
    filters: Mapping[str, Any] | None = field(default=None)


def ask(text: str, now: datetime, people: People, conditions: Conditions) -> Question:
    """The question with its words read. Raises InvalidInput for conditions that mean nothing; no text can raise."""
    if conditions.include not in INCLUDE:
        raise InvalidInput(f"include: expected one of {', '.join(INCLUDE)}, got {str(conditions.include)[:80]!r}")
    return Question(
        text=text,
        asked=read(text, people, now),
        now=now,
        limit=_whole(conditions.limit),
        kinds=_kinds(conditions.kinds),
        sessions=_names("sessions", conditions.sessions),
        agent=conditions.agent,
        since=_aware("since", conditions.since),
        until=_aware("until", conditions.until),
        valid_at=_aware("valid_at", conditions.valid_at),
        known_at=_aware("known_at", conditions.known_at),
        include=conditions.include,
        passes=None if conditions.filters is None else metadata_filters.parse(conditions.filters),
    )


def _whole(limit: object) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InvalidInput(f"limit: expected a whole number, 0 or more, got {str(limit)[:80]!r}")
    return limit


def _kinds(kinds: Iterable[Kind | str] | None) -> frozenset[Kind] | None:
    if kinds is None:
        return None
    try:
        return frozenset(Kind(each) for each in ([kinds] if isinstance(kinds, str) else kinds))
    except ValueError as error:
        known = ", ".join(Kind)
        raise InvalidInput(f"kinds: {error}; known are {known}") from error


def _names(what: str, names: Iterable[str] | None) -> frozenset[str] | None:
    if names is None:
        return None
    given = [names] if isinstance(names, str) else list(names)
    if not all(isinstance(each, str) for each in given):
        raise InvalidInput(f"{what}: expected names")
    return frozenset(given)


def _aware(what: str, when: datetime | None) -> datetime | None:
    if when is None:
        return None
    if not isinstance(when, datetime) or when.tzinfo is None:
        raise InvalidInput(f"{what}: expected a time with an offset")
    return when
