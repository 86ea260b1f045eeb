"""The policy: one readable file that says, for each attribute, how its conflicts are decided and what may enter.

Holds the conflict table as data: attributes, sensitive classes, names and phrases. It parses and checks the file and
explains it in words. What follows from it is decided elsewhere: `beliefs/` folds by cardinality and merge rule,
`ledger/admission.py` asks who may claim what. No input or output, but for the default file that ships with the package.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import re
import string
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

from firsthand.errors import PolicyInvalid
from firsthand.model import RANK, Kind, Source

MERGES: Mapping[str, tuple[str, ...]] = {
    "one": ("latest", "ranked", "alternatives", "confirm"),
    "many": ("append", "confirm"),
}
ADMISSIONS = ("write", "confirm", "drop")
CLASSES = ("health", "finance", "legal", "entitlement", "credential", "protected")

# What a claim may come from. `repeated` is derived by the fold.
CLAIMABLE = tuple(source for source in Source if source is not Source.REPEATED)

_ATTRIBUTE_KEYS = (
    "cardinality", "merge", "phrase", "aliases", "opposite", "authority", "half_life_days", "lifetime_days",
    "sensitivity", "admission", "kind", "profile", "question",
)  # fmt: skip
_CLASS_KEYS = ("about", "words", "said", "noted", "inferred", *(source.value for source in CLAIMABLE))
_TOP_KEYS = ("attributes", "classes")
_FIELDS = re.compile(r"\{(value|subject)\}")
_USER = "user"
_LONGEST_NAME = 80  # of which a near miss is looked for


@dataclass(frozen=True, slots=True)
class Attribute:
    """What the policy says of one attribute."""

    name: str
    cardinality: str = "many"  # "one" | "many"
    merge: str = "append"  # "latest" | "ranked" | "alternatives" | "confirm" | "append"
    phrase: str | None = None  # "lives in {value}"; may name {subject} too
    aliases: tuple[str, ...] = ()
    opposite: str | None = None
    authority: frozenset[Source] = frozenset()  # who may claim it; empty: anybody
    half_life_days: float | None = None
    lifetime_days: float | None = None  # stops being active that long after it was last said
    sensitivity: str | None = None
    admission: str = "write"  # "write" | "confirm" (all but the person's own word waits) | "drop" (never kept)
    kind: Kind = Kind.SEMANTIC
    profile: bool = False
    known: bool = True  # False: the file does not name it
    question: str | None = None  # how to ask the person about a claim that waits; {value}, {subject}


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """A sensitive class: how claims of each source are admitted, and the words that give it away in free text."""

    name: str
    about: str
    admits: Mapping[Source, str]  # "write" | "confirm" | "drop"
    words: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = field(default=None, compare=False, repr=False)

    def found_in(self, text: str) -> bool:
        """Whether the text speaks of such things, by its words alone."""
        return self.pattern is not None and self.pattern.search(_plain(text)) is not None


@dataclass(frozen=True)
class Policy:
    """The conflict table, parsed. Compare policies by `digest`: it covers the meaning, not comments or spacing."""

    text: str = field(repr=False)
    attributes: Mapping[str, Attribute] = field(repr=False)
    sensitivities: Mapping[str, Sensitivity] = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """Hex SHA-256 of the canonical JSON of what the file means."""
        return hashlib.sha256(json.dumps(_meaning(self), sort_keys=True).encode()).hexdigest()

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return {name: each.name for each in self.attributes.values() for name in (each.name, *each.aliases)}

    def canonical(self, name: str) -> str:
        """The attribute's one name: folded to snake case, then looked up among names and aliases."""
        folded = fold_name(name)
        return self._names.get(folded, folded)

    def attribute(self, name: str) -> Attribute:
        """What holds for this attribute. One that the file does not name is `many`, `append`, `known=False`."""
        canonical = self.canonical(name)
        return self.attributes.get(canonical) or _unknown(canonical)

    def classes_of(self, text: str) -> tuple[str, ...]:
        """Sensitive classes that the words of a text belong to, in the file's order."""
        return tuple(each.name for each in self.sensitivities.values() if each.found_in(text))

    def phrase(self, subject: str, attribute: str | None, value: str) -> str:
        """A belief as a sentence: "lives in Lisbon"; of anybody but the user with the name before it."""
        owner = _is_user(subject)
        if attribute is None:
            return value if owner or fold_name(subject) in fold_name(value) else f"{subject}: {value}"
        known = self.attribute(attribute)
        if known.phrase is None:
            words = known.name.replace("_", " ")
            return f"{words}: {value}" if owner else f"{subject}, {words}: {value}"
        said = _filled(known.phrase, subject, value)
        return said if owner or "{subject}" in known.phrase else f"{subject} {said}"

    def question(self, subject: str, attribute: str | None, value: str) -> str:
        """What to ask the person about a claim that waits."""
        asked = None if attribute is None else self.attribute(attribute).question
        if asked is not None and (_is_user(subject) or "{subject}" in asked):
            return _filled(asked, subject, value)
        return f'May I remember this: "{self.phrase(subject, attribute, value)}"?'

    def explain(self, name: str) -> list[str]:
        """Lines for a person: what the attribute is, how conflicts are decided, who may claim it, how long it holds."""
        return list(_explained(self, self.attribute(name)))


