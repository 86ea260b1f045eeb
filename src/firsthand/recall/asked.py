"""What a question asks: whom, when and what kind its words are about.

The reading of the words is deterministic and keeps its reasons (`Asked.notes`). It knows English; in any other
language it finds nothing, which leaves words and vectors to do their work. How a reading changes the score is in
`score.py`; what it changes in what stands above what, in `standing.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache

from firsthand.model import Kind
from firsthand.recall import periods
from firsthand.recall.periods import Period
from firsthand.recall.tense import (
    Tense,
    Version,
    after_what,
    asks_for_the_earliest,
    before_what,
    tense_of,
    version_of,
    without_time_words,
)
from firsthand.text import question_terms, terms


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
    version: Version = Version.ANY  # which of several statements about the same thing it asks for
    kind: Kind | None = None  # procedural for a how-to
    period: Period | None = None  # the stretch of time that it names
    before: frozenset[str] = frozenset()  # terms of what it asks to look before: "before Lisbon"
    after: frozenset[str] = frozenset()
    earliest: bool = False  # it asks for what came first of all
    notes: tuple[str, ...] = ()  # why it was read so


@dataclass(frozen=True, slots=True)
class People:
    """Names that a question may mention."""

    speakers: Sequence[str] = ()  # names that messages carry
    subjects: Sequence[str] = ()  # whom beliefs are about, other than the owner's person
    user: Sequence[str] = ()  # names of the owner's person
    handle: str | None = None  # another one, which counts only as it is spelled: it may be a word as well
    bonds: Mapping[str, str] = field(default_factory=dict)  # "sister" -> whom beliefs are about, where it is but one


_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|me|my|mine|myself|the user|the user's|this user|user's)\b", re.IGNORECASE)
_ASSISTANT_SAID = re.compile(
    r"\b(?:you|the assistant|the agent)(?: \w+)? (?:say|said|tell|told|suggest(?:ed)?|recommend(?:ed)?|mention(?:ed)?"
    r"|advised?|proposed?|explain(?:ed)?|give|gave|provided?|list(?:ed)?|write|wrote|come up with|came up with)\b",
    re.IGNORECASE,
)
_HOW_TO = re.compile(
    r"\b(?:how (?:do|does|should|to|can|would|shall)\b|(?:steps?|procedure|process|convention|workflow|format|style"
    r"|template|rules?|guidelines?) (?:for|of|to|when)|the way (?:i|we|he|she|they) (?:want|like|prefer))",
    re.IGNORECASE,
)
_MANNER = re.compile(r"\bhow (?:do|does|did) (?:\w+ ){1,4}(?:feel|know|look|relate|plan)\b", re.IGNORECASE)
_SAYS_NOTHING = "who what where when why how is are was were the"
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@cache
def _empty_terms() -> frozenset[str]:
    """Terms that ask for nothing; made when first needed, since stems need their library."""
    return frozenset(question_terms(_SAYS_NOTHING))


def read(text: str, people: People, now: datetime) -> Asked:
    """What the words of this question say about whom, when and what kind."""
    users = _mentioned(text, people.user)
    if people.handle is not None and people.handle not in users and re.search(_as_word(people.handle), text):
        users.append(people.handle)
    speakers = _mentioned(text, people.speakers)
    topic, searched = _topic(text, [*speakers, *users])
    bound = _bound(text, people.bonds)
    searched += [term for name in bound for term in terms(name)]  # what is said of Ana seldom says that she is a sister
    period = periods.named(text, now)
    asked = Asked(
        terms=tuple(dict.fromkeys(searched)),
        topic=topic,
        named=tuple(dict.fromkeys((*speakers, *_mentioned(text, people.subjects), *bound))),
        of_user=bool(users) or bool(_FIRST_PERSON.search(text)),
        of_assistant=bool(_ASSISTANT_SAID.search(text)),
        user_names=tuple(people.user),
        tense=tense_of(text),
        version=version_of(text, dated=period is not None),
        kind=_kind(text),
        period=period,
        before=before_what(text),
        after=after_what(text),
        earliest=asks_for_the_earliest(text),
    )
    return replace(asked, notes=tuple(_notes(asked)))


def _notes(asked: Asked) -> Iterator[str]:
    """The reading in words."""
    yield from (f"names {each}" for each in asked.named)
    if asked.of_user:
        yield "asks about the person"
    if asked.of_assistant:
        yield "asks what the assistant said"
    if asked.tense is not Tense.OPEN:
        yield f"is about the {asked.tense}"
    if asked.version in (Version.LATEST, Version.EARLIER):
        yield f"asks for the {asked.version} of several statements"
    if asked.kind is not None:
        yield f"asks for {asked.kind} memory"
    if asked.period is not None:
        yield f"names a time: {asked.period.words}"
    if asked.before:
        yield "asks what came before"
    if asked.after:
        yield "asks what came after"


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


def _bound(text: str, bonds: Mapping[str, str]) -> list[str]:
    """Those whom a text calls by what they are to the person: "my sister"."""
    return [bonds[each] for each in _mentioned(text, sorted(bonds))]


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
    searched = question_terms(without_time_words(topic))
    return topic, searched if set(searched) - _empty_terms() else question_terms(topic)
