"""What SQLite and the operating system raise, said in our own errors. Translated here and nowhere else."""

from __future__ import annotations

import errno

import apsw

from firsthand.errors import (
    FirsthandError,
    InvalidInput,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnavailable,
)

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_DAMAGED = frozenset({apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_SHORT_READ})

_FULL = (StoreFull, "no room left on the device; the write was undone")
_BUSY = (StoreBusy, "another process held the store for too long; try again")
_CORRUPT = (StoreCorrupt, "the file is damaged; restore a copy, or look at what `check` says")
_DEFECT = (StoreError, "firsthand made a mistake in using SQLite, please report it")
_CLOSED = (StoreError, "the store was closed, or the block that this iterator was made in has ended")

TRANSLATION: dict[type[apsw.Error], tuple[type[FirsthandError], str]] = {
    apsw.BusyError: _BUSY,
    apsw.LockedError: _BUSY,
    apsw.ProtocolError: _BUSY,
    apsw.SchemaChangeError: _BUSY,
    apsw.FullError: _FULL,
    apsw.CorruptError: _CORRUPT,
    apsw.NotADBError: _CORRUPT,
    apsw.FormatError: _CORRUPT,
    apsw.IOError: (StoreUnavailable, "the device could not be read or written"),
    apsw.ReadOnlyError: (StoreUnavailable, "the file may not be written"),
    apsw.PermissionsError: (StoreUnavailable, "no permission"),
    apsw.AuthError: (StoreUnavailable, "no permission"),
    apsw.CantOpenError: (StoreUnavailable, "the file cannot be opened"),
    apsw.NoLFSError: (StoreUnavailable, "the file system cannot hold files this large"),
    apsw.NoMemError: (StoreUnavailable, "out of memory"),
    apsw.AbortError: (StoreUnavailable, "the operation was cut short"),
    apsw.InterruptError: (StoreUnavailable, "the operation was cut short"),
    apsw.TooBigError: (InvalidInput, "too long to be stored: one text may take a gigabyte"),
    apsw.ConstraintError: _DEFECT,
    apsw.CursorClosedError: _CLOSED,
    apsw.ConnectionClosedError: _CLOSED,
    apsw.ConnectionNotClosedError: _DEFECT,
    apsw.BindingsError: _DEFECT,
    apsw.EmptyError: _DEFECT,
    apsw.Error: _DEFECT,
    apsw.ExecTraceAbort: _DEFECT,
    apsw.ExecutionCompleteError: _DEFECT,
    apsw.ExtensionLoadingError: _DEFECT,
    apsw.ForkingViolationError: _DEFECT,
    apsw.IncompleteExecutionError: _DEFECT,
    apsw.InternalError: _DEFECT,
    apsw.InvalidContextError: _DEFECT,
    apsw.MismatchError: _DEFECT,
    apsw.MisuseError: _DEFECT,
    apsw.NoFTS5Error: _DEFECT,
    apsw.NotFoundError: _DEFECT,
    apsw.RangeError: _DEFECT,
    apsw.SQLError: _DEFECT,
    apsw.ThreadingViolationError: _DEFECT,
    apsw.VFSFileClosedError: _DEFECT,
    apsw.VFSNotImplementedError: _DEFECT,
}


def from_sqlite(error: apsw.Error, path: str, system_errno: int = 0) -> FirsthandError:
    """Our error for one of SQLite's. `system_errno` is the last error of the connection's file."""
    kind, words = TRANSLATION.get(type(error), _DEFECT)
    if isinstance(error, apsw.IOError):
        extended = getattr(error, "extendedresult", 0)
        if system_errno in _NO_ROOM:
            kind, words = _FULL
        elif extended in _DAMAGED:
            kind, words = _CORRUPT
    return kind(f"{path}: {words} ({error})")


def from_system(error: OSError, path: str) -> StoreError:
    """Our error for one of the operating system's."""
    if error.errno in _NO_ROOM:
        return StoreFull(f"{path}: {_FULL[1]}")
    reason = error.strerror or type(error).__name__
    return StoreUnavailable(f"{path}: {reason[:1].lower()}{reason[1:]}")
