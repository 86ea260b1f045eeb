"""ChatGPT's export: conversations.json, where each conversation is a tree of messages.

The branch that was last shown is read, from `current_node` up to the root; answers that were thrown away and
questions that were edited stay out, and so does what was never shown to the person.
"""

from __future__ import annotations

from datetime import UTC
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger import shapes
from firsthand.ledger.formats.conversation import Found
from firsthand.ledger.times import read_time

_UNSAID = frozenset({"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"})
_PICTURES = "image_asset_pointer"
_SPOKEN = "audio_transcription"


def fits(value: Any) -> bool:
    """Whether it is a conversation with a `mapping`, or a list of them."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def found(value: Any, _name: str) -> list[Found]:
    """Every conversation, in the file's order. Raises InvalidInput."""
    rows = value if isinstance(value, list) else [value]
    return [_conversation(row, number) for number, row in enumerate(rows, 1)]


def _conversation(row: Any, number: int) -> Found:
    if not isinstance(row, dict) or not isinstance(row.get("mapping"), dict):
        raise InvalidInput(f"conversation {number}: it has no mapping of messages")
    title = row["title"] if isinstance(row.get("title"), str) else None
    session = next((row[key] for key in ("conversation_id", "id") if isinstance(row.get(key), str) and row[key]), None)
    began = _time(row.get("create_time"))
    messages: list[tuple[str, dict[str, Any]]] = []
    for node in _shown_branch(row["mapping"], row.get("current_node")):
        message = _message(node.get("message"))
        if message is None:
            continue
        # A message without a time was said after the one before it.
        began = message.setdefault("at", began) or began
        where = f"conversation {number}, message {len(messages) + 1}"
        messages.append((where, {key: each for key, each in message.items() if each is not None}))
    return Found(session or f"chatgpt-{number}", messages, title)


def _shown_branch(mapping: dict[str, Any], current: Any) -> list[dict[str, Any]]:
    """The nodes from the root to the current one; each at most once, for the tree may be broken."""
    at = current if isinstance(current, str) and current in mapping else _latest_leaf(mapping)
    seen: dict[str, dict[str, Any]] = {}
    while isinstance(at, str) and at not in seen and isinstance(mapping.get(at), dict):
        seen[at] = mapping[at]
        at = mapping[at].get("parent")
    return list(reversed(seen.values()))


def _latest_leaf(mapping: dict[str, Any]) -> str | None:
    leaves = [key for key, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
    return max(leaves, key=lambda key: (_seconds(mapping[key]), key), default=None)


def _seconds(node: dict[str, Any]) -> float:
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, (int, float)) else 0.0


def _message(row: Any) -> dict[str, Any] | None:
    """The message as intake knows it; None when it says nothing or was hidden."""
    if not isinstance(row, dict) or _is_hidden(row):
        return None
    author = row.get("author")
    author = author if isinstance(author, dict) else {}
    text = _text(row.get("content"))
    if not text:
        return None
    message = {"role": author.get("role"), "content": text}
    beside = {"id": row.get("id"), "name": author.get("name"), "at": _time(row.get("create_time"))}
    return {**message, **{key: value for key, value in beside.items() if value}}


def _is_hidden(row: dict[str, Any]) -> bool:
    facts = row.get("metadata")
    hidden = isinstance(facts, dict) and facts.get("is_visually_hidden_from_conversation") is True
    return hidden or row.get("weight") == 0


def _text(content: Any) -> str:
    if not isinstance(content, dict) or content.get("content_type") in _UNSAID:
        return ""
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n".join(text for part in parts if (text := _part(part)))
    for key in ("text", "result"):
        if isinstance(content.get(key), str):
            return str(content[key])
    return ""


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    kind = part.get("content_type")
    if kind == _SPOKEN or (kind is None and isinstance(part.get("text"), str)):
        return str(part.get("text") or "")
    if kind == _PICTURES:
        facts = part.get("metadata")
        made = facts.get("dalle") if isinstance(facts, dict) else None
        return shapes.marker("image", made.get("prompt") if isinstance(made, dict) else None)
    return shapes.marker(str(kind or "part").removesuffix("_asset_pointer").removesuffix("_pointer"))


def _time(value: Any) -> Any:
    """Seconds since 1970, as the export has them, as ISO text; anything else is left for intake to judge."""
    if not value or not isinstance(value, (int, float)):
        return value
    try:
        return read_time(value, UTC).isoformat()
    except InvalidInput:
        return value