def parse(text: str) -> Policy:
    """The policy that a TOML text describes. Sensitive classes that it leaves out are those of the shipped file.

    Raises PolicyInvalid, whose one message names every fault with its line, attribute and key.
    """
    return _parse(text, default_policy().sensitivities)


@lru_cache(maxsize=1)
def default_policy() -> Policy:
    """The policy that ships with firsthand."""
    from importlib.resources import files

    return _parse(files("firsthand").joinpath("policy_default.toml").read_text(encoding="utf-8"), {})


_HUMPS = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_GAPS = re.compile(r"[\W_]+")


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """An attribute's name in snake case: "Home City", "home-city" and "homeCity" are home_city."""
    humps = _HUMPS.sub("_", unicodedata.normalize("NFC", name))
    folded = _GAPS.sub("_", unicodedata.normalize("NFC", humps.casefold())).strip("_")
    return folded or " ".join(name.split())


def _unknown(name: str) -> Attribute:
    return Attribute(name=name, known=False)


def _is_user(subject: str) -> bool:
    return subject.strip().casefold() == _USER


def _filled(template: str, subject: str, value: str) -> str:
    given = {"value": value, "subject": "the user" if _is_user(subject) else subject}
    return _FIELDS.sub(lambda found: given[found[1]], template)


# -- the file ----------------------------------------------------------------------------------------------------


def _parse(text: str, inherited: Mapping[str, Sensitivity]) -> Policy:
    faults = _Faults(text)
    try:
        data = tomllib.loads(text.removeprefix("\ufeff"))  # some editors put a mark in front
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PolicyInvalid(f"the policy is not TOML: {error}") from error
    for key in data.keys() - set(_TOP_KEYS):
        faults.add("", key, f"unknown key{_near(key, _TOP_KEYS)}; write [attributes.{key}] for an attribute")
    classes = dict(inherited)
    for name, table in _tables(data, "classes", faults):
        classes[name] = _sensitivity(name, table, faults.of(f"classes.{name}"))
    attributes = {}
    for name, table in _tables(data, "attributes", faults):
        attributes[name] = _attribute(name, table, tuple(classes), faults.of(f"attributes.{name}"))
    _check_names(attributes, faults)
    _check_opposites(attributes, faults)
    faults.raise_if_any()
    return Policy(text, MappingProxyType(attributes), MappingProxyType(classes))


class _Faults:
    """Everything wrong with a file, each with its place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[tuple[int, str]] = []

    def add(self, table: str, key: str | None, what: str) -> None:
        line = self._lines.get((table, key)) or self._lines.get((table, None)) or 0
        place = ".".join(part for part in (table, key) if part) or "the file"
        self._found.append((line, f"{f'line {line}: ' if line else ''}{place}: {what}"))

    def of(self, table: str) -> _Report:
        return lambda key, what: self.add(table, key, what)

    def raise_if_any(self) -> None:
        if self._found:
            listed = "; ".join(what for _, what in sorted(self._found))
            count = "1 fault" if len(self._found) == 1 else f"{len(self._found)} faults"
            raise PolicyInvalid(f"the policy has {count}: {listed}")

    @cached_property
    def _lines(self) -> Mapping[tuple[str, str | None], int]:
        return _line_numbers(self._text)


_Report = Callable[[str | None, str], None]
_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_ENTRY = re.compile(r"\s*([\w\"'.-]+)\s*=")


def _line_numbers(text: str) -> dict[tuple[str, str | None], int]:
    """Where tables and keys stand. TOML's parser keeps no places, so lines are read once more; good enough to point."""
    places: dict[tuple[str, str | None], int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _bare(header[1])
            places.setdefault((table, None), number)
        elif entry := _ENTRY.match(line):
            places.setdefault((table, _bare(entry[1])), number)
    return places


def _bare(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))


