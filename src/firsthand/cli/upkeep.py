"""Commands for a whole store: rebuild, maintain, embed, health."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from firsthand.cli.options import Options, with_options
from firsthand.cli.screen import counted, folded, show
from firsthand.errors import StoreError
from firsthand.model import Report


@click.command()
@with_options
def rebuild(options: Options) -> None:
    """Derive all beliefs and indexes again from what was said.

    They must come out as they were; exit status 1 says that they did not.
    """
    with options.existing() as memory:
        report = memory.rebuild()
    show(report, rebuilt(report), as_json=options.as_json)
    if not report.equal:
        raise StoreError(f"the beliefs of {', '.join(report.different)} came out otherwise; they are right now")


def rebuilt(report: Report) -> Iterator[str]:
    """What a rebuild found."""
    amounts = (report.owners, "user"), (report.messages, "message"), (report.observations, "observation")
    yield ", ".join(counted(number, noun) for number, noun in amounts)
    yield f"{counted(report.beliefs, 'belief')}, {'equal to' if report.equal else 'different from'} what was held"


@click.command()
@with_options
def maintain(options: Options) -> None:
    """Do what time asks for: expiry, vectors, the file.

    Safe to run at any time, twice, or to interrupt.
    """
    with options.existing() as memory:
        done = memory.maintain()
    show(done, _counts(done), as_json=options.as_json)


@click.command()
@with_options
def embed(options: Options) -> None:
    """Make vectors that are due, or all anew by another embedder.

    With --embedder NAME, a store whose vectors another one made gets new ones; an interrupted run goes on where it
    stopped.
    """
    with options.existing(reembed=True) as memory:
        made = memory.embed()
    show({"vectors": made}, [f"made {counted(made, 'vector')}"], as_json=options.as_json)


@click.command()
@with_options
def health(options: Options) -> None:
    """Check what must always hold, and count.

    Exit status 1 when something is wrong.
    """
    with options.existing(vectors=False) as memory:
        found = memory.health()
    show(found, _health(found), as_json=options.as_json)
    if not found["ok"]:
        raise StoreError(
            f"{counted(len(found['wrong']), 'thing')} that must hold failed; `firsthand rebuild` derives beliefs again"
        )


def _health(found: Mapping[str, Any]) -> Iterator[str]:
    yield "well" if found["ok"] else "not well"
    for fault in found["wrong"]:
        yield from folded(fault, "    ", "  - ")
    yield from _counts({name: value for name, value in found.items() if name not in ("ok", "wrong")})


def _counts(found: Mapping[str, Any]) -> Iterator[str]:
    width = max((len(name) for name in found), default=0) + 2
    for name, value in found.items():
        yield f"{name.replace('_', ' '):<{width}}{'none' if value is None else value}"
