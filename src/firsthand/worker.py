"""A thread that does what is due: woken when something may be, and from time to time by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from firsthand.errors import FirsthandError

EVERY = 5.0  # seconds between two looks at what time has made due
CLOSING = 5.0  # seconds that closing waits for work under way; what is not done then is left to the next reader


class Worker:
    """Runs one function again and again, never twice at once. Starts when it is first woken."""

    def __init__(self, work: Callable[[], object], every: float = EVERY) -> None:
        self._work = work
        self._every = every
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Look now."""
        self._woken.set()
        with self._guard:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, name="firsthand-worker", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Look no more; wait a little for what is under way."""
        self._stopped.set()
        self._woken.set()
        with self._guard:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(CLOSING)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._woken.clear()
            with suppress(FirsthandError):  # what is due stays due: the next look tries again, and `health` counts it
                self._work()
            self._woken.wait(self._every)
