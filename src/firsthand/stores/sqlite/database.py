"""The file: made privately, opened with its key, checked to be ours, brought up to date. Connections come from here.

What is in the tables is in `schema.sql`; what is done with a connection is in `work.py`.
"""

from __future__ import annotations

import glob
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from firsthand.errors import InvalidInput, SchemaTooNew, StoreBusy, StoreCorrupt, StoreUnavailable
from firsthand.stores.tables.schema import Schema, schema_of

from .connection import Connection
from .failures import from_sqlite, from_system
from .keys import FileKey, start_of
from .migrate import APPLICATION, create, upgrade
from .turn import Gate

_PAGE = 4096  # bytes: what a small commit writes whole, once for each table and index it touches
_CACHE = 8192  # KiB a connection may keep of the file
_STATEMENTS = 256  # kept prepared: more than there are queries

_EVERY = f"""
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -{_CACHE};
PRAGMA secure_delete = ON;
PRAGMA trusted_schema = OFF;
PRAGMA journal_size_limit = 67108864;
"""


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is opened.

    `durable`: every commit reaches the disk before it is acknowledged, so that a power cut loses nothing. Without it a
    power cut may lose the last commits, though never the file; a killed process loses nothing either way.
    """

    key: bytes | None = None
    raw_key: bool = False  # the key is 32 random bytes: there is nothing to stretch
    wait: float = 30.0  # seconds that a write waits for its turn
    durable: bool = True
    flushes: bool = True  # False for a file that dies with the process


class Database:
    """One file, and everything needed to connect to it."""

    def __init__(self, path: str, options: Options, schema: Schema | None = None) -> None:
        self.path = path
        self.options = options
        self._schema = schema or schema_of(__package__)
        self._key = None if options.key is None else FileKey(path, options.key, stretched=options.raw_key)

    def open(self, store_id: Callable[[], str]) -> None:
        """Make sure that the file is there, is ours, and has this version's schema. Safe for many processes at once."""
        _make_private(self.path)
        if self._version() == self._schema.version:
            return
        with self._alone():
            version = self._version()  # again: another process may have made the file meanwhile
            connection = self._connect()
            try:
                self._bring_up(connection, version, store_id)
            finally:
                connection.end()
                connection.close()

    def connect(self) -> Connection:
        """A connection that is ready for work."""
        connection = self._connect()
        connection.script(_EVERY)
        connection.script(f"PRAGMA synchronous = {self._synchronous()}")
        if self.options.durable:
            connection.script("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
        return connection

    def gate(self) -> Gate:
        """The gate that writers queue at."""
        try:
            return Gate(f"{self.path}-lock")
        except OSError as error:
            raise from_system(error, f"{self.path}-lock") from error

    def backups(self) -> list[Path]:
        """Copies that upgrades made before they ran."""
        here = Path(self.path)
        return sorted(here.parent.glob(f"{glob.escape(here.name)}.before-*"))

    def files(self) -> list[Path]:
        """Every file that belongs to the store: its own, SQLite's beside it, ours, and copies."""
        here = Path(self.path)
        return sorted(file for file in here.parent.glob(f"{glob.escape(here.name)}*") if file.is_file())

    def _synchronous(self) -> str:
        if not self.options.flushes:
            return "OFF"
        return "FULL" if self.options.durable else "NORMAL"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        gate = self.gate()
        try:
            if not gate.acquire(time.monotonic() + self.options.wait):
                raise StoreBusy(f"{self.path}: another process has been changing it for {self.options.wait:g} seconds")
            yield
        finally:
            gate.close()

    def _version(self) -> int:
        """The schema version of the file; 0 when it is new. Raises when it is not ours or cannot be read."""
        if not start_of(self.path):
            return 0
        connection = self._connect()
        try:
            return self._recognise(connection)
        finally:
            connection.close()

    def _recognise(self, connection: Connection) -> int:
        ((application,),) = connection.script("PRAGMA application_id")
        ((version,),) = connection.script("PRAGMA user_version")
        ((tables,),) = connection.script("SELECT count(*) FROM sqlite_schema")
        if not application and not version and not tables:
            return 0
        if application != APPLICATION:
            raise StoreUnavailable(f"{self.path}: a database of another program, not a firsthand file")
        if version > self._schema.version:
            raise SchemaTooNew(
                f"{self.path}: written by a newer firsthand (schema {version}, this one knows {self._schema.version}); "
                "upgrade firsthand to open it"
            )
        return int(version)

    def _bring_up(self, connection: Connection, version: int, store_id: Callable[[], str]) -> None:
        connection.wait_for(self.options.wait)
        if version == self._schema.version:
            return
        if version == 0:
            connection.script(f"PRAGMA page_size = {_PAGE}; PRAGMA journal_mode = WAL")
            create(connection, self._schema, store_id())
            return
        self._back_up(connection, version)
        upgrade(connection, self._schema)

    def _back_up(self, connection: Connection, version: int) -> None:
        """Copy the file as it is, under the same key, before a migration touches it."""
        copy = f"{self.path}.before-{version + 1:04}"
        Path(copy).unlink(missing_ok=True)
        _make_private(copy)
        connection.script(f"VACUUM INTO {_quoted(copy)}")

    def _connect(self) -> Connection:
        raw = self._open()
        connection = Connection(raw, self.path)
        connection.wait_for(self.options.wait)
        try:
            self._unlock(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self) -> apsw.Connection:
        try:
            return apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=_STATEMENTS)
        except apsw.Error as error:
            raise from_sqlite(error, self.path) from error

    def _unlock(self, connection: Connection) -> None:
        """Give the key, and see whether the file can be read and written with it."""
        if self._key is not None:
            connection.script(self._key.pragmas())
        try:
            connection.script("SELECT count(*) FROM sqlite_schema")
        except StoreCorrupt as error:
            if isinstance(error.__cause__, apsw.NotADBError):
                what = "wrong key" if self._key is not None else "encrypted, so it needs its key"
                raise StoreUnavailable(f"{self.path}: {what}, or not a firsthand file") from error
            raise
        if connection.raw.readonly("main"):
            raise StoreUnavailable(f"{self.path}: the file may not be written")


def real_path(path: str | os.PathLike[str]) -> str:
    """The absolute path of the file itself, behind links: what it is called never changes with the working folder."""
    given = os.fspath(path)
    if not isinstance(given, str) or not given:
        raise InvalidInput("the store needs a path; use ':memory:' for one that is not kept")
    if "\0" in given:
        raise InvalidInput("the store's path holds a NUL character")
    try:
        given.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput("the store's path is not UTF-8") from error
    return os.path.realpath(given)


def _make_private(path: str) -> None:
    """Make the file, readable by its owner only, unless it is there."""
    try:
        if not _is_there(path):
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
            os.close(os.open(path, flags, 0o600))
    except FileExistsError:
        return  # made by another process meanwhile
    except FileNotFoundError as error:
        raise StoreUnavailable(f"{path}: its folder does not exist") from error
    except OSError as error:
        raise from_system(error, path) from error


def _is_there(path: str) -> bool:
    """Whether the file exists. Raises StoreUnavailable for what is no ordinary file."""
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "not an ordinary file"
        raise StoreUnavailable(f"{path}: {what}, so not a firsthand file")
    return True


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
