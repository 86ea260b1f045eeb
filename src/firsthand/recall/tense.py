"""Time in a question's words: whether it asks for what holds, for what held, or for what came before something else.

English; a fixed list of forms. Stretches of time that are named (dates, "last week") are read in `periods.py`.
"""

from __future__ import annotations

import re
from enum import StrEnum

from firsthand.recall.periods import MONTHS
from firsthand.text import question_terms


class Tense(StrEnum):
    """Which time a question is about."""

    OPEN = "open"  # it does not say
    PRESENT = "present"  # what holds now
    PAST = "past"  # what held, and may not any more


class Version(StrEnum):
    """Which of several statements about the same thing a question asks for."""

    LATEST = "latest"  # it says so: "currently", "the most recent"
    EARLIER = "earlier"  # it says so: "previously", "at first", "before"
    STANDING = "standing"  # it asks how things are, without a word of time
    ANY = "any"  # it asks for something that happened, or within a time that it names


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


_LATEST = (
    "now", "currently", "current", "these days", "nowadays", "at the moment", "at present", "presently", "latest",
    "most recent(?:ly)?", "newest", "up to date", "so far",
)  # fmt: skip
_EARLIER = (
    "used to", "previous(?:ly)?", "former(?:ly)?", "original(?:ly)?", "initial(?:ly)?", "back then", "back when",
    "at the time", "at first", "(?:the|for the) first time", "in the past", "no longer", "prior to", "earlier",
    "any ?more", r"did (?:\w+ ){1,3}use to (?:be|live|work|have|own|drive|like|love|go|play)",
)  # fmt: skip
_BEFORE_A_TIME = rf"(?!(?:the )?(?:\d|{'|'.join(MONTHS)}|bed|breakfast|lunch|dinner|noon))"
_PAST_WORDS = (
    *_EARLIER, "use to", "once", "ago", "(?:my|his|her|their|our|the|'s) (?:old|ex)",
    "last (?:week|month|year|spring|summer|autumn|fall|winter)", "(?:what|who|where|which) (?:was|were)",
    r"(?:where|what|which|who|whom) did\b.{1,40}\b(?:live|work|use|like|prefer|drive|own|have|love|hate|want|date)",
    "when (?:i|we|he|she|they) (?:was|were|lived|worked)",
)  # fmt: skip

_PRESENT = _words(*_LATEST, "today", "still")
_PAST = re.compile(rf"{_words(*_PAST_WORDS).pattern}|\bbefore (?!(?:bed|breakfast|lunch|dinner|noon))", re.IGNORECASE)
_ASKS_LATEST = _words(*_LATEST)
# "the week before May" and "two days before" name a time, and do not ask what came before.
_A_TIME_FROM = "".join(rf"(?<!{unit} )(?<!{unit}s )" for unit in ("day", "night", "week", "weekend", "month", "year"))
_ASKS_EARLIER = re.compile(
    rf"{_words(*_EARLIER).pattern}|{_A_TIME_FROM}\bbefore (?:(?:it|that) changed|{_BEFORE_A_TIME})", re.IGNORECASE
)
_HAPPENED = re.compile(r"^\W*(?:\w+\W+){0,6}?(?:did|was|were|had)\b", re.IGNORECASE)
_BEFORE = _words("before", "prior to", "previous to", "until")
_AFTER = _words("after", "following", "since")
_EARLIEST = _words("original(?:ly)?", "initial(?:ly)?", "at first", "the (?:very )?first")
# Words that say when, and not what: no text needs to hold them to answer the question.
_SAY_WHEN = _words(*_LATEST, "used? to", "previous(?:ly)?", "former(?:ly)?", "original(?:ly)?", "initial(?:ly)?",
                   "back then", "at first", "in the past", "no longer", "any ?more", "earlier")  # fmt: skip


def tense_of(text: str) -> Tense:
    """The time that a question is about."""
    past, present = bool(_PAST.search(text)), bool(_PRESENT.search(text))
    if past == present:
        return Tense.OPEN
    return Tense.PAST if past else Tense.PRESENT


def version_of(text: str, *, dated: bool) -> Version:
    """Which of several statements about the same thing a question asks for. `dated`: it names a stretch of time."""
    latest, earlier = bool(_ASKS_LATEST.search(text)), bool(_ASKS_EARLIER.search(text))
    if dated:
        return Version.ANY
    if latest != earlier:
        return Version.LATEST if latest else Version.EARLIER
    return Version.ANY if _HAPPENED.search(text) else Version.STANDING


def asks_for_the_earliest(text: str) -> bool:
    """Whether a question asks for what came first of all."""
    return bool(_EARLIEST.search(text))


def before_what(text: str) -> frozenset[str]:
    """The terms of what a question asks to look before: "before Lisbon". Empty where it does not."""
    return _following(_BEFORE, text)


def after_what(text: str) -> frozenset[str]:
    """The terms of what a question asks to look after."""
    return _following(_AFTER, text)


def without_time_words(text: str) -> str:
    """The text without words that only say when."""
    return _SAY_WHEN.sub(" ", text)


def _following(word: re.Pattern[str], text: str) -> frozenset[str]:
    found = word.search(text)
    return frozenset(question_terms(text[found.end() :])) if found else frozenset()