def _tables(data: Mapping[str, Any], key: str, faults: _Faults) -> Iterator[tuple[str, Mapping[str, Any]]]:
    group = data.get(key, {})
    if not isinstance(group, dict):
        faults.add("", key, f"must be a table, as in [{key}.name]")
        return
    for name, table in group.items():
        if not isinstance(table, dict):
            faults.add(key, name, f"must be a table: write [{key}.{name}]")
        elif not any(map(str.isalnum, name)):
            faults.add(f"{key}.{name}", None, "the name has no letter")
        elif fold_name(name) != name:
            faults.add(f"{key}.{name}", None, f'name is not in snake case: write "{fold_name(name)}"')
        else:
            yield name, table


def _attribute(name: str, table: Mapping[str, Any], classes: Sequence[str], fault: _Report) -> Attribute:
    _check_keys(table, _ATTRIBUTE_KEYS, fault)
    cardinality = _choice(table, "cardinality", tuple(MERGES), "many", fault)
    merge = _choice(table, "merge", ("latest", "ranked", "alternatives", "confirm", "append"), None, fault)
    if merge is None:
        merge = "latest" if cardinality == "one" else "append"
    elif merge not in MERGES[cardinality or "many"]:
        fault(
            "merge", f'"{merge}" does not go with cardinality "{cardinality}": {_listed(MERGES[cardinality or "many"])}'
        )
    return Attribute(
        name=name,
        cardinality=cardinality or "many",
        merge=merge,
        phrase=_template(table, "phrase", fault),
        aliases=_aliases(table, fault),
        opposite=_opposite(table, fault),
        authority=_authority(table, fault),
        half_life_days=_days(table, "half_life_days", fault),
        lifetime_days=_days(table, "lifetime_days", fault),
        sensitivity=_choice(table, "sensitivity", classes, None, fault),
        admission=_choice(table, "admission", ADMISSIONS, "write", fault) or "write",
        kind=Kind(_choice(table, "kind", tuple(kind.value for kind in Kind), "semantic", fault) or "semantic"),
        profile=_flag(table, "profile", fault),
        question=_template(table, "question", fault),
    )


def _sensitivity(name: str, table: Mapping[str, Any], fault: _Report) -> Sensitivity:
    if name not in CLASSES:
        fault(None, f"unknown sensitive class{_near(name, CLASSES)}; there are {_listed(CLASSES)}")
    _check_keys(table, _CLASS_KEYS, fault)
    ranks = {rank: _choice(table, rank, ADMISSIONS, None, fault) for rank in ("said", "noted", "inferred")}
    admits: dict[Source, str] = {}
    for source in CLAIMABLE:
        own = _choice(table, source.value, ADMISSIONS, None, fault)
        by_rank = ranks[RANK[source].name]
        if own is None and by_rank is None:
            fault(RANK[source].name, f"missing: say how claims of this rank are admitted, {_listed(ADMISSIONS)}")
        admits[source] = own or by_rank or "drop"
    _check_floor(name, admits, fault)
    words = tuple(_strings(table, "words", fault))
    for word in words:
        if not _plain(word).strip("* "):
            fault("words", f'"{word}" is empty')
    about = table.get("about", name)
    if not isinstance(about, str):
        fault("about", f"must be text, not {_kind_of(about)}")
    return Sensitivity(name, str(about), MappingProxyType(admits), words, _word_pattern(words))


def _check_floor(name: str, admits: Mapping[Source, str], fault: _Report) -> None:
    if admits[Source.INFERRED] != "drop":
        fault("inferred", f'must be "drop": {name} never enters from inference')
    if name == "credential" and set(admits.values()) != {"drop"}:
        fault(None, 'every rank must be "drop": credentials never enter')


def _check_keys(table: Mapping[str, Any], allowed: Sequence[str], fault: _Report) -> None:
    for key in table:
        if key not in allowed:
            fault(key, f"unknown key{_near(key, allowed)}")


