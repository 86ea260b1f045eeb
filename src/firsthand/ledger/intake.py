"""Messages at the door: whatever a caller has becomes a `Draft` that can be stored, or one clear error.

Nothing is half accepted: a fault in message 3 refuses the batch and says "message 3: …". Nothing is cut: a message
is stored whole or refused with the limit. No address in a message is ever opened. How chat systems write a message
is in `shapes.py`; what counts as a secret is the caller's `mask`; ids and positions are given by `memory.py`.

`Draft.raw` keeps the caller's message whenever role, content, name, id, time, session, origin and metadata do not
carry all of it, so that `as_given` answers what was given: verbatim but for masked secrets and recalled context.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from functools import partial
from typing import Any, NamedTuple

from firsthand.errors import Conflict, InvalidInput
from firsthand.ledger import secrets, shapes
from firsthand.ledger.fence import without_recalled
from firsthand.ledger.times import read_time
from firsthand.ledger.values import (
    MAX_DEPTH,
    MAX_ID_CHARS,
    MAX_MESSAGE_CHARS,
    MAX_NAME_CHARS,
    Clean,
    JsonCopy,
    checked_size,
    checked_text,
    cleaned,
    identifier,
    json_object,
    kind_of,
    one_line,
)
from firsthand.model import Message, Role

__all__ = [
    "MAX_DEPTH",
    "MAX_ID_CHARS",
    "MAX_MESSAGE_CHARS",
    "MAX_NAME_CHARS",
    "Draft",
    "aligned",
    "as_given",
    "drafts",
    "limit_of",
    "metadata_of",
    "name_of",
    "same",
    "time_of",
    "value_of",
]

TIME_KEYS = ("at", "timestamp", "created_at", "create_time", "ts")  # the first one that is there counts
SESSION_KEYS = ("session", "session_id")
# What a Draft carries in fields of its own, and in which type; any other key or type is kept in `raw`.
_CARRIED: Mapping[str, tuple[type, ...]] = {
    "role": (str,),
    "content": (str,),
    "name": (str,),
    "id": (str,),
    "at": (str, date),
    "session": (str,),
    "origin": (str,),
    "metadata": (dict,),
}
# What objects with attributes are asked for when they have no `model_dump`.
_ATTRIBUTES = (
    *("role", "type", "content", "name", "id", "tool_calls", "tool_call_id", "additional_kwargs"),
    *("response_metadata", "usage_metadata", "refusal", "function_call", "metadata", *TIME_KEYS, *SESSION_KEYS),
)
_PLAIN_ROLES: Mapping[str, Role] = {role.value: role for role in Role}
_SIMPLE = 2  # keys of a message that is nothing but role and content


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that may be stored: checked and masked, but without a place in the ledger."""

    id: str | None  # the caller's; None: memory gives one
    role: Role
    content: str
    at: datetime  # aware; `now` when the caller gave none
    at_original: str | None = None  # the time as given; None when there was none
    name: str | None = None
    session: str | None = None
    raw: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    recalled: bool = False  # it carries recalled context: never evidence
    masked: int = 0
    origin: str | None = None


def drafts(messages: object, *, now: datetime, zone: tzinfo, mask: Clean) -> list[Draft]:
    """The drafts of one message or of a list of them, in order.

    Takes text (a user's message), a mapping, a Message, an object with role or type and content, a list, tuple or
    iterator of these mixed, or a mapping with `messages` (and `system`). Times without an offset are read in `zone`,
    missing ones are `now`. An empty text is refused, a blank one is kept.

    Raises InvalidInput naming the message by its number, from 1; Conflict when one id is used for two contents.
    """
    intake = _Intake(now, zone, mask)
    result: list[Draft] = []
    number = 0
    try:
        for number, given in enumerate(_listed(messages), 1):  # noqa: B007 - the error names it
            result.append(intake.draft(given))
    except InvalidInput as fault:
        raise InvalidInput(f"message {number}: {fault}") from None
    if not result:
        raise InvalidInput("there are no messages: the list is empty")
    _refuse_ids_used_twice(result)
    return result


