"""Any number of workers on one memory, in a file and on a server; one of them is killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fake_models import ScriptedModel, Turns, answer_of, observation
from firsthand import LLMWriter, Memory
from postgres_place import Place
from stopped_clock import StoppedClock

PEOPLE, TURNS = 6, 45  # more turns than fit into one batch
KILLED = """
import os, signal, sys
from firsthand import LLMWriter, Memory
from test_workers import Reader
from stopped_clock import StoppedClock

class Dying(Reader):
    def answer(self, turns):
        if len(self.asked) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().answer(turns)

Memory(sys.argv[1], clock=StoppedClock(), writer=LLMWriter(Dying())).work()
"""


class Reader(ScriptedModel):
    """Finds what each turn says that the person collects."""

    def __init__(self) -> None:
        super().__init__(self._read)

    def _read(self, turns: Turns) -> str:
        given = json.loads(turns[1][1])["turns"]
        found = [(each["n"], each["text"]) for each in given if each.get("new")]
        return answer_of(*(observation(n, text, text.rpartition(" ")[2], attribute="owns") for n, text in found))


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where the memory is kept."""
    if request.param == "file":
        yield str(tmp_path / "shared.db")
        return
    postgres: Place = request.getfixturevalue("postgres")
    postgres.empty()
    yield postgres.url
    postgres.empty()


def test_a_killed_worker_loses_nothing_and_what_it_did_is_not_done_again(place: str, clock: StoppedClock) -> None:
    """Issue: any number of workers anywhere; one killed in the middle loses and repeats nothing."""
    with Memory(place, clock=clock, writer="none", trigger="every_turn") as memory:
        for person in range(PEOPLE):
            said = [f"The {person}th album has coin number c{person}x{turn}" for turn in range(TURNS)]
            memory.user(f"p{person}").observe(said, session="s")
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    killed = subprocess.run([sys.executable, "-c", KILLED, place], env=paths, check=False)  # noqa: S603
    assert killed.returncode == -signal.SIGKILL
    clock.forward(minutes=16)  # what was lent to it is free again
    readers = [Reader() for _ in range(4)]

    def work(reader: Reader) -> None:
        with Memory(place, clock=clock, writer=LLMWriter(reader)) as memory:
            for _ in range(3):
                memory.work()

    with ThreadPoolExecutor(len(readers)) as threads:
        list(threads.map(work, readers))
    with Memory(place, clock=clock) as memory:
        for person in range(PEOPLE):
            held = Counter(belief.value for belief in memory.user(f"p{person}").beliefs(attribute="owns"))
            assert held == Counter(f"c{person}x{turn}" for turn in range(TURNS))
        health = memory.health()
        assert health["ok"]
        assert health["observations"] == PEOPLE * TURNS
        assert (health["unread"]["due"], health["unread"]["failing"]) == (0, 0)
    batches = PEOPLE * 2
    before = 4
    assert sum(len(reader.asked) for reader in readers) == batches - before, "each batch was read once"
