"""One PostgreSQL server for all the workers of a test run, and a database for each of them, copied from a template."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firsthand.stores.postgres import migrate
from firsthand.testing.postgres import Server

OWNER = "keeper"  # owns the tables; no superuser
APPLICATION = "application"  # an ordinary role
GUARDED = "guarded"  # an ordinary role that needs its password
PASSWORD = "open sesame"
TEMPLATE = "template_firsthand"


class Place:
    """A database with the tables in it."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name

    @property
    def url(self) -> str:
        """Its address for the application."""
        return self.server.url(self.name, APPLICATION)

    @property
    def owners_url(self) -> str:
        """Its address for the owner of the tables."""
        return self.server.url(self.name, OWNER)

    def execute(self, text: str) -> list[tuple[object, ...]]:
        """Run a statement past the store, as a superuser, whom no row-level security binds."""
        return self.server.execute(text, database=self.name)

    def empty(self) -> None:
        """Take everything out but the tables and the store's own row."""
        found = self.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'firsthand'")
        kept = {"store", "migrations"}
        tables = ", ".join(f"firsthand.{name}" for (name,) in found if name not in kept)
        self.execute(f"TRUNCATE {tables}")
        self.execute("UPDATE firsthand.store SET scrub_due = 0")

    @contextmanager
    def another(self, suffix: str) -> Iterator[Place]:
        """Another database with empty tables, gone afterwards."""
        made = Place(self.server, f"{self.name}_{suffix}")
        copy(self.server, made.name)
        yield made
        self.server.execute(f"DROP DATABASE {made.name} WITH (FORCE)")


def copy(server: Server, name: str) -> None:
    """Make a database from the template."""
    server.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} OWNER {OWNER} STRATEGY FILE_COPY")


@contextmanager
def shared_server() -> Iterator[Server]:
    """The server of this test run: the first worker starts it, the last one stops it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir(), f"firsthand-tests-{run}")
    folder.mkdir(mode=0o755, exist_ok=True)
    users, port = folder / "users", folder / "port"
    with _alone(folder):
        if not port.exists():
            server = Server(folder / "data")
            _found(server)
            port.write_text(str(server.port))
        server = Server(folder / "data", port=int(port.read_text()))
        with users.open("a") as file:
            file.write("+")
    try:
        yield server
    finally:
        with _alone(folder):
            left = users.read_text()[1:]
            users.write_text(left)
            if not left:
                server.stop("immediate")
                shutil.rmtree(folder, ignore_errors=True)


def _found(server: Server) -> None:
    server.create()
    server.demand_password(GUARDED)
    server.start()
    server.execute(f"CREATE ROLE {OWNER} LOGIN", f"CREATE ROLE {APPLICATION} LOGIN")
    server.execute(f"CREATE ROLE {GUARDED} LOGIN PASSWORD '{PASSWORD}'")
    server.execute(f"CREATE DATABASE {TEMPLATE} OWNER {OWNER}")
    migrate(server.url(TEMPLATE, OWNER), store_id=lambda: "thisstore", grant=[APPLICATION])


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder.parent / f"{folder.name}-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
