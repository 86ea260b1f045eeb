"""When a model is to read on: at the end of a session, every so many turns, after a pause, or when it is asked to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from firsthand.errors import InvalidInput
from firsthand.model import micros

NAMES = ("session_end", "every_turn", "manual")
Spec = str | tuple[str, float]


@dataclass(frozen=True, slots=True)
class Trigger:
    """When new talk of a session makes it due."""

    turns: int | None = None  # due at once when so many turns of the person wait to be read
    pause: timedelta | None = None  # due that long after the last message

    def due_at(self, waiting: int, now: datetime) -> int | None:
        """From when on a session is due (microseconds) that just had a message; None: it is not."""
        if self.turns is not None and waiting >= self.turns:
            return micros(now)
        return micros(now + self.pause) if self.pause is not None else None


def trigger_of(spec: Spec) -> Trigger:
    """The trigger for "session_end", "every_turn", "manual", ("every", turns) or ("idle", seconds).

    Raises InvalidInput.
    """
    if spec in ("session_end", "manual"):
        return Trigger()
    if spec == "every_turn":
        return Trigger(turns=1)
    if isinstance(spec, tuple) and len(spec) == 2:  # noqa: PLR2004 - a name and a number
        kind, number = spec
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise InvalidInput(f"trigger ({kind!r}, …) takes a number, not {number!r}")
        if kind == "every" and number >= 1 and int(number) == number:
            return Trigger(turns=int(number))
        if kind == "idle" and 0 < number < timedelta.max.total_seconds() / 1e6:
            return Trigger(pause=timedelta(seconds=number))
    raise InvalidInput(
        f"trigger is one of {', '.join(map(repr, NAMES))}, ('every', turns) or ('idle', seconds); not {spec!r}"
    )
