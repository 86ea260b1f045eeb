"""What the rules writer knows of a language: its table read, its expressions compiled.

The tables (`rules_en.toml`, `rules_de.toml`) say what is listened for; `rules_en.toml` explains their parts. Reading
them here, once, is all that this module does; what a match means is in `rules.py` and `values.py`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.writer.dates import Calendar, calendar

_PLACEHOLDER = re.compile(r"\{([A-Za-z]+)(\??)\}")
_FLAGS = re.IGNORECASE
_OPENING = re.compile(r"(?:\{\w+\}|\w+)(?![\w{?*+])")  # what a saying begins with, where that is plain
_ELIDED = re.compile(r"^(?:\{me\}|\{I\}|I|ich) ")
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
    possessive: bool  # may end like "Trader Joe's"


@dataclass(frozen=True, slots=True)
class Form:
    """Something that a clause can say of the person, or of somebody the person introduced."""

    name: str
    sets: tuple[tuple[str, str], ...]  # (attribute, value rule); the first must be found
    act: str
    kind: str
    event: bool
    needs: str
    stated: bool
    introduces: bool
    greeted: bool  # only after a greeting
    about_others: bool
    named: bool  # its words say that it is a name
    bare: bool  # it introduces somebody, so that the name need not be known


@dataclass(frozen=True)
class Saying:
    """One way to say a form."""

    form: Form
    text: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression, compiled when it is first needed: most talk needs few."""
        return _compiled(self.text)


class Sayings:
    """All ways to say the forms, by the words that they begin with, so that most are passed over at one look."""

    def __init__(self, groups: Iterable[tuple[re.Pattern[str], Sequence[tuple[int, Saying]]]]) -> None:
        """`groups` are openings, each with the sayings that begin so and their places in the table."""
        self._groups = tuple(groups)
        self._joined: dict[tuple[int, ...], tuple[Saying, ...]] = {}  # no more keys than openings fit together

    def at(self, text: str, place: int) -> tuple[Saying, ...]:
        """List those that may begin at a place of a text, in the order of the table."""
        fitting = tuple(number for number, (opening, _) in enumerate(self._groups) if opening.match(text, place))
        if fitting not in self._joined:
            found = sorted((each for number in fitting for each in self._groups[number][1]), key=lambda each: each[0])
            self._joined[fitting] = tuple(saying for _, saying in found)
        return self._joined[fitting]


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
    backward: re.Pattern[str]
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
    marks: Marks
    requests: Requests
    values: Mapping[str, ValueRule]
    forms: tuple[Form, ...]
    sayings: Sayings
    elided: Sayings  # without their first word "I", after another clause of the person's
    mine: re.Pattern[str]  # "my" and "I": what a clause about somebody new begins with
    bond: re.Pattern[str]  # what somebody can be to the person: "close friend"
    introductions: tuple[re.Pattern[str], ...]
    after_names: frozenset[str]
    after_words: frozenset[str]
    conjunctions: frozenset[str]
    small_words: frozenset[str]
    phrase_stops: frozenset[str]
    narrowing: frozenset[str]  # words after a phrase that make it mean less: "people who lie"
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


class Ear:
    """Hears whether a text may be in a language, and reads the language's table only then."""

    def __init__(self, code: str) -> None:
        """`code` has two letters. Raises InvalidInput when no table is shipped for it."""
        self._file = resources.files("firsthand.writer") / f"rules_{code}.toml"
        self._code = code
        if not self._file.is_file():
            raise InvalidInput(f"the rules writer has no table for language {code!r}")

    def hears(self, text: str) -> bool:
        """Whether a word stands there without which nothing is said that the table listens for."""
        return self._hint.search(text) is not None

    @cached_property
    def language(self) -> Language:
        """The table, compiled."""
        return _Table(self._table, calendar(self._code)).language()

    @cached_property
    def abbreviations(self) -> frozenset[str]:
        """Words whose full stop ends no sentence."""
        return frozenset(self._table["abbreviations"])

    @cached_property
    def _table(self) -> Mapping[str, Any]:
        return tomllib.loads(self._file.read_text(encoding="utf-8"))

    @cached_property
    def _hint(self) -> re.Pattern[str]:
        return re.compile(self._table["hint"], _FLAGS)


