"""The shapes in which chat systems write a message, read as one: role, text, speaker.

Knows OpenAI (chat and responses), Anthropic, LangChain, Gemini and Bedrock by their keys alone. Takes plain JSON,
touches nothing outside. Text parts are joined by a newline; anything else becomes a marker in brackets, such as
`[image: beach.jpg]` or `[calls weather: {"city":"Lisbon"}]`. Times, ids and storage are left to `intake.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger.values import kind_of, shown
from firsthand.model import Role

ROLES: Mapping[str, Role] = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
# LangChain's classes and type names; the streaming ones carry "Chunk" at the end.
_LANGCHAIN = re.compile(r"(human|ai|system|tool|function)(?:message)?(?:chunk)?", re.IGNORECASE)

_TEXT_KEYS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "function_call", "tool_call", "custom_tool_call"})
_RESULTS = frozenset({"tool_result", "function_call_output", "custom_tool_call_output", "function_response"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_LABELS = ("caption", "alt", "title", "filename", "file_name", "name", "transcript", "description")
# Parts without a type, known by the key that holds them.
_UNTYPED = {
    "functionCall": "function_call",
    "function_call": "function_call",
    "toolUse": "tool_use",
    "functionResponse": "function_response",
    "function_response": "function_response",
    "toolResult": "tool_result",
}
_BLANKS = re.compile(r"\s+")
_LONGEST_KIND = 64

NO_OUTPUT = "[no output]"


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as all systems would write it."""

    role: Role
    content: str
    fields: Mapping[str, Any]  # the level of the message that holds id, name, time and the like
    speaker: str | None  # the `name`, checked to be text


def turn(message: Mapping[str, Any]) -> Turn:
    """Read a message in any known shape. Raises InvalidInput without saying which message it was."""
    fields = _unwrapped(message)
    role = _role(fields)
    said = _said(fields)
    if role is Role.USER and said.results and not said.own:
        role = Role.TOOL  # Anthropic sends tool results in the user's name
    content = said.text(role)
    if not content and role is Role.TOOL and (said.results or fields.get("tool_call_id")):
        content = NO_OUTPUT
    if not content:
        raise InvalidInput(_nothing(fields))
    return Turn(role, content, fields, None if _is_call(fields) else _speaker(fields))


def content_text(content: object) -> str:
    """The readable text of a `content` value: text, parts or blocks, markers for what is not text."""
    said = _Said()
    said.add(content, "content")
    return said.text(Role.ASSISTANT)


def marker(kind: str, label: object = None) -> str:
    """What stands in the text for something that is not text, on one line."""
    name = _BLANKS.sub(" ", kind[:_LONGEST_KIND]).strip() or "part"
    words = _BLANKS.sub(" ", label).strip() if isinstance(label, str) else ""
    return f"[{name}: {words}]" if words else f"[{name}]"


def role_of(word: str) -> Role | None:
    """The role that a chat system's word means, if any."""
    return ROLES.get(word) or ROLES.get(word.casefold())


