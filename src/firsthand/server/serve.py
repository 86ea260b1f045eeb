"""Runs the application: one process, one port, until it is told to stop.

Stopping takes no new requests, lets those that are being answered finish, and closes the store after them.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn

from firsthand.errors import InvalidInput, NotAllowed
from firsthand.server.app import Doors, application
from firsthand.server.doorstep import LOOPBACK
from firsthand.server.limits import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp

PORT = 8374
GRACE = 30  # seconds that answers may take after the server was told to stop
CONNECTIONS = 1_000  # open at a time; more are told to come again


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, and by which names."""

    host: str = "127.0.0.1"
    port: int = PORT
    names: tuple[str, ...] = ()

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names that a request may call this server by. Raises InvalidInput where nobody said."""
        if self.loopback:
            return (*LOOPBACK, self.host, *self.names)
        if not self.names:
            raise InvalidInput(
                f"say by which name {self.host} is reached: --allow-host NAME (`--allow-host '*'` takes any)"
            )
        return self.names


def check_open(address: Address) -> None:
    """A door without keys stands open to this machine only. Raises NotAllowed."""
    if not address.loopback:
        raise NotAllowed(f"--no-keys is for 127.0.0.1 only; at {address.host} everybody could read everything")


def run(doors: Doors, address: Address, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is told the address once it can be reached. Raises InvalidInput."""
    line = listener(address)
    host, port = line.getsockname()[:2]
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    server = server_of(application(doors), doors.limits, lambda: ready(f"http://{_in_url(host)}:{port}"))
    server.run(sockets=[line])


def server_of(app: ASGIApp, limits: Limits, ready: Callable[[], None]) -> uvicorn.Server:
    """The server of an application; `ready` is called once it can be reached."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # paths hold ids, and an id may be what somebody chose to write
        server_header=False,
        lifespan="on",
        ws="none",
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=GRACE,
    )
    return _Server(config, limits.patience, ready)


def listener(address: Address) -> socket.socket:
    """A socket at an address. Raises InvalidInput where it is taken."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    line = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.bind((address.host, address.port))
    except OSError as error:
        line.close()
        why = error.strerror or error
        raise InvalidInput(f"cannot listen at {address.host}:{address.port}: {why}; choose another --port") from error
    return line


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class _Server(uvicorn.Server):
    """Also lets go of connections that never send a whole request, which uvicorn keeps for ever."""

    def __init__(self, config: uvicorn.Config, patience: float, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._patience, self._ready = patience, ready
        self._waiting: dict[Any, float] = {}

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:
            self._let_go()
        return await super().on_tick(counter)

    def _let_go(self) -> None:
        now = time.monotonic()
        silent = [each for each in self.server_state.connections if _says_nothing(each)]
        self._waiting = {each: self._waiting.get(each, now) for each in silent}
        for each, since in self._waiting.items():
            if now - since > self._patience:
                each.transport.close()


def _says_nothing(connection: Any) -> bool:
    """Whether a connection has no request under way; one that is kept alive has a timer of its own."""
    answered = connection.cycle is None or connection.cycle.response_complete
    return answered and connection.timeout_keep_alive_task is None
