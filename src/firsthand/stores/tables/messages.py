"""The owner's verbatim messages, in their table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firsthand.errors import Conflict, InvalidInput
from firsthand.model import Message, Observation, Owner, Session, from_micros, micros
from firsthand.ports import MessageQuery

from .head import OwnerHead
from .queries import Fields, Queries, Value
from .rows import BEGINNING, END, first_repeated, message_of, message_values, observation_of


class MessageTable:
    """`ports.Messages` of one owner."""

    def __init__(self, queries: Queries, owner: Owner, head: OwnerHead) -> None:
        self._queries = queries
        self._owner = (owner.tenant, owner.user)
        self._head = head
        self.added: dict[str, tuple[Value, ...]] = {}  # in this unit of work, as stored

    def walk(self, query: MessageQuery) -> Iterator[Message]:
        """The messages asked for: in ledger order, or in the order of `ids`."""
        limit = _limit(query.limit)
        found = self._walk(query, limit) if query.ids is None else self._named(query.ids, query, limit)
        return map(message_of, found)

    def sessions(self) -> list[Session]:
        """Every session, by its first message."""
        found = self._queries.all("sessions", *self._owner)
        return [Session(name, count, from_micros(first), from_micros(last)) for name, count, first, last in found]

    def retracted(self, ids: Sequence[str] | None = None) -> dict[str, Observation]:
        """The first standing act that takes back each message."""
        if ids is None:
            found = self._queries.all("retractions", *self._owner)
        else:
            found = self._queries.many("retractions_of", ((*self._owner, each) for each in ids))
        first: dict[str, str] = {}
        for message_id, body in found:
            first.setdefault(message_id, body)
        return {message_id: observation_of(body) for message_id, body in first.items()}

    def add(self, messages: Sequence[Message]) -> None:
        """Append them. An id that exists raises Conflict and nothing is added."""
        values = [(*self._owner, *message_values(each)) for each in messages]
        if not self._queries.many_unless_taken("add_message", values):
            raise Conflict(self._taken([each.id for each in messages]))
        self.added.update((each.id, row) for each, row in zip(messages, values, strict=True))
        self._head.place([each.position for each in messages])

    def _taken(self, ids: Sequence[str]) -> str:
        found = self._queries.many("message_exists", ((*self._owner, each) for each in ids))
        if found:
            return f"message {found[0][0]!r} exists already"
        twice = first_repeated(ids)
        return f"message {twice!r} is given twice" if twice else "another message has the same place in the ledger"

    def _walk(self, query: MessageQuery, limit: int) -> Iterator[Fields]:
        which = "messages" if query.session is None else "session"
        order = "newest_first" if query.newest_first else "oldest_first"
        return self._queries.each(f"{which}_{order}", *self._owner, *_filters(query), limit)

    def _named(self, ids: Sequence[str], query: MessageQuery, limit: int) -> Iterator[Fields]:
        filters = _filters(query)
        place = {id_: n for n, id_ in enumerate(dict.fromkeys(ids))}
        found = self._queries.many("message", ((*self._owner, each, *filters) for each in place))
        found.sort(key=lambda fields: place[fields[0]])
        return iter(found if limit < 0 else found[:limit])


def _filters(query: MessageQuery) -> tuple[Value, ...]:
    since = BEGINNING[0] if query.since is None else micros(query.since)
    until = END if query.until is None else micros(query.until)
    return (query.session, query.agent, query.origin, since, until, *(query.after or BEGINNING))


def _limit(limit: int | None) -> int:
    """The limit as SQL has it: -1 for none."""
    if limit is None:
        return -1
    if limit < 0:
        raise InvalidInput(f"limit is {limit}; it must be zero or more")
    return min(limit, END)
