"""The key of an encrypted file: checked, stretched once, and handed to SQLite stretched.

The cipher is ChaCha20-Poly1305, page by page, as SQLite3 Multiple Ciphers has it by default, so that its tools open the
file with the same key. A key may be weak, so the cipher runs it through thousands of rounds with the file's own salt.
That takes a while, and SQLite would do it again for each connection.
"""

from __future__ import annotations

import hashlib
import os

import apsw

from firsthand.errors import InvalidInput, StoreUnavailable

from .failures import from_sqlite

_CIPHER = "chacha20"
_ROUNDS = 64_007  # of PBKDF2-HMAC-SHA256: the cipher's own number
_LENGTH = 32
_SALT = 16  # bytes; where an encrypted file starts with it, a plain one starts with the words below
_PLAIN = b"SQLite format 3\x00"


class FileKey:
    """The key of one file. `stretched`: it is random and as long as the cipher's, so there is nothing to stretch."""

    def __init__(self, path: str, key: bytes, *, stretched: bool = False) -> None:
        self._path = path
        self._key = key
        self._stretched = key if stretched else None

    def pragmas(self) -> str:
        """What gives the key to a new connection. Raises StoreUnavailable where the file is not encrypted."""
        if self._stretched is None:
            salt = start_of(self._path)
            if salt == _PLAIN:
                raise StoreUnavailable(f"{self._path}: not encrypted; open it without a key")
            salt = salt or os.urandom(_SALT)
            self._stretched = hashlib.pbkdf2_hmac("sha256", self._key, salt, _ROUNDS, _LENGTH) + salt
        return f"PRAGMA cipher = '{_CIPHER}'; PRAGMA key = 'raw:{self._stretched.hex()}'"


def key_bytes(key: str | bytes | None) -> bytes | None:
    """The key as bytes. An empty one is refused, because SQLite would take it for none at all."""
    if key is None:
        return None
    if not isinstance(key, str | bytes):
        raise InvalidInput(f"the key must be text or bytes, not {type(key).__name__}")
    if not key:
        raise InvalidInput("the key is empty; leave it out to keep a file that is not encrypted")
    return key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key


def start_of(path: str) -> bytes:
    """The first bytes of the file; none when it is new.

    Read through SQLite: closing a file that we opened ourselves would drop the locks that this process has on it.
    """
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
    try:
        file = apsw.VFSFile("", path, [flags, 0])
    except apsw.Error as error:
        raise from_sqlite(error, path) from error
    try:
        return bytes(file.xRead(_SALT, 0))
    except apsw.Error as error:
        raise from_sqlite(error, path) from error
    finally:
        file.xClose()
