"""Reads from a standby: what they may miss (nothing, while the primary answers), and who answers when it does not."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from firsthand.errors import StoreUnavailable
from firsthand.model import Owner
from firsthand.ports import MessageQuery, Removal, Store
from firsthand.stores.postgres import migrate, open_postgres
from firsthand.testing.postgres import Server
from firsthand.testing.store.samples import ALEX, NOW, SAM, say
from postgres_place import APPLICATION, OWNER


class Pair:
    """A primary and its standby, and a store that reads from whichever is near."""

    def __init__(self, folder: Path) -> None:
        self.primary, self.standby = Server(folder / "primary", {}), Server(folder / "standby", {})
        self.primary.create()
        self.primary.start()
        self.primary.execute(f"CREATE ROLE {OWNER} LOGIN", f"CREATE ROLE {APPLICATION} LOGIN")
        self.primary.execute(f"CREATE DATABASE own OWNER {OWNER}")
        migrate(self.primary.url("own", OWNER), store_id=lambda: "s", grant=[APPLICATION])
        self.standby.copy_of(self.primary, "standby")
        self.standby.start()

    def open(self, wait: float = 10) -> Store:
        """The store, through an address with both."""
        hosts = f"{self.primary.address},{self.standby.address}"
        return open_postgres(f"postgresql://{APPLICATION}@{hosts}/own?reads=standby&wait={wait}")

    def catch_up(self) -> None:
        """Let the standby have all that the primary has."""
        ((place,),) = self.primary.execute("SELECT pg_current_wal_flush_lsn()")
        while self.standby.execute(f"SELECT pg_last_wal_replay_lsn() < '{place}'") == [(True,)]:
            pass

    def close(self) -> None:
        """Stop both."""
        for each in (self.primary, self.standby):
            with suppress(RuntimeError):
                each.stop("immediate")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Both, running; the tests of this module go through them in order."""
    folder = Path(tempfile.mkdtemp(prefix="firsthand-standby-"))
    made = Pair(folder)
    yield made
    made.close()
    shutil.rmtree(folder, ignore_errors=True)


def read(store: Store, owner: Owner = ALEX) -> tuple[int, list[str]]:
    """Which server answered (its port), and what it had."""
    with store.reading(owner) as work:
        port = work._queries.raw.info.port  # type: ignore[attr-defined]
        return port, [each.id for each in work.messages.walk(MessageQuery())]


def write(store: Store, name: str, owner: Owner = ALEX) -> None:
    with store.writing(owner, NOW) as work:
        say(work, name)


def test_a_standby_that_has_caught_up_answers(pair: Pair) -> None:
    """Issue: reads may go to standbys."""
    store = pair.open()
    write(store, "m1")
    pair.catch_up()
    assert read(store) == (pair.standby.port, ["m1"])
    assert read(store, SAM) == (pair.standby.port, [])
    store.close()


def test_what_was_just_written_is_read_back_by_everybody(pair: Pair) -> None:
    """Issue: read-your-writes; other programs' writes too, since the primary says which version is the newest."""
    store, other = pair.open(), pair.open()
    pair.catch_up()
    pair.standby.execute("SELECT pg_wal_replay_pause()")
    write(store, "m2")
    assert read(store) == read(other) == (pair.primary.port, ["m1", "m2"])
    with other.writing(ALEX, NOW) as work:
        work.erase(Removal(everything=True), ())
    assert read(store) == (pair.primary.port, [])
    pair.standby.execute("SELECT pg_wal_replay_resume()")
    pair.catch_up()
    assert read(store) == (pair.standby.port, [])
    for each in (store, other):
        each.close()


def test_reads_go_on_when_the_primary_is_gone_and_writes_once_there_is_a_new_one(pair: Pair) -> None:
    """Issue: the client recovers by itself; what a standby has is better than nothing."""
    store, impatient = pair.open(), pair.open(wait=0.1)
    write(store, "m3")
    write(impatient, "m4")
    pair.catch_up()
    pair.primary.kill()
    assert read(store) == read(impatient) == (pair.standby.port, ["m3", "m4"])
    with pytest.raises(StoreUnavailable):
        write(impatient, "lost")
    pair.standby.promote()
    write(store, "m5")
    assert read(store) == (pair.standby.port, ["m3", "m4", "m5"])
    for each in (store, impatient):
        each.close()
