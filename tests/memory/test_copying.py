"""A whole store copied into another: from a file to a server, and back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from firsthand import InvalidInput, Memory, StoreBusy, StoreCorrupt, StoreUnavailable
from firsthand.copying import COPYING, Progress, copy
from firsthand.model import Copied
from firsthand.ports import Remains, Store
from firsthand.wiring import open_store
from postgres_place import Place
from stopped_clock import StoppedClock

PEOPLE = 5
TALK = ["I live in Lisbon.", "SUB \x1a and 東京"]


def lived(location: str, clock: StoppedClock) -> None:
    """A store in which a lot happened: talk, claims, repeats, drops, uses, cursors, and two erasures."""
    with Memory(location, clock=clock) as memory:
        for number in range(PEOPLE):
            user = memory.user(f"p{number}", tenant=f"t{number % 2}")
            clock.forward(hours=1)
            user.observe(TALK, session="s1", idempotency_key="k")
            user.remember("Porto", attribute="lives_in", source="inferred")
            user.remember("my password is hunter22 hunter22", attribute="password")
            user.correct(user.beliefs()[0].id, "Faro")
            user.used([each.id for each in user.recall("where?")])
            user.end_session("s1")
        victim = memory.user("p2", tenant="t0")
        victim.forget(next(iter(victim.messages())).id)
        memory.user("gone", tenant="t9").observe(["I was here."])
        memory.user("gone", tenant="t9").erase()


def answers(location: str, clock: StoppedClock) -> list[Any]:
    """What each user gets to hear."""
    with Memory(location, clock=clock) as memory:
        found: list[Any] = []
        for owner in memory.users():
            user = memory.user(owner.user, tenant=owner.tenant)
            found += [owner, user.beliefs(state="all"), list(user.messages()), user.recall("where does p live?")]
            if owner.user == "p4":  # whose receipt is remembered
                found.append(user.observe(TALK, session="s1", idempotency_key="k"))
            found += list(user.exported())[:-1]
        return found


@contextmanager
def stores(*locations: str) -> Iterator[tuple[Store, ...]]:
    """Open stores, closed afterwards."""
    opened = [open_store(each, None) for each in locations]
    try:
        yield tuple(opened)
    finally:
        for each in opened:
            each.close()


def copied(source: str, target: str, clock: StoppedClock) -> Copied:
    """Copy one place to another."""
    with stores(source, target) as (old, new):
        return copy(old, new, clock)


@pytest.fixture
def file(tmp_path: Path, clock: StoppedClock) -> str:
    """A file with a past."""
    location = str(tmp_path / "old.db")
    lived(location, clock)
    return location


def test_to_a_server_and_back_nothing_is_lost(file: str, postgres: Place, clock: StoppedClock, tmp_path: Path) -> None:
    """Issue: `firsthand copy` to a server and back, lossless, verified by digest."""
    back = str(tmp_path / "back.db")
    with postgres.another("copied") as place:
        there = copied(file, place.url, clock)
        again = copied(place.url, back, clock)
        assert (there.owners, there.resumed) == (PEOPLE, False)
        assert there == again
        assert answers(file, clock) == answers(place.url, clock) == answers(back, clock)
        with Memory(place.url, clock=clock) as memory:
            assert memory.health()["ok"]
            assert memory.rebuild().equal


def test_what_was_erased_stays_erased_in_the_copy(file: str, postgres: Place, clock: StoppedClock) -> None:
    """C047: the marks of erasures go along, so that an old export does not bring back who asked to be forgotten."""
    with Memory(file, clock=clock) as memory:
        user = memory.user("late")
        user.observe(["Forget me soon."])
        user.export(f"{file}.jsonl")
        user.erase()
    with postgres.another("erased") as place:
        copied(file, place.url, clock)
        with Memory(place.url, clock=clock) as memory:
            assert memory.import_(f"{file}.jsonl").refused == 1
            assert list(memory.user("late").messages()) == []


def test_an_interrupted_copy_is_no_memory_and_goes_on(file: str, postgres: Place, clock: StoppedClock) -> None:
    """Issue: resumable; what was copied before is looked at and left alone."""

    def stop(progress: Progress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with postgres.another("resumed") as place:
        with stores(file, place.url) as (old, new), pytest.raises(KeyboardInterrupt):
            copy(old, new, clock, stop)
        with pytest.raises(StoreUnavailable, match="has not finished"):
            Memory(place.url)
        assert place.execute("SELECT count(*) FROM firsthand.owners") == [(2,)]
        first = place.execute("SELECT xmin::text FROM firsthand.owners ORDER BY tenant, user_id LIMIT 2")
        done = copied(file, place.url, clock)
        assert done.resumed
        assert place.execute("SELECT xmin::text FROM firsthand.owners ORDER BY tenant, user_id LIMIT 2") == first
        assert answers(file, clock) == answers(place.url, clock)


def test_a_copy_that_is_killed_goes_on(file: str, postgres: Place, clock: StoppedClock) -> None:
    """Issue: resumable, also when nobody could tidy up."""
    script = (
        "import os, signal, sys\n"
        "from firsthand.copying import copy\n"
        "from firsthand.wiring import open_store, system_clock\n"
        "def stop(progress):\n"
        "    if progress.done == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        "copy(open_store(sys.argv[1], None), open_store(sys.argv[2], None), system_clock, stop)\n"
    )
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with postgres.another("killed") as place:
        done = subprocess.run([sys.executable, "-c", script, file, place.url], env=paths, check=False)  # noqa: S603
        assert done.returncode == -signal.SIGKILL
        assert copied(file, place.url, clock).resumed
        assert answers(file, clock) == answers(place.url, clock)


def test_who_writes_meanwhile_is_copied_as_of_the_end(file: str, postgres: Place, clock: StoppedClock) -> None:
    """Ours: the source stays in use; what is written and erased while it is copied is in the copy too."""
    with postgres.another("meanwhile") as place:
        with stores(file, place.url) as (old, new), Memory(file, clock=clock) as memory:

            def write(progress: Progress) -> None:
                if (progress.done, progress.of) == (PEOPLE, PEOPLE):
                    memory.user("p0", tenant="t0").observe(["I moved to Porto."])
                    memory.user("p1", tenant="t1").erase()
                    memory.user("new").observe(["Hello."])

            assert copy(old, new, clock, write).owners == PEOPLE
        assert answers(file, clock) == answers(place.url, clock)


def test_a_source_that_never_rests_is_told(file: str, tmp_path: Path, clock: StoppedClock) -> None:
    """Ours: a copy that would never be whole ends with what to do."""
    with stores(file, str(tmp_path / "new.db")) as (old, new), Memory(file, clock=clock) as memory:
        said = iter(range(99))
        with pytest.raises(StoreBusy, match="stop what writes"):
            copy(old, new, clock, lambda _: memory.user("p0", tenant="t0").observe([f"word {next(said)}"]))


def test_a_target_that_holds_something_is_refused(file: str, tmp_path: Path, clock: StoppedClock) -> None:
    """Ours: a copy never mixes two memories, and never overwrites one."""
    held = str(tmp_path / "held.db")
    with Memory(held, clock=clock) as memory:
        memory.user("me").observe(["Mine."])
    for target, words in ((held, "there is a memory"), (file, "one and the same")):
        with pytest.raises(InvalidInput, match=words):
            copied(file, target, clock)
    other = str(tmp_path / "other.db")
    with stores(held, other) as (_, new):
        new.set_facts({COPYING: "another"})
    for source, target, kind in ((file, other, InvalidInput), (other, str(tmp_path / "x.db"), StoreUnavailable)):
        with pytest.raises(kind, match="not finished"):
            copied(source, target, clock)


def test_a_row_that_reads_back_otherwise_is_told(file: str, tmp_path: Path, clock: StoppedClock) -> None:
    """Issue: verified by digest: a target that loses a word is found out, and is no memory."""

    class Forgetful:
        """A store whose remains come back empty."""

        def __init__(self, inner: Store) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        def remains(self) -> Remains:
            """Nothing."""
            return Remains(self._inner.remains().secret, ())

    location = str(tmp_path / "new.db")
    with closing(open_store(file, None)) as old, closing(open_store(location, None)) as new:
        forgetful: Any = Forgetful(new)
        with pytest.raises(StoreCorrupt, match="left behind"):
            copy(old, forgetful, clock)
    with pytest.raises(StoreUnavailable, match="not finished"):
        Memory(location)
