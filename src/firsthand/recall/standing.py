"""Standing: what outranks what, whatever the score says.

Current beliefs stand above those they superseded, and above messages that say what no longer holds, unless the
question is about the past: then the older ones stand above. How things score before that is in `score.py`; in which
order they are walked is in `recall.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from firsthand.model import Belief, State, micros
from firsthand.recall.index import BeliefRows
from firsthand.recall.postings import Rows

RECALLED = frozenset({State.ACTIVE, State.SCHEDULED, State.SUPERSEDED, State.PENDING, State.EXPIRED})


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

    @cached_property
    def recalled(self) -> NDArray[np.bool_]:
        """Which beliefs may be recalled: all but withdrawn and rejected ones. Shape (beliefs,)."""
        return np.array([each.state in RECALLED for each in self.beliefs], dtype=np.bool_)

    @cached_property
    def last_said(self) -> NDArray[np.int64]:
        """When each belief was last said, microseconds since 1970. Shape (beliefs,)."""
        return np.array([micros(each.last_said) for each in self.beliefs], dtype=np.int64)

    @cached_property
    def successions(self) -> tuple[tuple[Belief, Belief], ...]:
        """Pairs of (older, newer) where the newer superseded or corrected the older; those of the latest first."""
        pairs = [(each, newer) for each in self.beliefs if (newer := self.successor(each)) is not None]
        return tuple(sorted(pairs, key=lambda pair: (pair[0].valid_from, pair[0].id), reverse=True))

    @cached_property
    def _numbers(self) -> dict[int, tuple[BeliefRows, Rows]]:
        return {}

    def rows_in(self, compiled: BeliefRows) -> Rows:
        """The row of each belief among the compiled search rows, -1 where there is none. Shape (beliefs,)."""
        kept = self._numbers.get(0)
        if kept is None or kept[0] is not compiled:
            number, named = compiled.number, self.rows
            found = [number.get(named.get(each.id, ""), -1) for each in self.beliefs]
            kept = (compiled, np.array(found, dtype=np.int32))
            self._numbers[0] = kept
        return kept[1]

    def successor(self, belief: Belief) -> Belief | None:
        """The belief that superseded or corrected this one, where it has one."""
        return None if belief.superseded_by is None else self.by_id.get(belief.superseded_by)

    def gist(self, message_id: str, weigh: Callable[[Belief], float]) -> Belief | None:
        """Of the beliefs that rest on this message, the one closest to the question; None where none does.

        `weigh` says how close a belief is.
        """
        resting = self.of_message.get(message_id)
        if not resting:
            return None
        return max(resting, key=lambda each: (weigh(each), each.state is State.ACTIVE, each.valid_from, each.id))
