"""Dates as people and data sets write them in English, read as ISO 8601 text without an offset.

Only what cannot be misread: `03/04/2024` is two different days and is left alone.
"""

from __future__ import annotations

import re
from datetime import datetime

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug"),
            *("september sep sept", "october oct", "november nov", "december dec"),
        ),
        1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?\s*(?P<half>[ap]\.?m\.?)?"
_YEAR_FIRST = re.compile(r"(?<!\d)(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(
    rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\b\.?,?\s+(?P<year>\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<month>{_MONTH})\b\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})(?!\d)", re.IGNORECASE
)
_CLOCK = re.compile(rf"(?<![\d:]){_TIME}(?![\d:])", re.IGNORECASE)
_NOON = 12
_LONGEST = 300


def date_in(text: str) -> str | None:
    """The first date that a line names, with its time of day when it names one: ISO 8601 text, or None."""
    line = text[:_LONGEST]
    found = next((hit for form in (_YEAR_FIRST, _DAY_FIRST, _MONTH_FIRST) if (hit := form.search(line))), None)
    if found is None:
        return None
    month = found["month"].casefold()
    day = (int(found["year"]), int(month) if month.isdigit() else _MONTHS[month], int(found["day"]))
    clock = _clock_in(line[: found.start()] + " " + line[found.end() :])
    try:
        if clock is None:
            return datetime(*day).date().isoformat()  # noqa: DTZ001 - the caller's zone applies later
        return datetime(*day, *clock).isoformat()  # noqa: DTZ001 - the same
    except ValueError:
        return None


def _clock_in(line: str) -> tuple[int, int] | None:
    found = _CLOCK.search(line)
    if found is None:
        return None
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % _NOON + (_NOON if found["half"][0] in "pP" else 0)
    return hour, int(found["minute"])
