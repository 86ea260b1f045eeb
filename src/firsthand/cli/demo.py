"""The command `demo`: a story of eight weeks, told to the real engine in a file of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click
from click.core import ParameterSource

from firsthand.cli import demo_script as script
from firsthand.cli.options import TENANT, Options, with_options
from firsthand.cli.screen import show_each
from firsthand.errors import NotAllowed


@click.command()
@with_options
def demo(options: Options) -> None:
    """Tell a story of eight weeks, and show what is made of it.

    64 messages go through the real engine, into a fresh file in the temporary folder, or into the one that --db
    names, which must not be there yet. FIRSTHAND_DB and FIRSTHAND_USER are left alone. With --json every event is
    one line.
    """
    from firsthand.cli.demo_pages import Pages

    events = told(staged(options, typed=_typed))
    if options.as_json:
        show_each(({"event": event.kind, **event.data} for event in events), None, as_json=True)
    else:
        show_each(events, Pages().lines, as_json=False)


def _typed(name: str) -> bool:
    """Whether an option was typed for this command, rather than found in the environment."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def staged(options: Options, *, typed: Callable[[str], bool]) -> Options:
    """Where the demo plays: never in a memory that is somebody's. Raises NotAllowed, OSError."""
    if not typed("db") or options.db is None:
        path = Path(tempfile.mkdtemp(prefix="firsthand-")) / "demo.db"
    else:
        path = Path(options.db)
        with suppress(FileNotFoundError):
            if path.is_dir() or path.stat().st_size:
                raise NotAllowed(f"{path} is there already; the demo starts with a file of its own, so name another")
    user = options.user if typed("user") else script.USER
    return replace(options, db=str(path), user=user, agent=None, session=None)


def told(options: Options) -> Iterator[script.Event]:
    """The story's events, from the first message to what to try next."""
    talk = script.conversation()
    clock = script.StoryClock(datetime.fromisoformat(talk[0]["at"]))
    yield script.Event("began", {"db": options.shown, "user": options.user, "messages": len(talk)})
    with options.store(clock=clock) as memory:
        yield from script.play(memory, options.user, clock)
        friend = options.person(memory).beliefs("Joe", "relationship")[0].id
    commands = [
        _command(options, "recall", "What is Joe to Mira?"),
        _command(options, "why", friend),
        _command(options, "history", "user", "lives_in"),
    ]
    yield script.Event("ended", {"db": options.shown, "commands": commands})


def _command(options: Options, *words: str) -> str:
    """A command line that can be pasted as it is."""
    shared = {
        "--db": options.db,
        "--user": options.user,
        "--key-file": options.key_file,
        "--embedder": options.embedder,
    }
    if options.tenant != TENANT:
        shared["--tenant"] = options.tenant
    given = [part for name, value in shared.items() if value is not None for part in (name, value)]
    whole = ["firsthand", *words, *given]
    return subprocess.list2cmdline(whole) if os.name == "nt" else shlex.join(whole)
