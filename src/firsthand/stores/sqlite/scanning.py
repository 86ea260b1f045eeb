"""Looking for bytes in all that a store keeps: each of its files as it lies there, and the pages behind a key.

Whether a row that is still there holds the same bytes is asked of the tables, so that what two people said is no trace
of the one who left.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import apsw

from firsthand.ports import Scan

from .connection import Connection
from .failures import from_sqlite, from_system

_PIECE = 8 * 1024 * 1024  # bytes read at a time
# Files that hold SQLite's locks lose them when any handle of theirs in this process is closed: these stay open.
_LEFT_OPEN: dict[tuple[int, int], int] = {}


def scan(connection: Connection, files: Iterable[Path], needles: Sequence[bytes], *, encrypted: bool) -> Scan:
    """Look for each needle in the files; in an encrypted store also in the pages of the file behind the key."""
    places: list[tuple[str, int]] = []
    found: list[tuple[str, int]] = []
    for file in files:
        size, hits = _search(_pieces(file, str(file) == connection.path), needles)
        places.append((file.name, size))
        found.extend((file.name, each) for each in hits)
    if encrypted:
        pages = connection.raw.serialize("main")
        size, hits = _search([pages], needles)
        name = f"{Path(connection.path).name}, decrypted"
        places.append((name, size))
        found.extend((name, each) for each in hits)
    living = _living(connection, {each for _, each in found}, needles)
    return Scan(tuple(places), tuple(found), frozenset(living))


def _search(pieces: Iterable[bytes], needles: Sequence[bytes]) -> tuple[int, list[int]]:
    """(bytes looked at, the needles that are in them), with an overlap so that none is cut in two."""
    overlap = max((len(each) for each in needles), default=1) - 1
    size, rest = 0, b""
    hits: dict[int, None] = {}
    for piece in pieces:
        size += len(piece)
        window = rest + piece
        hits.update((at, None) for at, needle in enumerate(needles) if at not in hits and needle in window)
        rest = window[-overlap:] if overlap else b""
    return size, list(hits)


def _pieces(file: Path, is_main: bool) -> Iterator[bytes]:
    return _through_sqlite(str(file)) if is_main else _as_it_lies(file)


def _through_sqlite(path: str) -> Iterator[bytes]:
    """The main file's bytes, raw, read by SQLite: a handle of our own would drop this process's locks when closed."""
    try:
        file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
        try:
            size = file.xFileSize()
            for start in range(0, size, _PIECE):
                yield bytes(file.xRead(min(_PIECE, size - start), start))
        finally:
            file.xClose()
    except apsw.Error as error:
        raise from_sqlite(error, path) from error


def _as_it_lies(file: Path) -> Iterator[bytes]:
    try:
        handle = _handle(file)
        start = 0
        while piece := os.pread(handle, _PIECE, start) if hasattr(os, "pread") else _read_at(handle, start):
            yield piece
            start += len(piece)
    except OSError as error:
        raise from_system(error, str(file)) from error


def _handle(file: Path) -> int:
    status = file.stat()
    known = (status.st_dev, status.st_ino)
    if known not in _LEFT_OPEN:
        _LEFT_OPEN[known] = os.open(file, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    return _LEFT_OPEN[known]


def _read_at(handle: int, start: int) -> bytes:
    os.lseek(handle, start, os.SEEK_SET)
    return os.read(handle, _PIECE)


def _living(connection: Connection, hits: set[int], needles: Sequence[bytes]) -> set[int]:
    """Those of the needles found that rows hold which are still there."""
    living: set[int] = set()
    for values in _every_row(connection) if hits else ():
        row = b"".join(value.encode() if isinstance(value, str) else value for value in values)  # as a page has it
        living.update(at for at in hits - living if needles[at] in row)
        if living == hits:
            break
    return living


def _every_row(connection: Connection) -> Iterator[list[str | bytes]]:
    tables = connection.script("SELECT name FROM sqlite_schema WHERE type = 'table'")
    for (table,) in [("sqlite_schema",), *tables]:
        for row in connection.raw.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - a table of our own schema
            yield [value for value in row if isinstance(value, (str, bytes))]
