"""Moments: instants as numbers that remember the offset in which they were said.

The fold compares instants, so it works on whole microseconds since 1970. What a person said at seven in the evening
in Lima must come back as that evening, so a moment carries its offset along; where several rows name one instant in
different offsets, the row that the number is taken from decides, which is the same in every way of folding.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Self

from firsthand.model import from_micros, micros

_MICROSECOND = timedelta(microseconds=1)
_EARLIEST = micros(datetime.min.replace(tzinfo=UTC))
_LATEST = micros(datetime.max.replace(tzinfo=UTC))


class Moment(int):
    """Microseconds since 1970, compared as such, with microseconds east of UTC beside them."""

    offset: int

    def __new__(cls, at: int, offset: int) -> Self:
        """The instant `at`, said `offset` microseconds east of UTC."""
        made = super().__new__(cls, at)
        made.offset = offset
        return made


def moment(at: datetime) -> int:
    """The instant of a time, with its offset unless it is UTC."""
    return _moment(micros(at), (at.utcoffset() or timedelta(0)) // _MICROSECOND)


def later(at: int, span: int) -> int:
    """That many microseconds after a moment, in its offset."""
    return _moment(int(at) + span, _offset(at))


def own(at: int, mine: int) -> int:
    """A boundary as the one to whom it belongs has it, where that is the same instant."""
    return mine if mine == at else at


def when(at: int) -> datetime:
    """The time of a moment in its offset; one that an offset put beyond the calendar becomes the calendar's end."""
    held = from_micros(min(max(int(at), _EARLIEST), _LATEST))
    try:
        return held.astimezone(timezone(timedelta(microseconds=_offset(at)))) if _offset(at) else held
    except OverflowError:
        return held


def day(at: int) -> str:
    """The date of a moment where it was said, as reasons have it."""
    return when(at).date().isoformat()


def stamp(at: int) -> str:
    """The instant as ids of resumed intervals have it, in UTC: 2026-03-01T00:00:00Z."""
    return when(int(at)).replace(tzinfo=None).isoformat() + "Z"


def packed(at: int | None) -> Any:
    """A moment in the JSON of a cell: its number, or number and offset."""
    return [int(at), at.offset] if isinstance(at, Moment) else at


def unpacked(given: Any) -> Any:
    """The moment whose `packed` this is."""
    return Moment(*given) if isinstance(given, list) else given


def _moment(at: int, offset: int) -> int:
    return Moment(at, offset) if offset else at


def _offset(at: int) -> int:
    return at.offset if isinstance(at, Moment) else 0
