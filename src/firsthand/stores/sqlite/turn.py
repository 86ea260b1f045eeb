"""Whose turn it is to write: first come, first served among threads, and fair among processes.

SQLite's own write lock decides what is correct; it is not fair, because whoever has just let go of it is quickest to
take it again. So a writer queues at this gate until SQLite's lock is its own, and leaves the gate before it writes:
one that comes back at once finds the gate taken by whoever waits. The gate is a lock on an empty file beside the
database, because closing any handle of the database itself would drop the locks that SQLite holds on it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque

_SHORTEST = 0.0002  # seconds between two tries
_LONGEST = 0.004
_HANDED_OVER = -1  # no thread's identity: the next one has it and has yet to wake up

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


class Queue:
    """A lock among threads that is handed to whoever has waited longest."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._holder: int | None = None

    def acquire(self, seconds: float) -> bool:
        """Wait for one's turn; False when it did not come in time."""
        with self._guard:
            if self._holder is None:
                self._holder = threading.get_ident()
                return True
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        came = gate.acquire(timeout=max(seconds, 0.0))
        with self._guard:
            if not came and gate in self._waiting:
                self._waiting.remove(gate)
                return False
            self._holder = threading.get_ident()
            return True

    def release(self) -> None:
        """Hand over to the next, or leave it free."""
        with self._guard:
            if self._waiting:
                self._holder = _HANDED_OVER
                self._waiting.popleft().release()
            else:
                self._holder = None

    def mine(self) -> bool:
        """Whether this very thread holds it."""
        return self._holder == threading.get_ident()


class Gate:
    """A lock among processes, on a file of its own."""

    def __init__(self, path: str) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)

    def acquire(self, deadline: float) -> bool:
        """Try until the deadline (of `time.monotonic`); False when it passed."""
        pause = _SHORTEST
        while not _try_lock(self._handle):
            if time.monotonic() >= deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST)
        return True

    def release(self) -> None:
        """Let the next one in."""
        _unlock(self._handle)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._handle)


class Patience:
    """SQLite's busy handler: tries again until a deadline."""

    def __init__(self) -> None:
        self.deadline = 0.0

    def __call__(self, tries: int) -> bool:
        """Whether to try once more."""
        if time.monotonic() >= self.deadline:
            return False
        time.sleep(min(_SHORTEST * (tries + 1), _LONGEST))
        return True
