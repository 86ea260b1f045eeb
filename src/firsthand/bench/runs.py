"""A run: every figure that was measured, as one value that can be printed, drawn, kept and compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from firsthand.bench.corpus import ANSWERED, ELSEWHERE, MADE_UP, UNANSWERED, Suite
from firsthand.bench.measures import area, refusals
from firsthand.bench.measuring import Result, means
from firsthand.bench.reading import json_of, need
from firsthand.bench.ways import OURS
from firsthand.errors import InvalidInput
from firsthand.recall.score import FLOOR

FORMAT = "firsthand bench 1"
Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Refusal:
    """How well a floor under relevance tells questions without an answer from those with one."""

    questions: int
    area: float  # under refusal against loss
    refused: float  # share that finds nothing at the default floor
    points: tuple[tuple[float, float, float], ...]  # floor, loss, refusal


@dataclass(frozen=True, slots=True)
class Run:
    """Every figure of one run."""

    suite: str
    data: str  # digest of the files
    settings: Mapping[str, Any]
    notes: tuple[str, ...]
    ways: Mapping[str, Figures]
    kinds: Mapping[str, Figures]  # of firsthand, the headline by kind of question
    counts: Mapping[str, int]  # questions by kind
    refusals: Mapping[str, Refusal]  # by why a question has no answer
    milliseconds: Mapping[str, float]
    questions: Mapping[str, Figures] = field(default_factory=dict)  # of firsthand, by id


def run_of(suite: Suite, results: Sequence[Result], data: str, settings: Mapping[str, Any]) -> Run:
    """The figures of these results."""
    answered = [each for each in results if each.asked.standing == ANSWERED]
    if not answered:
        raise InvalidInput("none of the questions has an answer to be found")
    kinds = {each.asked.kind: [other for other in answered if other.asked.kind == each.asked.kind] for each in answered}
    p50, p95 = np.percentile([each.milliseconds for each in results], (50, 95))
    return Run(
        suite=suite.name,
        data=data,
        settings=settings,
        notes=suite.notes,
        ways=means(answered),
        kinds={kind: _headline(some, suite) for kind, some in kinds.items()},
        counts={kind: len(some) for kind, some in kinds.items()},
        refusals=dict(_refusals(results, answered)),
        milliseconds={"p50": float(p50), "p95": float(p95)},
        questions={each.asked.id: each.ways[OURS] for each in answered},
    )


def _headline(some: Sequence[Result], suite: Suite) -> dict[str, float]:
    figures = means(some)[OURS]
    return {name: figures[name] for name in (*suite.headline, "past order") if name in figures}


def _refusals(results: Sequence[Result], answered: Sequence[Result]) -> Iterable[tuple[str, Refusal]]:
    answers = [each.answering for each in answered if each.answering and not each.asked.past]
    for standing in (UNANSWERED, ELSEWHERE, MADE_UP):
        best = [each.best for each in results if each.asked.standing == standing]
        if best and answers:
            points = refusals(best, answers)
            yield standing, Refusal(len(best), area(points), fmean(each < FLOOR for each in best), tuple(points))


def save(run: Run, path: Path) -> None:
    """Write a run to a file that `load` reads. Raises InvalidInput when that cannot be."""
    try:
        path.write_text(as_json(run) + "\n", "utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from error


def as_json(run: Run) -> str:
    """The run as JSON text."""
    return json.dumps({"format": FORMAT, **asdict(run)}, indent=1, ensure_ascii=False)


def load(path: Path) -> Run:
    """The run in a file. Raises InvalidInput."""
    given = json_of(path)
    need(isinstance(given, dict) and given.get("format") == FORMAT, path, "run")
    fields = {name: value for name, value in given.items() if name != "format"}
    try:
        kept = {name: Refusal(**each) for name, each in fields.pop("refusals").items()}
        return Run(**fields, refusals=kept)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path}: this is no whole run file") from error


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of firsthand in two runs, and how many questions have a higher or a lower one now."""

    name: str
    before: float
    now: float
    better: int
    worse: int


def compared(now: Run, before: Run) -> list[Change]:
    """What changed between two runs of the same data. Raises InvalidInput when the data differs."""
    if (now.suite, now.data) != (before.suite, before.data):
        raise InvalidInput(f"the runs are of different data: {now.suite} {now.data}, {before.suite} {before.data}")
    ours, theirs = now.ways[OURS], before.ways[OURS]
    return [_change(name, now, before) for name in ours if name in theirs]


def _change(name: str, now: Run, before: Run) -> Change:
    moved = [
        figures[name] - before.questions[each][name]
        for each, figures in now.questions.items()
        if name in figures and name in before.questions.get(each, {})
    ]
    better, worse = sum(each > 0 for each in moved), sum(each < 0 for each in moved)
    return Change(name, before.ways[OURS][name], now.ways[OURS][name], better, worse)
