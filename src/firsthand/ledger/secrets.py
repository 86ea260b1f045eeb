"""Masking: keys, tokens, card numbers and passwords are taken out of a text before anything is written.

What is masked is gone: only the kind of thing stays, as in "[masked: api key]". Prose, UUIDs, phone and order numbers
and commit hashes stay. What a secret looks like by itself is in `secret_shapes.py`, which words announce one in
`secret_words.py`; what a claim about a credential may do in `admission.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger import secret_shapes, secret_words
from firsthand.ledger.secret_shapes import MARK, MARKED, Found

DEEPEST = 100  # levels of nested JSON; nothing that people send comes near

# What one masking leaves may make the words beside it readable as one more; a third look hardly ever finds anything.
_MOST_PASSES = 5
_FINDERS: tuple[Callable[[str], Iterator[Found]], ...] = (
    secret_shapes.tokens,
    secret_shapes.headers,
    secret_shapes.private_keys,
    secret_shapes.cards,
    secret_shapes.ibans,
    secret_words.announced,
    secret_words.logins,
)


def mask(text: str) -> tuple[str, int]:
    """The text with every secret replaced by its kind in brackets, and how many there were.

    Masking twice changes nothing.
    """
    total = 0
    for _ in range(_MOST_PASSES if _may_hold_secret(text) else 0):
        text, found = _masked_once(text)
        if not found:
            break
        total += len(found)
    return text, total


def mask_around(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, int, list[tuple[int, int]]]:
    """As `mask`, and where the spans given lie in the masked text. One that touched a secret takes in its mark."""
    total, moved = 0, list(spans)
    for _ in range(_MOST_PASSES if _may_hold_secret(text) else 0):
        text, found = _masked_once(text)
        if not found:
            break
        total += len(found)
        moved = [(_moved(start, found, ends=False), _moved(end, found, ends=True)) for start, end in moved]
    return text, total, moved


def _moved(place: int, found: Sequence[Found], *, ends: bool) -> int:
    """Where a place is once these secrets are replaced; one inside of a secret goes to the mark's edge."""
    shift = 0
    for span in found:
        grown = len(f"{MARK}{span.kind}]") - (span.end - span.start)
        if place <= span.start:
            break
        if place < span.end:
            return span.start + shift + (span.end - span.start + grown if ends else 0)
        shift += grown
    return place + shift


_ORDINARY: set[str] = set()  # words seen before that tell of no secret: most talk is made of them
_MOST_ORDINARY = 30_000
_LONGEST_ORDINARY = 20  # characters; what is longer, or has digits, is never remembered
_FIGURE = re.compile(r"[$€£(]?[0-9]{1,6}(?:[.,:/-][0-9]{1,4}){0,2}(?:[a-z]{2}|[%K])?[.,;:!?)]*")
_SHORTEST_CARD = 14  # digits


# A word of small letters is told at one look: all that gives a secret away has one of these in it.
_SMALL = re.compile(r"[(\"']?[A-Z]?[a-z]{0,14}(?:['’][a-z]{1,2})?[.,;:!?…\"')]*")  # noqa: RUF001 - both apostrophes
_TELLING = re.compile(
    r"p(?:ass|w|in|uk|hrase)|k(?:ey|ennwort|ombi)|combi|schlüssel|c(?:v[vc]|ontrase|ode|red)|api|otp|token|secret|seed|senha|wachtwoord|haslo"
    r"|sifre|senord|adgangskode|salasana|login|zugangsdaten|identifiants|earer|uthorization|hooks|eyJ|dapi|xox|shp"
)


def _may_hold_secret(text: str) -> bool:
    """Whether any finder may find anything, told word by word: what they look for has a word that gives it away."""
    words = text.split()
    if _ORDINARY.issuperset(words):
        return False
    digits = 0
    for word in words:
        if word in _ORDINARY or _is_small(word):
            continue
        digits += sum(map(str.isdecimal, word))
        if digits >= _SHORTEST_CARD or not _is_ordinary(word):
            return True
    return False


def _is_small(word: str) -> bool:
    if _SMALL.fullmatch(word) is None or _TELLING.search(word.lower()):
        return False
    _remember(word)
    return True


