"""Whether a server gives the answers that a file gives: the same hits, in the same order, with the same scores.

    python -m evals.agreement --data locomo10.json [--embedder static|onnx|none] [--db postgresql://…]

Every conversation is told to a file and to a server, with the same ids at the same moments, and every question of
categories 1 to 4 is put to both, once about everything (messages, and beliefs that the rules writer heard) and once
about messages alone. Without --db a server is started for it. Exit status 1 says that they differ.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from benchmarks.place import served

from firsthand import Memory, User
from firsthand.bench.corpus import ANSWERED, Talk
from firsthand.bench.locomo import suite
from firsthand.bench.measures import recall_at
from firsthand.bench.ways import ids_of

DEPTH = 10
TENANT = "agreement"


def main() -> int:
    """Print how often both answer alike, and the recall of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a LoCoMo file")
    parser.add_argument("--embedder", default="static", choices=("static", "onnx", "none"))
    parser.add_argument("--db", help="the address of a server; one is started unless given")
    given = parser.parse_args()
    answers = alike = 0
    recalls: tuple[list[float], list[float]] = ([], [])
    with served(given.db) as (address, _):
        for talk in suite(given.data).talks():
            with ExitStack() as opened:
                one, other = (_told(opened, each, talk, given.embedder) for each in (":memory:", address))
                for asked in (each for each in talk.questions if each.standing == ANSWERED):
                    for include in ("all", "messages"):
                        found = [user.recall(asked.text, limit=DEPTH, include=include) for user in (one, other)]
                        answers += 1
                        alike += found[0] == found[1]
                    for side, hits in zip(recalls, found, strict=True):
                        side.append(recall_at([ids_of(hit) for hit in hits], asked.expected, DEPTH))
    print(f"{answers} answers of at most {DEPTH} hits, {alike} the same on both to the last digit of every score")
    print(f"R@{DEPTH} of messages: file {100 * fmean(recalls[0]):.2f}, server {100 * fmean(recalls[1]):.2f}")
    return 0 if answers == alike else 1


def _told(opened: ExitStack, location: str, talk: Talk, embedder: str) -> User:
    memory = opened.enter_context(Memory(location, embedder=embedder, clock=lambda: talk.now))
    number = itertools.count()
    memory.parts = replace(memory.parts, ids=lambda: f"id{next(number):08}")
    user = memory.user(talk.name, tenant=TENANT)
    user.erase()  # what an earlier run left
    for session, messages in talk.sessions.items():
        user.observe(list(messages), session=session)
    return user


if __name__ == "__main__":
    sys.exit(main())