@lru_cache(maxsize=8)
def ear(code: str) -> Ear:
    """Get the one ear for a language. Raises InvalidInput when no table is shipped for it."""
    return Ear(code)


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
        self.words["who"] = rf"(?:{{my}} (?P<via>[\w -]{{2,40}}?),? )?(?P<who>{_PERSON}),?"
        self.words["bonding"] = "(?:(?:{closeness}) )*(?:{relation})"

    def language(self) -> Language:
        table = self.table
        joined = "|".join(table["after"]["conjunctions"].split())
        forms = [(self._form(each), each["says"]) for each in table["form"]]
        return Language(
            code=table["language"],
            marks=self._marks(),
            requests=self._requests(),
            values={name: self._value(name, each) for name, each in table["value"].items()},
            forms=tuple(form for form, _ in forms),
            sayings=self._sayings((form, text) for form, says in forms for text in says),
            elided=self._elided((form, text) for form, says in forms for text in says),
            mine=self._compile("(?:{own})\\b"),
            bond=self._compile("{bonding}"),
            introductions=tuple(self._all(table["introductions"])),
            after_names=frozenset(table["after"]["names"].split()),
            after_words=frozenset(table["after"]["words"].split()),
            conjunctions=frozenset(table["after"]["conjunctions"].split()),
            small_words=frozenset(table["after"]["small_words"].split()),
            phrase_stops=frozenset(table["after"]["phrase_stops"].split()),
            narrowing=frozenset(table["after"]["narrowing"].split()),
            verbs=frozenset(table["after"]["verbs"].split()),
            pairs=frozenset(table["after"]["pairs"]),
            trailing=self._compile(table["after"]["trailing"]),
            rest_ends=self._compile(table["after"]["rest_ends"]),
            listing=re.compile(rf",\s*(?:(?:{joined})\s+)?|\s+(?:{joined})\s+", _FLAGS),
            joining=re.compile(rf"(?:^|[\s,])(?:{joined})\s", _FLAGS),
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
        return Form(
            name=each["name"],
            sets=tuple(each["sets"].items()),
            act=each.get("act", "assert"),
            kind=each.get("kind", "semantic"),
            event=each.get("event", False),
            needs=each.get("needs", ""),
            stated=each.get("stated", False),
            introduces=each.get("introduces", False),
            greeted=each.get("greeted", False),
            about_others=each.get("subject") == "who",
            named=each.get("named", False),
            bare=each.get("bare", False),
        )

    def _sayings(self, says: Iterable[tuple[Form, str]]) -> Sayings:
        groups: dict[str, list[tuple[int, Saying]]] = {}
        for number, (form, text) in enumerate(says):
            opening = _OPENING.match(text)
            saying = (number, Saying(form, self._expand(text)))
            groups.setdefault(opening[0] if opening else "", []).append(saying)
        return Sayings((self._opening(words), each) for words, each in groups.items())

    def _opening(self, words: str) -> re.Pattern[str]:
        return self._compile(f"(?:{words})\\b" if words.isalpha() else words)

    def _elided(self, says: Iterable[tuple[Form, str]]) -> Sayings:
        return self._sayings((form, _ELIDED.sub("", text, count=1)) for form, text in says if _ELIDED.match(text))

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
            possessive=bool(each.get("possessive")),
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
    for c, following in zip(text, f"{text[1:]} ", strict=False):
        repeats = c == " " and not in_class and not escaped and following not in "*+?{"
        out.append(" +" if repeats else c)
        in_class = c != "]" if in_class and not escaped else (c == "[" and not escaped) or in_class
        escaped = c == "\\" and not escaped
    return "".join(out)
