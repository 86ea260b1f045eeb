"""Words for dates, read against the moment at which they were said.

Holds the reading of day, week, month and year words ("last March", "two weeks ago", "since 2019") as ranges of local
time. The vocabulary of a language is a table (`dates_en.toml`); what to do with a date is left to the caller.

Everything is computed in the offset of the anchor: "tonight" is the speaker's evening, not the server's. Weeks begin
on Monday. "Last March" is the latest March that was over; "last Monday" lies before today; "next Monday" after today.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.writer.cues import Cues, Expressions, fold, numbers

_PLACEHOLDER = re.compile(r"\{([a-z]+)\}")
_DAY = timedelta(days=1)
_LONGEST = 400  # characters that are searched for dates at most


@dataclass(frozen=True, slots=True)
class When:
    """A date as it was said, and the range of time that it names.

    `start` and `end` are its span in the text that was read. `begins` is in the range, `ends` no longer is; both are
    midnights in the offset of the anchor.
    """

    text: str
    start: int
    end: int
    begins: datetime
    ends: datetime
    granularity: str  # day, week, month or year
    relation: str  # at, since or until: how the words bound what is told
    anchor: datetime
    means: str  # how it was said: a name of `_MEANINGS`, such as iso, day, ago
    core: int  # where the date begins, after words like "since"

    def to_json(self) -> dict[str, str]:
        """Make the form kept in an observation's metadata; `to` is the first moment after the range."""
        return {
            "text": self.text,
            "anchor": self.anchor.isoformat(),
            "granularity": self.granularity,
            "from": self.begins.isoformat(),
            "to": self.ends.isoformat(),
        }


