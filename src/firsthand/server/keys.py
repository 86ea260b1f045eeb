"""API keys: who may call, for whom, and how much. Only digests are kept.

Keys live in a small SQLite file of their own beside the memory, so that a memory, its export and its backup never carry
credentials, and so that `firsthand keys revoke` holds at once in every running server. A secret has 256 random bits,
so that a plain SHA-256 of it cannot be turned back by guessing. It is shown once, when it is made.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from importlib.resources import files
from pathlib import Path
from typing import Any

from firsthand.errors import InvalidInput, NotFound, StoreUnavailable
from firsthand.model import Caller, micros

ALL = "*"  # every tenant, every user
MARK = "fh"  # what every key begins with, so that scanners of leaked secrets know one
_PARTS = 3
_WAIT = 5.0  # seconds that a write waits for another one


class Level(IntEnum):
    """What a key may do; each may what those below it may."""

    READ = 1
    WRITE = 2
    ADMIN = 3

    @classmethod
    def of(cls, word: str) -> Level:
        """The level of this name. Raises InvalidInput."""
        try:
            return cls[word.upper()]
        except KeyError:
            raise InvalidInput(f"a key's role is read, write or admin; not {word[:40]!r}") from None

    @property
    def word(self) -> str:
        """Its name, as it is written."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Grant:
    """What a caller may do, and in whose memory."""

    tenant: str
    user: str
    level: Level
    caller: Caller = Caller.PERSON
    key: str | None = None  # the id of the key; None where the door stands open

    @property
    def everywhere(self) -> bool:
        """Whether it is for a whole store."""
        return self.tenant == ALL and self.user == ALL


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is kept: everything but the secret. Times are microseconds since 1970."""

    id: str
    label: str
    tenant: str
    user: str
    role: str
    caller: str
    made: int
    expires: int | None
    revoked: int | None

    @property
    def grant(self) -> Grant:
        """What its holder may do."""
        return Grant(self.tenant, self.user, Level.of(self.role), Caller(self.caller), self.id)


class Keys:
    """The file of keys. Safe to use from several threads, and from several processes at a time."""

    def __init__(self, path: str | Path) -> None:
        self._lock = threading.Lock()
        self._queries = dict(_queries())
        try:
            made = os.open(path, os.O_CREAT | os.O_RDWR, 0o600) if str(path) != ":memory:" else None
            if made is not None:
                os.close(made)
            self._db = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
            self._db.row_factory = sqlite3.Row
            self._db.execute(self._queries["schema"])
        except (OSError, sqlite3.Error) as error:
            raise StoreUnavailable(f"cannot open the file of keys {path}: {error}") from error

    def make(self, grant: Grant, now: datetime, *, label: str = "", expires: datetime | None = None) -> tuple[Key, str]:
        """A new key, and the text that its holder sends. The text is nowhere kept. Raises InvalidInput."""
        if (grant.tenant == ALL) != (grant.user == ALL) and grant.tenant == ALL:
            raise InvalidInput("a key for every tenant is for every user too")
        name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        until = None if expires is None else micros(expires)
        key = Key(
            name, label, grant.tenant, grant.user, grant.level.word, grant.caller, micros(now), until, revoked=None
        )
        with self._doing() as db:
            db.execute(self._queries["add"], {**_fields(key), "digest": _digest(secret)})
        return key, f"{MARK}_{name}_{secret}"

    def rotate(self, name: str, now: datetime, keep: int = 0) -> str:
        """Another secret for a key; the old one holds for `keep` more seconds. Raises NotFound."""
        secret = secrets.token_urlsafe(32)
        until = micros(now) + keep * 1_000_000 if keep else None
        self._change("rotate", name, {"digest": _digest(secret), "until": until, "now": micros(now)})
        return f"{MARK}_{name}_{secret}"

    def revoke(self, name: str, now: datetime) -> None:
        """Let a key open nothing any more, at once. Raises NotFound."""
        self._change("revoke", name, {"now": micros(now)})

    def all(self) -> list[Key]:
        """Every key, oldest first, revoked ones too."""
        with self._doing() as db:
            return [_key(row) for row in db.execute(self._queries["all"])]

    def opened_by(self, text: str, now: datetime) -> Key | None:
        """The key that a text is of, if it holds now."""
        parts = text.split("_", 2)
        if len(parts) != _PARTS or parts[0] != MARK:
            return None
        row = self._row(parts[1])
        if row is None:
            return None
        at, digest = micros(now), _digest(parts[2])
        current = hmac.compare_digest(row["digest"], digest)
        before = hmac.compare_digest(row["old_digest"] or "", digest) and at < (row["old_until"] or 0)
        key = _key(row)
        return key if (current or before) and _holds(key, at) else None

    def standing(self, name: str, now: datetime) -> Key | None:
        """The key of this id, if it holds now: for a session that it opened."""
        row = self._row(name)
        key = _key(row) if row is not None else None
        return key if key is not None and _holds(key, micros(now)) else None

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _row(self, name: str) -> sqlite3.Row | None:
        with self._doing() as db:
            row: sqlite3.Row | None = db.execute(self._queries["find"], {"id": name}).fetchone()
            return row

    def _change(self, query: str, name: str, given: Mapping[str, Any]) -> None:
        with self._doing() as db, closing(db.execute(self._queries[query], {"id": name, **given})) as done:
            if done.rowcount == 0:
                raise NotFound(f"no key that holds has the id {name!r}; `firsthand keys list` lists them")

    @contextmanager
    def _doing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._db
            except sqlite3.Error as error:
                raise StoreUnavailable(f"the file of keys failed: {error}") from error


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _holds(key: Key, at: int) -> bool:
    return key.revoked is None and (key.expires is None or at < key.expires)


def _fields(key: Key) -> dict[str, Any]:
    return {name: getattr(key, name) for name in Key.__slots__}


def _key(row: sqlite3.Row) -> Key:
    return Key(**{name: row[name] for name in Key.__slots__})


def _queries() -> Iterator[tuple[str, str]]:
    """The statements of `keys.sql` by the name that stands above each."""
    text = files("firsthand.server").joinpath("keys.sql").read_text(encoding="utf-8")
    for part in text.split("-- name: ")[1:]:
        title, _, statement = part.partition("\n")
        yield title.strip(), statement.strip()
