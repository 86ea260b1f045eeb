"""What can be wrong with a file, looked for. What can be wrong with its rows is in `stores/tables`."""

from __future__ import annotations

from collections.abc import Iterator

from .connection import Connection

_MOST = 100  # lines from SQLite's own check


def structure(connection: Connection) -> Iterator[str]:
    """What SQLite finds wrong with the file."""
    for (line,) in connection.script(f"PRAGMA integrity_check({_MOST})"):
        if line != "ok":
            yield f"the file: {line}"
