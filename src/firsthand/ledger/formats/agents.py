"""Letta's agent files (.af) and dumps: the messages of each agent. Its memory blocks are conclusions, and stay out."""

from __future__ import annotations

import json
import re
from typing import Any

from firsthand.ledger import shapes
from firsthand.ledger.formats.conversation import Found
from firsthand.ledger.formats.plain import stem

_LOCAL_ID = re.compile(r"(?:message|agent)-\d+")  # numbered anew in every file, so that two files clash
_KEPT = ("role", "name", "tool_calls", "tool_call_id")


def fits(value: Any) -> bool:
    """Whether it is an object with agents that hold messages or a model's settings."""
    agents = value.get("agents") if isinstance(value, dict) else None
    if not isinstance(agents, list):
        return False
    return any(isinstance(each, dict) and {"messages", "llm_config", "core_memory"} & each.keys() for each in agents)


def found(value: Any, name: str) -> list[Found]:
    """One conversation an agent."""
    agents = [each for each in value.get("agents", ()) if isinstance(each, dict)]
    return [_conversation(agent, number, stem(name)) for number, agent in enumerate(agents, 1)]


def _conversation(agent: dict[str, Any], number: int, file: str) -> Found:
    identity, called = agent.get("id"), agent.get("name")
    named = isinstance(identity, str) and _LOCAL_ID.fullmatch(identity) is None
    session = str(identity) if named else str(called or file)
    rows = agent.get("messages")
    messages = [
        (f"agent {number}, message {at}", message)
        for at, row in enumerate(rows if isinstance(rows, list) else (), 1)
        if isinstance(row, dict) and (message := _message(row)) is not None
    ]
    return Found(session, messages, called if isinstance(called, str) else None)


def _message(row: dict[str, Any]) -> dict[str, Any] | None:
    """The message as intake knows it; None when it says nothing."""
    message = {key: row[key] for key in _KEPT if row.get(key)}
    if message.get("role") == "approval":
        message["role"] = "assistant"
    message["content"], message["role"] = _unwrapped(shapes.content_text(row.get("content")), message.get("role"))
    if row.get("created_at") is not None:
        message["at"] = row["created_at"]
    identity = row.get("id")
    if isinstance(identity, str) and _LOCAL_ID.fullmatch(identity) is None:
        message["id"] = identity
    return message if message["content"] or message.get("tool_calls") else None


def _unwrapped(text: str, role: Any) -> tuple[str, Any]:
    """The user's words, which Letta packs in JSON; its own events (a login, a heartbeat) are the system's."""
    if role != "user" or not text.startswith("{"):
        return text, role
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return text, role
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        return text, role
    if event["type"] == "user_message" and isinstance(event.get("message"), str):
        return event["message"], role
    return text, "system"
