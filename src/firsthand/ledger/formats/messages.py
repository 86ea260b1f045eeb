"""JSON that holds messages: a list, an object around one, a list of conversations, or JSON Lines.

The messages themselves may have any shape that intake knows; here only the frames around them are opened, ShareGPT's
`from` / `value` and pairs of a prompt and its answer are renamed, and sessions are told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger.formats.conversation import Found
from firsthand.ledger.formats.plain import stem
from firsthand.ledger.intake import TIME_KEYS
from firsthand.ledger.shapes import with_fields
from firsthand.ledger.values import kind_of

_SESSION_KEYS = ("session", "session_id", "conversation_id", "thread_id", "chat_id")
_ID_KEYS = ("message_id", "uuid")
_FRAMES = ("messages", "conversations", "conversation", "turns", "history", "chat")
_TITLES = ("title", "name", "topic")
_TIMES = (*TIME_KEYS, "date")
_PAIRS = (("user_query", "assistant_response"), ("prompt", "response"), ("prompt", "completion"))
_SPEAKS = ("tool_calls", "function_call", "tool_call_id", "refusal", "audio", "parts", "text")
_Rows = Iterable[tuple[str, Any]]


def fits(value: Any) -> bool:
    """Whether there are messages in it."""
    if isinstance(value, list):
        return bool(value) and fits(value[0])
    if not isinstance(value, dict):
        return isinstance(value, str)
    return _is_message(value) or _pair_of(value) is not None or _frame_of(value) is not None


def holds_conclusions(value: Any) -> bool:
    """Whether it is a dump of facts that another memory drew from talk, without the talk."""
    if isinstance(value, list):
        return bool(value) and holds_conclusions(value[0])
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("memory"), str) or {"entities", "facts"} <= value.keys():
        return True
    return any(isinstance(value.get(key), list) and holds_conclusions(value[key]) for key in ("results", "memories"))


def found(value: Any, name: str) -> list[Found]:
    """The conversations of a JSON file. Raises InvalidInput."""
    return list(_of_value(value, stem(name)))


def found_lines(rows: list[tuple[str, Any]], name: str) -> list[Found]:
    """The conversations of JSON Lines: messages told apart by their session, or whole conversations."""
    frames = [(where, row) for where, row in rows if isinstance(row, dict) and _is_conversation(row)]
    if len(frames) == len(rows):
        return [each for number, (_, row) in enumerate(frames, 1) for each in _of_frame(row, f"{stem(name)}/{number}")]
    return _by_session(rows, stem(name))


# -- frames ----------------------------------------------------------------------------------------------------------


def _of_value(value: Any, session: str) -> Iterator[Found]:
    if isinstance(value, list):
        if all(isinstance(each, dict) and _is_conversation(each) for each in value):
            for number, each in enumerate(value, 1):
                yield from _of_frame(each, session if len(value) == 1 else f"{session}/{number}")
        else:
            yield from _by_session(_numbered(value), session)
    elif isinstance(value, dict) and _is_conversation(value):
        yield from _of_frame(value, session)
    else:
        yield from _by_session(_numbered([value]), session)


def _of_frame(frame: dict[str, Any], session: str) -> Iterator[Found]:
    """What an object around messages holds; its own id and time hold for messages that have none."""
    own = _session_of(frame, (*_SESSION_KEYS, "id", "uuid")) or session
    pair = _pair_of(frame)
    if pair is not None:
        told = [{"role": role, "content": frame[key]} for role, key in zip(("user", "assistant"), pair, strict=True)]
        inner: Any = told
    else:
        inner = _frame_of(frame)
    title = next((frame[key] for key in _TITLES if isinstance(frame.get(key), str)), None)
    at = next((frame[key] for key in _TIMES if frame.get(key) is not None), None)
    for each in _of_value(inner, own):
        yield Found(each.session, [(where, _timed(row, at)) for where, row in each.messages], each.title or title)


def _frame_of(value: dict[str, Any]) -> list[Any] | None:
    """The list of messages or conversations in an object: by its key, or in LangGraph's state."""
    state = value.get("values")
    places = (value, state) if isinstance(state, dict) else (value,)
    lists = (place.get(key) for place in places for key in _FRAMES)
    return next((inner for inner in lists if isinstance(inner, list) and inner and fits(inner)), None)


def _is_conversation(value: dict[str, Any]) -> bool:
    return not _is_message(value) and (_pair_of(value) is not None or _frame_of(value) is not None)


def _is_message(value: dict[str, Any]) -> bool:
    if "role" in value or "lc" in value or ("from" in value and "value" in value):
        return True
    return "type" in value and bool({"data", "content", "output", "arguments"} & value.keys())


def _pair_of(value: dict[str, Any]) -> tuple[str, str] | None:
    return next((pair for pair in _PAIRS if all(isinstance(value.get(key), str) for key in pair)), None)


def _session_of(value: dict[str, Any], keys: Iterable[str]) -> str | None:
    """The session that an object names, if any."""
    config = value.get("config")
    thread = config.get("configurable") if isinstance(config, dict) else None
    places = [value, thread] if isinstance(thread, dict) else [value]
    names = (place.get(key) for place in places for key in keys)
    return next((str(each) for each in names if isinstance(each, (str, int)) and each not in ("", True, False)), None)


# -- messages --------------------------------------------------------------------------------------------------------


def _numbered(rows: list[Any]) -> _Rows:
    return ((f"message {number}", row) for number, row in enumerate(rows, 1))


def _by_session(rows: _Rows, session: str) -> list[Found]:
    """Messages put together by the session that each names, in the order in which sessions begin."""
    conversations: dict[str, Found] = {}
    for where, row in rows:
        if isinstance(row, str):
            row = {"role": "user", "content": row}  # noqa: PLW2901 - a bare text is a user's message
        if not isinstance(row, dict):
            raise InvalidInput(f"{where}: {kind_of(row)} is no message")
        own = _session_of(row, _SESSION_KEYS) or session
        kept = conversations.setdefault(own, Found(own, []))
        if not _says_nothing(row):
            kept.messages.append((where, _named(row)))
    return list(conversations.values())


def _says_nothing(row: dict[str, Any]) -> bool:
    """Whether it is a message without words or calls, as logs hold them; a row without `content` is a fault."""
    return "content" in row and row["content"] in ("", None, []) and not any(row.get(key) for key in _SPEAKS)


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """The message with its time, id and text under the names that intake carries without keeping the row beside."""
    message = {key: value for key, value in row.items() if key not in _SESSION_KEYS or isinstance(value, (dict, list))}
    if "from" in message and "value" in message and "role" not in message:
        message = {"role": message.pop("from"), "content": message.pop("value"), **message}
    if message.get("at") is None:
        key = next((key for key in _TIMES if message.get(key) is not None), None)
        if key is not None:
            message["at"] = message.pop(key)
    if message.get("id") is None:
        key = next((key for key in _ID_KEYS if isinstance(message.get(key), (str, int))), None)
        if key is not None:
            message["id"] = str(message.pop(key))
    return message


def _timed(message: dict[str, Any], at: Any) -> dict[str, Any]:
    """The message with the time of its conversation, where it has none of its own."""
    return message if at is None or message.get("at") is not None else with_fields(message, at=at)
