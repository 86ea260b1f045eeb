"""A primary that dies under load: how long until writes go on, and whether anything acknowledged is gone.

    python -m benchmarks.failover [--clients 8] [--seconds 3]

Starts a primary and a standby that acknowledges every commit (synchronous replication), both flushed to disk, and
clients that write to people of their own through one address with both hosts. After some seconds the primary is killed
as a power cut would, the standby is promoted, and the clients, who are told nothing, go on. A write that ends in an
error is repeated under its idempotency key. Prints the time from the kill to the first write that the new primary
acknowledged, and from the promotion; then holds every acknowledged message against what the new primary has. Exit
status 1 says that one is missing or there twice.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.place import APPLICATION, DATABASE, founded
from firsthand import FirsthandError, Memory
from firsthand.testing.postgres import Server

STANDBY = "standby"


@dataclass(slots=True)
class Client:
    """One person's program: what was acknowledged when, and what went wrong meanwhile."""

    number: int
    acknowledged: list[tuple[float, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    longest: float = 0.0  # seconds that one write took, its repeats included

    def write(self, memory: Memory, over: threading.Event) -> None:
        """Say one thing after the other until it is over."""
        user = memory.user(f"p{self.number}")
        turn = 0
        while not over.is_set():
            began = time.monotonic()
            for _ in range(100):
                try:
                    receipt = user.observe([f"Turn {turn} of {self.number}."], idempotency_key=str(turn))
                    break
                except FirsthandError as error:
                    self.errors.append(f"{type(error).__name__}: {error}")
                    time.sleep(0.05)
            else:
                return
            now = time.monotonic()
            self.acknowledged.append((now, (*receipt.messages, *receipt.duplicates)[0]))
            self.longest = max(self.longest, now - began)
            turn += 1


def main() -> int:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3.0, help="of load before and after the kill")
    given = parser.parse_args()
    with _pair() as (primary, standby):
        address = f"postgresql://{APPLICATION}@{primary.address},{standby.address}/{DATABASE}?wait=60"
        clients = [Client(number) for number in range(given.clients)]
        over = threading.Event()
        with Memory(address, embedder="none", writer="none") as memory:
            threads = [threading.Thread(target=each.write, args=(memory, over)) for each in clients]
            for thread in threads:
                thread.start()
            time.sleep(given.seconds)
            killed = time.monotonic()
            primary.kill()
            standby.promote()
            promoted = time.monotonic()
            time.sleep(given.seconds)
            over.set()
            for thread in threads:
                thread.join()
        return _told(standby, clients, (killed, promoted))


def _told(standby: Server, clients: list[Client], times: tuple[float, float]) -> int:
    killed, promoted = times
    writes = [at for client in clients for at, _ in client.acknowledged]
    after = [at for at in writes if at > promoted]
    errors = [error for client in clients for error in client.errors]
    print(f"{len(clients)} clients, {len(writes)} acknowledged writes, {len(after)} of them by the new primary")
    if after:
        print(
            f"first one {min(after) - killed:.2f} s after the kill, {min(after) - promoted:.2f} s after the promotion"
        )
    print(f"longest write {max(client.longest for client in clients):.2f} s; errors that clients saw: {len(errors)}")
    for error in sorted(set(errors)):
        print(f"  {errors.count(error)} x {error}")
    wrong = _missing(standby, clients)
    print("\n".join(wrong) if wrong else "every acknowledged write is there, once")
    return 1 if wrong or not after else 0


def _missing(standby: Server, clients: list[Client]) -> list[str]:
    wrong = []
    with Memory(standby.url(DATABASE, APPLICATION), embedder="none", writer="none") as memory:
        for client in clients:
            said = list(memory.user(f"p{client.number}").messages())
            gone = {id_ for _, id_ in client.acknowledged} - {message.id for message in said}
            wrong += [f"p{client.number}: {len(gone)} acknowledged messages are gone"] if gone else []
            texts = [message.content for message in said]
            wrong += [f"p{client.number}: kept twice"] if len(set(texts)) < len(texts) else []
        wrong += memory.health()["wrong"]
    return wrong


@contextmanager
def _pair() -> Iterator[tuple[Server, Server]]:
    """A primary, and a standby whose acknowledgement each commit waits for."""
    folder = Path(tempfile.mkdtemp(prefix="firsthand-failover-"))
    primary, standby = Server(folder / "primary", {}), Server(folder / "standby", {})
    try:
        primary.create()
        primary.start()
        founded(primary)
        standby.copy_of(primary, STANDBY)
        standby.start()
        primary.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'", "SELECT pg_reload_conf()")
        while primary.execute("SELECT sync_state FROM pg_stat_replication") != [("sync",)]:
            time.sleep(0.05)
        yield primary, standby
    finally:
        for each in (primary, standby):
            with suppress(RuntimeError):
                each.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
