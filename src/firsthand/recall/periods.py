"""Periods: which stretch of time a question names, read from its words relative to now.

"two weeks ago", "last month", "in March", "on 3 May 2023", "in the past ten days". English; a fixed list of forms, and
in any other words nothing, so that nothing is ever narrowed by mistake: a period only adds to what was said in it.
Calendar days are those of the offset that `now` carries.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from firsthand.model import micros

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "a couple of": 2, "three": 3, "few": 3, "a few": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_DAYS = {"day": 1, "night": 1, "week": 7, "weekend": 7, "fortnight": 14, "month": 30, "year": 365}
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|night|week|fortnight|month|year)s?"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, and how far outside of it still counts a little."""

    since: datetime
    until: datetime
    slack: timedelta
    words: str  # what named it

    def fit(self, at: NDArray[np.int64]) -> NDArray[np.float32]:
        """1 within the period, falling to 0 where it is `slack` away. `at` in microseconds since 1970."""
        outside = np.maximum(np.maximum(micros(self.since) - at, at - micros(self.until)), 0)
        return np.maximum(0, 1 - outside / (self.slack / timedelta(microseconds=1))).astype(np.float32)


def named(text: str, now: datetime) -> Period | None:
    """The first period that the text names, by the list of forms below; None where it names none."""
    for pattern, read in _FORMS:
        for match in pattern.finditer(text):
            try:
                return read(match, now)
            except (ValueError, OverflowError):  # 31 June, or a time before the first year
                continue
    return None


def _ago(match: re.Match[str], now: datetime) -> Period:
    """Around so many days, weeks … before today; the coarser the unit, the wider."""
    unit = _DAYS[match["unit"].lower()]
    middle = _midnight(now) - timedelta(days=_number(match["count"]) * unit)
    spread = timedelta(days=unit // 4)
    return _period(middle - spread, middle + spread + timedelta(days=1), match)


def _past(match: re.Match[str], now: datetime) -> Period:
    count = 1 if match["count"] is None else _number(match["count"])
    return _period(now - timedelta(days=count * _DAYS[match["unit"].lower()]), now, match)


def _last(match: re.Match[str], now: datetime) -> Period:
    unit, today = match["unit"].lower(), _midnight(now)
    if unit == "night":
        return _period(today - timedelta(days=1), today + timedelta(days=1), match)
    if unit in ("week", "weekend"):
        monday = today - timedelta(days=today.weekday())
        start = monday - timedelta(days=7)
        return _period(start + timedelta(days=5 if unit == "weekend" else 0), monday, match)
    if unit == "month":
        first = today.replace(day=1)
        return _period((first - timedelta(days=1)).replace(day=1), first, match)
    start = today.replace(month=1, day=1)
    return _period(start.replace(year=start.year - 1), start, match)


def _this(match: re.Match[str], now: datetime) -> Period:
    unit, today = match["unit"].lower(), _midnight(now)
    start = {
        "week": today - timedelta(days=today.weekday()),
        "month": today.replace(day=1),
        "year": today.replace(month=1, day=1),
    }[unit]
    return _period(start, now, match)


def _weekday(match: re.Match[str], now: datetime) -> Period:
    today = _midnight(now)
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"].lower()) - 1) % 7 + 1
    start = today - timedelta(days=back)
    return _period(start, start + timedelta(days=1), match)


def _yesterday(match: re.Match[str], now: datetime) -> Period:
    today = _midnight(now)
    back = 2 if "before" in match[0].lower() else 1
    return _period(today - timedelta(days=back), today - timedelta(days=back - 1), match)


def _date(match: re.Match[str], now: datetime) -> Period:
    start = _midnight(now).replace(year=_year(match, now), month=_month_number(match["month"]), day=int(match["day"]))
    return _period(start, start + timedelta(days=1), match)


def _iso(match: re.Match[str], now: datetime) -> Period:
    start = _midnight(now).replace(year=int(match["year"]), month=int(match["number"]), day=int(match["day"]))
    return _period(start, start + timedelta(days=1), match)


def _in_month(match: re.Match[str], now: datetime) -> Period:
    start = _midnight(now).replace(year=_year(match, now), month=_month_number(match["month"]), day=1)
    return _period(start, (start + timedelta(days=32)).replace(day=1), match)


def _in_year(match: re.Match[str], now: datetime) -> Period:
    start = _midnight(now).replace(year=int(match["year"]), month=1, day=1)
    return _period(start, start.replace(year=start.year + 1), match)


def _period(since: datetime, until: datetime, match: re.Match[str]) -> Period:
    return Period(since, until, max(timedelta(days=1), (until - since) / 2), " ".join(match[0].split()))


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[" ".join(word.lower().split())]


def _month_number(name: str) -> int:
    return next(at for at, month in enumerate(MONTHS, 1) if month.startswith(name.lower()[:3]))


def _year(match: re.Match[str], now: datetime) -> int:
    """The year named, or the latest in which the month is not yet to come."""
    if match["year"] is not None:
        return int(match["year"])
    return now.year - (_month_number(match["month"]) > now.month)


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


_Form = tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Period]]


def _form(pattern: str, read: Callable[[re.Match[str], datetime], Period]) -> _Form:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), read


_FORMS = (
    _form(rf"{_YEAR}-(?P<number>[01]\d)-(?P<day>[0-3]\d)", _iso),
    _form(rf"{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", _date),
    _form(rf"{_MONTH} {_DAY}(?!\d)(?:,? {_YEAR})?", _date),
    _form(rf"(?:in|during|since|of|for|by|early|late|mid|last|this) {_MONTH}(?:,? (?:of )?{_YEAR})?", _in_month),
    _form(rf"{_MONTH},? (?:of )?{_YEAR}", _in_month),
    _form(rf"{_COUNT} {_UNIT} ago", _ago),
    _form(rf"(?:in|over|within|during) the (?:past|last) (?:{_COUNT} )?{_UNIT}", _past),
    _form(rf"(?:past|last) {_COUNT} {_UNIT}", _past),
    _form(r"the day before yesterday|yesterday", _yesterday),
    _form(r"last (?P<unit>night|week|weekend|month|year)", _last),
    _form(r"this (?P<unit>week|month|year)", _this),
    _form(rf"(?:last|on|this past) (?P<weekday>{'|'.join(_WEEKDAYS)})", _weekday),
    _form(rf"(?:in|during|of|since) {_YEAR}", _in_year),
)
