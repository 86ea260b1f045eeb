"""What is asked of what: conversations, the questions put to them, and what answers each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

ANSWERED = "answered"  # the conversations hold what answers it
UNANSWERED = "unanswered"  # the data says that they do not
ELSEWHERE = "elsewhere"  # it was asked of other conversations
MADE_UP = "made-up"  # about names that nobody has


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, and what answers it."""

    id: str
    text: str
    kind: str  # as the data sorts its questions
    expected: tuple[frozenset[str], ...] = ()  # of each thing expected, any of these ids will do
    standing: str = ANSWERED
    succession: tuple[str, str] | None = None  # ids of an older and a newer statement about the same thing
    past: bool = False  # it asks for the older of them
    facts: tuple[str, ...] = ()  # what an answer needs, where the data says it in other words than the talk
    beside: tuple[str, ...] = ()  # facts that have nothing to do with it


@dataclass(frozen=True, slots=True)
class Talk:
    """The conversations of one person, as messages by session in the order they were had."""

    name: str
    sessions: Mapping[str, Sequence[Mapping[str, Any]]]
    questions: Sequence[Asked]
    now: datetime  # when the questions are asked
    aliases: tuple[str, ...] = ()  # names that the person goes by in the questions


@dataclass(frozen=True, slots=True)
class Suite:
    """Questions with all that they are put to, and how they are measured."""

    name: str
    talks: Callable[[], Iterable[Talk]]  # read anew, one by one: haystacks are large
    by_session: bool = False  # ids are those of sessions, not of messages
    listens: bool = False  # whether statements are picked up, so that beliefs are found as well
    depths: tuple[int, ...] = (1, 5, 10, 20, 50)
    headline: tuple[str, ...] = ("R@5", "R@10", "MRR")  # the figures that are shown by kind of question
    notes: tuple[str, ...] = field(default=())  # what a reader of the figures must know
