"""A history from elsewhere as it may be taken in: secrets masked, though whoever wrote it did not know them.

An older version masked less, and a crafted file masks nothing. Spans follow the words that they quote; ids and names
that hold a key or a token are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from firsthand.ledger import secrets
from firsthand.ledger.export import Ledger
from firsthand.ledger.values import identifier
from firsthand.model import Evidence, Message, Observation

Spans = Mapping[tuple[str, int, int], tuple[int, int]]  # (message, start, end) -> where it is in the masked text


def cleansed(given: Ledger) -> Ledger:
    """The same history without secrets. Raises InvalidInput for an id, a session or an origin that holds one."""
    rows: list[Message | Observation] = [*given.messages, *given.observations]
    for row in rows:
        _check_names(row)
    cited: dict[str, set[tuple[int, int]]] = {}
    for observation in given.observations:
        for each in observation.evidence:
            if each.start is not None and each.end is not None:
                cited.setdefault(each.message_id, set()).add((each.start, each.end))
    messages: list[Message] = []
    spans: dict[tuple[str, int, int], tuple[int, int]] = {}
    for message in given.messages:
        kept, moved = _message(message, sorted(cited.get(message.id, ())))
        messages.append(kept)
        spans.update(moved)
    observations = tuple(_observation(each, spans) for each in given.observations)
    return replace(given, messages=tuple(messages), observations=observations)


def masked_alike(one: str, other: str) -> bool:
    """Whether two texts are the same but for secrets that only one of them has masked."""
    return one == other or secrets.mask(one)[0] == secrets.mask(other)[0]


def _check_names(row: Message | Observation) -> None:
    for what in ("id", "session", "agent", "origin"):
        name = getattr(row, what)
        if name is not None:
            identifier(name, what)


def _message(message: Message, cited: list[tuple[int, int]]) -> tuple[Message, Spans]:
    content, count, moved = secrets.mask_around(message.content, cited)
    raw, in_raw = secrets.mask_json(message.raw) if message.raw is not None else (None, 0)
    metadata, in_metadata = secrets.mask_json(message.metadata)
    name, in_name = secrets.mask(message.name) if message.name is not None else (None, 0)
    found = count + in_raw + in_metadata + in_name
    if not found:
        return message, {}
    kept = replace(message, content=content, raw=raw, metadata=metadata, name=name, masked=message.masked + found)
    return kept, {(message.id, *old): new for old, new in zip(cited, moved, strict=True)}


def _observation(observation: Observation, spans: Spans) -> Observation:
    target = observation.target
    kept = replace(
        observation,
        subject=secrets.mask(observation.subject)[0],
        value=_text(observation.value),
        reason=_text(observation.reason),
        evidence=tuple(_evidence(each, spans) for each in observation.evidence),
        target=None if target is None else replace(target, value=_text(target.value)),
        metadata=secrets.mask_json(observation.metadata)[0],
    )
    return observation if kept == observation else kept


def _evidence(evidence: Evidence, spans: Spans) -> Evidence:
    if evidence.start is None or evidence.end is None:
        return replace(evidence, quote=_text(evidence.quote))
    start, end = spans.get((evidence.message_id, evidence.start, evidence.end), (evidence.start, evidence.end))
    return replace(evidence, start=start, end=end, quote=_text(evidence.quote))


def _text(text: str | None) -> str | None:
    return None if text is None else secrets.mask(text)[0]
