"""Commands that answer a question: recall and context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from firsthand.cli.options import Options, given, typed_text, with_options, words
from firsthand.cli.screen import columns, day, dim, folded, one_line, show, strong, wide
from firsthand.model import Hit, State

_SHORT = {"relevance": "rel", "recency": "rec", "confidence": "conf", "use": "use"}
LONGEST = 300  # characters of a hit's text, unless asked for more

_NARROWING = (
    click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="How many at most."),
    click.option(
        "--kind", "kinds", multiple=True, metavar="KIND", help="semantic, episodic or procedural; repeatable."
    ),
    click.option("--in-session", "sessions", multiple=True, type=words, metavar="ID", help="Only from it; repeatable."),
    click.option("--since", metavar="TIME", help="Said at or after."),
    click.option("--until", metavar="TIME", help="Said before."),
    click.option("--valid-at", metavar="TIME", help="What was true then."),
    click.option("--known-at", metavar="TIME", help="What memory had been told by then."),
    click.option(
        "--include", type=click.Choice(("all", "beliefs", "messages")), help="Where to look; all unless given."
    ),
)


def _with_narrowing(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_NARROWING):
        command = option(command)
    return command


@click.command()
@click.argument("question", type=words)
@_with_narrowing
@click.option("--explain", is_flag=True, help="Every term of each score, the reason in words, the whole text.")
@with_options
def recall(options: Options, question: str, *, explain: bool, **narrowing: Any) -> None:
    """Find what memory holds that answers a question, best first.

    Looks by words, meaning, people and time, over beliefs and messages alike. Every hit shows its score and where it
    comes from. Nothing good enough: nothing is shown.
    """
    with options.reading(vectors=True) as person:
        hits = person.recall(typed_text(question), **given(narrowing))
    show(hits, all_hits(hits, explain=explain), as_json=options.as_json)


@click.command()
@click.argument("question", type=words)
@click.option("--max-tokens", type=click.IntRange(min=1), default=800, show_default=True, help="The budget.")
@_with_narrowing
@with_options
def context(options: Options, question: str, **narrowing: Any) -> None:
    """Print the block to give to a model.

    The profile first, then what the question needs: dated, hedged, cited, within the budget.
    """
    with options.reading(vectors=True) as person:
        block = person.context(typed_text(question), **given(narrowing))
    show(block, [str(block)], as_json=options.as_json)


def all_hits(hits: Sequence[Hit], *, explain: bool = False) -> Iterator[str]:
    """Hits for a person, numbered."""
    for number, hit in enumerate(hits, start=1):
        yield from hit_lines(number, hit, explain=explain)
    if not hits:
        yield "nothing that memory holds answers this"


def hit_lines(number: int, hit: Hit, *, explain: bool = False) -> Iterator[str]:
    """One hit: rank, score, text; then date, kind and terms; then ids."""
    indent = " " * 10
    text = hit.text if explain else one_line(hit.text, LONGEST)
    said = f"{hit.speaker or hit.role}: “{text}”" if hit.type == "message" else text
    lines = folded(said, indent, f"{number:>2}. {hit.score:.2f}  ")
    yield from (strong(line) for line in lines[:1])
    yield from lines[1:]
    yield from _facts(hit, indent)
    if explain:
        yield dim(f"{indent}{'  '.join(f'{name} {value:.3f}' for name, value in hit.terms.items())}")
        yield from (dim(line) for line in folded(hit.why, indent))


def _facts(hit: Hit, indent: str) -> Iterator[str]:
    terms = " ".join(f"{short} {hit.terms[name]:.2f}" for name, short in _SHORT.items() if name in hit.terms)
    told = " · ".join(filter(None, (_when(hit), *_remarks(hit))))
    others = [each for each in hit.evidence if each != hit.id]
    ids = f"{hit.id} · from {', '.join(others)}" if others else hit.id
    yield from (dim(line) for line in _together(indent, told, f"[{terms}]"))
    yield dim(indent + one_line(ids))


def _together(indent: str, *parts: str) -> Iterator[str]:
    """The parts on one line if they fit it, else on a line each."""
    joined = indent + "  ".join(parts)
    if wide(joined) <= columns():
        yield joined
    else:
        yield from (indent + part for part in parts)


def _when(hit: Hit) -> str:
    if hit.type == "message" or hit.valid_from is None:
        return f"said {day(hit.at)}"
    if hit.valid_to is not None:
        return f"{day(hit.valid_from)} to {day(hit.valid_to)}"
    return f"since {day(hit.valid_from)}"


def _remarks(hit: Hit) -> Iterator[str]:
    if hit.source is not None:
        yield f"{hit.source} {hit.confidence:.2f}"
    if hit.guess:
        yield "a guess"
    if hit.note is not None:
        yield one_line(hit.note)
    elif hit.state not in (None, State.ACTIVE):
        yield str(hit.state)
