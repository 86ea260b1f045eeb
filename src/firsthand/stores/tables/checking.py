"""What can be wrong with the rows of a store, looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from firsthand.errors import StoreError

from .queries import Queries
from .rows import body_checksum, message_checksum

Q = TypeVar("Q", bound=Queries)


def faults(queries: Q, looks: Sequence[Callable[[Q], Iterable[str]]] = ()) -> list[str]:
    """One line for each fault; empty when there is none. Never repeats what was said.

    `looks` are the back end's own, taken first.
    """
    found: list[str] = []
    for look in (*looks, _texts, _bodies, _orphans, _heads):
        try:
            found.extend(look(queries))
        except StoreError as error:
            found.append(str(error))
    return found


def _texts(queries: Queries) -> Iterator[str]:
    for tenant, user, id_, content, rest, checksum in queries.each("stored_messages"):
        if message_checksum(content, rest) != checksum:
            yield f"message {id_!r} of {tenant}/{user} is not as it was stored"


def _bodies(queries: Queries) -> Iterator[str]:
    for tenant, user, id_, body, checksum in queries.each("stored_observations"):
        if body_checksum(body) != checksum:
            yield f"observation {id_!r} of {tenant}/{user} is not as it was stored"


def _orphans(queries: Queries) -> Iterator[str]:
    for kind, count in queries.all("orphans"):
        if count:
            yield f"{count} {kind} belong to nothing"


def _heads(queries: Queries) -> Iterator[str]:
    for tenant, user in queries.all("owners_behind"):
        yield f"the head of {tenant}/{user} lies before its last row"
