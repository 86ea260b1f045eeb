"""What must stand in a text for an expression to fit anywhere in it: so that most talk is passed over at one look.

`Expressions.required` reads an expression of a table and gives cues, one of which every text that it fits must hold: a
word, or a part of one with a blank where the word begins or ends (" is ", "allerg"). `Cues` looks for those of many
expressions at once, word by word. Nothing is lost by asking them first: what they rule out cannot fit. What an
expression means is left to the other modules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

CLAUSES = 3  # sets of cues of an expression that are asked for; more rule out little more
_MOST_SPELLINGS = 16  # of a run of letters ("I'?m" has two) that are told apart
_SHORTEST = 2  # letters of a cue; a single one stands everywhere
_LONG_ENOUGH = 5  # letters and blanks beyond which a cue is not rarer for being longer
_MOST_WORDS = 50_000  # distinct words whose cues are remembered
_DIGIT = "0"  # stands for every digit, in cues and in folded texts

_DIGITS = {ord(digit): _DIGIT for digit in "0123456789"}

_ITEM = re.compile(
    r"\{(?P<named>[A-Za-z]+)(?P<lazy>\??)\}"
    r"|(?P<open>\((?:\?(?:P<\w+>|[:=]|!|<=|<!|-?i:))?)"
    r"|(?P<end>[|)])"
    r"|(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|\\(?P<escape>.)"
    r"|(?P<edge>[\^$])"
    r"|(?P<blank>\s+)"
    r"|(?P<any>\.)"
    r"|(?P<letter>.)",
    re.DOTALL,
)
_TIMES = re.compile(r"(?:(?P<sign>[?*+])|\{(?P<least>\d*)(?P<comma>,?)(?P<most>\d*)\})[?+]?")
_FIGURES = re.compile(r"\[(?:\d-\d|\d)+\]")
_LOOKS = ("(?!", "(?<!", "(?=", "(?<=")

Spellings = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an expression: all that it can be, where that is few; and what every text that it fits holds."""

    spellings: Spellings | None
    clauses: tuple[Spellings, ...] = ()  # of each of these, one
    ends: bool = False  # with a blank
    closes: bool = False  # with a blank, or it is nothing


_NOTHING = _Part(frozenset({""}))
_UNKNOWN = _Part(None)
_BLANK = _Part(None, ends=True, closes=True)  # one or more, between two words


class Expressions:
    """Reads expressions that use the words and values of one table."""

    def __init__(self, words: Mapping[str, str], values: Mapping[str, Spellings]) -> None:
        """`words` are what `{name}` stands for; `values` what each value holds one of, where that is known."""
        self._words = words
        self._values = values
        self._named: dict[str, _Part] = {}

    def required(self, text: str, sure: str = "") -> tuple[Spellings, ...]:
        """Give sets of cues, of each of which one is in every text that the expression fits; the rarest only.

        `sure` is the value without which the expression means nothing.
        """
        part = self._alternatives(_Reading(text, sure))
        clauses = {each for each in (*part.clauses, part.spellings or frozenset()) if _is_telling(each)}
        return tuple(sorted(clauses, key=_rarity)[:CLAUSES])

    def of_words(self, words: Iterable[str]) -> Spellings:
        """Give cues of which one is in every text that holds one of the words, which may have blanks in them."""
        return frozenset(max(_folded(word).split(), key=len) for word in words)

    def _alternatives(self, reading: _Reading) -> _Part:
        branches = [self._branch(reading)]
        while reading.take("|"):
            branches.append(self._branch(reading))
        if len(branches) == 1:
            return branches[0]
        spellings = _union(branch.spellings for branch in branches)
        few = spellings is not None and len(spellings) <= _MOST_SPELLINGS
        either = _union(map(_rarest, branches))
        return _Part(
            spellings if few else None,
            () if either is None else (either,),
            ends=all(branch.ends for branch in branches),
            closes=all(branch.closes for branch in branches),
        )

    def _branch(self, reading: _Reading) -> _Part:
        run = _NOTHING.spellings or frozenset()
        clauses: list[Spellings] = []
        whole = True
        ends, closes = (
            False,
            True,
        )  # whether a blank is before what stands here; and whether, if one is before all of it
        while (part := self._item(reading)) is not None:
            joined = _joined(run, part.spellings)
            if joined is not None:
                ends, closes = ends and joined == run, closes and joined == run
                run = joined
                continue
            whole, ends, closes = False, part.ends or (ends and part.closes), part.ends or (closes and part.closes)
            clauses += [frozenset(each + " " for each in run) if part is _BLANK else run, *part.clauses]
            run = part.spellings or frozenset({" " if ends else ""})
        return _Part(run if whole else None, (*clauses, run), ends=ends, closes=closes)

    def _item(self, reading: _Reading) -> _Part | None:
        item = reading.next()
        if item is None:
            return None
        part = self._group(reading, item["open"]) if item["open"] else self._single(item, reading.sure)
        times = reading.times()
        if part is _BLANK and times is not None:
            return _BLANK if times[0] == "+" else _Part(None, closes=True)
        return _repeated(part, times)

    def _group(self, reading: _Reading, opening: str) -> _Part:
        inside = self._alternatives(reading)
        reading.take(")")
        return _NOTHING if opening in _LOOKS else inside

    def _single(self, item: re.Match[str], sure: str) -> _Part:
        if item["named"]:
            return self._of(item["named"], sure)
        if item["escape"]:
            return _escaped(item["escape"])
        if item["edge"]:
            return _NOTHING
        if item["blank"]:
            return _BLANK
        if item["class"]:
            return _Part(frozenset({_DIGIT})) if _FIGURES.fullmatch(item["class"]) else _UNKNOWN
        return _Part(frozenset({_folded(item["letter"])})) if item["letter"] else _UNKNOWN

    def _of(self, name: str, sure: str) -> _Part:
        if name not in self._words:
            known = self._values.get(name) if name == sure else None
            return _UNKNOWN if known is None else _Part(None, (known,))
        if name not in self._named:
            self._named[name] = self._alternatives(_Reading(self._words[name], ""))
        return self._named[name]


