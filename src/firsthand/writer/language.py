"""What the rules writer knows of a language: its table read, its expressions compiled.

The tables (`rules_en.toml`, `rules_de.toml`) say what is listened for; `rules_en.toml` explains their parts. Reading
them here, once, is all that this module does; what a match means is in `rules.py` and `values.py`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.writer.dates import Calendar, calendar

_PLACEHOLDER = re.compile(r"\{([A-Za-z]+)(\??)\}")
_FLAGS = re.IGNORECASE
_VALUE_LONGEST = 300
_LAZY = "(?P<{}>.{{1,60}}?)"
_PERSON = "{Name}(?: {Name}){0,2}"


@dataclass(frozen=True, slots=True)
class ValueRule:
    """How the words of a value are cut out of a clause."""

    name: str
    shape: str  # names, phrase, listed, pattern, date or rest
    longest: int  # words; characters for the shape `rest`
    deny: frozenset[str]  # words that no value of this kind holds (names: is or begins with)
    deny_first: frozenset[str]
    joiners: frozenset[str]  # small words inside a name
    before: frozenset[str]  # small words in front of a name
    neither: frozenset[str]
    heads: tuple[str, ...]
    keep: frozenset[str]
    not_after: frozenset[str]
    pattern: re.Pattern[str] | None
    digits: int
    split: bool
    commas: bool
    regions: bool
    known: bool  # only names that are known places, or begin with a known given name
    known_lower: bool
    single_lower: bool
    anything_after: bool


@dataclass(frozen=True, slots=True)
class Form:
    """Something that a clause can say of the person, or of somebody the person introduced."""

    name: str
    says: tuple[re.Pattern[str], ...]
    elided: tuple[re.Pattern[str], ...]  # the same without their first word "I", after another clause of the person's
    sets: tuple[tuple[str, str], ...]  # (attribute, value rule); the first must be found
    act: str
    kind: str
    event: bool
    needs: str
    stated: bool
    introduces: bool
    greeted: bool  # only after a greeting
    about_others: bool
    bare: bool  # it introduces somebody, so that the name need not be known


@dataclass(frozen=True, slots=True)
class Marks:
    """Expressions that steer the reading of a sentence."""

    clause: re.Pattern[str]
    lead: re.Pattern[str]
    after_date: re.Pattern[str]
    blocked: re.Pattern[str]
    undone: re.Pattern[str]
    asks: re.Pattern[str]
    sarcasm: re.Pattern[str]
    fiction: re.Pattern[str]
    correction: re.Pattern[str]
    parted: re.Pattern[str]
    changed: re.Pattern[str]
    greeting: re.Pattern[str]
    introduced: re.Pattern[str]
    idle: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Requests:
    """Whole sentences that ask something of memory."""

    remember: tuple[re.Pattern[str], ...]
    remember_back: re.Pattern[str]  # "remember that", after what is meant
    polite: re.Pattern[str]  # "can you", before a request that ends with a question mark
    remember_never: re.Pattern[str]
    remember_clause: re.Pattern[str]
    remember_own: re.Pattern[str]
    howto: tuple[re.Pattern[str], ...]
    howto_after: tuple[re.Pattern[str], ...]
    rule: tuple[re.Pattern[str], ...]
    wish: re.Pattern[str]
    retract_joke: tuple[re.Pattern[str], ...]  # what was said was not meant
    retract_last: tuple[re.Pattern[str], ...]
    retract_about: tuple[re.Pattern[str], ...]
    correct_bare: tuple[re.Pattern[str], ...]
    correct_swap: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class Language:
    """One language's table."""

    code: str
    abbreviations: frozenset[str]
    marks: Marks
    requests: Requests
    values: Mapping[str, ValueRule]
    forms: tuple[Form, ...]
    introductions: tuple[re.Pattern[str], ...]
    after_names: frozenset[str]
    after_words: frozenset[str]
    conjunctions: frozenset[str]
    small_words: frozenset[str]
    phrase_stops: frozenset[str]
    verbs: frozenset[str]  # words that no further value of a list begins with
    pairs: frozenset[str]
    trailing: re.Pattern[str]
    rest_ends: re.Pattern[str]
    listing: re.Pattern[str]  # what parts the values of a list
    joining: re.Pattern[str]  # what makes it a list
    calendar: Calendar

    def rules_of(self, attribute: str | None) -> list[ValueRule]:
        """List the kinds of value that a form can set an attribute to."""
        names = {name: None for form in self.forms for each, name in form.sets if each == attribute and name}
        return [self.values[name] for name in names]

    def is_single(self, name: str) -> bool:
        """Whether values of this kind replace each other, not stand side by side."""
        rule = self.values.get(name)
        return rule is not None and rule.shape != "phrase" and not rule.split


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """Names that are known to be places or people's, folded."""

    places: frozenset[str]
    regions: frozenset[str]
    given: frozenset[str]


