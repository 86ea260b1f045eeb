"""Whether recall cares how many people and messages share a store.

    python -m benchmarks.growth [--scopes 10,100,1000] [--each 1000] [--cache MB] [--data FILE] [--plot FILE.svg]

Fills stores of so many people with so many messages each (a thousand by a thousand is a million), then asks in turns
of people, so that every store meets every moment of a busy machine: the first question to a person who is not in
memory (cold), further ones to the same person (warm), and questions to people drawn at random, as a server gets them
(mixed). Prints CPU milliseconds, each beside that of the smallest store, what is kept in memory by its own count and
by the system's, and the file. Messages are written without the writer of rules, which has no part in this.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.loglog import svg
from benchmarks.texts import PER_SESSION, messages, questions, source
from firsthand import Memory

ASKED = 200  # people asked of each store
WARM = 4  # further questions to each
TEXTS = 5_000  # different texts; people share them, nothing that is measured depends on that


@dataclass(slots=True)
class Store:
    """One store, and the milliseconds that its questions took."""

    people: int
    each: int
    memory: Memory
    path: Path
    chance: random.Random
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    mixed: list[float] = field(default_factory=list)
    mark: int = 0  # bytes of the process before anything was kept
    grown: int = 0  # bytes by which the process grew while all of its cache was filled

    @property
    def messages(self) -> int:
        """Of all people."""
        return self.people * self.each


def main() -> None:
    """Print one row for each store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scopes", default="10,100,1000", help="people, separated by commas")
    parser.add_argument("--each", type=int, default=1000, help="messages of each person")
    parser.add_argument("--cache", type=int, default=512, help="MiB that recall may keep")
    parser.add_argument("--data", type=Path, help="a file whose words to draw from; the vocabulary's unless given")
    parser.add_argument("--plot", type=Path, help="draw time against messages, both by ratio")
    given = parser.parse_args()
    sizes = [int(each) for each in given.scopes.split(",")]
    texts = source(given.data).texts(TEXTS, 1)
    with tempfile.TemporaryDirectory(prefix="firsthand-growth-") as folder, ExitStack() as open_stores:
        stores = [_filled(Path(folder, f"{people}.db"), people, given, texts) for people in sizes]
        for store in stores:
            open_stores.enter_context(store.memory)
        asked = questions(texts, 1000, 2)
        for store in stores:
            _fill_cache(store, asked)
        _ask(stores, asked)
        print("\n".join(_table(stores)))
        if given.plot:
            lines = {name: [(each.messages, _p50(getattr(each, name))) for each in stores] for name in _COLUMNS}
            given.plot.write_text(svg("Recall as a store grows", "messages in the store", "ms of CPU", lines), "utf-8")


def _filled(path: Path, people: int, given: argparse.Namespace, texts: Sequence[str]) -> Store:
    started = time.perf_counter()
    with Memory(path, writer="none", embedder=Known()) as memory:
        for number in range(people):
            said = messages([texts[(7 * number + at) % len(texts)] for at in range(given.each)])
            stamped = [{**each, "session": f"s{at // PER_SESSION}"} for at, each in enumerate(said)]
            memory.user(f"p{number}").observe(stamped)
    print(f"{people} people, filled in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    memory = Memory(path, writer="none", cache=given.cache * 2**20)
    return Store(people, given.each, memory, path, random.Random(people))  # noqa: S311 - figures must repeat


class Known:
    """The static embedder, remembering the texts that people share, since filling is not what is measured."""

    inline = True

    def __init__(self) -> None:
        with Memory(":memory:") as memory:
            inner = memory.parts.embedder
        if inner is None:
            raise SystemExit("the static embedder is missing")
        self._inner = inner
        self._rows: dict[str, NDArray[np.float32]] = {}
        self.name, self.dimensions = inner.name, inner.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions)."""
        missing = [each for each in dict.fromkeys(texts) if each not in self._rows]
        if missing:
            self._rows.update(zip(missing, self._inner.embed(missing), strict=True))
        return np.stack([self._rows[each] for each in texts]) if texts else self._inner.embed([])


def _fill_cache(store: Store, asked: Sequence[str]) -> None:
    """Ask everybody once, and see how much the process grew for it."""
    store.memory.user("p0").recall(asked[0])
    store.mark = _resident()
    for number in range(store.people):
        store.memory.user(f"p{number}").recall(asked[number % len(asked)])
    store.grown = _resident() - store.mark


def _ask(stores: Sequence[Store], asked: Sequence[str]) -> None:
    for number in range(ASKED):
        question = asked[number % len(asked)]
        for store in stores:
            name = f"p{store.chance.randrange(store.people)}"
            store.mixed.append(_spent(store, name, question))
            store.memory.snapshots.forget(store.memory.user(name).owner)
            store.cold.append(_spent(store, name, question))
            store.warm += [_spent(store, name, each) for each in _others(asked, number)]


def _others(asked: Sequence[str], number: int) -> Iterator[str]:
    return (asked[(number + 100 * step) % len(asked)] for step in range(1, WARM + 1))


def _spent(store: Store, name: str, question: str) -> float:
    user = store.memory.user(name)
    started = time.process_time()
    user.recall(question)
    return 1000 * (time.process_time() - started)


def _resident() -> int:
    """The memory that this process has in use, bytes; where the system does not say, the most that it ever had."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else 1024 * most


_COLUMNS = ("warm", "mixed", "cold")


def _table(stores: Sequence[Store]) -> Iterator[str]:
    heads = "".join(f"{f'{name} ms':>10}{'ratio':>7}" for name in _COLUMNS)
    yield f"{'people':>8}{'messages':>10}{heads}{'kept MB':>9}{'grown MB':>10}{'file MB':>9}"
    first = stores[0]
    for store in stores:
        times = "".join(
            f"{_p50(getattr(store, name)):>10.2f}{_p50(getattr(store, name)) / _p50(getattr(first, name)):>7.2f}"
            for name in _COLUMNS
        )
        kept, grown, size = store.memory.snapshots.nbytes, store.grown, store.path.stat().st_size
        yield f"{store.people:>8}{store.messages:>10}{times}{kept / 1e6:>9.0f}{grown / 1e6:>10.0f}{size / 1e6:>9.0f}"
    yield "p50 of CPU; ratio: to the first row; kept: by recall's own count; grown: the process, while all were asked"


def _p50(spent: Sequence[float]) -> float:
    return float(np.median(spent))


if __name__ == "__main__":
    main()
