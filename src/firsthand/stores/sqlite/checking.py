"""What can be wrong with a file and its tables, looked for."""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.errors import StoreError

from .connection import Connection
from .rows import body_checksum, message_checksum

_MOST = 100  # lines from SQLite's own check


def faults(connection: Connection) -> list[str]:
    """One line for each fault; empty when there is none. Never repeats what was said."""
    found: list[str] = []
    for look in (_structure, _texts, _bodies, _orphans, _heads):
        try:
            found.extend(look(connection))
        except StoreError as error:
            found.append(str(error))
    return found


def _structure(connection: Connection) -> Iterator[str]:
    for (line,) in connection.script(f"PRAGMA integrity_check({_MOST})"):
        if line != "ok":
            yield f"the file: {line}"


def _texts(connection: Connection) -> Iterator[str]:
    for tenant, user, id_, content, rest, checksum in connection.each("stored_messages"):
        if message_checksum(content, rest) != checksum:
            yield f"message {id_!r} of {tenant}/{user} is not as it was stored"


def _bodies(connection: Connection) -> Iterator[str]:
    for tenant, user, id_, body, checksum in connection.each("stored_observations"):
        if body_checksum(body) != checksum:
            yield f"observation {id_!r} of {tenant}/{user} is not as it was stored"


def _orphans(connection: Connection) -> Iterator[str]:
    for kind, count in connection.all("orphans"):
        if count:
            yield f"{count} {kind} belong to nothing"


def _heads(connection: Connection) -> Iterator[str]:
    for tenant, user in connection.all("owners_behind"):
        yield f"the head of {tenant}/{user} lies before its last row"