def same(draft: Draft, message: Message | Draft) -> bool:
    """Whether it is the message that is stored already: same role, words, speaker and tool calls.

    Times do not count, for a client may resend a message without one; the stored time stays.
    """
    return _said(draft) == _said(message)


def aligned(history: Sequence[Message], resent: Sequence[Draft], erased: Collection[int] = ()) -> list[Draft]:
    """What has to be added to a session when a client resends all of it.

    `history` is the session as stored, in order. Turns are compared by role, words, speaker and tool calls. A resent
    list that ends early adds nothing. System messages do not take part, since clients rewrite them from turn to turn
    (the date, recalled context): those before the first new turn are added only to an empty session. `erased` are the
    places of turns that were erased since, counted from 0 without system messages: they are passed over.

    Raises Conflict when a turn differs from the stored one.
    """
    if not history and not erased:
        return list(resent)
    stored = [message for message in history if message.role is not Role.SYSTEM]
    matched = 0
    for place, (number, draft) in enumerate((n, d) for n, d in enumerate(resent) if d.role is not Role.SYSTEM):
        if place in erased:
            continue
        if matched == len(stored):
            return list(resent[number:])
        if not same(draft, stored[matched]):
            raise Conflict(
                f"message {number + 1}: it differs from message {stored[matched].id} stored in its place;"
                " full=True needs the history as it was: send new messages alone, or use another session"
            )
        matched += 1
    return []


def as_given(message: Message | Draft) -> dict[str, Any]:
    """The message as its caller gave it, but for masked secrets and recalled context.

    A message without an id of its own carries the one that memory gave it.
    """
    if message.raw is not None:
        return dict(message.raw)
    given: dict[str, Any] = {"role": message.role.value, "content": message.content}
    carried = {"id": message.id, "name": message.name, "at": message.at_original}
    given |= {key: value for key, value in carried.items() if value is not None}
    if message.metadata:
        given["metadata"] = dict(message.metadata)
    return given


# -- single values, for the other verbs ------------------------------------------------------------------------------


def name_of(value: object, what: str) -> str:
    """A user, tenant, session, subject or id: 1 to 512 characters on one line, kept as it is. Raises InvalidInput."""
    return identifier(value, what)


def value_of(value: object, longest: int, mask: Clean) -> str:
    """A value or a text to remember, masked: 1 to `longest` characters, not blank. Raises InvalidInput."""
    if not isinstance(value, str):
        raise InvalidInput(f"the text is {kind_of(value)}, not text")
    if not value.strip():
        raise InvalidInput("the text is empty")
    if len(value) > longest:
        raise InvalidInput(f"the text has {len(value):,} characters; the limit is {longest:,}")
    return mask(checked_text(str.__str__(value), "the text"))[0]


def metadata_of(value: object, mask: Clean) -> dict[str, Any]:
    """Metadata as it may be stored: any JSON object, masked; None is an empty one. No key is reserved.

    Raises InvalidInput for NaN, keys that are not text, too deep or too large values, and what has no JSON form.
    """
    if value is None:
        return {}
    kept, _ = _mask_of_json(mask)(json_object(value, "metadata"))
    return dict(kept)


def time_of(value: object, what: str, zone: tzinfo) -> datetime:
    """A time given as an argument; without an offset it is read in `zone`. Raises InvalidInput naming `what`."""
    try:
        return read_time(value, zone)
    except InvalidInput as fault:
        raise InvalidInput(f"{what}: {fault}") from None


def question_of(value: object) -> str:
    """A question: any text that a message may hold, even an empty one. Raises InvalidInput."""
    if not isinstance(value, str):
        raise InvalidInput(f"the question is {kind_of(value)}, not text")
    checked_size(len(value), "the question")
    return checked_text(str.__str__(value), "the question")


