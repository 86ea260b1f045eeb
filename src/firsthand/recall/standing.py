"""Standing: what outranks what, whatever the score says.

Current beliefs stand above those they superseded, and above messages that say what no longer holds, unless the
question is about the past: then the older ones stand above. What waits for confirmation comes after the rest, what was
taken back last of all. How things score before that is in `score.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from firsthand.model import Belief, State

RECALLED = frozenset({State.ACTIVE, State.SCHEDULED, State.SUPERSEDED, State.PENDING, State.EXPIRED})
BELOW = 0.999  # what stands below another scores at most this share of it


@dataclass(frozen=True)
class Held:
    """What an owner's memory believes at the times asked, in all states, with what recall looks up in it.

    `rows` names each belief's search row; a belief without one is looked for by its words alone. The same value serves
    many questions: it may be kept as long as the beliefs are the same.
    """

    beliefs: Sequence[Belief] = ()
    rows: Mapping[str, str] = field(default_factory=dict)  # belief id -> id of its search row

    @cached_property
    def by_id(self) -> dict[str, Belief]:
        """Beliefs by id."""
        return {each.id: each for each in self.beliefs}

    @cached_property
    def of_message(self) -> dict[str, list[Belief]]:
        """The beliefs that rest on each message."""
        out: dict[str, list[Belief]] = {}
        for belief in self.beliefs:
            for message_id in belief.evidence:
                out.setdefault(message_id, []).append(belief)
        return out

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """Whom beliefs are about, other than the owner's person, in alphabetical order."""
        return tuple(sorted({each.subject for each in self.beliefs if each.subject != "user"}))

    def successor(self, belief: Belief) -> Belief | None:
        """The belief that superseded or corrected this one, where it has one."""
        return None if belief.superseded_by is None else self.by_id.get(belief.superseded_by)

    def outdated(self, message_id: str, weigh: Callable[[Belief], float]) -> Belief | None:
        """The belief resting on this message that no longer holds, if it is the one that the question is closest to.

        `weigh` says how close a belief is to the question.
        """
        resting = self.of_message.get(message_id)
        if not resting:
            return None
        closest = max(resting, key=lambda each: (weigh(each), each.state is State.ACTIVE, each.valid_from, each.id))
        return closest if closest.state in (State.SUPERSEDED, State.WITHDRAWN) else None
