"""What PostgreSQL and its driver raise, said in our own errors. Translated here and nowhere else."""

from __future__ import annotations

import re

import psycopg

from firsthand.errors import (
    FirsthandError,
    InvalidInput,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnavailable,
)

_CANCELLED = "57014"

Said = tuple[type[FirsthandError], str]

_LOST: Said = (StoreUnavailable, "the server went away; what was not acknowledged was not kept")
_FULL: Said = (StoreFull, "no room left on the server; the write was undone")
_BUSY: Said = (StoreBusy, "another writer held what this one needed for too long; try again")
_DEFECT: Said = (StoreError, "firsthand made a mistake in using PostgreSQL, please report it")
_RIGHTS: Said = (
    StoreUnavailable,
    "this role may not use the tables; their owner runs `firsthand migrate --db ADDRESS --grant ROLE`",
)

# By SQLSTATE: the whole code first, then its class (the first two characters).
BY_STATE: dict[str, Said] = {
    "08": _LOST,
    "25006": (StoreUnavailable, "only a standby answers, which takes no writes"),
    "28": (StoreUnavailable, "the server does not let this role in; look at the user and the password"),
    "3D": (StoreUnavailable, "there is no such database on the server"),
    "3F": _DEFECT,
    "40": _BUSY,  # serialization failures and deadlocks
    "42501": _RIGHTS,
    "53100": _FULL,
    "53200": (StoreUnavailable, "the server is out of memory"),
    "53300": (StoreBusy, "the server has no connection left; try again, or put a pooler in front of it"),
    "53": (StoreUnavailable, "the server is out of something that it needs"),
    "54": (InvalidInput, "too long to be stored: one text may take a gigabyte, names and ids together 2,600 bytes"),
    "55P03": _BUSY,
    "55006": _BUSY,
    "57014": (StoreBusy, "the server cut the statement short (statement_timeout, or somebody cancelled it); try again"),
    "57": _LOST,  # the server is shutting down, starting up, or crashed
    "58030": (StoreUnavailable, "the server's device could not be read or written"),
    "58": (StoreUnavailable, "the server had trouble with its operating system"),
    "22": (InvalidInput, "the server cannot store a value"),
    "XX001": (StoreCorrupt, "the server found damaged data; restore a copy"),
    "XX002": (StoreCorrupt, "the server found a damaged index; REINDEX it"),
}

_NO_HOST: Said = (StoreUnavailable, "there is no such host")
_NOT_TAKEN: Said = (StoreUnavailable, "the server does not take this connection")
_NOT_SECURE: Said = (StoreUnavailable, "no secure connection could be agreed on")

# A server that cannot be reached has no code to tell, and says so in the words of libpq, which are never translated.
_BY_WORDS: tuple[tuple[str, Said], ...] = (
    (r"password authentication failed|no password supplied", BY_STATE["28"]),
    (r"no pg_hba\.conf entry|role \S+ does not exist|is not permitted to log in", BY_STATE["28"]),
    (r"database \S+ does not exist", BY_STATE["3D"]),
    (r"too many (clients|connections)|remaining connection slots", BY_STATE["53300"]),
    (r"session is read-only|server is in hot standby", BY_STATE["25006"]),
    (r"could not translate host name|name or service not known", _NO_HOST),
    (r"Connection refused|No such file or directory", (StoreUnavailable, "no server answers there")),
    (r"timeout expired|timed out", (StoreUnavailable, "no server answers there in time")),
    (
        r"starting up|shutting down|recovery mode|accepting connections",
        (StoreUnavailable, "the server is starting or stopping; try again"),
    ),
    (r"^connection failed.*FATAL", _NOT_TAKEN),
    (r"SSL|certificate", _NOT_SECURE),
)
# What no waiting mends.
_LASTING = (BY_STATE["28"], BY_STATE["3D"], _NO_HOST, _NOT_TAKEN, _NOT_SECURE)


def from_postgres(error: psycopg.Error, shown: str) -> FirsthandError:
    """Our error for one of the driver's."""
    kind, words = _known(error)
    return kind(f"{shown}: {words} ({_first_line(error)})")


def is_lost(error: BaseException | None) -> bool:
    """Whether the connection is gone, so that another one may do."""
    if not isinstance(error, psycopg.Error):
        return False
    state = error.sqlstate
    if state is None:
        return isinstance(error, psycopg.OperationalError)
    return state[:2] in ("08", "57") and state != _CANCELLED


def may_pass(error: BaseException | None) -> bool:
    """Whether a connection that could not be made may be made soon: the server starts, is promoted, or is full."""
    return isinstance(error, psycopg.OperationalError) and _known(error) not in _LASTING


def _known(error: psycopg.Error) -> Said:
    state = error.sqlstate
    if state is not None:
        return BY_STATE.get(state) or BY_STATE.get(state[:2]) or _DEFECT
    if isinstance(error, psycopg.OperationalError):
        text = str(error)
        return next((said for pattern, said in _BY_WORDS if re.search(pattern, text, re.IGNORECASE)), _LOST)
    if isinstance(error, psycopg.DataError):
        return BY_STATE["22"]
    return _DEFECT


def _first_line(error: psycopg.Error) -> str:
    """What the server said, without the statement and without the values in it."""
    if error.diag.message_primary is not None:
        return error.diag.message_primary
    lines = str(error).splitlines()
    return lines[0].strip() if lines else type(error).__name__