def _choice(
    table: Mapping[str, Any], key: str, allowed: Sequence[str], default: str | None, fault: _Report
) -> str | None:
    value = table.get(key, default)
    if value is default or value in allowed:
        return default if value is default else str(value)
    if isinstance(value, str):
        fault(key, f'"{value}" is not one of {_listed(allowed)}{_near(value, allowed)}')
    else:
        fault(key, f"must be one of {_listed(allowed)}, not {_kind_of(value)}")
    return default


def _strings(table: Mapping[str, Any], key: str, fault: _Report) -> list[str]:
    values = table.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        fault(key, 'must be a list of texts, as in ["a", "b"]')
        return []
    return [str(value) for value in values]


def _flag(table: Mapping[str, Any], key: str, fault: _Report) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        fault(key, f"must be true or false, not {_kind_of(value)}")
    return value is True


def _days(table: Mapping[str, Any], key: str, fault: _Report) -> float | None:
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        fault(key, f"must be a number of days, not {_kind_of(value)}")
    elif not 0 < value < math.inf:
        fault(key, f"must be more than zero days, not {value}")
    else:
        return float(value)
    return None


def _template(table: Mapping[str, Any], key: str, fault: _Report) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        fault(key, f"must be text, not {_kind_of(value)}")
        return None
    try:
        named = [name for _, name, _, _ in string.Formatter().parse(value) if name is not None]
    except ValueError as error:
        fault(key, f"has a stray brace ({error})")
        return None
    for name in named:
        if name not in ("value", "subject"):
            fault(key, f"may name {{value}} and {{subject}}, not {{{name}}}")
    if "value" not in named:
        fault(key, "must name {value}")
    return value


def _aliases(table: Mapping[str, Any], fault: _Report) -> tuple[str, ...]:
    given = _strings(table, "aliases", fault)
    for alias in given:
        if not any(map(str.isalnum, alias)):
            fault("aliases", f'"{alias}" has no letter')
    return tuple(dict.fromkeys(map(fold_name, given)))


def _opposite(table: Mapping[str, Any], fault: _Report) -> str | None:
    value = table.get("opposite")
    if value is not None and not isinstance(value, str):
        fault("opposite", f"must be the name of an attribute, not {_kind_of(value)}")
        return None
    return value


def _authority(table: Mapping[str, Any], fault: _Report) -> frozenset[Source]:
    named = [source.value for source in CLAIMABLE]
    found = set()
    for value in _strings(table, "authority", fault):
        if value in named:
            found.add(Source(value))
        elif value == Source.REPEATED:
            fault("authority", '"repeated" is derived, nobody claims it')
        else:
            fault("authority", f'"{value}" is no source: {_listed(named)}{_near(value, named)}')
    return frozenset(found)


def _check_names(attributes: Mapping[str, Attribute], faults: _Faults) -> None:
    taken = {name: name for name in attributes}
    for each in attributes.values():
        for alias in each.aliases:
            holder = taken.setdefault(alias, each.name)
            if holder != each.name:
                faults.add(f"attributes.{each.name}", "aliases", f'"{alias}" already means {holder}')


def _check_opposites(attributes: Mapping[str, Attribute], faults: _Faults) -> None:
    for each in attributes.values():
        if each.opposite is None:
            continue
        other = attributes.get(each.opposite)
        if other is None:
            what = f'"{each.opposite}" is no attribute of this file{_near(each.opposite, list(attributes))}'
        elif other is each:
            what = "an attribute is not its own opposite"
        elif other.opposite != each.name:
            what = f'not mutual: write opposite = "{each.name}" in [attributes.{other.name}]'
        elif (other.cardinality, other.merge) != (each.cardinality, each.merge):
            what = f"{other.name} has another cardinality or merge rule; opposites fold together and must agree"
        else:
            continue
        faults.add(f"attributes.{each.name}", "opposite", what)


def _near(given: str, allowed: Iterable[str]) -> str:
    close = difflib.get_close_matches(given[:_LONGEST_NAME].casefold(), list(allowed), n=1, cutoff=0.6)
    return f' (did you mean "{close[0]}"?)' if close else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _kind_of(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "a table"}
    return kinds.get(type(value), "a date")


