"""The way in: which commands there are, and how whatever goes wrong becomes one line and an exit status.

Commands are imported when they are asked for, so that `firsthand --help` stays quick; their one-line descriptions are
here for the same reason, and a test holds them to what each command says of itself.
"""

from __future__ import annotations

import difflib
import importlib
import keyword
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from firsthand.cli.streams import wants_colour
from firsthand.errors import FirsthandError

INTERRUPTED = 130  # what shells say of a program that Ctrl-C ended

# Section -> command -> (module, what it does).
SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Start here": {
        "demo": ("demo", "Tell a story of eight weeks, and show what is made of it."),
        "doctor": ("doctor", "Say what is installed and where memory is kept; check both."),
    },
    "Talk": {
        "add": ("messages", "Add the messages in files: chats, exports, notes, transcripts."),
        "messages": ("messages", "List what was said, word for word, in the order it was told."),
        "sessions": ("messages", "List the conversations."),
    },
    "Claims": {
        "remember": ("claims", "Offer one claim to memory."),
        "correct": ("claims", "Replace a belief: it never was so."),
        "end": ("claims", "Say that a belief was true and no longer is."),
        "retract": ("claims", "Take back a belief or a message: it was never true."),
        "confirm": ("claims", "Say yes to a claim that waits."),
        "reject": ("claims", "Say no to a claim that waits."),
        "pending": ("claims", "List what waits for the person's yes or no."),
    },
    "Questions": {
        "recall": ("questions", "Find what memory holds that answers a question, best first."),
        "context": ("questions", "Print the block to give to a model."),
        "profile": ("beliefs", "Show what is always worth knowing of the person."),
        "beliefs": ("beliefs", "List what memory holds to be true."),
        "history": ("beliefs", "List everything that was ever held of one subject, oldest first."),
        "why": ("beliefs", "Tell why memory holds a belief, in the words it heard."),
    },
    "Leaving": {
        "forget": ("leaving", "Erase one thing, or all that came from one place, for good."),
        "erase": ("leaving", "Erase everything of one user, for good."),
        "export": ("leaving", "Write everything of one user to a JSON Lines file."),
        "import": ("leaving", "Take in a file that `firsthand export` wrote."),
        "merge": ("leaving", "Take in another memory, of all its users."),
    },
    "Doors": {
        "serve": ("serving", "Serve this memory over HTTP until stopped."),
        "keys": ("keys", "Make, list, rotate and revoke the keys that `firsthand serve` asks for."),
    },
    "Upkeep": {
        "policy": ("policies", "Show, check, explain or change the rules that decide."),
        "migrate": ("servers", "Make or renew the tables on a PostgreSQL server."),
        "copy": ("servers", "Copy everything to another place: a file, or a PostgreSQL server."),
        "rebuild": ("upkeep", "Derive all beliefs and indexes again from what was said."),
        "maintain": ("upkeep", "Do what time asks for: expiry, vectors, the file."),
        "embed": ("upkeep", "Make vectors that are due, or all anew by another embedder."),
        "health": ("upkeep", "Check what must always hold, and count."),
        "bench": ("bench", "Measure recall on public data, or on questions of your own."),
    },
}

COMMANDS: Mapping[str, tuple[str, str]] = {name: each for part in SECTIONS.values() for name, each in part.items()}


class Door(click.Group):
    """The group of all commands, imported one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All commands, in the order of the help page."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of this name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"firsthand.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name. A name that is none gets its nearest neighbour."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            raise click.UsageError(f"there is no command {name!r}{f'; did you mean {near[0]!r}?' if near else ''}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The help page's list, by section, without importing anything."""
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(9), text) for name, (_, text) in commands.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = False,  # noqa: FBT002 - click's signature
        **extra: Any,
    ) -> NoReturn:
        """Run, say what went wrong in one line, and exit."""
        del standalone_mode  # errors are told here, not by click
        given = list(sys.argv[1:] if args is None else args) or ["--help"]
        debug = bool(os.environ.get("FIRSTHAND_DEBUG"))
        try:
            status = super().main(given, prog_name or "firsthand", complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            _let_go_of_output()
            sys.exit(0)
        except (click.Abort, KeyboardInterrupt):
            sys.exit(INTERRUPTED)
        except click.UsageError as error:
            sys.exit(_refuse(_usage(error), 2))
        except (click.ClickException, FirsthandError, OSError) as error:
            if debug:
                raise
            sys.exit(_refuse(_said(error), 1))
        except (
            Exception
        ) as error:  # the last line of defence: a defect of ours is one line too, and says how to see more
            if debug:
                raise
            sys.exit(_refuse(f"unexpected {type(error).__name__}: {error} (FIRSTHAND_DEBUG=1 shows where)", 1))
        sys.exit(status if isinstance(status, int) else 0)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the arguments; `--help` prints here already."""
        with _reader_may_leave():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _reader_may_leave():
            return super().invoke(ctx)


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if not asked:
        return
    from importlib import metadata

    try:
        click.echo(f"firsthand {metadata.version('firsthand')}")
    except metadata.PackageNotFoundError:
        click.echo("firsthand, not installed")
    ctx.exit()


@click.group(cls=Door, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def firsthand(ctx: click.Context) -> None:
    """Long-term memory for AI agents: keeps what was actually said, and can prove it.

    Each command works on one file (--db, or FIRSTHAND_DB) and one user (--user, or FIRSTHAND_USER).
    """
    ctx.color = wants_colour()


def _usage(error: click.UsageError) -> str:
    where = error.ctx.command_path if error.ctx is not None else "firsthand"
    name = where.removeprefix("firsthand").strip()
    said = _said(error).rstrip(".")
    return f"{name + ': ' if name else ''}{said[:1].lower()}{said[1:]} (see '{where} --help')"


def _said(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _refuse(reason: str, status: int) -> int:
    line = " ".join(reason.split())
    try:
        click.echo(f"firsthand: {line}", file=sys.stderr)
    except OSError:  # nobody listens to errors either
        _let_go_of_output()
    return status


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """A reader that went away (`| head`) is no error; click would make it one."""
    try:
        yield
    except BrokenPipeError:
        _let_go_of_output()
        raise click.exceptions.Exit(0) from None


def _let_go_of_output() -> None:
    """Let what is still buffered go nowhere, so that closing does not complain of the reader that left."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):  # not a real file, as under a test
        return