def _is_ordinary(word: str) -> bool:
    if _FIGURE.fullmatch(word):
        return True
    if secret_shapes.shows(word) or secret_words.announces(word):
        return False
    if len(word) <= _LONGEST_ORDINARY and not any(map(str.isdigit, word)):
        _remember(word)
    return True


def _remember(word: str) -> None:
    if len(_ORDINARY) >= _MOST_ORDINARY:
        _ORDINARY.clear()
    _ORDINARY.add(word)


def _masked_once(text: str) -> tuple[str, list[Found]]:
    found = _apart(sorted(span for find in _FINDERS for span in find(text)))
    if MARK in text:
        found = _off_marks(found, text)
    parts, at = [], 0
    for span in found:
        parts += [text[at : span.start], f"{MARK}{span.kind}]"]
        at = span.end
    return ("".join([*parts, text[at:]]) if found else text), found


def mask_json(value: Any) -> tuple[Any, int]:
    """Plain JSON with every text in it masked, keys included; keys tell what stands under them ({"password": …}).

    Raises InvalidInput when it is nested deeper than `DEEPEST`.
    """
    return _masked(value, "", DEEPEST)


def _apart(spans: Sequence[Found]) -> list[Found]:
    """The spans without those that overlap an earlier one; the earlier one then covers both."""
    apart: list[Found] = []
    for span in spans:
        if apart and span.start < apart[-1].end:
            first = apart[-1]
            apart[-1] = Found(first.start, max(first.end, span.end), first.kind)
        else:
            apart.append(span)
    return apart


def _off_marks(spans: Sequence[Found], text: str) -> list[Found]:
    """The spans that touch no mark of an earlier masking."""
    marks = [mark.span() for mark in MARKED.finditer(text)]
    begins = [start for start, _ in marks]

    def touches(span: Found) -> bool:
        last = bisect_left(begins, span.end) - 1  # the last mark that begins before the span ends
        return last >= 0 and marks[last][1] > span.start

    return [span for span in spans if not touches(span)]


# -- JSON --------------------------------------------------------------------------------------------------------


def _masked(value: Any, label: str, depth: int) -> tuple[Any, int]:
    if depth < 0:
        raise InvalidInput(f"nested deeper than {DEEPEST} levels")
    if isinstance(value, str):
        return _masked_text(value, label)
    if isinstance(value, Mapping):
        return _masked_object(value, label, depth)
    if isinstance(value, (list, tuple)):
        return _masked_list(value, label, depth)
    if isinstance(value, int) and not isinstance(value, bool):
        text, count = _masked_text(str(value), label)
        return (text, count) if count else (value, 0)
    return value, 0


def _masked_text(value: str, label: str) -> tuple[str, int]:
    text, count = mask(value)
    if count or not label:
        return text, count
    kind = secret_words.kind_under(label, value)
    return (f"{MARK}{kind}]", 1) if kind else (text, 0)


def _masked_object(value: Mapping[Any, Any], label: str, depth: int) -> tuple[dict[Any, Any], int]:
    out: dict[Any, Any] = {}
    total = 0
    named = _entry_name(value)
    for key, each in value.items():
        name, in_name = mask(key) if isinstance(key, str) else (key, 0)
        out_value, in_value = _masked(each, _hint(key, named, label), depth - 1)
        while name in out:  # two secrets used as keys are masked alike
            name = f"{name}'"
        out[name] = out_value
        total += in_name + in_value
    return out, total


def _hint(key: Any, named: str, label: str) -> str:
    """The name that tells what a value is: its key, or for a plain "value" the entry's name or the key above."""
    if isinstance(key, str) and secret_words.names_secret(key):
        return key
    return (named or label) if key in ("value", "text", "plain") else ""


def _entry_name(value: Mapping[Any, Any]) -> str:
    """The name in {"name": "DB_PASSWORD", "value": …}, the way environments and forms are written as JSON."""
    for key in ("name", "key"):
        name = value.get(key)
        if isinstance(name, str) and "value" in value and secret_words.names_secret(name):
            return name
    return ""


def _masked_list(value: Sequence[Any], label: str, depth: int) -> tuple[list[Any], int]:
    out, total = [], 0
    before: Any = None
    for each in value:
        flagged = isinstance(before, str) and before.startswith("--") and secret_words.names_secret(before)
        masked, count = _masked(each, before if flagged else label, depth - 1)
        out.append(masked)
        total += count
        before = each
    return out, total
