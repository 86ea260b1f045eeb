"""Folding and terms: one definition for equality, for search and for every store.

`value_key` decides when two values are the same; nothing else does. `terms` and `term_hashes` are what a question and
a memory are compared by; queries and texts go through the same functions, so no text is ever query syntax.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

_BLANKS = re.compile(r"\s+")
_TRAILING = ".,;!?"

# Han, Hiragana, Katakana and Hangul run together without blanks: they are indexed by pairs of characters.
_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Thai, Lao, Khmer and Myanmar are written without blanks as well.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# Scripts of India and Tibet write vowels as marks that are no letters to `\\w`: the whole blocks are words, but for
# their full stops and digits' signs.
_MARKED = "\u0900-\u0963\u0966-\u0dff\u0f00-\u0fff"
_RUNS = re.compile(rf"(?P<pairs>[{_CJK}{_UNSPACED}]+)|(?P<word>(?:[^\W_{_CJK}{_UNSPACED}]|[{_MARKED}])+)")
_ASCII_WORDS = re.compile(r"[a-z0-9]+")
# Marks that writers leave out at will: accents of Latin, Greek and Cyrillic, points of Hebrew and Arabic.
_OPTIONAL_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]")

# Function words of English that say nothing about what a question is after. Dropped from questions only.
_FUNCTION_WORDS = (
    "a about above after again all am an and any are as at be because been before being below between both but by "
    "can could did do does doing down during each few for from further had has have having he her here hers "
    "herself him himself his how i if in into is it its itself just me more most my myself no nor not now of off "
    "on once only or other our ours ourselves out over own same she should so some such than that the their "
    "theirs them themselves then there these they this those through to too under until up very was we were what "
    "when where which while who whom why will with would you your yours yourself yourselves s t d ll m re ve don "
    "didn doesn isn wasn aren weren won wouldn shouldn couldn hasn haven hadn"
)
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def value_key(value: str) -> str:
    """The form in which values are compared: NFC, casefolded, blanks collapsed, trailing `.,;!?` removed.

    A value of nothing but those keeps them. Nothing else is folded: no stemming, no accents dropped, no vectors.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", value).casefold())
    folded = _BLANKS.sub(" ", folded).strip()
    return folded.rstrip(_TRAILING + " ") or folded


def terms(text: str) -> list[str]:
    """Search terms of a text, in order, repeats kept.

    Words are casefolded, stripped of accents and stemmed (Porter2, English; other alphabets pass through); runs of
    scripts written without blanks give pairs of characters, and a lone character itself. Pairs never cross a blank.
    """
    return list(_terms(text))


def question_terms(text: str) -> list[str]:
    """Distinct search terms of a question, in order, without function words (unless nothing else is left)."""
    kept = [stem(word) for word in _words(text) if word not in STOP_WORDS]
    return list(dict.fromkeys(kept or _terms(text)))


def term_hashes(text: str) -> bytes:
    """The terms of a text as 64-bit hashes, packed little-endian."""
    return b"".join(map(_packed_hash, _words(text)))


@lru_cache(maxsize=65_536)
def term_hash(term: str) -> int:
    """A term's 64-bit hash, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=65_536)
def _packed_hash(word: str) -> bytes:
    """The hash of a folded word's stem. Kept whole, because bulk loads spend most of their time on words."""
    return term_hash(stem(word)).to_bytes(8, "little")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a folded word."""
    return str(_stemmer().stemWord(word)) if word.isascii() else word


def _terms(text: str) -> Iterator[str]:
    return map(stem, _words(text))


def _words(text: str) -> Iterable[str]:
    if text.isascii():  # the same words, found several times as fast
        return _ASCII_WORDS.findall(text.lower())
    return _words_of_any_script(text)


def _words_of_any_script(text: str) -> Iterator[str]:
    for run in _RUNS.finditer(_fold(text)):
        if run["word"]:
            yield run["word"]
        else:
            yield from _pairs(run["pairs"])


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFKC", _OPTIONAL_MARKS.sub("", decomposed))


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]  # noqa: ANN202 - the library has no types
    import snowballstemmer

    return snowballstemmer.stemmer("english")
