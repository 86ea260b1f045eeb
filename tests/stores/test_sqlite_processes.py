"""Many processes on one file at once, and processes that are killed. Gates, not sleeps."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from firsthand.ports import MessageQuery, Store
from firsthand.stores.sqlite import open_sqlite
from firsthand.testing.store.samples import ALEX, NOW, say

KEYS = [None, "correct horse"]
PRELUDE = """
    import os, sys
    from firsthand.ports import MessageQuery
    from firsthand.stores.sqlite import open_sqlite
    from firsthand.testing.store.samples import ALEX, NOW, say

    def opened(wait=60.0, durable=False):
        key = sys.argv[2] or None
        return open_sqlite(sys.argv[1], key=key, store_id=lambda: f"s{os.getpid()}", wait=wait, durable=durable)

    def ids(store):
        with store.reading(ALEX) as read:
            return [each.id for each in read.messages.walk(MessageQuery())]

    def tell(*words):
        print(*words, flush=True)

    def gate():
        tell("ready")
        sys.stdin.readline()

"""


class Child:
    """A process that runs a script, told when to go on."""

    def __init__(self, script: str, *arguments: str) -> None:
        paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        code = textwrap.dedent(PRELUDE) + textwrap.dedent(script)
        command = [sys.executable, "-c", code, *arguments]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, env=paths, stdin=pipe, stdout=pipe, stderr=pipe, text=True)  # noqa: S603

    @property
    def _out(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def hear(self) -> str:
        """The next line that it prints; '' when there is none to come."""
        return self._out.readline().strip()

    def go(self) -> None:
        """Let it through its gate."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def kill(self) -> list[str]:
        """End it in the middle of whatever it does. Returns the lines it had printed and nobody had heard."""
        self._process.kill()
        return self._finish()

    def end(self) -> list[str]:
        """Wait until it is done. Returns the lines that nobody had heard."""
        lines = self._finish()
        assert self._process.returncode == 0, self._errors
        return lines

    def _finish(self) -> list[str]:
        process = self._process
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        out, self._errors = self._out.read(), process.stderr.read()  # `communicate` would skip what is read ahead
        for stream in (self._out, process.stderr):
            stream.close()
        process.wait(timeout=120)
        return out.splitlines()


@contextmanager
def _store(path: Path, key: str | None = None) -> Iterator[Store]:
    store = open_sqlite(path, key=key, store_id=lambda: "parent", wait=60.0, durable=False)
    yield store
    store.close()


def _ids(store: Store) -> list[str]:
    with store.reading(ALEX) as read:
        return [each.id for each in read.messages.walk(MessageQuery())]


@pytest.mark.parametrize("key", KEYS)
def test_eight_processes_open_a_new_file_at_once(tmp_path: Path, key: str | None) -> None:
    """C055: opening is race-safe: one makes the store, the others find it; all write to it."""
    script = """
        gate()
        store = opened()
        with store.writing(ALEX, NOW) as work:
            say(work, f"m{os.getpid()}")
        tell(store.id, f"m{os.getpid()}")
        store.close()
    """
    children = [Child(script, str(tmp_path / "a.db"), key or "") for _ in range(8)]
    assert [child.hear() for child in children] == ["ready"] * 8
    for child in children:
        child.go()
    told = [child.end()[0].split() for child in children]
    assert len({store_id for store_id, _ in told}) == 1
    with _store(tmp_path / "a.db", key) as store:
        assert sorted(_ids(store)) == sorted(message_id for _, message_id in told)
        assert store.check() == []


def test_appends_by_many_processes_all_survive_in_order(tmp_path: Path) -> None:
    """C054: nothing is lost, each process's messages are in its own order, readers in between see whole batches."""
    script = """
        store = opened()
        gate()
        for n in range(30):
            with store.writing(ALEX, NOW) as work:
                for part in "ab":
                    say(work, f"{sys.argv[3]} {n:02} {part}")
            assert len(ids(store)) % 2 == 0
        store.close()
    """
    with _store(tmp_path / "a.db") as store:
        children = [Child(script, str(tmp_path / "a.db"), "", str(n)) for n in range(4)]
        assert [child.hear() for child in children] == ["ready"] * 4
        for child in children:
            child.go()
        for child in children:
            child.end()
        ids = _ids(store)
        with store.reading(ALEX) as read:
            positions = [each.position for each in read.messages.walk(MessageQuery())]
            assert (read.head().version, read.head().counter) == (120, 240)
        assert store.check() == []
    assert len(ids) == len(set(ids)) == 240
    assert positions == sorted(set(positions))
    for n in range(4):
        mine = [each for each in ids if each.startswith(f"{n} ")]
        assert mine == sorted(mine)


