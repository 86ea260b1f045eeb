"""Talk to read, and a short way to write what was found in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache

from firsthand.model import Message, Position, Role
from firsthand.ports import Proposal
from firsthand.writer.rules import RulesWriter

AT = datetime.fromisoformat("2025-06-11T10:00:00+02:00")  # a Wednesday


@cache
def rules() -> RulesWriter:
    """Give the writer as it ships."""
    return RulesWriter()


def told(*turns: str, at: datetime = AT, before: Sequence[str] = ()) -> list[str]:
    """Say some turns (one that begins with "A: " is the assistant's) and list what is proposed, a line each."""
    earlier = [turn(text, f"b{number}", at) for number, text in enumerate(before, 1)]
    messages = [turn(text, f"m{number}", at) for number, text in enumerate(turns, 1)]
    return [line(each) for each in rules().propose(messages, earlier)]


def turn(text: str, name: str = "m1", at: datetime = AT) -> Message:
    """Make a turn of one session."""
    role, content = (Role.ASSISTANT, text[3:]) if text.startswith("A: ") else (Role.USER, text)
    return Message(id=name, role=role, content=content, at=at, position=Position(0, 0, "test"), session="s")


def line(p: Proposal) -> str:
    """Write a proposal in one line: act (unless it asserts), slot, value, source (unless quoted), dates, targets."""
    act = "" if p.act == "assert" else f"{p.act} "
    slot = f"{p.subject}.{p.attribute}" if p.attribute else p.subject
    value = "" if p.value is None else f" = {p.value}"
    source = "" if p.source == "quoted" else f" [{p.source}]"
    dates = "".join(f" {word} {at:%Y-%m-%d}" for word, at in (("since", p.valid_from), ("until", p.valid_to)) if at)
    replaces = f" for {p.replaces}" if p.replaces else ""
    retracts = f" of {p.retracts}" if p.retracts else ""
    return f"{act}{slot}{value}{source}{dates}{replaces}{retracts}"
