"""The written rules: who may take whose place, and how each decision reads.

Confidence never decides; rank and the attribute's merge rule do. How the rules are applied to rows is in `replay.py`.
"""

from __future__ import annotations

from firsthand.beliefs.moments import day
from firsthand.model import INFERRED, NOTED, SAID, Act, Source

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
    """Why a claim waits: what held was of higher rank. Worded so that it stays true when that holds no longer."""
    return f'"{shown(held)}" had been {_RANKS[level]}: nothing of lower rank replaces that'


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
