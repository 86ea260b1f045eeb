"""What a person states in plain words: of themselves, and of people they introduce.

Reads the clauses of a sentence for the forms of the language's table. A form counts only where a clause begins, and
only while nothing before it supposes or reports ("if", "she said") and nothing after it asks, takes back or plays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from firsthand.model import Act, Source
from firsthand.ports import Proposal
from firsthand.text import value_key
from firsthand.writer.dates import When
from firsthand.writer.hearing import PERSON, Hearing, dated
from firsthand.writer.language import Form, Saying, is_lazy
from firsthand.writer.values import Clause, Span, shared_word

_WORD = re.compile(r"[\w.-]+")
_NEAR = 60  # characters between a claim and the date that belongs to it, at most
_JOINT = 8  # characters of "and" and the like between two clauses of one subject, at most
_CLAUSES = 20  # of a sentence that are read; longer ones are lists or worse
_GREETING_BEFORE = 60  # characters in front of "I'm Ana" that are searched for a greeting


@dataclass(frozen=True, slots=True)
class Heard:
    """What a form found at one place of a sentence."""

    proposals: tuple[Proposal, ...]
    start: int
    end: int
    subject: str


class _Value(NamedTuple):
    """A value that a form found for an attribute."""

    attribute: str
    span: Span | None
    shared: Span | None = None  # a word that the last of a list brings for all: "Thai and Indian food"


@dataclass(frozen=True, slots=True)
class _Match:
    """A form that fits the words at one place, before it is known whether they stand."""

    hearing: Hearing
    form: Form
    clause: Clause
    match: re.Match[str]
    leading: When | None  # a date in front of the clause
    goes_on: Heard | None = None  # what was said of whom the clause is about, where it leaves that out


def tell(hearing: Hearing, start: int = 0) -> bool:
    """Read the clauses from a place on; whether anything was claimed, or anybody introduced."""
    found = list(_introductions(hearing, start))
    hearing.reading.add(found)
    said = bool(found)
    before: Heard | None = None
    if not hearing.says:
        return said
    for place in _places(hearing, start):
        if before and place < before.end:
            continue
        heard = _at(hearing, place, before if before and _goes_on(hearing, before, place) else None)
        if heard:
            before, said = heard, True
            hearing.reading.add(heard.proposals)
    _leave_out_the_gone(hearing)
    return said


def _leave_out_the_gone(hearing: Hearing) -> None:
    """Let "our dog Milo died" say that a bond is over, not also that there is one."""
    reading = hearing.reading
    here = reading.of_sentence(reading.number)
    gone = {value_key(p.subject) for p in here if (p.act, p.attribute) == (Act.END, "relationship")}
    bonds = {"relationship", *hearing.language.mirrored.values()}
    if gone:
        reading.found[:] = [
            (number, p)
            for number, p in reading.found
            if number != reading.number
            or p.act != Act.ASSERT
            or p.attribute not in bonds
            or gone.isdisjoint((value_key(p.subject), value_key(p.value or "")))
        ]


def is_statement(hearing: Hearing, start: int) -> bool:
    """Whether a form fits the words at a place."""
    return _heard(hearing, start) is not None


def _places(hearing: Hearing, start: int) -> Iterator[int]:
    yield start
    for separator in islice(hearing.language.marks.clause.finditer(hearing.text, start), _CLAUSES):
        yield separator.end()


def _goes_on(hearing: Hearing, before: Heard, place: int) -> bool:
    """Whether only "and" parts two clauses, so that the second may leave out its "I" or whom it is about."""
    between = hearing.text[before.end : place]
    joined = hearing.language.marks.clause.search(between + " ")
    return len(between) <= _JOINT and joined is not None


def _at(hearing: Hearing, place: int, goes_on: Heard | None) -> Heard | None:
    marks = hearing.language.marks
    start, leading = _beginning(hearing, place)
    own = hearing.after_lead(0) if hearing.said_from is None else hearing.said_from
    heard = _heard(hearing, start, goes_on=goes_on, leading=leading)
    if heard is None or marks.blocked.search(hearing.text, own, place) or not hearing.reading.is_meant():
        return None
    return heard


def _beginning(hearing: Hearing, place: int) -> tuple[int, When | None]:
    """Where the words of the clause begin, and the date in front of them: "In 2019 we moved"."""
    places = hearing.leads(place)
    for when in hearing.clause().whens:
        after = hearing.language.marks.after_date.match(hearing.text, when.end)
        if when.start in places and after:
            return hearing.after_lead(after.end()), when
    return places[-1], None


def _heard(hearing: Hearing, start: int, *, goes_on: Heard | None = None, leading: When | None = None) -> Heard | None:
    may_name: bool | None = None
    for saying in hearing.says:
        if saying.form.about_others:
            may_name = _may_name_somebody(hearing, start) if may_name is None else may_name
            if not may_name:
                continue
        if heard := _said_at(hearing, saying, start, leading):
            return heard
    if goes_on is None:
        return None
    elided = hearing.says_elided(first_person=goes_on.subject == PERSON)
    return next((heard for each in elided if (heard := _said_at(hearing, each, start, leading, goes_on))), None)


def _said_at(
    hearing: Hearing, saying: Saying, start: int, leading: When | None, goes_on: Heard | None = None
) -> Heard | None:
    match = saying.expression.pattern.match(hearing.text, start)
    if match is None:
        return None
    clause = hearing.clause(future=saying.form.needs == "future")
    return _claimed(_Match(hearing, saying.form, clause, match, leading, goes_on))


def _may_name_somebody(hearing: Hearing, start: int) -> bool:
    """Whether a clause begins with "my sister" or "Mum", or with a name that was introduced or is a given one."""
    word = _WORD.match(hearing.text, start)
    if word is None:
        return False
    if hearing.language.mine.match(hearing.text, start) or hearing.language.lone.match(hearing.text, start):
        return True
    name, reading = word[0].casefold(), hearing.reading
    return name in reading.names.given or any(each.startswith(name) for each in reading.introduced)


def _claimed(m: _Match) -> Heard | None:
    subject, values = _subject(m), _values(m)
    if subject is None or values is None:
        return None
    said_to = _said_to(m, values)
    whens = _whens(m, said_to)
    end = max(said_to, whens[-1].end if whens else 0)
    bounds = _bounds(m, whens)
    if bounds is None or not _stands(m, end):
        return None
    whose = m.goes_on.start if m.goes_on and subject != PERSON else None
    begins = [m.match.start(), m.hearing.said_from, m.leading.start if m.leading else None, whose]
    said = (min(each for each in begins if each is not None), end)
    proposals = tuple(_proposal(m, said, replace_subject=subject, value=value) for value in values)
    metadata = dated(whens[0] if whens else None)
    dates = [replace(p, valid_from=bounds[0], valid_to=bounds[1], metadata=metadata) for p in proposals]
    found = [_as_correction(m, p) for p in dates]
    return Heard((*found, *_implied(m, found)), said[0], end, subject)


def _said_to(m: _Match, values: Sequence[_Value]) -> int:
    """Where the words end that the claim rests on, but for a date."""
    ends = [value.span[1] for value in values if value.span]
    if all(not name or is_lazy(m.match.re, name) for _, name in m.form.sets):
        ends.append(m.match.end())  # words of the form bound its values
    if m.form.about_others and m.goes_on is None:
        ends.append(m.match.end(_whom(m)))
    return len(m.clause.text[: max(ends)].rstrip(" .,;!"))


def _proposal(m: _Match, said: Span, *, replace_subject: str, value: _Value) -> Proposal:
    form = m.form
    found = m.hearing.proposal(
        form.name, said, attribute=value.attribute, value=value.span, act=form.act, kind=form.kind
    )
    if value.shared:
        found = replace(found, value=f"{found.value} {m.hearing.words(value.shared)}")
    return replace(found, subject=replace_subject, source=Source.STATED if form.stated else found.source)


def _as_correction(m: _Match, found: Proposal) -> Proposal:
    """Let "Actually, I live in Potsdam" correct what was claimed before, when something was."""
    first = m.hearing.sentence.start
    mark = m.hearing.language.marks.correction.search(m.hearing.text, 0, found.start - first)
    is_change = m.form.event or m.hearing.language.marks.changed.search(m.match[0])
    if is_change or found.act != Act.ASSERT or mark is None:
        return found
    if not m.hearing.language.is_single(m.form.sets[0][1]):
        return found
    for claim in m.hearing.reading.earlier_claims():
        same = (claim.subject, claim.attribute) == (found.subject, found.attribute)
        if same and value_key(claim.value or "") != value_key(found.value or ""):
            source = Source.CORRECTED if found.source is Source.QUOTED else found.source
            start = first + mark.start()
            return replace(found, act=Act.CORRECT, source=source, replaces=claim.value, start=start)
    return found


def _subject(m: _Match) -> str | None:
    if m.goes_on is not None or not m.form.about_others:
        return m.goes_on.subject if m.goes_on else PERSON
    group = _whom(m)
    if group in ("kin", "parent"):
        return None if m.form.bare else m.hearing.reading.called(m.hearing.words(m.match.span(group)))
    span = m.clause.cut(m.hearing.language.values["person"], m.match.span(group), whole=True)
    return _named(m, m.hearing.words(span[0])) if span else None


def _named(m: _Match, name: str) -> str | None:
    """Give the name, where the form, what was said before or a bond beside it says that it is one."""
    via = m.match["via"] or m.match["apposed"]
    if via is not None and not m.hearing.language.bond.fullmatch(via):
        return None
    if via or name.casefold() in m.hearing.reading.introduced:
        return name
    is_name = name.split(maxsplit=1)[0].casefold() in m.hearing.reading.names.given
    return name if m.form.named or (m.form.bare and is_name) else None


def _whom(m: _Match) -> str:
    """The group of a form about others that says whom it is about."""
    return next(name for name in ("who", "named", "kin", "parent") if m.match[name] is not None)


def _implied(m: _Match, found: Sequence[Proposal]) -> list[Proposal]:
    """Give what a bond says of the person: whose wife is Ana has a partner, Ana."""
    if m.form.sets[0][0] != "relationship" or m.goes_on is not None:
        return []
    bonds = [each for p in found for each in ([p] if p.value else _known_bonds(m, p))]
    return [each for p in bonds if (each := mirrored(m.hearing, p, m.match.span(_whom(m))))]


def _known_bonds(m: _Match, over: Proposal) -> Iterator[Proposal]:
    """Give the end of somebody's bond with what the bond was, by the words beside the name or as it was told before."""
    told = [p.value for p in m.hearing.reading.earlier_claims() if _is_bond_of(p, over.subject)]
    bond = m.match["via"] or m.match["apposed"] or next(iter(told), None)
    if bond is not None:
        yield replace(over, value=bond)


