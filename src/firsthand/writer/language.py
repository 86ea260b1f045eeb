"""What the rules writer knows of a language: its table read, its expressions compiled.

The tables (`rules_en.toml`, `rules_de.toml`) say what is listened for; `rules_en.toml` explains their parts. Reading
them here, once, is all that this module does; what a match means is in `rules.py` and `values.py`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.writer.cues import Cues, Expressions
from firsthand.writer.dates import Calendar, calendar

_PLACEHOLDER = re.compile(r"\{([A-Za-z]+)(\??)\}")
_FLAGS = re.IGNORECASE
_ELIDED = re.compile(r"^(?:\{me\}|\{I\}|I|ich) ")
_VALUE_LONGEST = 300
PIECE, HINT = 1, 2
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
    alone: bool  # with nothing joined to it: "a safe and loving home" is not cut at its "and"
    regions: bool
    known: bool  # only names that are known places, or begin with a known given name
    known_lower: bool
    single_lower: bool
    singular: bool  # no word that ends like a plural
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
    asked: bool  # only in a request


@dataclass(frozen=True)
class Expression:
    """An expression of the table, compiled when a text first has what it requires: most talk needs few."""

    number: int  # its bit among the cues of its language
    text: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression, compiled."""
        return _compiled(self.text)


@dataclass(frozen=True, slots=True)
class Saying:
    """One way to say a form."""

    form: Form
    expression: Expression


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
    play: re.Pattern[str]  # begins a play that goes on in later turns
    play_over: re.Pattern[str]
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

    remember: tuple[Expression, ...]
    remember_back: tuple[Expression, ...]  # "remember that", after what is meant
    polite: re.Pattern[str]  # "can you", before a request that ends with a question mark
    remember_never: re.Pattern[str]
    remember_clause: re.Pattern[str]
    remember_own: re.Pattern[str]
    remember_standing: re.Pattern[str]  # how things are to be done, after "remember:"
    howto: tuple[Expression, ...]
    howto_after: tuple[Expression, ...]
    rule: tuple[Expression, ...]
    courtesy: re.Pattern[str]  # "please", at the end of a wish
    wish: re.Pattern[str]
    retract_joke: tuple[Expression, ...]  # what was said was not meant
    retract_last: tuple[Expression, ...]
    retract_about: tuple[Expression, ...]
    unsaid: tuple[Expression, ...]  # takes back what stands before it in the same sentence
    correct_bare: tuple[Expression, ...]
    correct_swap: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A way to ask something of the person: `begins` and the `rest` of the question are what a yes says."""

    pattern: re.Pattern[str]
    begins: str


@dataclass(frozen=True, slots=True)
class Agree:
    """What a bare yes says yes to."""

    yes: tuple[Expression, ...]
    asked: tuple[Asked, ...]
    open: re.Pattern[str]  # in a question that a yes does not answer: "in Rome or in Bern"


@dataclass(frozen=True, slots=True)
class Reply:
    """What an answer of few words says: "Nadia" to "What's your name?"."""

    asked: tuple[Asked, ...]
    lead: re.Pattern[str]  # "it's", before the answer
    none: re.Pattern[str]  # how words begin that give no answer


@dataclass(frozen=True, slots=True)
class Masks:
    """Which bits of the cues are those of each rule."""

    retract: int
    remember: int
    wish: int
    correct: int
    agree: int
    tell: int
    every: int


@dataclass(frozen=True, slots=True)
class Language:
    """One language's table."""

    code: str
    marks: Marks
    requests: Requests
    agree: Agree
    reply: Reply
    abbreviations: frozenset[str]
    values: Mapping[str, ValueRule]
    forms: tuple[Form, ...]
    masks: Masks
    cues: Cues  # of the expressions that are looked for, and of dates
    dates_from: int  # the first bit of the cues that is a date's
    sayings: Mapping[int, Saying]  # all ways to say the forms, by the number of their expression
    elided: Mapping[int, Saying]  # without their first word "I", after another clause of the person's
    elided_others: Mapping[int, Saying]  # without who it is, after another clause about them
    mine: re.Pattern[str]  # "my" and "I": what a clause about somebody new begins with
    lone: re.Pattern[str]  # who is somebody's without "my": "Mum"
    mirrored: Mapping[str, str]  # bond (its last word, folded) -> what the person has by it: a partner, a child, a pet
    past: frozenset[str]  # words before a bond that is over: "former"
    bond: re.Pattern[str]  # what somebody can be to the person: "close friend"
    introductions: tuple[Expression, ...]
    after_names: frozenset[str]
    after_words: frozenset[str]
    conjunctions: frozenset[str]
    small_words: frozenset[str]
    phrase_stops: frozenset[str]
    narrowing: frozenset[str]  # words after a phrase that make it mean less: "people who lie"
    verbs: frozenset[str]  # words that no further value of a list begins with
    shared: frozenset[str]  # what the last of several names is said of all of them: "Thai and Indian food"
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

    def hint(self, word: str) -> int:
        """Tell of a folded word whether it is one without which nothing is said that the table listens for.

        HINT if it is, PIECE if it may be one of several words that are such a hint together, else 0.
        """
        return HINT if self._hint.search(word) else PIECE * bool(self._pieces.heard([word]))

    def hears(self, text: str) -> bool:
        """Whether a hint stands there, of one word or several."""
        return self._hint.search(text) is not None

    def asks(self, question: str) -> bool:
        """Whether a question of the language may be put to the person."""
        return self._asks.search(question) is not None

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
    def _pieces(self) -> Cues:
        several = "|".join(each for each in self._table["hint"] if " " in each)
        return Cues([Expressions({}, {}).required(several)])

    @cached_property
    def _asks(self) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{self._table['reply']['hint']})\b", _FLAGS)

    @cached_property
    def _hint(self) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{'|'.join(self._table['hint'])})\b", _FLAGS)


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
        person = rf"(?:{{my}} (?P<via>[\w -]{{2,40}}?),? )?(?P<who>{_PERSON}),?"
        apposed = rf"(?P<named>{_PERSON}), {{my}} (?P<apposed>[\w -]{{2,40}}?),"
        self.words["who"] = rf"(?:{{my}} (?P<kin>{{kin}})|(?P<parent>{{parent}})|{person}|{apposed})"
        self.words["bonding"] = "(?:(?:{closeness}) )*(?:{relation})"
        if twice := sorted(self.words.keys() & table["value"].keys()):
            raise InvalidInput(f"rules_{table['language']}.toml calls both a word and a value {twice[0]!r}")
        self.expressions = Expressions(self.words, self._value_cues())
        self.required: list[tuple[frozenset[str], ...]] = []

    def language(self) -> Language:
        table = self.table
        joined = "|".join(table["after"]["conjunctions"].split())
        forms = [(self._form(each), each["says"]) for each in table["form"]]
        says = [(form, text) for form, texts in forms for text in texts]
        elided = [(form, _ELIDED.sub("", text, count=1)) for form, text in says if _ELIDED.match(text)]
        requests, introductions, agree = self._requests(), self._cued(table["introductions"]), self._agree()
        they = table["words"].get("they", "")
        without_who = [(form, they + text.removeprefix("{who} ")) for form, text in says if text.startswith("{who} ")]
        sayings, without_i, without_them = self._sayings(says), self._sayings(elided), self._sayings(without_who)
        return Language(
            code=table["language"],
            marks=self._marks(),
            requests=requests,
            agree=agree,
            reply=self._reply(),
            abbreviations=frozenset(table["abbreviations"]),
            introductions=introductions,
            sayings=sayings,
            elided=without_i,
            elided_others=without_them,
            dates_from=len(self.required),
            masks=Masks(
                retract=_mask((*requests.retract_about, *requests.retract_joke, *requests.retract_last)),
                remember=_mask((*requests.remember_back, *requests.remember)),
                wish=_mask((*requests.howto, *requests.howto_after, *requests.rule)),
                correct=_mask((*requests.correct_bare, *requests.correct_swap)),
                agree=_mask(agree.yes),
                tell=_mask(introductions) | _bits(sayings) | _bits(without_i) | _bits(without_them),
                every=(1 << len(self.required)) - 1,
            ),
            cues=Cues([*self.required, *self.dates.required]),
            values={name: self._value(name, each) for name, each in table["value"].items()},
            forms=tuple(form for form, _ in forms),
            mine=self._compile("(?:{own})\\b"),
            lone=self._compile("(?:{parent})\\b"),
            mirrored={word: name for name, words in table["mirrored"].items() for word in words.split("|")},
            past=frozenset(table["after"]["past"].split()),
            bond=self._compile("{bonding}"),
            after_names=frozenset(table["after"]["names"].split()),
            after_words=frozenset(table["after"]["words"].split()),
            conjunctions=frozenset(table["after"]["conjunctions"].split()),
            small_words=frozenset(table["after"]["small_words"].split()),
            phrase_stops=frozenset(table["after"]["phrase_stops"].split()),
            narrowing=frozenset(table["after"]["narrowing"].split()),
            verbs=frozenset(table["after"]["verbs"].split()),
            shared=frozenset(table["after"].get("shared", "").split()),
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
            remember=self._cued(remember["says"]),
            remember_back=self._cued([remember["back"]]),
            polite=self._compile(remember["polite"]),
            remember_never=self._compile(remember["never"]),
            remember_clause=self._compile(remember["clause"]),
            remember_own=self._compile(remember["own"]),
            remember_standing=self._compile(remember["standing"]),
            howto=self._cued(howto["says"]),
            howto_after=self._cued(howto["after"]),
            rule=self._cued(howto["rule"]),
            courtesy=self._compile(howto["courtesy"]),
            wish=self._compile(howto["wish"]),
            retract_joke=self._cued(f"{retract['lead']}(?:{each}){retract['tail']}" for each in retract["joke"]),
            retract_last=self._cued(f"{retract['lead']}(?:{each}){retract['tail']}" for each in retract["last"]),
            retract_about=self._cued(f"{retract['lead']}{each}" for each in retract["about"]),
            unsaid=self._cued([retract["unsaid"]]),
            correct_bare=self._cued(correct["bare"]),
            correct_swap=self._cued(correct["swap"]),
        )

    def _agree(self) -> Agree:
        agree = self.table["agree"]
        return Agree(
            yes=self._cued([agree["yes"]]),
            asked=tuple(Asked(self._compile(each["asks"]), each["begins"]) for each in agree["asked"]),
            open=self._compile(agree["open"]),
        )

    def _reply(self) -> Reply:
        reply, why = self.table["reply"], r"(?:,? (?:so|for|to|please|und|für|bitte)\b[^?]{0,80})?\?"
        return Reply(
            asked=tuple(Asked(self._compile(each["asks"] + why), each["begins"]) for each in reply["asked"]),
            lead=self._compile(reply["lead"]),
            none=self._compile(reply["none"]),
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
            asked=each.get("asked", False),
        )

    def _sayings(self, says: Iterable[tuple[Form, str]]) -> dict[int, Saying]:
        sayings = [Saying(form, self._expression(text, form.sets[0][1])) for form, text in says]
        return {saying.expression.number: saying for saying in sayings}

    def _cued(self, texts: Iterable[str]) -> tuple[Expression, ...]:
        return tuple(map(self._expression, texts))

    def _value_cues(self) -> dict[str, frozenset[str]]:
        """What a text must hold for a value to be cut from it, for kinds of value that are known by their words."""
        reading = Expressions(self.words, {})
        found: dict[str, frozenset[str]] = {}
        for name, each in self.table["value"].items():
            if each["shape"] == "listed":
                found[name] = reading.of_words(each["heads"])
            elif each["shape"] == "pattern" and (clauses := reading.required(each["pattern"])):
                found[name] = clauses[0]
        return found

    def _expression(self, text: str, sure: str = "") -> Expression:
        self.required.append(self.expressions.required(text, sure))
        return Expression(len(self.required) - 1, self._expand(text))

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
            alone=bool(each.get("alone")),
            regions=bool(each.get("regions")),
            known=bool(each.get("known")),
            known_lower=bool(each.get("known_lower")),
            single_lower=bool(each.get("single_lower")),
            singular=bool(each.get("singular")),
            possessive=bool(each.get("possessive")),
            anything_after=bool(each.get("anything_after")),
        )

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


def _mask(expressions: Iterable[Expression]) -> int:
    return _bits(each.number for each in expressions)


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


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
