"""What a model's observation is worth: held against the words it quotes, before anybody else sees it.

A quote that is not there, words that are not the person's own, a question, a value that the quote does not carry: each
makes the claim an inference. What it is about and who may claim what is decided later, in `ledger/admission.py`.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

from firsthand.text import question_terms, terms
from firsthand.writer.sentences import FILLER, own_words

_PLAIN = {**dict.fromkeys("\u2018\u2019\u201b\u02bc", "'"), **dict.fromkeys("\u201c\u201d\u201e", '"'), "\u2026": "..."}
_MOST = 0.75  # of a free text's words that the quote must carry; the rest may be grammar
_STOP = re.compile(r"[.!?\n]")
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:[T ].*)?")
_NUMBER = re.compile(r"\d+(?:-\d+)*")


def located(quote: str, content: str) -> tuple[int, int] | None:
    """Where a quote stands in a message; blanks, capitals and the shape of quotation marks may differ."""
    words = quote.strip().strip('"\u201c\u201d').strip()
    if not any(letter.isalnum() for letter in words):
        return None
    at = content.find(words)
    if at >= 0:
        return at, at + len(words)
    plain, places = _folded(content)
    wanted, _ = _folded(words)
    at = plain.find(wanted)
    return None if at < 0 else (places[at], places[at + len(wanted) - 1] + 1)


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in one case with single blanks, and where each of its characters came from."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        folded = " " if letter.isspace() else unicodedata.normalize("NFKC", _PLAIN.get(letter, letter)).casefold()
        if folded == " " and (not letters or letters[-1] == " "):
            continue
        letters += folded
        places += [place] * len(folded)
    while letters and letters[-1] == " ":
        letters.pop()
        places.pop()
    return "".join(letters), places


def is_own(content: str, start: int, end: int) -> bool:
    """Whether these words are the speaker's own: no code, no forwarded mail, nobody else quoted."""
    span = own_words(content)[start:end]
    return span.count(FILLER) * 2 < len(span)


def is_asked(content: str, end: int) -> bool:
    """Whether the sentence that a quote ends in is a question."""
    stop = _STOP.search(content, max(0, end - 1))
    return stop is not None and stop[0] == "?"


def carries(quote: str, value: str, *, whole: bool) -> bool:
    """Whether a quote holds a value's words, compared by stems: all of them, or most where `whole` is not asked for.

    A date and a number may be written otherwise.
    """
    if _NUMBER.fullmatch(value):
        return True
    said, told = set(terms(quote)), question_terms(value)
    held = sum(term in said for term in told)
    return held == len(told) if whole else held >= _MOST * len(told)


def date_of(given: str | None, said_at: datetime) -> datetime | None:
    """The beginning of the year, month or day that a model names, in the offset of what was said; None for no date."""
    found = _DATE.fullmatch(given.strip()) if given is not None else None
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    try:
        return datetime(year, month, day, tzinfo=said_at.tzinfo)
    except ValueError:
        return None
