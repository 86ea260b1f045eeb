"""Which turns of a conversation were erased, so that a client that resends its whole history does not say them again.

A turn is known by its session and its place among the session's turns, as a keyed digest: nothing of what was said.
System messages are no turns, since clients rewrite them; talk without a session has no places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from firsthand.beliefs.slots import owner_key
from firsthand.ledger import erasure
from firsthand.model import Message, Role
from firsthand.ports import MessageQuery, Reading

_AT_ONCE = 256  # places asked about at a time


def marks(work: Reading, going: Iterable[Message]) -> list[str]:
    """The marks that turns leave which are about to be erased."""
    by_session: dict[str, set[str]] = {}
    for message in going:
        if message.session is not None and message.role is not Role.SYSTEM:
            by_session.setdefault(message.session, set()).add(message.id)
    return [mark for session, ids in by_session.items() for mark in _marks(work, session, ids)]


def erased_turns(work: Reading, session: str | None, turns: int) -> set[int]:
    """Those of the first so many places of a session whose turns were erased, counted from 0."""
    if session is None or turns == 0:
        return set()
    asked = erasure.tombstones(owner_key(work.owner), [_name(session, place) for place in range(turns)])
    found = work.tombstoned(asked)
    return {place for place, mark in enumerate(asked) if mark in found}


def _marks(work: Reading, session: str, ids: set[str]) -> list[str]:
    said = (m for m in work.messages.walk(MessageQuery(session=session)) if m.role is not Role.SYSTEM)
    places = _standing(work, session)
    gone = [_name(session, place) for message, place in zip(said, places, strict=False) if message.id in ids]
    return erasure.tombstones(owner_key(work.owner), gone)


def _standing(work: Reading, session: str) -> Iterator[int]:
    """The places of the turns that are still there, in order."""
    start = 0
    while True:
        asked: Sequence[str] = [_name(session, place) for place in range(start, start + _AT_ONCE)]
        digests = erasure.tombstones(owner_key(work.owner), asked)
        found = work.tombstoned(digests)
        yield from (start + at for at, mark in enumerate(digests) if mark not in found)
        start += _AT_ONCE


def _name(session: str, place: int) -> str:
    return f"{session}\x1fturn {place}"
