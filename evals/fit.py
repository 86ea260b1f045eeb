"""Whether the weights of relevance hold on talks that they were not fitted on.

    python -m evals.fit --data locomo10.json [--embedder static|onnx|none] [--folds N]

Leaves out some of LoCoMo's conversations in turn (each by itself unless --folds says otherwise), fits the weights of
the signals on the others, and prints recall at turn level on those left out, beside the weights in use
(`recall/relevance.py`) and beside equal weights. A fit maximises the likelihood of the turns that answer, among all
turns of their conversation, with weights that are never negative. What was tuned on what is told in evals/README.md.
The data: https://github.com/snap-research/locomo (CC BY-NC 4.0).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from firsthand.bench import locomo
from firsthand.bench.corpus import ANSWERED, Talk
from firsthand.memory import Memory, User
from firsthand.recall.asked import People
from firsthand.recall.question import Conditions, ask
from firsthand.recall.relevance import WITH_VECTOR, WORDS_ONLY, Recipe
from firsthand.recall.signals import Signals, message_signals

NAMES = tuple(name for name in Signals.__slots__ if name in Recipe.__slots__)
DEPTHS = (5, 10)
STEPS, RATE = 300, 0.05  # of the fit
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One question: the signals of every turn, and which of them answer it."""

    talk: int
    signals: NDArray[np.float64]  # shape (turns, signals)
    answers: NDArray[np.intp]


def main() -> None:
    """Print recall on what was left out, and the weights of each fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a LoCoMo file")
    parser.add_argument("--embedder", default="static", choices=("static", "onnx", "none"))
    parser.add_argument("--folds", type=int, default=0, help="groups of conversations; each its own unless given")
    given = parser.parse_args()
    talks = list(locomo.suite(given.data).talks())
    cases = [case for number, talk in enumerate(talks) for case in cases_of(number, talk, given.embedder)]
    folds = min(given.folds or len(talks), len(talks))
    in_use = np.array([getattr(WORDS_ONLY if given.embedder == "none" else WITH_VECTOR, name) for name in NAMES])
    print(f"LoCoMo, turn level, {len(talks)} conversations, {len(cases)} questions, {folds} folds, {given.embedder}")
    print(f"{'left out':<14}" + "".join(f"{name:>16}" for name in ("fitted on others", "in use", "equal")))
    outcomes = []
    for fold in range(folds):
        held = [case for case in cases if case.talk % folds == fold]
        fitted = fit([case for case in cases if case.talk % folds != fold], in_use)
        outcomes.append([recalls(held, weights) for weights in (fitted, in_use, np.ones(len(NAMES)))])
        print(_row(f"fold {fold + 1} ({len(held)})", outcomes[-1]) + f"   {_told(fitted, in_use)}")
    means = [[fmean(each[way][at] for each in outcomes) for at in range(len(DEPTHS))] for way in range(3)]
    print(_row("mean", means))
    print(f"each figure: {' / '.join(f'R@{depth}' for depth in DEPTHS)}; weights of each fit, of a sum as in use")


def cases_of(number: int, talk: Talk, embedder: str) -> list[Case]:
    """The answered questions of a conversation."""
    with Memory(":memory:", embedder=embedder, writer="none", clock=lambda: talk.now) as memory:
        user = memory.user(talk.name)
        for session, messages in talk.sessions.items():
            user.observe(list(messages), session=session)
        asked = [each for each in talk.questions if each.standing == ANSWERED]
        return [_case(number, each.text, frozenset().union(*each.expected), user) for each in asked]


def _case(number: int, text: str, answers: frozenset[str], user: User) -> Case:
    memory = user.memory
    now = memory.parts.clock()
    with memory.parts.store.reading(user.owner) as work:
        index = memory.snapshots.see(work, memory.policy, now).index
    question = ask(text, now, People(index.names), Conditions())
    if memory.parts.embedder is not None:
        question = question.with_vector(memory.parts.embedder.embed([question.asked.topic])[0], memory.scale)
    signals = message_signals(question, index)
    columns = np.stack([getattr(signals, name) for name in NAMES], axis=1).astype(np.float64)
    return Case(number, columns, np.array([index.row(each) for each in sorted(answers)], dtype=np.intp))


def fit(cases: Sequence[Case], start: Weights) -> Weights:
    """The weights under which the answers are likeliest among all turns, by gradient ascent (Adam) from `start`."""
    rows = np.concatenate([case.signals for case in cases])
    firsts = np.cumsum([0, *(len(case.signals) for case in cases[:-1])])
    of_case = np.repeat(np.arange(len(cases)), [len(case.signals) for case in cases])
    wanted = np.stack([case.signals[case.answers].mean(axis=0) for case in cases])
    weights, mean, square = start.astype(np.float64), np.zeros(len(start)), np.zeros(len(start))
    for step in range(1, STEPS + 1):
        leaning = rows @ weights
        shares = np.exp(leaning - np.maximum.reduceat(leaning, firsts)[of_case])
        shares /= np.add.reduceat(shares, firsts)[of_case]
        gradient = (wanted - np.add.reduceat(rows * shares[:, np.newaxis], firsts)).mean(axis=0)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        moved = RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        weights = np.maximum(weights + moved, 0)
    return weights


def recalls(cases: Sequence[Case], weights: Weights) -> list[float]:
    """Mean recall at each depth."""
    return [fmean(_recall(case, weights, depth) for case in cases) for depth in DEPTHS]


def _recall(case: Case, weights: Weights, depth: int) -> float:
    first = np.argsort(-(case.signals @ weights), kind="stable")[:depth]
    return float(np.isin(case.answers, first).mean())


def _row(name: str, outcomes: Sequence[Sequence[float]]) -> str:
    return f"{name:<14}" + "".join(f"{' / '.join(f'{100 * each:.1f}' for each in ways):>16}" for ways in outcomes)


def _told(weights: Weights, in_use: Weights) -> str:
    scaled = weights * in_use.sum() / weights.sum()
    return ", ".join(f"{name} {weight:.1f}" for name, weight in zip(NAMES, scaled, strict=True))


if __name__ == "__main__":
    main()
