"""Many processes on one server, processes that are killed, servers that die and come back. Gates, not sleeps."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from firsthand import Memory, StoreUnavailable
from firsthand.model import Owner
from firsthand.ports import MessageQuery, Store
from firsthand.stores.postgres import migrate, open_postgres
from firsthand.testing.postgres import Server, server
from firsthand.testing.store.samples import ALEX, NOW, say
from postgres_place import APPLICATION, OWNER, Place

ROOT = Path(__file__).parents[2]
DURABLE: dict[str, str] = {}  # as a server is unless it is told to be quick


def run(*command: str) -> str:
    """What a command of ours prints; it must succeed."""
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
    line = [sys.executable, "-m", *command]
    done = subprocess.run(line, cwd=ROOT, env=paths, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ids(store: Store, owner: Owner = ALEX) -> list[str]:
    with store.reading(owner) as read:
        return [each.id for each in read.messages.walk(MessageQuery())]


def test_a_crowd_of_processes_loses_nothing(postgres: Place) -> None:
    """Issue: append order that readers can trust, repeats across processes kept once, folds equal to the ledger's."""
    postgres.empty()
    told = run("benchmarks.crowd", "--processes", "12", "--writes", "4", "--users", "3", "--db", postgres.url)
    assert "errors: none" in told
    assert "nothing lost" in told


def test_a_primary_that_dies_under_load_loses_nothing_acknowledged() -> None:
    """Issue: kill the primary, promote: with synchronous replication every acknowledged write is on the new one."""
    told = run("benchmarks.failover", "--clients", "2", "--seconds", "0.5")
    assert "after the promotion" in told
    assert "every acknowledged write is there, once" in told


def test_a_process_killed_in_the_middle_of_a_write_leaves_nothing_and_holds_nobody_up(postgres: Place) -> None:
    """C054: a write is whole or not at all, and its lock goes with its process."""
    postgres.empty()
    script = (
        "import sys\n"
        "from firsthand.stores.postgres import open_postgres\n"
        "from firsthand.testing.store.samples import ALEX, NOW, say\n"
        "with open_postgres(sys.argv[1]).writing(ALEX, NOW) as work:\n"
        "    say(work, 'half')\n"
        "    print('writing', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-c", script, postgres.url]
    with subprocess.Popen(line, env=paths, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:  # noqa: S603
        assert child.stdout is not None
        assert child.stdout.readline() == "writing\n"
        store = open_postgres(postgres.url)
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(_say, store, "whole")
            child.kill()
            waiting.result()
    assert ids(store) == ["whole"]
    assert store.check() == []
    store.close()


def _say(store: Store, name: str) -> None:
    with store.writing(ALEX, NOW) as work:
        say(work, name)


def test_who_commits_late_has_no_earlier_place(postgres: Place) -> None:
    """Issue: a reader never skips a row that commits late: of one owner's writers the second waits for the first."""
    postgres.empty()
    store = open_postgres(postgres.url)
    began, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        with store.writing(ALEX, NOW) as work:
            say(work, "first")
            began.set()
            go_on.wait()

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(slow)
        began.wait()
        second = threads.submit(_say, store, "second")
        assert ids(store) == []
        assert not second.done()
        go_on.set()
        first.result()
        second.result()
    assert ids(store) == ["first", "second"]
    store.close()


def test_writers_of_many_owners_in_any_order_never_wait_for_each_other_in_a_circle(postgres: Place) -> None:
    """Issue: no deadlocks: a write locks one owner's head and nothing else that anybody waits for."""
    postgres.empty()
    store = open_postgres(postgres.url)
    owners = [Owner("default", f"u{n}") for n in range(4)]

    def mixed(order: int) -> None:
        for turn in range(12):
            owner = owners[(turn * (1 if order % 2 else -1)) % len(owners)]
            with store.writing(owner, NOW) as work:
                say(work, f"{order} {turn}")
            if turn % 4 == order % 4:
                store.set_facts({"note": str(order)})
            store.owners()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(mixed, range(8)))
    assert sum(len(ids(store, owner)) for owner in owners) == 8 * 12
    assert store.check() == []
    store.close()


@pytest.fixture
def alone() -> Iterator[Server]:
    """A server of the test's own, to be stopped and started."""
    with server(DURABLE) as started:
        started.execute(f"CREATE ROLE {OWNER} LOGIN", f"CREATE ROLE {APPLICATION} LOGIN")
        started.execute(f"CREATE DATABASE own OWNER {OWNER}")
        migrate(started.url("own", OWNER), store_id=lambda: "s", grant=[APPLICATION])
        yield started


def test_a_memory_goes_on_when_its_server_comes_back(alone: Server) -> None:
    """Issue: the client recovers by itself, whether it had a connection to the old server or not."""
    with Memory(alone.url("own", APPLICATION), embedder="none") as memory:
        alex = memory.user("alex")
        alex.observe(["before"])
        for _ in range(2):
            alone.kill()
            with ThreadPoolExecutor(1) as threads:
                waiting = threads.submit(alex.observe, ["meanwhile"])
                alone.start()
                assert waiting.result().messages
        assert [message.content for message in alex.messages()] == ["before", "meanwhile", "meanwhile"]


def test_a_server_that_stays_away_is_told_once_patience_is_over(alone: Server) -> None:
    """Issue: server away: one clear line, after `wait` seconds and no more."""
    with Memory(f"{alone.url('own', APPLICATION)}?wait=0.1", embedder="none") as memory:
        memory.user("alex").observe(["before"])
        alone.kill()
        with pytest.raises(StoreUnavailable, match="no server answers there"):
            list(memory.user("alex").messages())
        alone.start()
        assert len(list(memory.user("alex").messages())) == 1
