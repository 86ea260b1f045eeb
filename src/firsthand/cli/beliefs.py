"""Commands that show what memory holds: profile, beliefs, history, why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from firsthand.cli import screen
from firsthand.cli.options import Options, given, with_options, words
from firsthand.cli.screen import (
    belief_lines,
    clean,
    day,
    dim,
    interval,
    one_line,
    show,
    standing,
    strong,
)
from firsthand.model import Belief, Explanation, Observation, Source


def _as_of(command: Any) -> Any:
    command = click.option("--known-at", metavar="TIME", help="As memory had been told by then.")(command)
    return click.option("--valid-at", metavar="TIME", help="What was true then.")(command)


def _all_lines(found: Sequence[Belief], nothing: str) -> Iterator[str]:
    for belief in found:
        yield from belief_lines(belief)
    if not found:
        yield nothing


@click.command()
@_as_of
@with_options
def profile(options: Options, **when: Any) -> None:
    """Show what is always worth knowing of the person.

    It begins every context. Guesses never enter it.
    """
    with options.reading() as person:
        found = person.profile(**given(when))
    show(found, _all_lines(found, "nothing is known of this user yet"), as_json=options.as_json)


@click.command()
@click.argument("subject", required=False, type=words)
@click.argument("attribute", required=False, type=words)
@click.option(
    "--state",
    default="active",
    metavar="STATE",
    help="active (unless given), scheduled, superseded, withdrawn, pending, rejected, expired, or all.",
)
@_as_of
@with_options
def beliefs(options: Options, subject: str | None, attribute: str | None, **narrowing: Any) -> None:
    """List what memory holds to be true.

    All of it, or of one SUBJECT (`user` is the person), or one ATTRIBUTE of a subject. Times without an offset are
    UTC.
    """
    with options.reading() as person:
        found = person.beliefs(subject, attribute, **given(narrowing))
    show(found, _all_lines(found, "nothing is believed here"), as_json=options.as_json)


@click.command()
@click.argument("subject", type=words)
@click.argument("attribute", required=False, type=words)
@with_options
def history(options: Options, subject: str, attribute: str | None) -> None:
    """List everything that was ever held of one subject, oldest first.

    With intervals, states and reasons; SUBJECT `user` is the person.
    """
    with options.reading() as person:
        found = person.history(subject, attribute)
    show(found, _all_lines(found, "nothing was ever held of that"), as_json=options.as_json)


@click.command()
@click.argument("belief_id", metavar="ID")
@with_options
def why(options: Options, belief_id: str) -> None:
    """Tell why memory holds a belief, in the words it heard.

    Takes the id of a belief, or of an observation that supports it.
    """
    with options.reading() as person:
        told = person.why(belief_id)
    show(told, story(told), as_json=options.as_json)


def story(told: Explanation, width: int | None = None) -> Iterator[str]:
    """A belief's reasons for a person: what was heard, who claimed what, by which rule, instead of what.

    In lines of `width` columns; of the terminal's, or unbroken into a pipe, unless it is given.
    """

    def folded(text: str, indent: str = "", first: str | None = None) -> list[str]:
        return screen.folded(text, indent, first) if width is None else screen.wrapped(text, width, indent, first)

    belief = told.belief
    yield strong(one_line(belief.text))
    yield f"  {belief.state}, {standing(belief)}, {interval(belief)}  {dim(clean(belief.id))}"
    if belief.reason:
        yield from folded(belief.reason, indent="  ")
    if told.quotes:
        yield "heard"
        for quote in told.quotes:
            who = quote.speaker or quote.role
            yield from folded(f"{day(quote.at)} {who}: “{quote.text}” ({quote.message_id})", "    ", "  ")
    yield "claimed"
    for each in told.observations:
        yield from folded(_claim(each), "    ", "  ")
    yield "decided"
    yield from folded(told.rule, "    ", "  ")
    if told.displaced:
        yield "instead of"
        for old in told.displaced:
            reason = f" ({old.reason})" if old.reason else ""
            yield from folded(f"{old.text}: {old.state}{reason}, {standing(old)}", "    ", "  ")
    yield "would change it"
    yield from folded(told.changes_if, "    ", "  ")


def _claim(each: Observation) -> str:
    value = f" “{each.value}”" if each.value is not None else ""
    by = f" by {each.writer}" if each.writer else ""
    name = f" {each.attribute}" if each.attribute else ""
    source = "guessed" if each.source is Source.INFERRED else each.source
    why_ = f" ({each.reason})" if each.reason else ""
    claim = f"{day(each.said_at)} {each.act} {each.subject}{name}{value}"
    return f"{claim}, {source} {each.confidence:.2f}{by}{why_} ({each.id})"