def _is_bond_of(p: Proposal, name: str) -> bool:
    return p.attribute == "relationship" and value_key(p.subject) == value_key(name)


def mirrored(hearing: Hearing, bond: Proposal, name: Span) -> Proposal | None:
    """Make the claim about the person that goes with somebody's bond to them, where there is one."""
    attribute = hearing.language.mirrored.get(_bare_bond(hearing, bond.value or ""))
    if attribute is None or bond.act not in (Act.ASSERT, Act.END):
        return None
    value = hearing.clause().cut(hearing.language.values["person"], name, whole=True)
    said = None if not value else hearing.words(value[0])
    return None if said is None else replace(bond, subject=PERSON, attribute=attribute, value=said)


def _bare_bond(hearing: Hearing, bond: str) -> str:
    """Leave out how close somebody is: "former girlfriend" is no girlfriend, "youngest son" a son."""
    words = bond.casefold().split()
    while len(words) > 1 and words[0] in hearing.language.values["bond"].keep and words[0] not in hearing.language.past:
        words.pop(0)
    return " ".join(words)


def _values(m: _Match) -> list[_Value] | None:
    """Cut the values of a form; None when its first one is not there."""
    found: list[_Value] = []
    for number, (attribute, name) in enumerate(m.form.sets):
        if not name:
            found.append(_Value(attribute, None))
            continue
        rule = m.hearing.language.values[name]
        spans = m.clause.cut(rule, m.match.span(name), whole=is_lazy(m.match.re, name))
        if not spans and number == 0:
            return None
        shared = shared_word(m.clause, spans) if rule.commas and len(spans) > 1 else None
        found.extend(_Value(attribute, span, shared if span != spans[-1] else None) for span in spans)
    return found


