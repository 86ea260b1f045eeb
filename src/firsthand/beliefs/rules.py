"""The written rules: who may take whose place, and how each decision reads.

Confidence never decides; rank and the attribute's merge rule do. How the rules are applied to rows is in `replay.py`.
"""

from __future__ import annotations

from datetime import UTC, datetime

from firsthand.model import INFERRED, NOTED, SAID, Act, Source, from_micros, micros

GUESS_WAITS = "something was said here, so an inference waits for confirmation"
GUESS_OVER = "it was said that this is over, so an inference waits for confirmation"
ONLY_PERSON = "only the person's own word counts here"
NEEDS_CONFIRMATION = "waits for confirmation"
NEVER_HELD = "its interval ends before it starts"
OUTRANKED = "something of higher rank holds instead"
MOOT = "it holds no longer anyway"
VOIDED = "the message was taken back"

_RANKS = {rank.level: rank.name for rank in (INFERRED, NOTED, SAID)}
_SHOWN = 60  # characters of a value that a reason quotes
_EARLIEST = micros(datetime.min.replace(tzinfo=UTC))
_LATEST = micros(datetime.max.replace(tzinfo=UTC))


def may_paint(merge: str, source: Source, level: int, over: int) -> bool:
    """Whether a claim may take the place of one of rank level `over`.

    Where values stand side by side an equal one takes no place, so that nothing forbids it to stand.
    """
    if level >= over:
        return True
    return merge == "latest" and source is Source.QUOTED


def may_found(merge: str, level: int) -> bool:
    """Whether a claim of this rank may stand at all, even where nothing holds."""
    return merge != "confirm" or level == SAID.level


def outranked(held: str, level: int) -> str:
    """Why a claim waits: what holds is of higher rank."""
    return f'"{shown(held)}" is {_RANKS[level]}: nothing of lower rank replaces it'


def asks(act: Act, held: str, at: int | None) -> str:
    """What an act asks for that reaches too low to be done."""
    does = {Act.END: "end", Act.REJECT: "reject"}.get(act, "take back")
    return f'asks to {does} "{shown(held)}"' + ("" if at is None else f" on {day(at)}")


def proposed(asks: str | None, phrase: str) -> str:
    """How a belief reads that is only a proposal: what would be so if it were granted."""
    if asks is None:
        return phrase
    return f"no longer: {phrase}" if asks == Act.END else f"never: {phrase}"


def taken_back(*, rejects: bool, at: int, because: str | None) -> str:
    """Why a claim was taken back."""
    said = f"{'rejected' if rejects else 'retracted'} on {day(at)}"
    return f"{said}: {shown(because)}" if because else said


def shown(value: str) -> str:
    """A value as a reason quotes it."""
    return value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"


def when(at: int) -> datetime:
    """The UTC time of an instant; one that an offset put beyond the calendar becomes the calendar's end."""
    try:
        return from_micros(at)
    except OverflowError:
        return from_micros(min(max(at, _EARLIEST), _LATEST))


def day(at: int) -> str:
    """The UTC date of an instant, as reasons have it."""
    return when(at).date().isoformat()


def stamp(at: int) -> str:
    """The instant as ids of resumed intervals have it: 2026-03-01T00:00:00Z."""
    return when(at).replace(tzinfo=None).isoformat() + "Z"
