"""What the tests of recall build on: a small world of messages and beliefs, with vectors that need no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from firsthand.model import (
    Act,
    Belief,
    Hit,
    Kind,
    Message,
    Observation,
    Position,
    Role,
    Source,
    State,
    micros,
)
from firsthand.ports import MessageFacts, SearchRow
from firsthand.recall.index import OwnerIndex, belief_document
from firsthand.recall.question import Conditions, People, ask
from firsthand.recall.recall import Beside, Found, Held, search
from firsthand.recall.scale import Scale
from firsthand.text import term_hashes, terms

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DIMENSIONS = 256


def embedded(text: str) -> NDArray[np.float32]:
    """A unit vector in which every term of the text has a random direction of its own; zeros where it has none."""
    total = np.zeros(DIMENSIONS, dtype=np.float32)
    for term in terms(text):
        seed = int.from_bytes(blake2b(term.encode(), digest_size=4).digest(), "little")
        total += np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
    length = float(np.linalg.norm(total))
    return total / np.float32(length) if length else total


def message(
    message_id: str,
    content: str,
    *,
    at: datetime = NOW,
    session: str | None = "s",
    role: Role = Role.USER,
    **rest: object,
) -> Message:
    """A message; its place in the ledger is set by the world that it is put into."""
    return Message(message_id, role, content, at, Position(0, 0, "x"), session=session, **rest)  # type: ignore[arg-type]


def belief(belief_id: str, text: str, **rest: object) -> Belief:
    """A belief about the person, active since the first of January unless said."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    given = {
        "subject": "user",
        "attribute": None,
        "value": text,
        "kind": Kind.SEMANTIC,
        "source": Source.STATED,
        "confidence": 1.0,
        "state": State.ACTIVE,
        "valid_from": start,
        "valid_to": None,
        "recorded_at": start,
        "last_said": start,
    } | rest
    return Belief(id=belief_id, text=text, **given)  # type: ignore[arg-type]


def taken_back(message_id: str, reason: str | None = None) -> dict[str, Observation]:
    """The act by which a message was taken back."""
    act = Observation(
        "act",
        Act.RETRACT,
        "user",
        None,
        None,
        Kind.EPISODIC,
        Source.STATED,
        1.0,
        NOW,
        Position(9, 9, "x"),
        reason=reason,
    )
    return {message_id: act}


@dataclass
class World:
    """Messages and beliefs of one owner, to be asked."""

    messages: Sequence[Message] = ()
    beliefs: Sequence[Belief] = ()
    vectors: bool = True
    uses: dict[str, tuple[int, int]] = field(default_factory=dict)
    taken: dict[str, Observation] = field(default_factory=dict)
    metadata: dict[str, dict[str, object]] = field(default_factory=dict)
    aliases: Sequence[str] = ()
    single: frozenset[str] = frozenset()  # attributes that hold one value at a time

    def facts(self) -> list[MessageFacts]:
        """The messages' search rows, in ledger order."""
        return [self._facts(at, each) for at, each in enumerate(self.messages)]

    def index(self) -> OwnerIndex:
        """The index of it all."""
        rows = [
            SearchRow("belief", f"row {each.id}", term_hashes(text), self._packed(text))
            for each in self.beliefs
            for text in [belief_document(each)]
        ]
        return OwnerIndex.build(self.facts(), rows)

    def held(self) -> Held:
        """The beliefs as recall takes them."""
        return Held(tuple(self.beliefs), {each.id: f"row {each.id}" for each in self.beliefs}, self.single)

    def search(self, text: str, *, index: OwnerIndex | None = None, now: datetime = NOW, **conditions: object) -> Found:
        """Ask, and see how the answer came about."""
        held = self.held()
        index = self.index() if index is None else index
        people = People(index.names, held.subjects, self.aliases)
        question = ask(text, now, people, Conditions(**conditions))  # type: ignore[arg-type]
        if self.vectors:
            question = question.with_vector(embedded(question.asked.topic), Scale(0.0, 0.8))
        stored = {each.id: each for each in self.messages}
        beside = Beside(
            lambda ids: {each: stored[each] for each in ids if each in stored}, self.uses, self.taken, self.metadata
        )
        return search(question, index, held, beside)

    def ask(self, text: str, **conditions: object) -> list[Hit]:
        """Ask."""
        return list(self.search(text, **conditions).hits)  # type: ignore[arg-type]

    def _facts(self, at: int, said: Message) -> MessageFacts:
        return MessageFacts(
            id=said.id,
            position=replace_position(said, at),
            session=said.session,
            agent=said.agent,
            role=said.role,
            name=said.name,
            at=micros(said.at),
            terms=term_hashes(said.content),
            vector=self._packed(said.content),
            recalled=said.recalled,
        )

    def _packed(self, text: str) -> bytes | None:
        return embedded(text).astype("<f2").tobytes() if self.vectors else None


def replace_position(said: Message, at: int) -> Position:
    """The place of the message in the ledger: told when it was said, unless it names another time."""
    told = said.position.recorded_at or micros(said.at)
    return Position(told, at, "x")


def days_ago(days: float) -> datetime:
    """So many days before the moment that the tests ask at."""
    return NOW - timedelta(days=days)


def told_at(said: Message, at: datetime) -> Message:
    """The message as memory was told of it at a time."""
    return replace(said, position=Position(micros(at), 0, "x"))