def test_a_reader_is_not_held_up_by_another_processs_write(tmp_path: Path) -> None:
    """C055: search while another holds a write: the reader sees what was committed, at once."""
    script = """
        store = opened()
        with store.writing(ALEX, NOW) as work:
            say(work, "m2")
            gate()
        tell("committed")
        store.close()
    """
    with _store(tmp_path / "a.db") as store:
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
        child = Child(script, str(tmp_path / "a.db"), "")
        assert child.hear() == "ready"
        assert _ids(store) == ["m1"]
        child.go()
        assert child.hear() == "committed"
        assert _ids(store) == ["m1", "m2"]
        child.end()


def test_a_writer_waits_for_another_processs_write_and_not_for_ever(tmp_path: Path) -> None:
    """C055: a bounded wait, then an error that may be retried."""
    script = """
        from firsthand.errors import StoreBusy
        store = opened(wait=0.05)
        gate()
        try:
            with store.writing(ALEX, NOW) as work:
                say(work, "theirs")
        except StoreBusy:
            tell("busy")
        gate()
        with store.writing(ALEX, NOW) as work:
            say(work, "theirs")
        store.close()
    """
    with _store(tmp_path / "a.db") as store:
        child = Child(script, str(tmp_path / "a.db"), "")
        assert child.hear() == "ready"
        with store.writing(ALEX, NOW) as work:
            say(work, "ours")
            child.go()
            assert child.hear() == "busy"
        assert child.hear() == "ready"
        child.go()
        child.end()
        assert _ids(store) == ["ours", "theirs"]


@pytest.mark.parametrize("key", KEYS)
def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path, key: str | None) -> None:
    """C058: kill -9 at any point; what was acknowledged is there, the file is sound, the next writer goes on."""
    script = """
        store = opened()
        n = int(sys.argv[3])
        while True:
            with store.writing(ALEX, NOW) as work:
                say(work, f"m{n}", "words " * (n % 700))
            tell(f"m{n}")
            n += 1
    """
    acknowledged: list[str] = []
    for round_, heard in enumerate((1, 3, 17, 40)):
        child = Child(script, str(tmp_path / "a.db"), key or "", str(round_ * 100_000))
        acknowledged.extend(child.hear() for _ in range(heard))
        acknowledged.extend(child.kill())
    with _store(tmp_path / "a.db", key) as store:
        ids = set(_ids(store))
        assert set(acknowledged) - ids == set()
        assert len(ids - set(acknowledged)) <= 4
        assert store.check() == []
        with store.writing(ALEX, NOW) as work:
            say(work, "next")


def test_a_process_killed_while_it_writes_is_in_nobodys_way(tmp_path: Path) -> None:
    """C058: its turn goes to the next, its change is undone."""
    script = """
        store = opened()
        with store.writing(ALEX, NOW) as work:
            say(work, "half")
            gate()
    """
    with _store(tmp_path / "a.db") as store:
        child = Child(script, str(tmp_path / "a.db"), "")
        assert child.hear() == "ready"
        child.kill()
        with store.writing(ALEX, NOW) as work:
            say(work, "whole")
        assert _ids(store) == ["whole"]
        assert store.check() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_opens_connections_of_its_own(tmp_path: Path) -> None:
    """Ours: parent and child both go on with the store they had; SQLite's connections do not survive a fork."""
    script = """
        store = opened()
        with store.writing(ALEX, NOW) as work:
            say(work, "before")
        child = os.fork()
        for n in range(20):
            with store.writing(ALEX, NOW) as work:
                say(work, f"{'parent' if child else 'child'} {n}")
            assert "before" in ids(store)
        if not child:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        tell(len(ids(store)), store.check())
        store.close()
    """
    assert Child(script, str(tmp_path / "a.db"), "").end() == ["41 []"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_inside_a_block_keeps_nothing_of_its_own(tmp_path: Path) -> None:
    """Ours: the transaction is the parent's; the child is told, and can still read."""
    script = """
        from firsthand.errors import StoreError
        store = opened()
        try:
            with store.writing(ALEX, NOW) as work:
                say(work, "parent")
                child = os.fork()
                if child:
                    assert os.waitpid(child, 0)[1] == 0
        except StoreError:
            os._exit(0 if not child and ids(store) == [] else 1)
        if not child:
            os._exit(1)
        tell(ids(store), store.check())
        store.close()
    """
    assert Child(script, str(tmp_path / "a.db"), "").end() == ["['parent'] []"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_that_exits_leaves_the_parents_temporary_store(tmp_path: Path) -> None:
    """Ours: only the process that made it takes it away."""
    script = """
        store = open_sqlite(":memory:", store_id=lambda: "s")
        with store.writing(ALEX, NOW) as work:
            say(work, "m1")
        child = os.fork()
        if not child:
            store.close()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        with store.writing(ALEX, NOW) as work:
            say(work, "m2")
        tell(ids(store))
        store.close()
    """
    assert Child(script, str(tmp_path / "unused"), "").end() == ["['m1', 'm2']"]
