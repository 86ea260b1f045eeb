"""What happens in the demo: a conversation of eight weeks replayed through the real engine, as a stream of events.

Holds the script (what the agent notes and when, what is asked afterwards) and plays it with a clock that follows the
story; the talk itself is `demo_conversation.jsonl`. Nothing is computed beforehand: every event carries what the
library answered. How the events read is in `demo_pages.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from typing import TYPE_CHECKING, Any

from firsthand.model import Belief, Caller, Receipt

if TYPE_CHECKING:
    from firsthand.memory import Memory, User

USER = "mira"

# What the agent offers to memory by itself, after which message: the arguments of `remember`. The person's own words
# are picked up by the rules writer; these are calls that an agent makes, some of them foolish.
NOTES: Mapping[str, Mapping[str, Any]] = {
    "mar02-4": {"text": "is a morning person", "source": "quoted"},
    "mar02-5": {"text": "Gulliver, a globe", "attribute": "pet", "source": "agent"},
    "mar23-1": {"text": "asthma", "attribute": "health", "source": "inferred"},
    "mar30-3": {"text": "Calle Betis 40, 41010 Sevilla", "attribute": "shipping_address", "source": "inferred"},
    "apr02-3": {"text": "recruiter", "subject": "Joe", "attribute": "relationship", "source": "inferred"},
    "apr06-3": {"text": "recruiter", "subject": "Joe", "attribute": "occupation", "source": "inferred"},
    "apr09-3": {"text": "Joe is recruiting Mira for Anthropic", "subject": "Joe", "source": "inferred"},
}
GUESSES = ("apr02-3", "apr06-3", "apr09-3")

# The agent asked, and this is the person's yes.
CONFIRMED = {"mar26-3": "allergy"}

AFTERWARDS = datetime.fromisoformat("2026-04-24T10:00:00+00:00")
QUESTIONS = (
    "Where does Mira live?",
    "Who is Joe?",
    "What is her shipping address?",
    "What is Mira allergic to?",
    "Where did she live before Lisbon?",
)
UNANSWERABLE = "Is Mira a vegetarian?"
TASK = "Draft a note to Joe"
MONTH_AGO = datetime.fromisoformat("2026-03-23T12:00:00+00:00")
BETWEEN = datetime.fromisoformat("2026-04-10T12:00:00+00:00")
CORRECTION = ("Gulliver, a globe", "Gulliver, a cat")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, with what the library answered."""

    kind: str
    data: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.data[name]


@dataclass(frozen=True, slots=True)
class Change:
    """A belief that is not what it was."""

    belief: Belief
    before: str | None  # its state until now; None: it is new


