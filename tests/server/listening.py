"""A server that listens on a real socket, in a thread of the test's own process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from doors_open import Opened

from firsthand.server.serve import Address, listener, server_of


@contextmanager
def listening(opened: Opened) -> Iterator[str]:
    """The address of a running server."""
    line = listener(Address(port=0))
    reachable = threading.Event()
    server = server_of(opened.app, opened.doors.limits, reachable.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [line]})
    thread.start()
    try:
        assert reachable.wait(30)
        yield f"http://127.0.0.1:{line.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
