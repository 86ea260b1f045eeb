"""The command that measures: recall on public data and on a person's own questions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from firsthand.cli.options import Options, with_options
from firsthand.cli.streams import on_terminal
from firsthand.errors import InvalidInput

if TYPE_CHECKING:
    from firsthand.bench.corpus import Suite, Talk
    from firsthand.bench.measuring import Result
    from firsthand.bench.runs import Run

PUBLIC = ("locomo", "longmemeval", "cri")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is measured, on which data, and where the figures go besides the screen."""

    what: str
    data: Path | None
    distractors: Path | None
    haystack: int
    seed: int
    save: Path | None
    compare: Path | None
    plot: Path | None

    @property
    def files(self) -> list[Path]:
        """The files that the figures depend on."""
        given = [self.data or Path(self.what), *([self.distractors] if self.distractors else [])]
        return [inner for each in given for inner in (sorted(each.glob("*.json*")) if each.is_dir() else [each])]


@click.command()
@click.argument("what", metavar="locomo|longmemeval|cri|FILE")
@click.option("--data", type=click.Path(path_type=Path), help="The file or folder of the public data.")
@click.option("--distractors", type=click.Path(path_type=Path), help="Sessions for haystacks, where rows bring none.")
@click.option("--haystack", type=click.IntRange(min=1), default=48, show_default=True, help="Sessions to a haystack.")
@click.option("--seed", type=int, default=1, show_default=True, help="Which distractors are drawn.")
@click.option("--save", type=click.Path(path_type=Path), metavar="RUN.json", help="Keep the run, to compare with.")
@click.option("--compare", type=click.Path(path_type=Path), metavar="RUN.json", help="Show what changed since a run.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.svg", help="Draw the run.")
@with_options
def bench(options: Options, **wanted: Any) -> None:
    """Measure recall on public data, or on questions of your own.

    Public data is read from --data and stays out of your memory. FILE holds your own questions, one JSON object a
    line: {"question": "…", "expected": ["message id", "or words that were said"]}; they are put to the memory of --db
    and --user, and nothing is written. Each figure stands beside plain BM25 and plain vectors in the same run.
    """
    from firsthand.bench import plot, runs, table

    asked = Wanted(**wanted)
    before = runs.load(asked.compare) if asked.compare is not None else None
    run = _public(options, asked) if asked.what in PUBLIC else _own(options, asked)
    changes = [] if before is None else runs.compared(run, before)
    if asked.save is not None:
        runs.save(run, asked.save)
    if asked.plot is not None:
        _write(asked.plot, plot.svg(run))
    if options.as_json:
        click.echo(runs.as_json(run))
        return
    for line in table.lines(run):
        click.echo(line)
    if before is not None:
        click.echo()
        for line in table.compared(changes):
            click.echo(line)


def _public(options: Options, wanted: Wanted) -> Run:
    from firsthand.bench import measuring

    if wanted.data is None:
        raise click.UsageError(f"{wanted.what} needs its data: say where it is with --data; {_WHERE[wanted.what]}")
    suite = _SUITES[wanted.what](wanted)
    embedder = options.embedder or "static"
    results = list(measuring.measured(suite, embedder, _progress()))
    return _run(suite, results, wanted, embedder)


def _own(options: Options, wanted: Wanted) -> Run:
    from firsthand.bench import measuring, own

    path = Path(wanted.what)
    if not path.exists():
        raise InvalidInput(f"{wanted.what!r} is neither a file of questions nor one of {', '.join(PUBLIC)}")
    suite = own.suite(path)
    with options.reading(vectors=True) as person:
        results = list(measuring.put(own.questions(path, person), person, suite))
        embedder = person.memory.parts.embedder
        return _run(suite, results, wanted, "none" if embedder is None else embedder.name)


def _run(suite: Suite, results: list[Result], wanted: Wanted, embedder: str) -> Run:
    from firsthand.bench import runs

    return runs.run_of(suite, results, _digest(wanted.files), {"embedder": embedder})


def _locomo(wanted: Wanted) -> Suite:
    from firsthand.bench import locomo

    return locomo.suite(_data(wanted))


def _longmemeval(wanted: Wanted) -> Suite:
    from firsthand.bench import longmemeval

    haystacks = longmemeval.Haystacks(wanted.distractors, wanted.seed, wanted.haystack)
    return longmemeval.suite(_data(wanted), haystacks)


def _cri(wanted: Wanted) -> Suite:
    from firsthand.bench import cri

    return cri.suite(_data(wanted))


_SUITES: dict[str, Callable[[Wanted], Suite]] = {"locomo": _locomo, "longmemeval": _longmemeval, "cri": _cri}
_WHERE = {
    "locomo": "locomo10.json is at https://github.com/snap-research/locomo",
    "longmemeval": "longmemeval_s.json is at https://github.com/xiaowu0162/LongMemEval",
    "cri": "the folder with conversations.jsonl and ground_truth.json is published as cri-benchmark",
}


def _data(wanted: Wanted) -> Path:
    return wanted.data or Path(wanted.what)


def _progress() -> Callable[[Talk], None]:
    """Says on a terminal how far it is."""
    heard = 0

    def tell(talk: Talk) -> None:
        nonlocal heard
        heard += 1
        if on_terminal(sys.stderr):
            click.echo(f"\r{heard} conversations read, at {talk.name[:30]:<30}\r", nl=False, err=True)

    return tell


def _digest(files: list[Path]) -> str:
    """A short digest of what was measured on, so that only like runs are compared."""
    digest = blake2b(digest_size=6)
    for each in files:
        digest.update(each.read_bytes())
    return digest.hexdigest()


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from error