def limit_of(value: object) -> int:
    """How many are asked for: a whole number, 0 or more. Raises InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"limit is {kind_of(value)}, not a whole number")
    if value < 0:
        raise InvalidInput("limit is negative: give 0 or more")
    return value


# -- from what was given to a list ---------------------------------------------------------------------------------


def _listed(messages: object) -> Iterator[object]:
    if isinstance(messages, Mapping):
        yield from _of_mapping(messages)
    elif isinstance(messages, (str, Message)) or _speaks(messages):
        yield messages
    elif isinstance(messages, (list, tuple, Iterator)):
        yield from messages
    else:
        raise InvalidInput(f"{kind_of(messages)} is no message: give text, a message or a list of messages")


def _of_mapping(given: Mapping[Any, object]) -> Iterator[object]:
    """One message, or a request to a model: {"messages": […], "system": …}."""
    inner = given.get("messages")
    if not isinstance(inner, (list, tuple)) or "role" in given or "content" in given:
        yield given
        return
    if given.get("system"):
        yield {"role": "system", "content": given["system"]}
    yield from inner


def _speaks(value: object) -> bool:
    """Whether an object is a message by its attributes, as LangChain's and pydantic's are."""
    return hasattr(value, "content") and (hasattr(value, "role") or hasattr(value, "type"))


class _Intake:
    """Makes drafts, with the time, the zone and the mask of one call."""

    def __init__(self, now: datetime, zone: tzinfo, mask: Clean) -> None:
        self.now = now
        self.zone = zone
        self.mask = mask

    def draft(self, given: object) -> Draft:
        """The draft of one message. Raises InvalidInput without saying which message it was."""
        if type(given) is dict and len(given) == _SIMPLE:
            role, content = given.get("role"), given.get("content")
            if type(role) is str and type(content) is str and role in _PLAIN_ROLES:
                return self._plain(_PLAIN_ROLES[role], content)
        if isinstance(given, str):
            return self._plain(Role.USER, str.__str__(given))
        if isinstance(given, Message):
            return self._again(given)
        fields = given if isinstance(given, Mapping) else _attributes(given)
        return self._carried(fields) if _is_carried(fields) else self._shaped(fields)

    def _plain(self, role: Role, content: str) -> Draft:
        """The common case: nothing but a role and a text."""
        if not content:
            raise InvalidInput("content is empty: leave the message out")
        text, recalled, masked = self._text(content, role)
        return Draft(None, role, text, self.now, recalled=recalled, masked=masked)

    def _carried(self, given: Mapping[str, Any]) -> Draft:
        """A message that a Draft's own fields carry whole."""
        role, content = _PLAIN_ROLES[given["role"]], str.__str__(given["content"])
        if not content:
            raise InvalidInput("content is empty: leave the message out")
        metadata = json_object(given["metadata"], "metadata") if "metadata" in given else {}
        return self._drafted(shapes.Turn(role, content, {**given, "metadata": metadata}, given.get("name")))

    def _shaped(self, given: Mapping[Any, object]) -> Draft:
        """A message in any known shape, kept as it is beside what was read from it."""
        original = JsonCopy().copy({key: _time_as_text(key, value) for key, value in given.items()}, "")
        kept, masked = self._object(original)
        draft = self._drafted(shapes.turn(kept))
        return replace(draft, raw=cleaned(kept, _without_recalled)[0], masked=draft.masked + masked)

    def _drafted(self, turn: shapes.Turn) -> Draft:
        fields = turn.fields
        text, recalled, masked = self._text(turn.content, turn.role)
        name, in_name = self._speaker(turn.speaker)
        metadata, in_metadata = self._metadata(fields.get("metadata"))
        at, at_original = self._time(fields)
        return Draft(
            id=_id(fields.get("id")),
            role=turn.role,
            content=text,
            at=at,
            at_original=at_original,
            name=name,
            session=_named(fields, SESSION_KEYS),
            metadata=metadata,
            recalled=recalled,
            masked=masked + in_name + in_metadata,
            origin=_named(fields, ("origin",)),
        )

    def _again(self, message: Message) -> Draft:
        """A message that memory gave out, coming back."""
        text, recalled, masked = self._text(message.content, message.role)
        return Draft(
            id=identifier(message.id, "id"),
            role=message.role,
            content=text,
            at=read_time(message.at, self.zone),
            at_original=message.at_original,
            name=self._speaker(message.name)[0],
            session=message.session,
            raw=None if message.raw is None else self._object(json_object(message.raw, "raw"))[0],
            metadata=metadata_of(message.metadata, self.mask),
            recalled=recalled or message.recalled,
            masked=max(masked, message.masked),
            origin=message.origin,
        )

    def _text(self, content: str, role: Role) -> tuple[str, bool, int]:
        """The text to store, whether recalled context rules it out as evidence, and how much was masked."""
        checked_size(len(content), "content")
        own, tainted = without_recalled(checked_text(content, "content"))
        text, masked = self.mask(own)
        # A user's own words beside a recalled block are still theirs; other roles are no evidence in any case.
        recalled = tainted or (own is not content and own != content and role is not Role.USER)
        return text, recalled, masked

    def _object(self, value: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """Plain JSON, masked."""
        kept, masked = _mask_of_json(self.mask)(value)
        return dict(kept), masked

    def _speaker(self, name: str | None) -> tuple[str | None, int]:
        return (None, 0) if name is None else self.mask(one_line(name, "name", MAX_NAME_CHARS))

    def _metadata(self, value: object) -> tuple[dict[str, Any], int]:
        if not isinstance(value, (dict, type(None))):
            raise InvalidInput(f"metadata is {kind_of(value)}, not an object")
        return self._object(cleaned(value, _without_recalled)[0]) if value else ({}, 0)

    def _time(self, fields: Mapping[str, Any]) -> tuple[datetime, str | None]:
        for key in TIME_KEYS:
            value = fields.get(key)
            if value is not None:
                return time_of(value, key, self.zone), str(_time_as_text(key, value))
        return self.now, None


def _without_recalled(text: str) -> tuple[str, int]:
    return without_recalled(text)[0], 0


def _mask_of_json(mask: Clean) -> Callable[[Any], tuple[Any, int]]:
    """The mask for plain JSON. The shipped one also reads keys: `{"password": …}` tells what a text alone does not."""
    return secrets.mask_json if mask is secrets.mask else partial(cleaned, clean=mask)


def _time_as_text(key: object, value: object) -> object:
    return value.isoformat() if key in TIME_KEYS and isinstance(value, date) else value


def _attributes(given: object) -> dict[str, Any]:
    """The fields of a message that is an object; empty ones are left out."""
    if not _speaks(given):
        raise InvalidInput(f"{kind_of(given)} is no message: give text, or an object with role and content")
    dump = getattr(given, "model_dump", None)
    fields = dump() if callable(dump) else {key: getattr(given, key, None) for key in _ATTRIBUTES}
    return {key: value for key, value in fields.items() if value is not None and value not in ({}, [])}


def _is_carried(fields: Mapping[Any, object]) -> bool:
    """Whether a Draft's own fields say all that the message says."""
    role = fields.get("role")
    return (
        isinstance(role, str)
        and role in _PLAIN_ROLES
        and "content" in fields
        and all(isinstance(value, _CARRIED.get(key, ())) for key, value in fields.items())
    )


def _id(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return None if value is None else identifier(value, "id")


def _named(fields: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    for key in keys:
        value = fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is not None:
            return identifier(value, key)
    return None


# -- when two messages are one -------------------------------------------------------------------------------------


class _Words(NamedTuple):
    """What makes a message the same message."""

    role: Role
    content: str
    name: str | None
    calls: tuple[str, ...]


def _said(message: Message | Draft) -> _Words:
    calls = () if message.raw is None else shapes.call_ids(message.raw)
    return _Words(message.role, message.content, message.name, calls)


def _refuse_ids_used_twice(batch: Sequence[Draft]) -> None:
    seen: dict[str, tuple[int, Draft]] = {}
    for number, draft in enumerate(batch, 1):
        if draft.id is None:
            continue
        first, known = seen.setdefault(draft.id, (number, draft))
        if not same(draft, known):
            raise Conflict(f"message {number}: its id {draft.id} is that of message {first}, which says something else")
