"""A run as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firsthand.bench.runs import Change, Run
from firsthand.bench.ways import OURS

_FIRST = 22  # columns of a figure's name
_WIDE = 17


def lines(run: Run) -> Iterator[str]:
    """The whole run: figures by way of recall, by kind of question, refusals, time."""
    settings = ", ".join(f"{name} {value}" for name, value in run.settings.items())
    yield f"{run.suite} (data {run.data}, {settings})"
    yield from (f"  {note}" for note in run.notes)
    yield ""
    yield from _ways(run)
    if len(run.kinds) > 1:
        yield ""
        yield from _kinds(run)
    if run.refusals:
        yield ""
        yield from _refusals(run)
    times = ", ".join(f"{name} {value:.1f}" for name, value in run.milliseconds.items())
    yield ""
    yield f"recall of 10 hits, ms by the clock: {times}"


def _ways(run: Run) -> Iterator[str]:
    yield " " * _FIRST + "".join(f"{way:>{_WIDE}}" for way in run.ways)
    for name in run.ways[OURS]:
        row = (figures.get(name) for figures in run.ways.values())
        yield f"{name:<{_FIRST}}" + "".join(f"{_figure(each):>{_WIDE}}" for each in row)


def _kinds(run: Run) -> Iterator[str]:
    names = list(dict.fromkeys(name for figures in run.kinds.values() for name in figures))
    yield f"{'firsthand, by kind':<{_FIRST + 8}}" + "".join(f"{name:>{_WIDE}}" for name in names)
    for kind, figures in run.kinds.items():
        shown = "".join(f"{_figure(figures.get(name)):>{_WIDE}}" for name in names)
        yield f"{f'{kind} ({run.counts[kind]})':<{_FIRST + 8}}{shown}"


def _refusals(run: Run) -> Iterator[str]:
    yield f"{'no answer to be found':<{_FIRST + 8}}{'questions':>{_WIDE}}{'area':>{_WIDE}}{'refused':>{_WIDE}}"
    for standing, each in run.refusals.items():
        figures = f"{each.questions:>{_WIDE}}{each.area:>{_WIDE}.3f}{_figure(each.refused):>{_WIDE}}"
        yield f"{standing:<{_FIRST + 8}}{figures}"
    yield "area: under refusal against loss as the floor rises, 0.5 by chance; refused: nothing found by default"


def compared(changes: Sequence[Change]) -> Iterator[str]:
    """What changed since another run."""
    yield f"{'against the other run':<{_FIRST}}{'before':>9}{'now':>9}{'change':>9}{'better':>9}{'worse':>9}"
    for each in changes:
        moved = 100 * (each.now - each.before)
        yield (
            f"{each.name:<{_FIRST}}{_figure(each.before):>9}{_figure(each.now):>9}{moved:>+9.1f}"
            f"{each.better:>9}{each.worse:>9}"
        )
    yield "better, worse: questions with a higher and with a lower figure than before"


def _figure(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