def _whens(m: _Match, end: int) -> list[When]:
    """The dates that bound what a form says: beside it for an event, with "since" or "until" for a state."""
    after = [w for w in m.clause.whens if w.start >= end and _is_near(m, end, w.start)]
    within = [w for w in m.clause.whens if m.match.start() < w.start and w.end <= end]
    if m.form.needs == "interval":
        return (within or after)[:2]
    if m.form.event:
        return [m.leading] if m.leading else (within or after)[:1]
    leading = [m.leading] if m.leading else []
    return [w for w in (*leading, *within, *after) if w.relation in ("since", "until")][:1]


def _is_near(m: _Match, end: int, start: int) -> bool:
    return start - end < _NEAR and not m.hearing.language.marks.parted.search(m.hearing.text, end, start)


def _bounds(m: _Match, whens: Sequence[When]) -> tuple[datetime | None, datetime | None] | None:
    """Since when and until when it holds; None when the form needs a date that is not there."""
    if m.form.needs == "interval":
        return _interval(m.hearing.at, whens)
    if m.form.needs == "future":
        return _to_come(m.hearing.at, whens)
    if m.form.needs == "since" and not (whens and whens[0].relation == "since"):
        return None
    if not whens:
        return None, None
    begins, until = whens[0].begins, whens[0].relation == "until"
    if until and m.form.act == Act.ASSERT and begins > m.hearing.at:
        return None, begins
    is_early = begins > m.hearing.at and whens[0].relation != "since"  # "starting next Monday" is news of what will be
    return (None if until or is_early else begins), None


