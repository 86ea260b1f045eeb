"""The question: what was asked, under which conditions, and what its words say about how to look.

The reading of the words is deterministic and keeps its reasons (`Asked.notes`). It knows English; in any other
language it finds nothing, which leaves words and vectors to do their work. How a reading changes the score is in
`score.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import InvalidInput
from firsthand.model import Kind
from firsthand.recall import filters as metadata_filters
from firsthand.recall import periods
from firsthand.recall.periods import Period
from firsthand.recall.scale import Scale
from firsthand.text import question_terms, terms

INCLUDE = ("all", "beliefs", "messages")


class Tense(StrEnum):
    """Which time a question is about."""

    OPEN = "open"  # it does not say
    PRESENT = "present"  # what holds now
    PAST = "past"  # what held, and may not any more


@dataclass(frozen=True, slots=True)
class Asked:
    """What the words of a question say."""

    terms: tuple[str, ...]  # search terms, without function words and without the speakers named
    topic: str  # the text to embed: the question without the speakers named
    named: tuple[str, ...] = ()  # known names that it mentions, as memory spells them
    of_user: bool = False  # it asks about the owner's person: "I", "my", "the user", or one of their names
    of_assistant: bool = False  # it asks what the assistant said: "you told me"
    user_names: tuple[str, ...] = ()  # names of the owner's person
    tense: Tense = Tense.OPEN
    kind: Kind | None = None  # procedural for a how-to
    period: Period | None = None  # the stretch of time that it names
    notes: tuple[str, ...] = ()  # why it was read so


@dataclass(frozen=True, slots=True)
class People:
    """Names that a question may mention."""

    speakers: Sequence[str] = ()  # names that messages carry
    subjects: Sequence[str] = ()  # whom beliefs are about, other than the owner's person
    user: Sequence[str] = ()  # names of the owner's person


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


# -- reading the words

_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|me|my|mine|myself|the user|the user's|this user|user's)\b", re.IGNORECASE)
_ASSISTANT_SAID = re.compile(
    r"\b(?:you|the assistant|the agent)(?: \w+)? (?:say|said|tell|told|suggest(?:ed)?|recommend(?:ed)?|mention(?:ed)?"
    r"|advised?|proposed?|explain(?:ed)?|give|gave|provided?|list(?:ed)?|write|wrote|come up with|came up with)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:now|currently|current|these days|nowadays|at the moment|at present|presently|today|still|latest"
    r"|most recent(?:ly)?|newest|up to date|so far)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:used to|use to|previous(?:ly)?|former(?:ly)?|originally|initial(?:ly)?|back then|back when|at the time"
    r"|at first|in the past|no longer|prior to|earlier|once|anymore|any more|ago"
    r"|(?:my|his|her|their|our|the|'s) (?:old|ex)"
    r"|last (?:week|month|year|spring|summer|autumn|fall|winter)|before (?!(?:bed|breakfast|lunch|dinner|noon))"
    r"|what (?:was|were)|who (?:was|were)|where (?:was|were)|which (?:was|were)"
    r"|(?:where|what|which|who|whom) did\b.{1,40}\b(?:live|work|use|like|prefer|drive|own|have|love|hate|want|date)"
    r"|when (?:i|we|he|she|they) (?:was|were|lived|worked))\b",
    re.IGNORECASE,
)
_HOW_TO = re.compile(
    r"\b(?:how (?:do|does|should|to|can|would|shall)\b|(?:steps?|procedure|process|convention|workflow|format|style"
    r"|template|rules?|guidelines?) (?:for|of|to|when)|the way (?:i|we|he|she|they) (?:want|like|prefer))",
    re.IGNORECASE,
)
_MANNER = re.compile(r"\bhow (?:do|does|did) (?:\w+ ){1,4}(?:feel|know|look|relate|plan)\b", re.IGNORECASE)
# Words that say when, and not what: no text needs to hold them to answer the question.
_TIME_WORDS = re.compile(
    r"\b(?:used? to|previous(?:ly)?|former(?:ly)?|originally|back then|in the past|no longer|any ?more|now|currently"
    r"|current|these days|nowadays|at the moment|at present|presently|latest|most recent(?:ly)?|so far)\b",
    re.IGNORECASE,
)
_SAYS_NOTHING = "who what where when why how is are was were the"
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@cache
def _empty_terms() -> frozenset[str]:
    """Terms that ask for nothing; made when first needed, since stems need their library."""
    return frozenset(question_terms(_SAYS_NOTHING))


def read(text: str, people: People, now: datetime) -> Asked:
    """What the words of this question say about whom, when and what kind."""
    users = _mentioned(text, people.user)
    speakers = _mentioned(text, people.speakers)
    subjects = _mentioned(text, people.subjects)
    topic, searched = _topic(text, [*speakers, *users])
    tense, kind, period = _tense(text), _kind(text), periods.named(text, now)
    first = bool(users) or bool(_FIRST_PERSON.search(text))
    told = bool(_ASSISTANT_SAID.search(text))
    named = tuple(dict.fromkeys((*speakers, *subjects)))
    notes = [f"names {each}" for each in named]
    notes += ["asks about the person"] * first + ["asks what the assistant said"] * told
    notes += [f"is about the {tense}"] * (tense is not Tense.OPEN) + [f"asks for {kind} memory"] * (kind is not None)
    notes += [] if period is None else [f"names a time: {period.words}"]
    return Asked(tuple(searched), topic, named, first, told, tuple(people.user), tense, kind, period, tuple(notes))


def _tense(text: str) -> Tense:
    past, present = bool(_PAST.search(text)), bool(_PRESENT.search(text))
    if past == present:
        return Tense.OPEN
    return Tense.PAST if past else Tense.PRESENT


def _kind(text: str) -> Kind | None:
    return Kind.PROCEDURAL if _HOW_TO.search(text) and not _MANNER.search(text) else None


def _mentioned(text: str, names: Sequence[str]) -> list[str]:
    """The names that a text mentions, in full or by a first name that nobody else has."""
    if not names:
        return []
    asked = terms(text)
    told = f"\x1f{chr(31).join(asked)}\x1f"
    firsts = [next(iter(terms(name)), "") for name in names]
    out = []
    for name, first in zip(names, firsts, strict=True):
        whole = "\x1f".join(terms(name))
        if whole and (f"\x1f{whole}\x1f" in told or (firsts.count(first) == 1 and f"\x1f{first}\x1f" in told)):
            out.append(name)
    return out


def _without(text: str, names: Sequence[str]) -> str:
    """The text with these names, and each of their words, left out."""
    words = sorted({word for name in names for word in (name, *name.split())}, key=len, reverse=True)
    if not words:
        return text
    pattern = "|".join(_as_word(word) for word in words)
    return " ".join(re.sub(pattern, " ", text, flags=re.IGNORECASE).split())


def _as_word(word: str) -> str:
    """A pattern for the word with its possessive ending; in scripts without blanks, wherever it stands."""
    if _UNSPACED.search(word):
        return re.escape(word)
    return rf"(?<!\w){re.escape(word)}(?:['\u2019]s)?(?!\w)"


def _topic(text: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """The text to embed and the terms to search for: without these names, unless nothing is left to look for."""
    topic = _without(text, names)
    if not set(question_terms(topic)) - _empty_terms():
        topic = text
    searched = question_terms(_TIME_WORDS.sub(" ", topic))
    return topic, searched if set(searched) - _empty_terms() else question_terms(topic)
