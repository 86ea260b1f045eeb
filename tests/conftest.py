"""What every room's tests may use: a clock that only moves when told, and a memory on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from firsthand import Memory, User
from postgres_place import Place, copy, shared_server
from stopped_clock import StoppedClock

if TYPE_CHECKING:
    from doors_open import Opened
    from starlette.testclient import TestClient

settings.register_profile("firsthand", deadline=None)  # how long a busy machine takes is no property of ours
settings.load_profile("firsthand")


@pytest.fixture
def clock() -> StoppedClock:
    """A clock that stands at noon of 1 June 2026, UTC."""
    return StoppedClock()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The flow is the same wherever memory is kept: its tests run on a file and on a server."""
    if "mem" in metafunc.fixturenames and metafunc.definition.path.parent.name == "memory":
        metafunc.parametrize("mem", ["file", "server"], indirect=True)


@pytest.fixture
def mem(request: pytest.FixtureRequest, clock: StoppedClock) -> Iterator[Memory]:
    """A memory that is not kept: in a file, or on a server."""
    location = ":memory:"
    if getattr(request, "param", "file") == "server":
        place: Place = request.getfixturevalue("postgres")
        place.empty()
        location = place.url
    with Memory(location, clock=clock) as memory:
        yield memory


@pytest.fixture
def alex(mem: Memory) -> User:
    """One person's memory."""
    return mem.user("alex")


@pytest.fixture
def server() -> Iterator[Opened]:
    """A server with keys on a stopped clock."""
    from doors_open import opened

    with opened() as found:
        yield found


@pytest.fixture
def owner(server: Opened) -> TestClient:
    """Alex, with a key of their own to a server."""
    from firsthand.server.keys import Level

    return server.as_(Level.ADMIN)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Place]:
    """A database of this worker's own on the server of the test run. Whoever takes it empties it first."""
    with shared_server() as server:
        place = Place(server, f"worker_{os.environ.get('PYTEST_XDIST_WORKER', 'only')}")
        copy(server, place.name)
        yield place
