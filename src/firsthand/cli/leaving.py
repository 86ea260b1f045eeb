"""Commands by which things leave and come back: forget, erase, export, import."""

from __future__ import annotations

from collections.abc import Iterator

import click

from firsthand.cli.options import Options, agreed, with_options, words
from firsthand.cli.screen import counted, show
from firsthand.model import ErasureReceipt, Report


def _amounts(of: ErasureReceipt | Report) -> str:
    return f"{counted(of.messages, 'message')}, {counted(of.observations, 'observation')}"


def _erased(receipt: ErasureReceipt) -> Iterator[str]:
    yield f"erased {_amounts(receipt)}, {counted(receipt.beliefs, 'belief')}"
    if not receipt.complete:
        yield "not all of the bytes are gone yet; `firsthand maintain` goes on"


@click.command()
@click.argument("name", metavar="[ID]", required=False, type=words)
@click.option("--of-session", type=words, metavar="ID", help="All that was said and learned in one conversation.")
@click.option("--of-origin", type=words, metavar="NAME", help="All that came from one place, such as a file.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@with_options
def forget(options: Options, name: str | None, *, of_session: str | None, of_origin: str | None, yes: bool) -> None:
    """Erase one thing, or all that came from one place, for good.

    ID names a message, an observation or a belief; what rests on it alone goes too. Whole sessions and origins are
    asked about first.
    """
    places = [each for each in (name, of_session, of_origin) if each is not None]
    if len(places) != 1:
        raise click.UsageError("give one of an ID, --of-session and --of-origin")
    with options.reading(vectors=True) as person:
        if name is not None:
            receipt = person.forget(name)
        else:
            agreed(f"This erases all that came from {places[0]!r}. Type yes to go on:", "yes", yes=yes)
            receipt = person.forget_source(session=of_session, origin=of_origin)
    show(receipt, _erased(receipt), as_json=options.as_json)


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask for the user's name first.")
@with_options
def erase(options: Options, *, yes: bool) -> None:
    """Erase everything of one user, for good.

    Text, vectors, index terms and free pages; what stays is a receipt without content.
    """
    with options.reading() as person:
        agreed(f"This erases everything of {options.user!r}. Type the name to go on:", options.user, yes=yes)
        receipt = person.erase()
    show(receipt, _erased(receipt), as_json=options.as_json)


@click.command()
@click.argument("path", type=click.Path(dir_okay=False))
@with_options
def export(options: Options, path: str) -> None:
    """Write everything of one user to a JSON Lines file.

    Lossless: `firsthand import` makes the same memory of it again.
    """
    with options.reading() as person:
        report = person.export(path)
    show(report, [f"wrote {_amounts(report)} to {path}"], as_json=options.as_json)


@click.command(name="import")
@click.argument("path", type=click.Path())
@with_options
def import_(options: Options, path: str) -> None:
    """Take in a file that `firsthand export` wrote.

    The file says whose memory it is. What is here already is left alone, what was erased stays erased.
    """
    with options.store() as memory:
        report = memory.import_(path)
    show(report, _imported(report), as_json=options.as_json)


def _imported(report: Report) -> Iterator[str]:
    yield f"took in {_amounts(report)}"
    if report.duplicates:
        yield f"{report.duplicates} were here before"
    if report.refused:
        yield f"{report.refused} were erased here and stay so"
