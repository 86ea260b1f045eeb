"""How recall, writing and the file grow with the messages of one scope.

    python -m benchmarks.scale [--sizes 1000,10000,100000] [--data FILE] [--embedder static|onnx|none] [--json]

At each size, in one run and in turns of a few questions: the time of `recall` (10 hits, warm) beside its floor
(`benchmarks/floor.py`) and the time of `observe` in bulk beside bare inserts into SQLite with the same embedding, then
the size of the file, what recall keeps in memory, and the first recall after the file was opened. Figures are medians;
compare ratios, since times are those of the machine. Recall and its floor are compared in CPU time, which a busy
machine stretches less; writing is compared in wall time, since it waits for the disk.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.floor import Floor, Timed, bare_inserts
from benchmarks.texts import PER_SESSION, messages, questions, source
from firsthand import Memory
from firsthand.memory import User

BATCH = 1_000  # messages in one call of observe, and in one transaction of the bare inserts
ASKED = 200  # questions at each size
TURN = 20  # of them are asked in a row, before the same ones are put to the floor


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    sizes: tuple[int, ...]
    data: Path | None
    embedder: str
    seed: int
    asked: int


def main() -> None:
    """Print one row for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="messages, separated by commas")
    parser.add_argument("--data", type=Path, help="a file whose words to draw from; the vocabulary's unless given")
    parser.add_argument("--embedder", default="static", choices=("static", "onnx"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--asked", type=int, default=ASKED, help="questions at each size")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sizes = tuple(int(each) for each in given.sizes.split(","))
    rows = [measured(Plan(sizes, given.data, given.embedder, given.seed, given.asked), size) for size in sizes]
    print(json.dumps(rows, indent=1) if given.json else "\n".join(table(rows)))


def measured(plan: Plan, size: int) -> dict[str, float]:
    """Every figure of one size."""
    texts = source(plan.data).texts(size, plan.seed)
    asked = questions(texts, plan.asked, plan.seed + 1)
    with tempfile.TemporaryDirectory(prefix="firsthand-bench-") as folder:
        path = Path(folder, "scale.db")
        written = _written(path, messages(texts), plan, Path(folder))
        stored = path.stat().st_size
        with Memory(path, embedder=plan.embedder) as memory:
            user = memory.user("scale")
            first = _milliseconds(user, asked[0])
            floor = Floor.of(texts, _embedder(memory))
            asking = _asking(user, floor, asked)
            kept = memory.snapshots.nbytes
    return {"messages": size, **written, "MB per 1000": stored / size / 1000, "first": first, **asking, "kept": kept}


def table(rows: Sequence[dict[str, float]]) -> list[str]:
    """Figures as lines of text."""
    last = rows[-1]
    parts = ", ".join(f"{name} {last[name]:.2f}" for name in ("embed", "exact", "1-bit", "FTS5"))
    floor = f"floor at {last['messages']:.0f} messages, ms of CPU: {parts}"
    return [_HEADS, *map(_line, rows), "", floor, *_MEANING]


def _line(row: dict[str, float]) -> str:
    return (
        f"{row['messages']:>9.0f}{row['recall p50']:>9.2f}{row['recall p95']:>9.2f}{row['recall CPU']:>9.2f}"
        f"{row['floor CPU']:>9.2f}{row['recall / floor']:>9.2f}{row['first']:>9.0f}{row['kept'] / 1e6:>9.1f}"
        f"{row['MB per 1000']:>9.2f}{row['observe a second']:>11.0f}"
        f"{row['of bare']:>9.2f}{row['of bare, no writer']:>12.2f}"
    )


_HEADS = (
    f"{'messages':>9}{'p50 ms':>9}{'p95 ms':>9}{'CPU ms':>9}{'floor':>9}{'ratio':>9}{'first ms':>9}{'kept MB':>9}"
    f"{'MB/1000':>9}{'observe/s':>11}{'of bare':>9}{'no writer':>12}"
)
_MEANING = (
    "ratio: the median over questions of recall's CPU time by the floor's; first: recall after opening the file;",
    "kept: what recall holds in memory; MB/1000: of the file, by 1000 messages; of bare: speed of observe, by that of",
    "bare inserts with the same embedding; no writer: the same without the rules that look for statements.",
)


def _written(path: Path, said: Sequence[dict[str, Any]], plan: Plan, folder: Path) -> dict[str, float]:
    """Seconds of writing, ours beside bare inserts, in turns of one batch."""
    halves = [said[first : first + BATCH] for first in range(0, len(said), BATCH)]
    spent: dict[str, list[float]] = {"ours": [], "silent": [], "bare": []}
    with (
        Memory(path, embedder=plan.embedder) as ours,
        Memory(folder / "silent.db", embedder=plan.embedder, writer="none") as silent,
    ):
        embedder = _embedder(ours)
        embedder.embed(["loading is not counted"])
        for number, batch in enumerate(halves):
            spent["ours"].append(_observed(ours.user("scale"), batch, number))
            spent["silent"].append(_observed(silent.user("scale"), batch, number))
            spent["bare"].append(bare_inserts(folder / f"bare-{number}.db", batch, embedder, BATCH))
    seconds = {name: float(np.sum(each)) for name, each in spent.items()}
    return {
        "observe a second": len(said) / seconds["ours"],
        "of bare": seconds["bare"] / seconds["ours"],
        "of bare, no writer": seconds["bare"] / seconds["silent"],
    }


def _observed(user: User, batch: Sequence[dict[str, Any]], number: int) -> float:
    """Seconds to observe a batch, a session at a time as importers do it: one call, each message with its session."""
    stamped = [{**each, "session": f"s{number}-{at // PER_SESSION}"} for at, each in enumerate(batch)]
    started = time.perf_counter()
    user.observe(stamped)
    return time.perf_counter() - started


def _asking(user: User, floor: Floor, asked: Sequence[str]) -> dict[str, float]:
    """Recall and the floor, in turns of some questions: each then finds the caches as a busy memory leaves them."""
    _recalled(user, asked[:TURN])
    floor.timed(asked[:TURN])
    recalls: list[tuple[float, float]] = []
    floors: list[Timed] = []
    for first in range(0, len(asked), TURN):
        recalls += _recalled(user, asked[first : first + TURN])
        floors += floor.timed(asked[first : first + TURN])
    parts = {name: float(np.median([each[name] for each in floors])) for name in floors[0]}
    ratios = [ours / each["floor"] for (_, ours), each in zip(recalls, floors, strict=True)]
    (p50, cpu), (p95, _) = np.percentile(recalls, (50, 95), axis=0)
    return {
        "recall p50": float(p50),
        "recall p95": float(p95),
        "recall CPU": float(cpu),
        "floor CPU": parts.pop("floor"),
        "recall / floor": float(np.median(ratios)),
        **parts,
    }


def _recalled(user: User, asked: Sequence[str]) -> list[tuple[float, float]]:
    """Milliseconds of each recall, by the clock and of CPU."""
    out = []
    for question in asked:
        before = time.process_time()
        wall = _milliseconds(user, question)
        out.append((wall, 1000 * (time.process_time() - before)))
    return out


def _milliseconds(user: User, question: str) -> float:
    started = time.perf_counter()
    user.recall(question)
    return 1000 * (time.perf_counter() - started)


def _embedder(memory: Memory) -> Any:
    return memory.parts.embedder


if __name__ == "__main__":
    main()