def _meaning(policy: Policy) -> Mapping[str, Any]:
    """Everything that the file decides, in a form that spelling and order do not change."""
    return {
        "attributes": {each.name: _attribute_meaning(each) for each in policy.attributes.values()},
        "classes": {
            each.name: {
                "about": each.about,
                "admits": {str(s): v for s, v in each.admits.items()},
                "words": sorted(each.words),
            }
            for each in policy.sensitivities.values()
        },
    }


def _attribute_meaning(attribute: Attribute) -> Mapping[str, Any]:
    said = {name: getattr(attribute, name) for name in _ATTRIBUTE_KEYS}
    return said | {"aliases": sorted(attribute.aliases), "authority": sorted(attribute.authority)}


# -- words of a class --------------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    """A text as words are looked for: casefolded, without accents and invisible characters, one blank between words."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(char for char in decomposed if unicodedata.category(char) not in ("Mn", "Cf"))
    return " ".join(text.casefold().replace("_", " ").split())


def _word_pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """One pattern for all words. `*` at an end leaves that end open: "allerg*" finds allergic and allergies."""
    alternatives = [_word(_plain(word)) for word in words if _plain(word).strip("* ")]
    return re.compile("|".join(sorted(alternatives))) if alternatives else None


def _word(word: str) -> str:
    start = "" if word.startswith("*") or _UNSPACED.match(word) else r"\b"
    end = "" if word.endswith("*") or _UNSPACED.match(word) else r"\b"
    return start + re.escape(word.strip("*")) + end


# Scripts written without blanks: their words are found anywhere.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


# -- in words ----------------------------------------------------------------------------------------------------

_MERGE_WORDS = {
    "latest": (
        "The latest word holds: what is said later replaces what was said before, also when it was only quoted from"
        " talk. What an agent noted or a model inferred replaces nothing that the person said."
    ),
    "ranked": (
        "Standing decides before time: what the person said is replaced only by something the person said."
        " Quotes, notes and inferences wait for confirmation."
    ),
    "alternatives": "Claims of equal standing do not replace each other: both stand and are shown as disputed.",
    "confirm": "Only the person's own word counts. Everything else waits until the person confirms it.",
    "append": "Every value stands on its own; a new one is added beside the others.",
}
_ADMISSION_WORDS = {
    "confirm": "Whatever the person did not say outright waits for confirmation.",
    "drop": "It is never kept.",
}
_CLASS_WORDS = {"write": "written", "confirm": "waiting for confirmation", "drop": "not kept"}


def _explained(policy: Policy, attribute: Attribute) -> Iterator[str]:
    example = policy.phrase(_USER, attribute.name, "…")
    if not attribute.known:
        yield f"{attribute.name}: the policy does not name it, so any number of values stand side by side."
    else:
        yield f'{attribute.name}: reads "{example}", {attribute.kind} memory, {attribute.cardinality} at a time.'
    if attribute.aliases:
        yield f"Also called: {_listed(alias.replace('_', ' ') for alias in attribute.aliases)}."
    yield _MERGE_WORDS[attribute.merge]
    if attribute.opposite:
        yield f"Opposite of {attribute.opposite}: saying one of a value ends the other of the same value."
    if attribute.authority:
        yield f"Only these sources may claim it: {_listed(sorted(attribute.authority))}. Claims of others are dropped."
    else:
        yield "Any source may claim it."
    yield from _explained_times(attribute)
    if attribute.sensitivity:
        yield from _explained_class(policy.sensitivities[attribute.sensitivity])
    if attribute.admission != "write":
        yield _ADMISSION_WORDS[attribute.admission]
    if attribute.profile:
        yield "Part of the profile that every context starts with."


def _explained_times(attribute: Attribute) -> Iterator[str]:
    if attribute.lifetime_days:
        yield f"Stops being active {attribute.lifetime_days:g} days after it was last said."
    else:
        yield "Holds until something replaces or ends it."
    if attribute.half_life_days:
        yield f"Trust in it halves every {attribute.half_life_days:g} days without support."


def _explained_class(sensitivity: Sensitivity) -> Iterator[str]:
    by_verdict: dict[str, list[str]] = {}
    for source, verdict in sensitivity.admits.items():
        by_verdict.setdefault(_CLASS_WORDS[verdict], []).append(source.value)
    rules = "; ".join(f"{_listed(sources)}: {verdict}" for verdict, sources in by_verdict.items())
    yield f"Sensitive ({sensitivity.about}). {rules}."
