"""Commands by which things leave and come back: forget, erase, export, import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from firsthand.cli.options import Options, agreed, with_options, words
from firsthand.cli.screen import counted, show
from firsthand.errors import StoreError
from firsthand.model import ErasureReceipt, Proof, Report

if TYPE_CHECKING:
    from firsthand.memory import Proving


def _amounts(of: ErasureReceipt | Report) -> str:
    return f"{counted(of.messages, 'message')}, {counted(of.observations, 'observation')}"


def _erased(receipt: ErasureReceipt) -> Iterator[str]:
    yield f"erased {_amounts(receipt)}, {counted(receipt.beliefs, 'belief')}"
    if not receipt.complete:
        yield f"not all of the bytes are gone yet ({receipt.left}); `firsthand maintain` goes on"
    if receipt.proof is not None:
        yield from _proved(receipt.proof)


def _proved(proof: Proof) -> Iterator[str]:
    for place in proof.unreached:
        yield f"not searched: {place}"
    if not proof.places:
        return
    yield f"searched for {counted(proof.pieces, 'piece')} of what went in {', '.join(proof.places)}"
    if proof.said_elsewhere:
        yield f"{counted(proof.said_elsewhere, 'piece')} stand in what is still kept, and prove nothing"
    yield "found: " + ("; ".join(proof.traces) if proof.traces else "nothing")


def _answer(receipt: ErasureReceipt, options: Options) -> None:
    """Print a receipt. Raises StoreError where a search found what should be gone."""
    show(receipt, _erased(receipt), as_json=options.as_json)
    if receipt.proof is not None and receipt.proof.traces:
        raise StoreError("what was erased can still be found in the store's files; `firsthand maintain` goes on")


_PROVING = (
    click.option("--verify", is_flag=True, help="Search the raw bytes of the store afterwards, and say what is found."),
    click.option("--canary", "canaries", type=words, multiple=True, metavar="TEXT", help="Search for this as well."),
)


def _with_proof(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_PROVING):
        command = option(command)
    return command


def _how(*, verify: bool, canaries: tuple[str, ...]) -> Proving:
    return {"verify": verify or bool(canaries), "canaries": canaries}


@click.command()
@click.argument("name", metavar="[ID]", required=False, type=words)
@click.option("--of-session", type=words, metavar="ID", help="All that was said and learned in one conversation.")
@click.option("--of-origin", type=words, metavar="NAME", help="All that came from one place, such as a file.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@_with_proof
@with_options
def forget(options: Options, name: str | None, *, yes: bool, **given: Any) -> None:
    """Erase one thing, or all that came from one place, for good.

    ID names a message, an observation or a belief; what rests on it alone goes too. Whole sessions and origins are
    asked about first.
    """
    session, origin = given.pop("of_session"), given.pop("of_origin")
    places = [each for each in (name, session, origin) if each is not None]
    if len(places) != 1:
        raise click.UsageError("give one of an ID, --of-session and --of-origin")
    with options.reading(vectors=True) as person:
        if name is not None:
            receipt = person.forget(name, **_how(**given))
        else:
            agreed(f"This erases all that came from {places[0]!r}. Type yes to go on:", "yes", yes=yes)
            receipt = person.forget_source(session=session, origin=origin, **_how(**given))
    _answer(receipt, options)


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask for the user's name first.")
@_with_proof
@with_options
def erase(options: Options, *, yes: bool, verify: bool, canaries: tuple[str, ...]) -> None:
    """Erase everything of one user, for good.

    Text, vectors, index terms and free pages; what stays is a receipt without content.
    """
    with options.reading() as person:
        agreed(f"This erases everything of {options.user!r}. Type the name to go on:", options.user, yes=yes)
        receipt = person.erase(**_how(verify=verify, canaries=canaries))
    _answer(receipt, options)


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
@click.option("--restore-erased", is_flag=True, help="Bring back what was erased here and is in the file.")
@with_options
def import_(options: Options, path: str, *, restore_erased: bool) -> None:
    """Take in a file that `firsthand export` wrote.

    The file says whose memory it is. What is here already is left alone, what was erased stays erased.
    """
    with options.store() as memory:
        report = memory.import_(path, restore_erased=restore_erased)
    show(report, _imported(report), as_json=options.as_json)


@click.command()
@click.argument("path", metavar="OTHER", type=click.Path(exists=True, dir_okay=False))
@click.option("--other-key-file", metavar="PATH", help="A file with the passphrase of the other memory.")
@with_options
def merge(options: Options, path: str, other_key_file: str | None) -> None:
    """Take in another memory, of all its users.

    The same ids once, what was erased on either side stays erased, beliefs are derived again. The other memory stays as
    it is; merging two memories into each other makes them hold the same.
    """
    key = None if other_key_file is None else replace(options, key_file=other_key_file).key()
    with options.store() as memory:
        report = memory.merge(path, key=key)
    show(report, _imported(report), as_json=options.as_json)


def _imported(report: Report) -> Iterator[str]:
    yield f"took in {_amounts(report)}"
    if report.duplicates:
        yield f"{report.duplicates} were here before"
    if report.refused:
        yield f"{report.refused} were erased here and stay so"
