"""Commands that make or change claims: remember, correct, end, retract, confirm, reject, pending."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from firsthand.cli.options import Options, given, typed_text, with_options, words
from firsthand.cli.screen import pending_lines, receipt_lines, say, show, show_each
from firsthand.errors import InvalidInput

if TYPE_CHECKING:
    from firsthand.memory import User
    from firsthand.model import Receipt

_WRITING = (
    click.option("--said-at", metavar="TIME", help="When it was said (ISO 8601); now unless given."),
    click.option("--origin", type=words, metavar="NAME", help="Where it came from, for `forget --of-origin`."),
    click.option("--metadata", metavar="JSON", help="A JSON object kept with it."),
    click.option("--idempotency-key", metavar="KEY", help="Makes it safe to repeat the command."),
)


def _with_writing(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_WRITING):
        command = option(command)
    return command


def _tidy(values: dict[str, Any]) -> dict[str, Any]:
    """The options given, with the metadata read."""
    known = given(values)
    if "metadata" in known:
        try:
            known["metadata"] = json.loads(known["metadata"])
        except ValueError as error:
            raise InvalidInput(f"--metadata is not JSON: {error}") from error
    return known


def _do(options: Options, verb: Callable[[User], Receipt]) -> None:
    with options.reading(vectors=True) as person:
        receipt = verb(person)
    show(receipt, receipt_lines(receipt), as_json=options.as_json)


@click.command()
@click.argument("text", type=words)
@click.option("--subject", type=words, metavar="WHO", help="Whom or what it is about; the user unless given.")
@click.option("--attribute", type=words, metavar="NAME", help="The attribute that TEXT is the value of (lives_in).")
@click.option("--source", metavar="SOURCE", help="stated (unless given), record, agent, quoted or inferred.")
@click.option("--confidence", type=float, help="Lower than what the source gives, from 0 to 1.")
@click.option("--kind", metavar="KIND", help="semantic, episodic or procedural.")
@click.option("--valid-from", metavar="TIME", help="Since when it holds.")
@click.option("--valid-to", metavar="TIME", help="Until when it holds.")
@click.option("--expires-at", metavar="TIME", help="When it stops being of use.")
@click.option("--evidence", multiple=True, metavar="ID", help="A message that it rests on; may be repeated.")
@_with_writing
@with_options
def remember(options: Options, text: str, **claim: Any) -> None:
    """Offer one claim to memory.

    TEXT is a sentence, or with --attribute the value of an attribute; `-` reads it from standard input. Times
    without an offset are UTC.
    """
    with options.writing() as person:
        receipt = person.remember(typed_text(text), **_tidy(claim))
    show(receipt, receipt_lines(receipt), as_json=options.as_json)


@click.command()
@click.argument("belief_id", metavar="ID")
@click.argument("value", type=words)
@click.option("--reason", type=words, help="Why.")
@_with_writing
@with_options
def correct(options: Options, belief_id: str, value: str, **claim: Any) -> None:
    """Replace a belief: it never was so.

    VALUE holds over the whole time that the belief ID did; the old value is kept as withdrawn.
    """
    _do(options, lambda person: person.correct(belief_id, typed_text(value), **_tidy(claim)))


@click.command()
@click.argument("belief_id", metavar="ID")
@click.option("--at", metavar="TIME", help="When it ended; now unless given.")
@click.option("--reason", type=words, help="Why.")
@_with_writing
@with_options
def end(options: Options, belief_id: str, at: str | None, **claim: Any) -> None:
    """Say that a belief was true and no longer is."""
    _do(options, lambda person: person.end(belief_id, at, **_tidy(claim)))


@click.command()
@click.argument("name", metavar="ID", type=words)
@click.option("--reason", type=words, help="Why, such as: joking.")
@_with_writing
@with_options
def retract(options: Options, name: str, **claim: Any) -> None:
    """Take back a belief or a message: it was never true.

    ID may be that of an observation too. The words stay, marked as taken back; `forget` erases them.
    """
    _do(options, lambda person: person.retract(name, **_tidy(claim)))


@click.command()
@click.argument("belief_id", metavar="ID")
@_with_writing
@with_options
def confirm(options: Options, belief_id: str, **claim: Any) -> None:
    """Say yes to a claim that waits.

    The person asserts it; `pending` lists what waits.
    """
    _do(options, lambda person: person.confirm(belief_id, **_tidy(claim)))


@click.command()
@click.argument("belief_id", metavar="ID")
@click.option("--reason", type=words, help="Why.")
@_with_writing
@with_options
def reject(options: Options, belief_id: str, **claim: Any) -> None:
    """Say no to a claim that waits.

    It is kept as rejected, so that hearing it again does not bring it back.
    """
    _do(options, lambda person: person.reject(belief_id, **_tidy(claim)))


@click.command()
@with_options
def pending(options: Options) -> None:
    """List what waits for the person's yes or no."""
    with options.reading() as person:
        waiting = person.pending()
    if not show_each(waiting, pending_lines, as_json=options.as_json) and not options.as_json:
        say("nothing waits")