def call_ids(message: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the tool calls that a message makes or answers, in order."""
    fields = _unwrapped(message)
    calls = [call for key in ("tool_calls", "content") for call in _listed(fields.get(key)) if isinstance(call, dict)]
    found = [fields.get("tool_call_id"), fields.get("call_id")]
    found += [call.get("tool_use_id") or call.get("id") for call in calls if call.get("type") != "text"]
    return tuple(each for each in found if isinstance(each, str))


def with_fields(message: Mapping[str, Any], **fields: object) -> dict[str, Any]:
    """The message with fields such as id and time set at the level where they are read."""
    for level in ("kwargs", "data"):
        if _is_wrapped(message, level):
            return {**message, level: {**message[level], **fields}}
    return {**message, **fields}


# -- the message around its content --------------------------------------------------------------------------------


def _unwrapped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The level that holds content: LangChain wraps it as {"type", "data"} or {"lc", "id": […], "kwargs"}."""
    if _is_wrapped(message, "kwargs"):
        return {"type": message["id"][-1], **message["kwargs"]}
    if _is_wrapped(message, "data"):
        return {**message["data"], "type": message["type"]}
    return message


def _is_wrapped(message: Mapping[str, Any], level: str) -> bool:
    """Whether LangChain put the message's fields one level down, at `kwargs` or `data`."""
    if not isinstance(message.get(level), dict):
        return False
    if level == "kwargs":
        path = message.get("id")
        return "lc" in message and isinstance(path, list) and bool(path)
    return "role" not in message and isinstance(message.get("type"), str)


def _role(fields: Mapping[str, Any]) -> Role:
    given = fields.get("role")
    if given is None:
        return _role_of_type(fields.get("type"))
    if not isinstance(given, str):
        raise InvalidInput(f"role is {kind_of(given)}, not text")
    known = role_of(given)
    if known is None:
        raise InvalidInput(f"role {shown(given)} is unknown: use user, assistant, system or tool")
    return known


def _role_of_type(kind: object) -> Role:
    """The role of an item that has only a type: LangChain's messages, the items of OpenAI's responses."""
    if isinstance(kind, str):
        known = _LANGCHAIN.fullmatch(kind)
        if known is not None:
            return ROLES[known[1].casefold()]
        if kind.endswith("_output"):
            return Role.TOOL
        if kind.endswith("_call") or kind in _THOUGHTS:
            return Role.ASSISTANT
    raise InvalidInput("it has no role: give user, assistant, system or tool")


def _is_call(fields: Mapping[str, Any]) -> bool:
    """Whether it is a call on its own (an item of OpenAI's responses), whose name is the tool's."""
    return fields.get("role") is None and str(fields.get("type")).endswith(("_call", "_output"))


def _speaker(fields: Mapping[str, Any]) -> str | None:
    name = fields.get("name")
    if name is None or isinstance(name, str):
        return name or None
    raise InvalidInput(f"name is {kind_of(name)}, not text")


def _nothing(fields: Mapping[str, Any]) -> str:
    if "content" not in fields:
        return "it has no content and no tool calls"
    return "content is empty and there are no tool calls: leave the message out"


# -- what was said -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Said:
    """The pieces of a message's content, in order."""

    pieces: list[tuple[bool, str]] = field(default_factory=list)  # (it is a tool's result, the text)
    calls: set[str] = field(default_factory=set)

    @property
    def results(self) -> bool:
        """Whether a tool's result is among them."""
        return any(result for result, _ in self.pieces)

    @property
    def own(self) -> bool:
        """Whether the speaker said anything beside."""
        return any(text and not result for result, text in self.pieces)

    def text(self, role: Role) -> str:
        """The pieces joined. What a tool said inside a user's message is not the user's: it stays out of the text."""
        shown_pieces = (marker("tool result") if result and role is Role.USER else text for result, text in self.pieces)
        return "\n".join(piece for piece in shown_pieces if piece)

    def add(self, content: object, what: str) -> None:
        """Take in a `content` value."""
        if content is None:
            return
        if isinstance(content, str):
            self._keep(content)
        elif isinstance(content, list):
            for at, part in enumerate(content):
                self._part(part, f"{what}[{at}]")
        elif isinstance(content, dict):
            self._part(content, what)
        else:
            raise InvalidInput(f"{what} is {kind_of(content)}, not text or a list of parts")

    def call(self, call: Mapping[str, Any]) -> None:
        """Take in a call of a tool, once."""
        inner = call.get("function")
        named = inner if isinstance(inner, dict) else call
        key = call.get("id") or call.get("call_id") or call.get("toolUseId")
        if isinstance(key, str):
            if key in self.calls:
                return
            self.calls.add(key)
        self._keep(_call_marker(named))

    def _keep(self, text: str, *, result: bool = False) -> None:
        self.pieces.append((result, text))

    def _part(self, part: object, what: str) -> None:
        if isinstance(part, str):
            self._keep(part)
            return
        if not isinstance(part, dict):
            raise InvalidInput(f"{what} is {kind_of(part)}, not a content part")
        kind, body = _kind_of_part(part)
        if kind in _TEXT_KEYS:
            self._keep(_text_of(body, _TEXT_KEYS[kind], what))
        elif kind in _CALLS:
            self.call(body)
        elif kind in _RESULTS or kind.endswith("_tool_result"):
            self._keep(_result_text(body, what), result=True)
        elif kind in _THOUGHTS:
            self._keep(marker("thinking"))
        else:
            text = body.get("text")
            self._keep(text if isinstance(text, str) and text else marker(_plain_kind(kind), _label(body)))


def _said(fields: Mapping[str, Any]) -> _Said:
    said = _Said()
    kind = fields.get("type")
    if fields.get("role") is None and isinstance(kind, str) and _LANGCHAIN.fullmatch(kind) is None:
        said.add(_as_part(fields, kind), "content")
        return said
    for key in ("content", "parts", "text"):
        if fields.get(key) is not None:
            said.add(fields[key], key)
            break
    for call in _tool_calls(fields):
        said.call(call)
    if not said.own and not said.results:
        _add_aside(said, fields)
    return said


def _as_part(fields: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """An item of OpenAI's responses, which is what others write as a part of a message."""
    if kind.endswith("_output"):
        return {**fields, "type": "tool_result"}
    if kind.endswith("_call"):
        return {"name": kind.removesuffix("_call"), **fields, "type": "tool_call"}
    return dict(fields)


def _add_aside(said: _Said, fields: Mapping[str, Any]) -> None:
    """Words that some systems put beside an empty content: a refusal, what was said in an audio answer."""
    audio = fields.get("audio")
    for words in (fields.get("refusal"), audio.get("transcript") if isinstance(audio, dict) else None):
        if isinstance(words, str):
            said.add(words, "content")


def _tool_calls(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    calls = fields.get("tool_calls")
    older = fields.get("additional_kwargs")
    if not calls and isinstance(older, dict):
        calls = older.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise InvalidInput(f"tool_calls is {kind_of(calls)}, not a list")
    single = fields.get("function_call")
    for at, call in enumerate([*(calls or []), *([single] if isinstance(single, dict) else [])]):
        if not isinstance(call, dict):
            raise InvalidInput(f"tool_calls[{at}] is {kind_of(call)}, not an object")
        yield call


def _kind_of_part(part: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The part's type and the object that holds its fields."""
    kind = part.get("type")
    if isinstance(kind, str) and kind:
        return kind, part
    for key, known in _UNTYPED.items():
        if isinstance(part.get(key), dict):
            return known, part[key]
    if "text" in part:
        return "text", part
    first = next(iter(part), "part")
    inner = part.get(first)
    return first, inner if isinstance(inner, dict) else part


def _text_of(part: Mapping[str, Any], key: str, what: str) -> str:
    text = part.get(key)
    if isinstance(text, dict):
        text = text.get("value")  # OpenAI's assistants wrap it once more
    if text is None or isinstance(text, str):
        return text or ""
    raise InvalidInput(f"{what}.{key} is {kind_of(text)}, not text")


def _call_marker(call: Mapping[str, Any]) -> str:
    name = call.get("name")
    label = f"calls {name}" if isinstance(name, str) and name.strip() else "calls a tool"
    given = next((call[key] for key in ("arguments", "input", "args") if call.get(key) not in (None, "", {})), None)
    return marker(label, None if given is None else _arguments(given))


def _arguments(given: object) -> str:
    """A call's arguments on one line; OpenAI sends JSON as text, with blanks or without."""
    if not isinstance(given, str):
        return compact(given)
    try:
        return compact(json.loads(given))
    except (ValueError, RecursionError):
        return given


def compact(value: object) -> str:
    """A JSON value on one line, as short as it gets, with its letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _result_text(part: Mapping[str, Any], what: str) -> str:
    """The text that a tool gave back: a string, parts, or any JSON."""
    given = next((part[key] for key in ("content", "output", "response") if part.get(key) is not None), None)
    if given is None or isinstance(given, str):
        return given or ""
    if isinstance(given, list) and all(isinstance(each, (str, dict)) for each in given):
        inner = _Said()
        inner.add(given, what)
        return inner.text(Role.TOOL)
    return compact(given)


def _plain_kind(kind: str) -> str:
    return {"image_url": "image", "input_image": "image", "input_audio": "audio", "input_file": "file"}.get(kind, kind)


def _label(part: Mapping[str, Any]) -> str | None:
    """What a picture or file is called: a caption, a name, or the end of its address."""
    inner = [part, *(each for each in part.values() if isinstance(each, dict))]
    for where in inner:
        for key in _LABELS:
            if isinstance(where.get(key), str) and where[key].strip():
                return str(where[key])
    for where in inner:
        for key in ("url", "image_url", "file_url"):
            address = where.get(key)
            if isinstance(address, str) and not address.startswith("data:"):
                return re.split(r"[?#]", address, maxsplit=1)[0].rstrip("/").rpartition("/")[2] or None
    return None


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
