"""Doors for tests: the application over a memory that is not kept, with keys, spoken to without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from firsthand import Caller, Memory
from firsthand.server.app import Doors, application
from firsthand.server.gate import Gate
from firsthand.server.keys import Grant, Keys, Level
from firsthand.server.limits import Limits
from stopped_clock import StoppedClock


class Opened:
    """A server: its memory, its keys, and callers for any grant."""

    def __init__(self, memory: Memory, clock: StoppedClock, limits: Limits, gate: Gate) -> None:
        self.memory, self.clock = memory, clock
        self.gate = gate
        self.doors = Doors(memory, gate, limits)
        self.app = application(self.doors)

    @property
    def keys(self) -> Keys:
        """The keys that it knows."""
        assert self.gate.keys is not None
        return self.gate.keys

    def as_(
        self, level: Level, user: str = "alex", tenant: str = "default", caller: Caller = Caller.PERSON
    ) -> TestClient:
        """Whoever holds a key with this grant."""
        _, text = self.keys.make(Grant(tenant, user, level, caller), self.clock())
        return self.with_key(text)

    def with_key(self, text: str | None) -> TestClient:
        """Whoever sends this text as a key."""
        headers = {} if text is None else {"Authorization": f"Bearer {text}"}
        return TestClient(self.app, base_url="http://localhost", headers=headers)


@contextmanager
def opened(
    limits: Limits | None = None,
    memory: Memory | None = None,
    user: str | None = None,
    everybody: Grant | None = None,
) -> Iterator[Opened]:
    """A server on a stopped clock.

    `user` is whose memory it is where a caller may choose and does not; `everybody` may do that much without a key.
    """
    clock = StoppedClock()
    with memory or Memory(":memory:", clock=clock) as held:
        yield Opened(held, clock, limits or Limits(rate=0), Gate(Keys(":memory:"), clock, everybody, user))


def ok(response: Any) -> Any:
    """The JSON of an answer that went well."""
    assert response.status_code == 200, response.text
    return response.json()


def problem(response: Any, status: int, name: str) -> str:
    """The detail of a refusal, as problem details."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert told["status"] == status
    assert told["type"] == f"urn:firsthand:{name}"
    return str(told["detail"])
