"""Many processes at one server, all writing at once: what is lost, what is kept twice, what is out of order.

    python -m benchmarks.crowd [--processes 200] [--writes 10] [--users 20] [--db postgresql://…]

Every process opens the memory for itself and writes to people drawn at random: talk under an idempotency key, each
second one sent again as if its answer had been lost, and claims that many make about the same slot. A reader follows
one of the people all along, asking only for what comes after the last message that it saw, and must end up with all.
Afterwards every receipt is held against what is there, and the beliefs against the fold of the whole ledger. Exit
status 1 says that something was lost. Without --db a server is started, with every commit flushed to disk.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.place import served
from firsthand import FirsthandError, Memory
from firsthand.model import Position

PATIENT = "pool=1&wait=300"  # a crowd waits for its turn
TENANT = "crowd"


@dataclass(frozen=True, slots=True)
class Told:
    """What one process was told."""

    acknowledged: Sequence[tuple[int, str]]  # (person, message id)
    refused: Sequence[str]  # the errors that it met
    seconds: Sequence[float]  # that each write took


def main() -> int:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--writes", type=int, default=10, help="of each process")
    parser.add_argument("--users", type=int, default=20, help="people that they all write to")
    parser.add_argument("--db", help="the address of a server; one is started unless given")
    given = parser.parse_args()
    with served(given.db) as (address, _):
        patient = f"{address}{'&' if '?' in address else '?'}{PATIENT}"
        _start_anew(patient, given.users)
        started = time.perf_counter()
        told, shown = _crowd(patient, given)
        seconds = time.perf_counter() - started
        wrong = _lost(patient, told, shown)
    writes = [each for process in told for each in process.seconds]
    print(f"{given.processes} processes, {given.users} people, {len(writes)} writes in {seconds:.1f} s")
    print(f"each write: p50 {_share(writes, 50):.0f} ms, p95 {_share(writes, 95):.0f} ms, longest {max(writes):.0f} ms")
    print(f"acknowledged messages: {sum(len(each.acknowledged) for each in told)}, errors: {_refused(told)}")
    print(
        "\n".join(wrong) if wrong else "nothing lost, nothing kept twice, nothing out of order, beliefs as folded anew"
    )
    return 1 if wrong else 0


def _start_anew(address: str, users: int) -> None:
    with Memory(address, embedder="none", writer="none") as memory:
        for number in range(users):
            memory.user(f"p{number}", tenant=TENANT).erase()


def _crowd(address: str, given: argparse.Namespace) -> tuple[list[Told], list[Position]]:
    forked = multiprocessing.get_context("fork")  # a process each, without importing everything two hundred times
    gate, answers, shown = forked.Barrier(given.processes + 2), forked.SimpleQueue(), forked.SimpleQueue()
    over = forked.Event()
    crowd = [
        forked.Process(target=_write, args=(address, number, given, gate, answers)) for number in range(given.processes)
    ]
    reader = forked.Process(target=_follow, args=(address, gate, over, shown))
    for each in (*crowd, reader):
        each.start()
    gate.wait()
    told = [answers.get() for _ in crowd]
    over.set()
    seen = shown.get()
    for each in (*crowd, reader):
        each.join()
    return told, seen


def _write(address: str, number: int, given: argparse.Namespace, gate: Any, answers: Any) -> None:
    chance = random.Random(number)  # noqa: S311 - the same crowd each time
    acknowledged, refused, seconds = [], [], []
    with Memory(address, embedder="none", writer="none") as memory:
        gate.wait()
        for turn in range(given.writes):
            person = chance.randrange(given.users)
            user = memory.user(f"p{person}", tenant=TENANT)
            key = f"{number}-{turn}"
            for again in (False, True)[: 1 + turn % 2]:
                began = time.perf_counter()
                try:
                    receipt = user.observe([f"Process {number} says {turn}."], session=str(number), idempotency_key=key)
                    if not again:
                        user.remember(f"Town {number}", attribute="lives_in", source="agent")
                except FirsthandError as error:
                    refused.append(f"{type(error).__name__}: {error}")
                    continue
                finally:
                    seconds.append(1000 * (time.perf_counter() - began))
                acknowledged += [(person, id_) for id_ in receipt.messages]
    answers.put(Told(acknowledged, refused, seconds))


def _follow(address: str, gate: Any, over: Any, shown: Any) -> None:
    """Read one person's messages as they come, each time from behind the last one seen."""
    from firsthand.ports import MessageQuery

    seen: list[Position] = []
    with Memory(address, embedder="none", writer="none") as memory:
        owner = memory.user("p0", tenant=TENANT).owner
        gate.wait()
        last = False
        while not last:
            last = over.is_set()
            with memory.parts.store.reading(owner) as work:
                news = work.messages.walk(MessageQuery(after=seen[-1] if seen else None))
                seen += [message.position for message in news]
    shown.put(seen)


def _lost(address: str, told: Sequence[Told], shown: Sequence[Position]) -> list[str]:
    wrong = []
    with Memory(address, embedder="none", writer="none") as memory:
        for owner in (each for each in memory.users() if each.tenant == TENANT):
            user = memory.user(owner.user, tenant=TENANT)
            said = list(user.messages())
            wanted = {id_ for each in told for person, id_ in each.acknowledged if f"p{person}" == owner.user}
            missing = wanted - {message.id for message in said}
            texts = [message.content for message in said]
            positions = [message.position for message in said]
            wrong += [f"{owner.user}: {len(missing)} acknowledged messages are not there"] if missing else []
            wrong += [f"{owner.user}: kept twice"] if len(set(texts)) < len(texts) else []
            wrong += [f"{owner.user}: out of order"] if positions != sorted(set(positions)) else []
            wrong += ["a reader skipped a message"] if owner.user == "p0" and positions != list(shown) else []
        report = memory.rebuild()
        wrong += [f"the beliefs of {each} are not those of the ledger" for each in report.different]
        wrong += memory.health()["wrong"]
    return wrong


def _refused(told: Sequence[Told]) -> str:
    errors = [error for each in told for error in each.refused]
    return f"{len(errors)} ({errors[0]})" if errors else "none"


def _share(values: Sequence[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


if __name__ == "__main__":
    sys.exit(main())
