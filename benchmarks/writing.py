"""What it costs to look at a message before it is stored: the mask for secrets, the rules writer, the search terms.

    python -m benchmarks.writing --data FILE... [--beside CHECKOUT] [--rounds 5] [--json]

FILEs are conversations that `firsthand add` reads (LoCoMo, LongMemEval, exports, JSON Lines of messages). Times are
microseconds of CPU for each message, the best of some rounds with everything loaded; compare ratios, since times are
those of the machine. With `--beside`, the same is measured in the same run with the sources of another checkout, in
turns, and what both find is compared: how many messages are masked otherwise, how many claims only one of them
proposes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Figures = dict[str, float]
_START = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Measured:
    """Times of each part, and what was found."""

    times: Figures
    masked: list[list[Any]]
    claims: list[str]


def main() -> None:
    """Print the times, and the ratios to another checkout when one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--beside", type=Path, help="another checkout of firsthand, such as the release before")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        measured = _measured(given.data, given.rounds)
        sys.stdout.write(json.dumps([measured.times, measured.masked, measured.claims]))
        return
    found = _compared(given.data, given.rounds, given.beside)
    print(json.dumps(found, indent=1) if given.json else "\n".join(_table(found)))


def _compared(data: Sequence[Path], rounds: int, beside: Path | None) -> dict[str, Figures]:
    ours = _run(data, rounds, Path(__file__).parents[1])
    if beside is None:
        return {"microseconds": ours.times}
    theirs = _run(data, rounds, beside)
    again = _run(data, rounds, Path(__file__).parents[1])
    best = {name: min(ours.times[name], again.times[name]) for name in ours.times}
    differing = sum(one != other for one, other in zip(ours.masked, theirs.masked, strict=True))
    only_one = set(ours.claims) ^ set(theirs.claims)
    return {
        "microseconds": best,
        "beside": theirs.times,
        "ratio": {name: theirs.times[name] / best[name] for name in best if best[name]},
        "differences": {"masked otherwise": differing, "claims of one only": len(only_one), "claims": len(ours.claims)},
    }


def _run(data: Sequence[Path], rounds: int, checkout: Path) -> Measured:
    """Measure with the sources of a checkout, in a process of its own."""
    command = [sys.executable, __file__, "--worker", "--rounds", str(rounds), "--data", *map(str, data)]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)  # noqa: S603 - our own
    return Measured(*json.loads(done.stdout))


def _measured(data: Sequence[Path], rounds: int) -> Measured:
    from firsthand.ledger.formats import read
    from firsthand.ledger.secrets import mask
    from firsthand.model import Message, Position, Role
    from firsthand.text import term_hashes
    from firsthand.writer.rules import RulesWriter

    talks = [
        [
            Message(
                id=str(number),
                role=Role(each.get("role", "user")),
                content=str(each["content"]),
                at=_START,
                position=Position(0, number, "b"),
            )
            for number, each in enumerate(conversation.messages)
            if isinstance(each.get("content"), str)
        ]
        for path in data
        for conversation in read(path)
    ]
    texts = [message.content for talk in talks for message in talk]
    persons = sum(message.role is Role.USER for talk in talks for message in talk)
    writer = RulesWriter()
    masked = [list(mask(text)) for text in texts]
    claims = [f"{number} {proposal!r}" for number, talk in enumerate(talks) for proposal in writer.propose(talk, [])]
    return Measured(
        {
            "mask": _best(lambda: [mask(text) for text in texts], rounds) / len(texts),
            "rules writer": _best(lambda: [writer.propose(talk, []) for talk in talks], rounds) / persons,
            "search terms": _best(lambda: [term_hashes(text) for text in texts], rounds) / len(texts),
        },
        masked,
        claims,
    )


def _best(run: Callable[[], object], rounds: int) -> float:
    """Microseconds of CPU of the quickest round."""
    spent = []
    for _ in range(rounds):
        started = time.process_time()
        run()
        spent.append(time.process_time() - started)
    return 1e6 * min(spent)


def _table(found: dict[str, Figures]) -> list[str]:
    columns = [name for name in ("microseconds", "beside", "ratio") if name in found]
    head = f"{'a message':<14}" + "".join(f"{name:>14}" for name in columns)
    rows = [f"{part:<14}" + "".join(f"{found[name][part]:>14.1f}" for name in columns) for part in found[columns[0]]]
    return [head, *rows, *(f"{name}: {number:.0f}" for name, number in found.get("differences", {}).items())]


if __name__ == "__main__":
    main()
