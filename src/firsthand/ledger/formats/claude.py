"""Claude's export: conversations.json, where each conversation has a list of `chat_messages`."""

from __future__ import annotations

from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger import shapes
from firsthand.ledger.formats.conversation import Found
from firsthand.model import Role

_THOUGHTS = ("thinking", "redacted_thinking")


def fits(value: Any) -> bool:
    """Whether it is a conversation with `chat_messages`, or a list of them."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("chat_messages"), list)


def found(value: Any, _name: str) -> list[Found]:
    """Every conversation, in the file's order. Raises InvalidInput."""
    rows = value if isinstance(value, list) else [value]
    return [_conversation(row, number) for number, row in enumerate(rows, 1)]


def _conversation(row: Any, number: int) -> Found:
    if not isinstance(row, dict) or not isinstance(row.get("chat_messages"), list):
        raise InvalidInput(f"conversation {number}: it has no chat_messages")
    session = row["uuid"] if isinstance(row.get("uuid"), str) and row["uuid"] else f"claude-{number}"
    title = row["name"] if isinstance(row.get("name"), str) and row["name"] else None
    messages = [
        (f"conversation {number}, message {at}", message)
        for at, each in enumerate(row["chat_messages"], 1)
        for message in _messages(each, f"conversation {number}, message {at}")
    ]
    return Found(session, messages, title)


def _messages(row: Any, where: str) -> list[dict[str, Any]]:
    """The message, and before it the texts pasted with it, which are nobody's own words."""
    if not isinstance(row, dict):
        raise InvalidInput(f"{where}: it is no object")
    time = {"at": row["created_at"]} if row.get("created_at") else {}
    attached = [each for key in ("attachments", "files") for each in row.get(key) or () if isinstance(each, dict)]
    text = "\n".join(filter(None, [_text(row), *(shapes.marker("file", each.get("file_name")) for each in attached)]))
    identity = {"id": row["uuid"]} if row.get("uuid") else {}
    said = [{"role": row.get("sender"), "content": text, **identity, **time}] if text else []
    return [*_pasted(attached, identity, time), *said]


def _pasted(attached: list[dict[str, Any]], identity: dict[str, Any], time: dict[str, Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, each in enumerate(attached, 1):
        content = each.get("extracted_content")
        if isinstance(content, str) and content:
            message = {"role": Role.TOOL.value, "content": content, **time}
            if isinstance(each.get("file_name"), str) and each["file_name"]:
                message["name"] = each["file_name"]
            if identity:
                message["id"] = f"{identity['id']}-file-{number}"
            messages.append(message)
    return messages


def _text(row: dict[str, Any]) -> str:
    blocks = row.get("content")
    if isinstance(blocks, list) and blocks:
        said = [each for each in blocks if not (isinstance(each, dict) and each.get("type") in _THOUGHTS)]
        text = shapes.content_text(said)
        if text:
            return text
    return row["text"] if isinstance(row.get("text"), str) else ""
