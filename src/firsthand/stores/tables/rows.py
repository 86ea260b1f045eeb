"""Between values and table rows: messages as columns, observations as JSON, positions as three columns."""

from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.model import (
    EPOCH,
    RANK,
    Act,
    Message,
    Observation,
    Position,
    Role,
    Verdict,
    micros,
    observation_from_json,
    to_json,
)

from .queries import Fields, Value

BEGINNING = (-(2**63), -(2**63), "")  # before every position
END = 2**63 - 1  # after every time and every version
ROLES = {role.value: role for role in Role}

_MICROSECOND = timedelta(microseconds=1)


def message_values(message: Message) -> tuple[Value, ...]:
    """The columns of a message after those of its owner, as `add_message` takes them."""
    rest = _rest(message)
    return (
        *message.position,
        message.id,
        message.role,
        message.name,
        message.session,
        message.agent,
        message.origin,
        micros(message.at),
        _offset(message.at),
        int(message.recalled),
        message.content,
        rest,
        message_checksum(message.content, rest),
    )


def search_values(stored: tuple[Value, ...]) -> tuple[Value, ...]:
    """The columns of a message's search row but its terms and vector, from the stored row of the message."""
    tenant, user, recorded_at, counter, store, id_, role, name, session, agent, _, at, _, recalled, *_ = stored
    return (tenant, user, recorded_at, counter, store, id_, session, agent, role, name, at, recalled)


def message_of(fields: Fields) -> Message:
    """The message in a row of the `messages…` queries."""
    id_, role, content, at, offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest = fields
    return Message(
        id_,
        ROLES[role],
        content,
        time_of(at, offset),
        Position(recorded_at, counter, store),
        name,
        session,
        agent,
        origin,
        recalled=bool(recalled),
        **(json.loads(rest) if rest is not None else {}),
    )


def message_checksum(content: str, rest: str | None) -> int:
    """CRC-32 of what was said: finds damage, not tampering."""
    said = zlib.crc32(_encoded(content))
    return said if rest is None else zlib.crc32(_encoded(rest), said)


def body_of(observation: Observation) -> str:
    """The JSON of an observation, without what is absent."""
    whole = to_json(observation)
    given = {"attribute": None, "value": None, **_present(whole)}  # no defaults stand in for these two
    given["evidence"] = [_present(each) for each in given.get("evidence", ())]
    if "target" in given:
        given["target"] = _present(given["target"])
    return _dump(given)


def body_checksum(body: str) -> int:
    """CRC-32 of an observation's JSON."""
    return zlib.crc32(_encoded(body))


def observation_of(body: str) -> Observation:
    """The observation whose `body_of` this is."""
    return observation_from_json(json.loads(body))


def taken_back(observation: Observation) -> str | None:
    """The message that this observation, as an act that stands, takes back."""
    stands = observation.act is Act.RETRACT and observation.verdict is Verdict.WRITE
    return observation.target.message_id if stands and observation.target is not None else None


def observation_values(observation: Observation) -> tuple[Value, ...]:
    """The columns of an observation after those of its owner, as `add_observation` takes them."""
    body = body_of(observation)
    level = RANK[observation.source].level
    return (*observation.position, observation.id, taken_back(observation), level, body, body_checksum(body))


def time_of(at: int, offset: int) -> datetime:
    """The time as it was given: an instant in microseconds and its offset in microseconds."""
    moment = EPOCH + timedelta(microseconds=at)
    return moment if offset == 0 else moment.astimezone(_zone(offset))


def first_repeated(ids: Iterable[str]) -> str | None:
    """The first id that comes a second time."""
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            return each
        seen.add(each)
    return None


def _present(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None and value != {}}


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("text has a lone surrogate, which no encoding can store") from error


def _rest(message: Message) -> str | None:
    rest: dict[str, Any] = {}
    if message.at_original is not None:
        rest["at_original"] = message.at_original
    if message.raw is not None:
        rest["raw"] = to_json(message.raw)
    if message.metadata:
        rest["metadata"] = to_json(message.metadata)
    if message.masked:
        rest["masked"] = message.masked
    return _dump(rest) if rest else None


def _dump(value: Mapping[str, Any]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise InvalidInput("metadata holds a number that is not finite, or itself") from error


def _offset(at: datetime) -> int:
    offset = at.utcoffset()
    return 0 if offset is None else offset // _MICROSECOND


@functools.lru_cache(maxsize=256)
def _zone(offset: int) -> timezone:
    return timezone(timedelta(microseconds=offset)) if offset else UTC