def _interval(at: datetime, whens: Sequence[When]) -> tuple[datetime, datetime] | None:
    """From the first moment of one date to the last of the other: "from 2019 to 2021" takes in 2021."""
    if [when.relation for when in whens] != ["since", "until"] or whens[0].begins >= whens[1].begins:
        return None
    return (whens[0].begins, min(whens[1].ends, at)) if whens[1].begins <= at else None


def _to_come(at: datetime, whens: Sequence[When]) -> tuple[datetime, None] | None:
    return (max(whens[0].begins, at), None) if whens and whens[0].ends > at else None


def _stands(m: _Match, end: int) -> bool:
    """Whether what follows leaves the statement standing: no question of it, no taking back, no play."""
    tail, marks = m.clause.text[end:], m.hearing.language.marks
    if marks.undone.match(tail) or (m.form.introduces and not _introduces(m, tail)):
        return False
    if not m.form.sets[0][1] and marks.backward.search(m.clause.text[: m.match.start()]):
        return False  # "since I lost my job" would end whatever job there is by now
    if not m.hearing.sentence.is_question or m.hearing.said_from is not None or m.form.stated:
        return True
    return marks.asks.match(tail) is not None


def _introduces(m: _Match, tail: str) -> bool:
    """Whether "I'm Ana" gives a name: after a greeting, or a known name with little but "by the way" behind it."""
    reading, marks = m.hearing.reading, m.hearing.language.marks
    place = m.hearing.sentence.start + m.match.start()
    greeted = marks.greeting.search(reading.turn.message.content[max(0, place - _GREETING_BEFORE) : place])
    first = m.match["name"].split()[0].strip(".,!")
    is_known = first.casefold() in reading.names.given
    if greeted:
        return is_known or first[0].isupper()
    return is_known and not m.form.greeted and marks.introduced.match(tail) is not None


def _introductions(hearing: Hearing, start: int) -> Iterator[Proposal]:
    """Find those whom the person names in passing: "my sister Ana"."""
    for pattern in hearing.heard(hearing.language.introductions):
        for match in pattern.finditer(hearing.text, start):
            bond = _bond(hearing, match)
            if bond is None or _is_enumeration(hearing, match) or not hearing.reading.is_meant():
                continue
            for name in _people(hearing, match):
                said = (match.start(), max(name[1], bond[1]))
                found = hearing.proposal("introduced", said, attribute="relationship", value=bond)
                yield replace(found, subject=hearing.words(name))
                if has := mirrored(hearing, found, name):
                    yield has


def _is_enumeration(hearing: Hearing, match: re.Match[str]) -> bool:
    """Whether a comma after "my sister" parts her from somebody else: "my sister, Ana and I"."""
    has_comma = match.groupdict().get("comma") is not None
    return has_comma and not re.match(r"\s*(?:[,.!?;)]|$)", hearing.text[match.end() :])


def _bond(hearing: Hearing, match: re.Match[str]) -> Span | None:
    rule = hearing.language.values["bond"]
    if "bonds" not in match.groupdict():
        cut = hearing.clause().cut(rule, match.span("bond"))
        return cut[0] if cut else None
    singular = rule.pattern.match(match["bonds"]) if rule.pattern else None
    return (match.start("bonds"), match.start("bonds") + singular.end()) if singular else None


def _people(hearing: Hearing, match: re.Match[str]) -> list[Span]:
    rule, at = hearing.language.values["person"], match.start("who")
    if "bonds" not in match.groupdict():
        return hearing.clause().cut(rule, match.span("who"))
    names = [m.span() for m in re.finditer(r"[^\s,]+", match["who"]) if m[0] not in hearing.language.conjunctions]
    return [cut for n in names for cut in hearing.clause().cut(rule, (at + n[0], at + n[1]))]