class _Reading:
    """An expression, and how far it has been read."""

    def __init__(self, text: str, sure: str) -> None:
        self.text = text
        self.sure = sure
        self.at = 0

    def next(self) -> re.Match[str] | None:
        """The next item of a branch; None where the branch ends."""
        item = _ITEM.match(self.text, self.at)
        if item is None or item["end"]:
            return None
        self.at = item.end()
        return item

    def take(self, sign: str) -> bool:
        """Go past a sign, when it stands here."""
        here = self.text.startswith(sign, self.at)
        self.at += here
        return here

    def times(self) -> re.Match[str] | None:
        """How often the item before may be repeated."""
        found = _TIMES.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found


def _escaped(char: str) -> _Part:
    if char in "bBAZ":
        return _NOTHING
    if char == "d":
        return _Part(frozenset({_DIGIT}))
    return _UNKNOWN if char.isalnum() or char.isspace() else _Part(frozenset({_folded(char)}))


def _repeated(part: _Part, times: re.Match[str] | None) -> _Part:
    if times is None:
        return part
    if times["sign"] == "?":
        return _Part(part.spellings | {""} if part.spellings is not None else None, closes=part.closes)
    least = int(times["least"] or 0) if times["sign"] is None else int(times["sign"] == "+")
    if least == 0:
        return _Part(None, closes=part.closes)
    exact = times["sign"] is None and not times["comma"]
    spellings = part.spellings if exact else None
    for _ in range(least - 1):
        spellings = _joined(spellings, part.spellings) if spellings is not None else None
    once = () if part.spellings is None else (part.spellings,)
    return _Part(spellings, (*part.clauses, *once), ends=part.ends, closes=part.closes)


def _joined(run: Spellings, following: Spellings | None) -> Spellings | None:
    if following is None or len(run) * len(following) > _MOST_SPELLINGS:
        return None
    return frozenset(first + second for first in run for second in following)


def _union(parts: Iterable[Spellings | None]) -> Spellings | None:
    out: set[str] = set()
    for part in parts:
        if part is None:
            return None
        out |= part
    return frozenset(out)


def _rarest(part: _Part) -> Spellings | None:
    telling = [each for each in (*part.clauses, part.spellings or frozenset()) if _is_telling(each)]
    return min(telling, key=_rarity, default=None)


def _is_telling(cues: Spellings) -> bool:
    """Whether a text need not hold one of them anyway: none is but a letter inside a word."""
    return bool(cues) and all(
        len(cue.strip()) >= _SHORTEST or (len(cue) > _SHORTEST) or (cue and not cue[0].isalnum() and cue != " ")
        for cue in cues
    )


def _rarity(cues: Spellings) -> tuple[int, int, list[str]]:
    """Sort the sets that fewer texts hold first: longer words, then fewer of them."""
    return -min(_LONG_ENOUGH, *map(len, cues)), len(cues), sorted(cues)


class Cues:
    """Tells which of many expressions may fit a text, by its words."""

    def __init__(self, required: Sequence[Sequence[Spellings]]) -> None:
        """`required` are the sets of cues of each expression; one without any may always fit."""
        self._count = len(required)
        cues: dict[str, int] = {}
        self._always = 0
        for number, clauses in enumerate(required):
            for place in range(CLAUSES):
                bit = 1 << (place * self._count + number)
                for cue in clauses[place] if place < len(clauses) else ():
                    cues[cue] = cues.get(cue, 0) | bit
                self._always |= bit if place >= len(clauses) else 0
        self._by_pair: dict[str, list[tuple[str, int]]] = {}
        self._single: dict[str, int] = {}
        for cue, bits in cues.items():
            if len(cue) < _SHORTEST:
                self._single[cue] = bits
            else:
                self._by_pair.setdefault(cue[:_SHORTEST], []).append((cue, bits))
        self._of_word: Callable[[str], int] = lru_cache(_MOST_WORDS)(self._read_word)

    def heard(self, words: Iterable[str]) -> int:
        """Give the numbers of the expressions that may fit a text of these folded words, as bits."""
        bits = self._always
        for found in map(self._of_word, words):
            if found:
                bits |= found
        fitting = (1 << self._count) - 1
        for place in range(CLAUSES):
            fitting &= bits >> (place * self._count)
        return fitting

    def _read_word(self, word: str) -> int:
        bits, word = 0, f" {_folded(word)} "
        for at in range(len(word) - 1):
            bits |= self._single.get(word[at], 0)
            for cue, numbers in self._by_pair.get(word[at : at + _SHORTEST], ()):
                if word.startswith(cue, at):
                    bits |= numbers
        return bits


def fold(text: str) -> str:
    """Fold a text for its words to be read: without case. Digits are folded word by word."""
    if text.isascii():
        return text.lower()
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")  # all alike to `re` when case is ignored


def _folded(text: str) -> str:
    """Fold a cue or a word: without case, and one sign for all digits."""
    folded = fold(text)
    if folded.isascii():
        return folded.translate(_DIGITS)
    return "".join(_DIGIT if char.isdecimal() else char for char in folded)


def numbers(bits: int) -> list[int]:
    """List the numbers of the bits that are set, in order."""
    out = []
    while bits:
        lowest = bits & -bits
        out.append(lowest.bit_length() - 1)
        bits ^= lowest
    return out
