"""Reading the time at which something was said, as callers write it.

Aware times keep their offset; times without one are read in a zone that the caller states. Words for times
("yesterday", "last week") are no concern of this module.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

from firsthand.errors import InvalidInput
from firsthand.ledger.values import kind_of, shown
from firsthand.model import EPOCH

# Larger numbers are counts of smaller units: 1e11 seconds is the year 5138, 1e11 milliseconds is 1973.
_SECONDS_BELOW = 1e11
_MILLISECONDS_BELOW = 1e14
_MICROSECONDS_BELOW = 1e17
_EPOCH_DIGITS = re.compile(r"-?[0-9]{9,17}(\.[0-9]+)?")
_ZULU = re.compile(r"\s*(?:z|utc|gmt)$", re.IGNORECASE)
_LONGEST = 64


def read_time(value: object, zone: tzinfo) -> datetime:
    """The moment that `value` names, aware, at a fixed offset.

    Takes datetime, date (midnight), ISO 8601 text (date only too), and seconds, milliseconds or microseconds since
    1970 as a number or digits. Without an offset it is read in `zone`. Raises InvalidInput.
    """
    if isinstance(value, datetime):
        return _placed(value, zone)
    if isinstance(value, date):
        return _placed(datetime(value.year, value.month, value.day), zone)  # noqa: DTZ001 - placed in the zone
    if isinstance(value, str):
        return _from_text(value.strip(), zone)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _from_number(value)
    raise InvalidInput(f"{kind_of(value)} is no time: give an ISO 8601 text, a datetime or seconds since 1970")


def _from_text(text: str, zone: tzinfo) -> datetime:
    if len(text) <= _LONGEST and _EPOCH_DIGITS.fullmatch(text):
        return _from_number(float(text) if "." in text else int(text))
    try:
        return _placed(datetime.fromisoformat(_ZULU.sub("+00:00", text)), zone)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{shown(text)} is no time: write it like 2024-05-08T13:56:00+02:00") from None


def _from_number(value: float) -> datetime:
    size = abs(value)
    if not math.isfinite(size) or size >= _MICROSECONDS_BELOW:
        raise InvalidInput("this number is no time: give seconds or milliseconds since 1970")
    try:
        if size < _SECONDS_BELOW:
            return EPOCH + timedelta(seconds=value)
        if size < _MILLISECONDS_BELOW:
            return EPOCH + timedelta(milliseconds=value)
        return EPOCH + timedelta(microseconds=value)
    except OverflowError:
        raise InvalidInput("this number is no time: it lies outside the years 1 to 9999") from None


def _placed(value: datetime, zone: tzinfo) -> datetime:
    """The time at a fixed offset, so that a stored time reads back without the zone's rules."""
    if type(value) is datetime and value.tzinfo is UTC:
        return value
    aware = value if value.utcoffset() is not None else value.replace(tzinfo=zone)
    offset = aware.utcoffset() or timedelta(0)
    try:
        aware.astimezone(UTC)
    except OverflowError:
        raise InvalidInput("this time lies outside the years 1 to 9999 in UTC") from None
    fixed = timezone(offset) if offset else UTC
    return datetime(*aware.timetuple()[:6], aware.microsecond, tzinfo=fixed)
