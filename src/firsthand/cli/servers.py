"""Commands for a memory on a PostgreSQL server: migrate."""

from __future__ import annotations

from collections.abc import Iterator

import click

from firsthand.cli.options import Options, with_options
from firsthand.cli.screen import counted, show
from firsthand.model import Migrated


@click.command()
@click.option("--grant", multiple=True, metavar="ROLE", help="Let this role use the tables; may be repeated.")
@with_options
def migrate(options: Options, grant: tuple[str, ...]) -> None:
    """Make or renew the tables on a PostgreSQL server.

    Run it with --db postgresql://… as the role that owns the database, before programs of a new version start. They
    connect as an ordinary role, given here with --grant. Safe to repeat. No step keeps a long lock on a full table.
    """
    from firsthand.wiring import migrate_store

    done = migrate_store(options.location, grant=grant)
    show(done, _migrated(done), as_json=options.as_json)


def _migrated(done: Migrated) -> Iterator[str]:
    yield f"schema {done.version}: " + (f"ran {counted(len(done.ran), 'step')}" if done.ran else "everything was there")
    yield from (f"  {step}" for step in done.ran)
    if done.granted:
        yield f"may use the tables: {', '.join(done.granted)}"
