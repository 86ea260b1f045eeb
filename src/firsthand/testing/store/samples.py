"""Rows to put into a store under test, with everything that a test does not care about filled in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from firsthand.model import Act, Evidence, Kind, Message, Observation, Owner, Role, Source, Target
from firsthand.ports import Cell, Cursor, MessageQuery, Placement, Reading, SearchRow, Spending, Store, Writing

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALEX = Owner("default", "alex")
SAM = Owner("default", "sam")

ODD_TEXTS = (
    "Zürich, naïve café",
    "東京で寿司を食べた",
    "مرحبا بالعالم",
    "👩‍👩‍👧‍👦 and 🏳️‍🌈",
    "e\u0301 is not é",
    "quote ' \" ; -- /* %_ \\ NEAR(a b)",
    "line\nbreak\ttab\r\n\x1f\x00end",
    "",
)


def message(work: Writing, id_: str, content: str = "I live in Lisbon", **given: Any) -> Message:
    """A message with the next position, not yet added."""
    whole = {"role": Role.USER, "at": NOW, "session": "s1", **given}
    return Message(id=id_, content=content, position=whole.pop("position", None) or work.next_position(), **whole)


def say(work: Writing, id_: str, content: str = "I live in Lisbon", **given: Any) -> Message:
    """Add one message and its search row."""
    said = message(work, id_, content, **given)
    work.messages.add([said])
    work.search.put([SearchRow("message", id_, b"terms of " + id_.encode(), None)])
    return said


def claim(work: Writing, id_: str, cited: tuple[str, ...] = (), **given: Any) -> Observation:
    """Add one observation that cites these messages."""
    whole = {
        "act": Act.ASSERT,
        "subject": "user",
        "attribute": "lives_in",
        "value": "Lisbon",
        "kind": Kind.SEMANTIC,
        "source": Source.QUOTED,
        "confidence": 0.7,
        "said_at": NOW,
        "evidence": tuple(Evidence(each, 0, 6, "I live") for each in cited),
        **given,
    }
    claimed = Observation(id=id_, position=whole.pop("position", None) or work.next_position(), **whole)
    work.observations.add([claimed])
    return claimed


def take_back(work: Writing, id_: str, message_id: str, **given: Any) -> Observation:
    """Add the act that takes back a message."""
    whole = {"act": Act.RETRACT, "attribute": None, "value": None, "source": Source.STATED, "confidence": 1.0}
    return claim(work, id_, **{**whole, "target": Target(message_id=message_id), **given})


def settle(
    work: Writing, observation_id: str, slot: str = "user\x1flives_in", cell: str = "", state: str = "{}"
) -> None:
    """Save a cell, the placement of an observation in it under its own claim, and the belief's search row."""
    work.beliefs.save(
        [Cell(slot, cell, "user", "lives_in", state)], [Placement(observation_id, slot, cell, observation_id)]
    )
    work.search.put([SearchRow("belief", f"{slot}\x1f{cell}\x1f{observation_id}", b"terms", b"vector")])


def fill(store: Store, owner: Owner, secret: str) -> None:
    """Put rows of every kind into the store, each with a text that can be looked for."""
    with store.writing(owner, NOW) as work:
        say(work, "m1", f"words {secret}", name=f"name {secret}", metadata={"note": f"metadata {secret}"})
        say(work, "m2", f"more {secret}", session=f"session {secret}")
        claim(work, "o1", ("m1", "m2"), value=f"value {secret}")
        claim(work, "o2", ("m2",), value=f"other {secret}")
        settle(work, "o1", slot=f"slot {secret}", state=f'{{"state": "{secret}"}}')
        settle(work, "o2", slot=f"other slot {secret}")
        take_back(work, "o3", "m1", reason=f"reason {secret}")
        work.beside.remember_receipt(f"key {secret}", "digest", f'{{"stored": ["o1"], "question": "{secret}?"}}')
        work.beside.add_use(["o1", "m1", "o1@2026-01-01T00:00:00Z"], 5)
        work.cursors.save(Cursor(f"session {secret}", work.next_position(), due_at=5, holder=f"holder {secret}"))
        work.cursors.spend("2026-03-01", Spending(1, 10))


def contents(work: Reading) -> Mapping[str, list[Any]]:
    """Everything that a reading shows of its owner, by surface."""
    return {
        "messages": list(work.messages.walk(MessageQuery())),
        "named messages": list(work.messages.walk(MessageQuery(ids=["m1", "m2"]))),
        "sessions": list(work.messages.sessions()),
        "retracted": list(work.messages.retracted()),
        "retracted by id": list(work.messages.retracted(["m1"])),
        "observations": list(work.observations.walk()),
        "observations by id": list(work.observations.get(["o1", "o2", "o3"])),
        "rows": work.observations.rows(["o1", "o2", "o3"]),
        "citing": work.observations.citing(["m1", "m2"]),
        "cells": work.beliefs.cells(),
        "placements": work.beliefs.placements(),
        "placements by id": work.beliefs.placements(observation_ids=["o1", "o2"]),
        "cited": work.beliefs.cited(),
        "search messages": list(work.search.messages()),
        "search beliefs": list(work.search.beliefs()),
        "due": work.search.due(10),
        "dropped": work.beside.dropped(),
        "uses": list(work.beside.uses()),
        "cursors due": work.cursors.due(10),
    }
