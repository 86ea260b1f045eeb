"""The owner's search rows, in their tables: terms and vectors as recall packs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from firsthand.errors import InvalidInput
from firsthand.model import Owner, Position
from firsthand.ports import MessageFacts, SearchRow

from .queries import Queries, Value
from .rows import BEGINNING, ROLES, search_values

_MESSAGE = "message"
_DROP = {_MESSAGE: "drop_search_message", "belief": "drop_search_belief"}


class SearchTables:
    """`ports.Search` of one owner."""

    def __init__(self, queries: Queries, owner: Owner, added: Mapping[str, tuple[Value, ...]]) -> None:
        self._queries = queries
        self._owner = (owner.tenant, owner.user)
        self._added = added

    def put(self, rows: Sequence[SearchRow]) -> None:
        """Add or replace rows. A message that does not exist gets none."""
        _refuse_unknown(row.type for row in rows)
        added = self._added
        rows = list({(row.type, row.id): row for row in rows}.values())  # of two rows with one name the last one
        fresh = [row for row in rows if row.type == _MESSAGE and row.id in added]
        known = [row for row in rows if row.type == _MESSAGE and row.id not in added]
        values = ((*search_values(added[row.id]), row.terms, row.vector) for row in fresh)
        self._queries.many("put_fresh_search_message", values)  # saves looking the message up
        self._put("put_search_message", known)
        self._put("put_search_belief", [row for row in rows if row.type != _MESSAGE])

    def _put(self, name: str, rows: Sequence[SearchRow]) -> None:
        self._queries.many(name, ((*self._owner, row.id, row.terms, row.vector) for row in rows))

    def drop(self, rows: Iterable[tuple[str, str]]) -> None:
        """Remove (type, id) rows that exist."""
        wanted = list(rows)
        _refuse_unknown(type_ for type_, _ in wanted)
        for type_, name in _DROP.items():
            self._queries.many(name, ((*self._owner, id_) for each, id_ in wanted if each == type_))

    def messages(self, after: Position | None = None) -> Iterator[MessageFacts]:
        """All messages' search rows recorded after a position, in ledger order."""
        roles, new = ROLES, tuple.__new__  # a hundred thousand at a time: without the calls of the classes themselves
        found = self._queries.each("search_messages", *self._owner, *(after or BEGINNING))
        for id_, recorded_at, counter, store, session, agent, role, name, at, terms, vector, recalled in found:
            place = new(Position, (recorded_at, counter, store))
            yield new(MessageFacts, (id_, place, session, agent, roles[role], name, at, terms, vector, recalled == 1))

    def beliefs(self, ids: Sequence[str] | None = None) -> Iterator[SearchRow]:
        """Search rows of beliefs."""
        if ids is None:
            found = self._queries.each("search_beliefs", *self._owner)
        else:
            wanted = ((*self._owner, each) for each in dict.fromkeys(ids))
            found = iter(self._queries.many("search_belief", wanted))
        return (SearchRow("belief", *fields) for fields in found)

    def forget_vectors(self) -> None:
        """Take every vector away, so that all rows are due again."""
        self._queries.all("forget_message_vectors", *self._owner)
        self._queries.all("forget_belief_vectors", *self._owner)

    def due(self, limit: int) -> list[tuple[str, str, str]]:
        """Rows without a vector: (type, id, text); text is '' for beliefs, whose caller knows it."""
        if limit < 0:
            raise InvalidInput(f"limit is {limit}; it must be zero or more")
        messages = self._queries.all("due_messages", *self._owner, limit)
        due = [("message", id_, content) for id_, content in messages]
        beliefs = self._queries.all("due_beliefs", *self._owner, limit - len(due))
        return [*due, *(("belief", id_, "") for (id_,) in beliefs)]


def _refuse_unknown(types: Iterable[str]) -> None:
    for each in types:
        if each not in _DROP:
            raise InvalidInput(f"no search rows are of type {each!r}")
