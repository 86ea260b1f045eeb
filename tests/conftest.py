"""What every room's tests may use: a clock that only moves when told, and a memory on it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from firsthand import Memory, User


class StoppedClock:
    """Stands still until it is moved."""

    def __init__(self, at: str = "2026-06-01T12:00:00+00:00") -> None:
        self.at = datetime.fromisoformat(at)

    def __call__(self) -> datetime:
        """Now."""
        return self.at

    def forward(self, **span: float) -> datetime:
        """Move on by a span, given as to timedelta."""
        self.at += timedelta(**span)
        return self.at

    def to(self, at: str) -> datetime:
        """Move to a time."""
        self.at = datetime.fromisoformat(at).replace(tzinfo=UTC)
        return self.at


@pytest.fixture
def clock() -> StoppedClock:
    """A clock that stands at noon of 1 June 2026, UTC."""
    return StoppedClock()


@pytest.fixture
def mem(clock: StoppedClock) -> Iterator[Memory]:
    """A memory that is not kept."""
    with Memory(":memory:", clock=clock) as memory:
        yield memory


@pytest.fixture
def alex(mem: Memory) -> User:
    """One person's memory."""
    return mem.user("alex")