@lru_cache(maxsize=8)
def language(code: str) -> Language:
    """Read the shipped table of a language, by its two-letter code. Raises InvalidInput when there is none."""
    file = resources.files("firsthand.writer") / f"rules_{code}.toml"
    if not file.is_file():
        raise InvalidInput(f"the rules writer has no table for language {code!r}")
    return _Table(tomllib.loads(file.read_text(encoding="utf-8")), calendar(code)).language()


@lru_cache(maxsize=1)
def gazetteer() -> Gazetteer:
    """Read the names shipped beside the tables."""
    places, regions = set[str](), set[str]()
    for line in _lines("places.txt"):
        kind, _, names = line.rpartition("region:")
        folded = {name.strip().casefold() for name in names.split("|")}
        places |= {name for name in folded if len(name) > 2}  # noqa: PLR2004 - "in" and "or" are states, and words
        if "region:" in line and not kind:
            regions |= folded
    given = {name.casefold() for line in _lines("given_names.txt") for name in line.split()}
    return Gazetteer(frozenset(places), frozenset(regions), frozenset(given))


def _lines(name: str) -> Iterator[str]:
    text = (resources.files("firsthand.writer") / name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def is_lazy(pattern: re.Pattern[str], value: str) -> bool:
    """Whether the words of a form say where this value ends."""
    return _LAZY.format(value) in pattern.pattern


class _Table:
    """Compiles a table: words expanded, one blank standing for any number of blanks."""

    def __init__(self, table: Mapping[str, Any], dates: Calendar) -> None:
        self.table = table
        self.dates = dates
        self.words: dict[str, str] = dict(table["words"])
        self.words["who"] = rf"(?:(?P<via>{{my}} (?:(?:{{closeness}}) )*(?:{{relation}})),? )?(?P<who>{_PERSON}),?"

    def language(self) -> Language:
        table = self.table
        joined = "|".join(table["after"]["conjunctions"].split())
        return Language(
            code=table["language"],
            abbreviations=frozenset(table["abbreviations"]),
            marks=self._marks(),
            requests=self._requests(),
            values={name: self._value(name, each) for name, each in table["value"].items()},
            forms=tuple(self._form(each) for each in table["form"]),
            introductions=tuple(self._all(table["introductions"])),
            after_names=frozenset(table["after"]["names"].split()),
            after_words=frozenset(table["after"]["words"].split()),
            conjunctions=frozenset(table["after"]["conjunctions"].split()),
            small_words=frozenset(table["after"]["small_words"].split()),
            phrase_stops=frozenset(table["after"]["phrase_stops"].split()),
            verbs=frozenset(table["after"]["verbs"].split()),
            pairs=frozenset(table["after"]["pairs"]),
            trailing=self._compile(table["after"]["trailing"]),
            rest_ends=self._compile(table["after"]["rest_ends"]),
            listing=re.compile(rf",\s*(?:(?:{joined})\s+)?|\s+(?:{joined}|&)\s+", _FLAGS),
            joining=re.compile(rf"(?:^|[\s,])(?:{joined}|&)\s", _FLAGS),
            calendar=self.dates,
        )

    def _marks(self) -> Marks:
        return Marks(**{name: self._compile(text) for name, text in self.table["marks"].items()})

    def _requests(self) -> Requests:
        remember, howto = self.table["remember"], self.table["howto"]
        retract, correct = self.table["retract"], self.table["correct"]
        return Requests(
            remember=self._all(remember["says"]),
            remember_back=self._compile(remember["back"]),
            polite=self._compile(remember["polite"]),
            remember_never=self._compile(remember["never"]),
            remember_clause=self._compile(remember["clause"]),
            remember_own=self._compile(remember["own"]),
            howto=self._all(howto["says"]),
            howto_after=self._all(howto["after"]),
            rule=self._all(howto["rule"]),
            wish=self._compile(howto["wish"]),
            retract_joke=self._all(f"{retract['lead']}(?:{each}){retract['tail']}" for each in retract["joke"]),
            retract_last=self._all(f"{retract['lead']}(?:{each}){retract['tail']}" for each in retract["last"]),
            retract_about=self._all(f"{retract['lead']}{each}" for each in retract["about"]),
            correct_bare=self._all(correct["bare"]),
            correct_swap=self._all(correct["swap"]),
        )

    def _form(self, each: Mapping[str, Any]) -> Form:
        first = [self._expand(word) for word in ("{me} ", "{I} ") if word.strip(" {}") in self.words]
        expanded = [self._expand(text) for text in each["says"]]
        return Form(
            name=each["name"],
            says=tuple(map(_compiled, expanded)),
            elided=tuple(
                _compiled(text.removeprefix(word)) for text in expanded for word in first if text.startswith(word)
            ),
            sets=tuple(each["sets"].items()),
            act=each.get("act", "assert"),
            kind=each.get("kind", "semantic"),
            event=each.get("event", False),
            needs=each.get("needs", ""),
            stated=each.get("stated", False),
            introduces=each.get("introduces", False),
            greeted=each.get("greeted", False),
            about_others=each.get("subject") == "who",
            bare=each.get("bare", False),
        )

    def _value(self, name: str, each: Mapping[str, Any]) -> ValueRule:
        pattern = each.get("pattern")
        flags = re.NOFLAG if each.get("cased") else _FLAGS

        def words(part: str) -> frozenset[str]:
            return frozenset(each.get(part, ()))

        return ValueRule(
            name=name,
            shape=each["shape"],
            longest=each.get("longest", 8),
            heads=tuple(sorted(each.get("heads", ()), key=len, reverse=True)),
            pattern=None if pattern is None else re.compile(_blanks(self._expand(pattern)), flags),
            digits=each.get("digits", 0),
            deny=words("deny"),
            deny_first=words("deny_first"),
            joiners=words("joiners"),
            before=words("before"),
            neither=words("neither"),
            keep=words("keep"),
            not_after=words("not_after"),
            split=bool(each.get("split")),
            commas=bool(each.get("commas")),
            regions=bool(each.get("regions")),
            known=bool(each.get("known")),
            known_lower=bool(each.get("known_lower")),
            single_lower=bool(each.get("single_lower")),
            anything_after=bool(each.get("anything_after")),
        )

    def _all(self, texts: Sequence[str] | Iterator[str]) -> tuple[re.Pattern[str], ...]:
        return tuple(map(self._compile, texts))

    def _compile(self, text: str) -> re.Pattern[str]:
        return _compiled(self._expand(text))

    def _expand(self, text: str) -> str:
        values: Mapping[str, Any] = self.table["value"]

        def word(match: re.Match[str]) -> str:
            name, lazy = match[1], match[2]
            if name in values:
                return _LAZY.format(name) if lazy else f"(?P<{name}>.{{1,{_VALUE_LONGEST}}})"
            if name not in self.words:
                raise InvalidInput(f"rules_{self.table['language']}.toml uses {{{name}}}, which it does not define")
            return self._expand(self.words[name])

        return _PLACEHOLDER.sub(word, text)


def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(_blanks(text), _FLAGS)


def _blanks(text: str) -> str:
    """Let each blank of an expression, outside classes of characters, stand for one or more."""
    out: list[str] = []
    in_class = escaped = False
    for c, following in zip(text, f"{text[1:]} ", strict=True):
        repeats = c == " " and not in_class and not escaped and following not in "*+?{"
        out.append(" +" if repeats else c)
        in_class = c != "]" if in_class and not escaped else (c == "[" and not escaped) or in_class
        escaped = c == "\\" and not escaped
    return "".join(out)