@dataclass(frozen=True)
class _Pattern:
    means: str
    text: str
    alone: bool

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The expression, compiled when a text first has what it requires."""
        return re.compile(self.text, re.IGNORECASE)


class Calendar:
    """The date words of one language."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        """`table` holds `words`, `relation` and `pattern`, as in `dates_en.toml`."""
        self._words: Mapping[str, Mapping[str, Any]] = table["words"]
        self._relations = {word: kind for kind, words in table["relation"].items() for word in words}
        leading = _alternatives(self._relations)
        self._patterns = [
            _Pattern(
                each["means"],
                rf"\b(?:(?P<relation>{leading}) )?{self._expand(each['text'])}(?!\w)",
                each["alone"],
            )
            for each in table["pattern"]
        ]
        reading = Expressions({}, {})
        self.required = [reading.required(each.text) for each in self._patterns]
        self._cues = Cues(self.required)

    def find(self, text: str, anchor: datetime, *, future: bool = False, cues: int | None = None) -> list[When]:
        """Every date in the text, in order, none overlapping.

        A month, a weekday or a day without a year is the latest such up to the anchor, or with `future` the next one.
        Words that name no date of the calendar (30 February) are passed over. Only the first 400 characters are read.
        `cues` are the bits of what is `required`, where the caller has looked for them.
        """
        found: list[When] = []
        if cues == 0:
            return found
        for when in sorted(self._candidates(text[:_LONGEST], anchor, future, cues), key=lambda w: (w.start, -w.end)):
            if not found or when.start >= found[-1].end:
                found.append(when)
        return found

    def read(self, text: str, anchor: datetime, *, future: bool = False) -> When:
        """Read the date that the whole text names ("3 days ago"). Raises InvalidInput when it names none."""
        words = " ".join(text.split())
        for when in self._candidates(words, anchor, future):
            if when.start == 0 and when.end == len(words):
                return when
        raise InvalidInput(f"no known date: {text[:60]!r}; say for example 'yesterday', 'last week', '2024-05-31'")

    def _candidates(self, text: str, anchor: datetime, future: bool, cues: int | None = None) -> Iterator[When]:
        for number in numbers(self._cues.heard(fold(text).split()) if cues is None else cues):
            pattern = self._patterns[number]
            for match in pattern.regex.finditer(text):
                said = match["relation"]
                if said is None and not pattern.alone:
                    continue
                relation = "since" if pattern.means == "lasting" else self._relations.get(_plain(said or ""), "at")
                span = self._range(pattern.means, match, _local(anchor), future=future or relation == "until")
                if span is not None:
                    core = match.start() if said is None else match.end("relation") + 1
                    yield When(match[0], match.start(), match.end(), *span, relation, anchor, pattern.means, core)

    def _range(
        self, means: str, match: re.Match[str], anchor: datetime, *, future: bool
    ) -> tuple[datetime, datetime, str] | None:
        said = {name: value for name, value in match.groupdict().items() if value is not None}
        try:
            return _MEANINGS[means](_Said(said, self._words), anchor, future)
        except (ValueError, OverflowError):
            return None  # words like "30 February" or "9999 years ago"

    def _expand(self, text: str) -> str:
        def vocabulary(match: re.Match[str]) -> str:
            digits = r"\d{1,4}|" if match[1] == "number" else ""
            return f"(?P<{match[1]}>{digits}{_alternatives(self._words[match[1]])})"

        return _PLACEHOLDER.sub(vocabulary, text)


@lru_cache(maxsize=8)
def calendar(language: str) -> Calendar:
    """Read the shipped date words of a language, by its two-letter code. Raises InvalidInput when there are none."""
    file = resources.files("firsthand.writer") / f"dates_{language}.toml"
    if not file.is_file():
        raise InvalidInput(f"no date words for language {language!r}")
    return Calendar(tomllib.loads(file.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class _Said:
    """The words of one match, looked up in the tables of the language."""

    groups: Mapping[str, str]
    words: Mapping[str, Mapping[str, Any]]

    def __contains__(self, name: str) -> bool:
        return name in self.groups

    def number(self, name: str) -> int:
        text = _plain(self.groups[name])
        return int(text) if text.isdecimal() else int(self.words[name][text])

    def unit(self) -> str:
        return str(self.words["unit"][_plain(self.groups["unit"])])


_Range = tuple[datetime, datetime, str]


def _iso(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001 - all meanings are called alike
    return _unit(
        _midnight(anchor).replace(year=said.number("year"), month=said.number("month"), day=said.number("day")), "day"
    )


def _day(said: _Said, anchor: datetime, future: bool) -> _Range:
    month, day = said.number("month"), said.number("day")
    if "year" in said:
        return _unit(_midnight(anchor).replace(year=said.number("year"), month=month, day=day), "day")
    this_year = _midnight(anchor).replace(month=month, day=day)
    return _unit(_lean(this_year, _midnight(anchor), lambda years: _years(this_year, years), future), "day")


def _day_of_turn(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    month = _shift(_first(anchor, "month"), said.number("turn"), "month")
    return _unit(month.replace(day=said.number("day")), "day")


def _month(said: _Said, anchor: datetime, future: bool) -> _Range:
    first = _first(anchor, "month")
    if "year" in said:
        return _unit(first.replace(year=said.number("year"), month=said.number("month")), "month")
    this_year = first.replace(month=said.number("month"))
    return _unit(_lean(this_year, first, lambda years: _years(this_year, years), future), "month")


def _year(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    return _unit(_first(anchor, "year").replace(year=said.number("year")), "year")


def _weekday(said: _Said, anchor: datetime, future: bool) -> _Range:
    this_week = _first(anchor, "week") + (said.number("weekday") - 1) * _DAY
    return _unit(_lean(this_week, _midnight(anchor), lambda weeks: this_week + 7 * weeks * _DAY, future), "day")


def _offset(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    return _unit(_midnight(anchor) + said.number("offset") * _DAY, "day")


def _ago(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    number, unit = (2, "week") if "fortnight" in said else (said.number("number"), said.unit())
    return _unit(_shift(_first(anchor, unit), -number, unit), unit)


def _ahead(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    return _unit(_shift(_first(anchor, said.unit()), said.number("number"), said.unit()), said.unit())


def _past(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    today = _midnight(anchor)
    return _shift(today, -said.number("number"), said.unit()), today + _DAY, said.unit()


def _turn_unit(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    return _unit(_shift(_first(anchor, said.unit()), said.number("turn"), said.unit()), said.unit())


def _turn_month(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    first, turn = _first(anchor, "month"), said.number("turn")
    named = first.replace(month=said.number("month"))
    if turn < 0 and named >= first:
        named = _years(named, -1)
    if turn > 0 and named <= first:
        named = _years(named, 1)
    return _unit(named, "month")


def _turn_weekday(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    today, turn = _midnight(anchor), said.number("turn")
    named = _first(anchor, "week") + (said.number("weekday") - 1) * _DAY
    if turn < 0 and named >= today:
        named -= 7 * _DAY
    if turn > 0 and named <= today:
        named += 7 * _DAY
    return _unit(named, "day")


def _turn_weekend(said: _Said, anchor: datetime, future: bool) -> _Range:  # noqa: ARG001
    saturday = _first(anchor, "week") + (5 + 7 * said.number("turn")) * _DAY
    return saturday, saturday + 2 * _DAY, "day"


_MEANINGS: Mapping[str, Callable[[_Said, datetime, bool], _Range]] = {
    "iso": _iso,
    "day": _day,
    "day_of_turn": _day_of_turn,
    "month": _month,
    "year": _year,
    "weekday": _weekday,
    "offset": _offset,
    "ago": _ago,
    "lasting": _ago,
    "ahead": _ahead,
    "past": _past,
    "turn_unit": _turn_unit,
    "turn_month": _turn_month,
    "turn_weekday": _turn_weekday,
    "turn_weekend": _turn_weekend,
}


def _unit(first: datetime, unit: str) -> _Range:
    return first, _shift(first, 1, unit), unit


def _lean(named: datetime, now: datetime, move: Callable[[int], datetime], future: bool) -> datetime:
    """Choose the latest such time up to now, or with `future` the next one; now itself counts for both."""
    if future:
        return named if named >= now else move(1)
    return named if named <= now else move(-1)


def _first(at: datetime, unit: str) -> datetime:
    midnight = _midnight(at)
    if unit == "week":
        return midnight - midnight.weekday() * _DAY
    if unit == "month":
        return midnight.replace(day=1)
    return midnight.replace(month=1, day=1) if unit == "year" else midnight


def _shift(first: datetime, number: int, unit: str) -> datetime:
    if unit == "year":
        return _years(first, number)
    if unit == "month":
        months = first.year * 12 + first.month - 1 + number
        year, month = divmod(months, 12)
        day = min(first.day, _month_length(year, month + 1))
        return first.replace(year=year, month=month + 1, day=day)
    return first + number * _DAY * (7 if unit == "week" else 1)


def _years(at: datetime, number: int) -> datetime:
    return _shift(at, 12 * number, "month")


def _month_length(year: int, month: int) -> int:
    after = datetime(year + month // 12, month % 12 + 1, 1)  # noqa: DTZ001 - only its day is used
    return (after - _DAY).day


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _local(anchor: datetime) -> datetime:
    """Put the anchor in its own offset, fixed, so that reading it again tomorrow gives the same range."""
    return anchor.replace(tzinfo=timezone(anchor.utcoffset() or timedelta()))


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", " +") for word in sorted(words, key=len, reverse=True))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
