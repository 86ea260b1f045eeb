"""What can be wrong with a database, looked for. What can be wrong with its rows is in `stores/tables`."""

from __future__ import annotations

from collections.abc import Iterator

from .connection import Connection


def indexes(connection: Connection) -> Iterator[str]:
    """Indexes that were left half made."""
    for (name,) in connection.all("unusable_indexes"):
        yield f"the index {name} is not usable; REINDEX it"
