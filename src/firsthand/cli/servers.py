"""Commands for a memory on a PostgreSQL server: migrate, copy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from firsthand.cli.options import Options, with_options, words
from firsthand.cli.screen import counted, show
from firsthand.cli.streams import on_terminal
from firsthand.model import Copied, Migrated

if TYPE_CHECKING:
    from firsthand.copying import Progress


@click.command()
@click.option("--grant", multiple=True, metavar="ROLE", help="Let this role use the tables; may be repeated.")
@click.option("--distribute", is_flag=True, help="Shard the tables by tenant, with the extension Citus.")
@with_options
def migrate(options: Options, grant: tuple[str, ...], *, distribute: bool) -> None:
    """Make or renew the tables on a PostgreSQL server.

    Run it with --db postgresql://… as the role that owns the database, before programs of a new version start. They
    connect as an ordinary role, given here with --grant. Safe to repeat. No step keeps a long lock on a full table.
    """
    from firsthand.wiring import migrate_store

    done = migrate_store(options.location, grant=grant, distribute=distribute)
    show(done, _migrated(done), as_json=options.as_json)


def _migrated(done: Migrated) -> Iterator[str]:
    yield f"schema {done.version}: " + (f"ran {counted(len(done.ran), 'step')}" if done.ran else "everything was there")
    yield from (f"  {step}" for step in done.ran)
    if done.sharded:
        yield f"sharded by tenant: {', '.join(done.sharded)}"
    if done.granted:
        yield f"may use the tables: {', '.join(done.granted)}"


@click.command()
@click.option("--from", "source", type=words, metavar="PLACE", help="What to copy: a file or postgresql://… (--db).")
@click.option("--to", "target", type=words, metavar="PLACE", required=True, help="Where to: one with nothing in it.")
@click.option("--to-key-file", metavar="PATH", help="A file with the copy's passphrase, where it is not the same one.")
@with_options
def copy(options: Options, source: str | None, target: str, *, to_key_file: str | None) -> None:
    """Copy everything to another place: a file, or a PostgreSQL server.

    Every user, every row as it is stored, read back and compared by digest. The copy is no memory until all of it is
    there. Interrupted, the same command goes on where it stopped. A server needs its tables first (`migrate`).
    """
    from firsthand.copying import copy as copy_all
    from firsthand.wiring import system_clock

    old = replace(options, db=source or options.db)
    new = replace(options, db=target, key_file=to_key_file or options.key_file)
    with old.rows() as whence, new.rows_of_copy() as whither:
        done = copy_all(whence, whither, system_clock, _tell if on_terminal(sys.stderr) else lambda _: None)
    show(done, _copied(done, new.shown), as_json=options.as_json)


def _tell(progress: Progress) -> None:
    end = "\n" if progress.done == progress.of else ""
    click.echo(f"\r{progress.done:,} of {progress.of:,} users, {progress.rows:,} rows{end}", nl=False, err=True)


def _copied(done: Copied, whither: str) -> Iterator[str]:
    yield f"{'went on, and ' if done.resumed else ''}copied {counted(done.owners, 'user')}, {counted(done.rows, 'row')}"
    yield f"read back and compared: {whither} holds the same"
    yield f"digest {done.digest}"
