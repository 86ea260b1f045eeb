"""Where a memory on a server is measured: a server of the user's, or one that is started and thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from firsthand.testing.postgres import Server, server
from firsthand.wiring import migrate_store

DURABLE = {"shared_buffers": "512MB", "max_wal_size": "4GB"}  # every commit reaches the disk, as it does by default
OWNER = "keeper"
APPLICATION = "application"
DATABASE = "firsthand"


def founded(started: Server) -> str:
    """The application's address of a new database with the tables in it."""
    started.execute(f"CREATE ROLE {OWNER} LOGIN", f"CREATE ROLE {APPLICATION} LOGIN")
    started.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER}")
    migrate_store(started.url(DATABASE, OWNER), grant=[APPLICATION])
    return started.url(DATABASE, APPLICATION)


@contextmanager
def served(location: str | None, owner: str | None = None) -> Iterator[tuple[str, str]]:
    """The addresses given; or those of a server which lasts as long as the block.

    The first is the application's, in a database whose tables are there; the second that of a role which may make
    tables of its own beside them, for floors.
    """
    if location is not None:
        yield location, owner or location
        return
    with server(DURABLE) as started:
        yield founded(started), started.url(DATABASE, OWNER)