class StoryClock:
    """The time in the story."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """What time it is."""
        return self.now


def conversation() -> list[dict[str, Any]]:
    """The messages, in order."""
    text = resources.files("firsthand.cli").joinpath("demo_conversation.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def play(memory: Memory, user: str, clock: StoryClock) -> Iterator[Event]:
    """Everything that happens, in order, as it happens."""
    stage = _Stage(memory, user, clock)
    for message in conversation():
        yield from stage.hear(message)
    clock.now = AFTERWARDS
    yield from stage.look_back()


class _Stage:
    """The memory in play, and what was believed a moment ago."""

    def __init__(self, memory: Memory, user: str, clock: StoryClock) -> None:
        self.clock = clock
        self.person: User = memory.user(user)
        self.agent: User = memory.user(user, agent="assistant", caller=Caller.MODEL)
        self.session: str | None = None
        self._believed: dict[str, Belief] = {}

    # -- the talk -----------------------------------------------------------------------------------------------

    def hear(self, message: dict[str, Any]) -> Iterator[Event]:
        """A message is said, the agent may note something about it, and the person may confirm something."""
        self.clock.now = datetime.fromisoformat(message["at"])
        if message["session"] != self.session:
            self.session = message["session"]
            yield Event("session", {"session": self.session, "at": self.clock.now, "changes": self._changes()})
        receipt = self.person.observe(message)
        kept = next(iter(self.person.messages(self.session, since=message["at"])))
        yield Event("said", {"message": kept, "receipt": receipt, "changes": self._changes()})
        self.clock.now += timedelta(seconds=20)
        if message["id"] in NOTES:
            yield self._note(message["id"], NOTES[message["id"]])
        if message["id"] in CONFIRMED:
            yield self._confirm(CONFIRMED[message["id"]])

    def _note(self, message_id: str, note: Mapping[str, Any]) -> Event:
        arguments = {**note, "evidence": [message_id]}
        text = arguments.pop("text")
        receipt = self.agent.remember(text, session=self.session, **arguments)
        told = {"text": text, **arguments}
        return Event("noted", {"arguments": told, "receipt": receipt, "changes": self._changes()})

    def _confirm(self, attribute: str) -> Event:
        waiting = self.person.beliefs("user", attribute, state="pending")
        receipt = self.person.confirm(waiting[0].id)
        return Event("confirmed", {"id": waiting[0].id, "receipt": receipt, "changes": self._changes()})

    def _changes(self) -> list[Change]:
        """What is believed otherwise than at the last look, with the time that has passed since."""
        now = {belief.id: belief for belief in self.person.beliefs(state=None)}
        before, self._believed = self._believed, now
        return [
            Change(belief, before[name].state if name in before else None)
            for name, belief in now.items()
            if name not in before or _standing(before[name]) != _standing(belief)
        ]

    # -- afterwards ---------------------------------------------------------------------------------------------

    def look_back(self) -> Iterator[Event]:
        """What memory makes of it all."""
        yield Event("profile", {"beliefs": self.person.profile()})
        yield Event("pending", {"waiting": self.person.pending()})
        for question in QUESTIONS:
            yield Event("recalled", {"question": question, "hits": self.person.recall(question, limit=3)})
        yield Event("recalled", {"question": UNANSWERABLE, "hits": self.person.recall(UNANSWERABLE, limit=1)})
        yield self._guarantee()
        yield Event("context", {"question": TASK, "context": self.person.context(TASK, max_tokens=600)})
        yield Event("why", {"explanation": self.person.why(self._held("user", "works_at").id)})
        yield Event("late", {"histories": [self.person.history("user", name) for name in ("lives_in", "works_at")]})
        yield self._as_of()
        yield self._corrected()

    def _guarantee(self) -> Event:
        cited = set(GUESSES)
        found = self.person.beliefs("Joe", state=None)
        guesses = sorted((b for b in found if b.guess and cited & set(b.evidence)), key=lambda b: b.recorded_at)
        return Event("guarantee", {"held": self._held("Joe", "relationship"), "guesses": guesses})

    def _as_of(self) -> Event:
        def believed(valid_at: datetime, known_at: datetime) -> list[Belief]:
            found: Sequence[Belief] = self.person.beliefs("user", valid_at=valid_at, known_at=known_at)
            return [b for b in found if b.attribute in ("lives_in", "works_at")]

        return Event(
            "as_of",
            {
                "then": MONTH_AGO,
                "believed_then": believed(MONTH_AGO, MONTH_AGO),
                "between": BETWEEN,
                "believed_between": believed(BETWEEN, BETWEEN),
                "known_now_of_between": believed(BETWEEN, self.clock.now),
            },
        )

    def _corrected(self) -> Event:
        wrong, right = CORRECTION
        old = next(b for b in self.person.beliefs("user", "pet") if b.value == wrong)
        receipt: Receipt = self.person.correct(old.id, right, reason="he is a cat")
        held = self.person.history("user", "pet")
        return Event("corrected", {"id": old.id, "to": right, "receipt": receipt, "history": held})

    def _held(self, subject: str, attribute: str) -> Belief:
        return self.person.beliefs(subject, attribute)[0]


def _standing(belief: Belief) -> tuple[Any, ...]:
    return belief.state, belief.text, belief.source, belief.confidence, belief.valid_to, belief.reason
