"""The way in: every command is listed and helps, and whatever goes wrong is one line and an exit status."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from shells import Shell

from firsthand.cli import door
from firsthand.errors import NotAllowed


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, monkeypatch)


def command(name: str) -> click.Command:
    found = door.firsthand.get_command(click.Context(door.firsthand), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", door.COMMANDS)
def test_every_command_helps_in_the_words_of_the_list(name: str, shell: Shell) -> None:
    """Ours: the list on the help page is written beside the commands, so that it needs no import, and must not lie."""
    help_text = command(name).help
    assert help_text is not None
    assert help_text.splitlines()[0] == door.COMMANDS[name][1]
    assert door.COMMANDS[name][1] in " ".join(shell.ok(name, "--help").split())


@pytest.mark.parametrize("name", [each for each in door.COMMANDS if each not in ("policy", "keys")])
def test_every_command_takes_the_shared_options(name: str) -> None:
    """API: each command has --db, --user and --json."""
    options = {each for param in command(name).params for each in param.opts}
    assert {"--db", "--user", "--tenant", "--agent", "--session", "--json", "--embedder", "--key-file"} <= options


def test_no_option_takes_the_key_itself() -> None:
    """C089: a key never stands on the command line."""
    names = [each for name in door.COMMANDS for param in command(name).params for each in param.opts]
    assert "--key" not in names


def test_help_lists_every_command_within_a_page_of_80_columns(shell: Shell) -> None:
    """Ours: the help page reads well in the smallest usual terminal."""
    page = shell.ok("--help")
    assert all(f"\n  {name} " in page for name in door.COMMANDS)
    assert max(map(len, page.splitlines())) <= 80
    assert shell.ok() == page


def test_a_command_that_is_none_is_a_usage_error_that_names_its_neighbour(shell: Shell) -> None:
    """Ours."""
    assert (
        shell.refused("recal", "x", status=2)
        == "there is no command 'recal'; did you mean 'recall'? (see 'firsthand --help')"
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("recall",), "recall: missing argument 'QUESTION'"),
        (("recall", "x", "--limit", "many"), "'many' is not a valid integer range"),
        (("recall", "x", "--nonsense"), "no such option"),
        (("policy",), "policy: missing command"),
        (("forget",), "give one of an ID, --of-session and --of-origin"),
        (("add", "x", "--zone", "Mars"), "'Mars' is no time zone"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_status_2(words: tuple[str, ...], reason: str, shell: Shell) -> None:
    """API: exit status 2 is usage."""
    line = shell.refused(*words, status=2)
    assert reason.casefold() in line.casefold()
    assert f"(see 'firsthand {words[0]} --help')" in line


def raising(error: BaseException) -> door.Door:
    """A door behind which one command fails."""

    @click.command()
    def fail() -> None:
        raise error

    class Failing(door.Door):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
            return fail

    return Failing(name="firsthand", callback=lambda: None)


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (NotAllowed("not so\nfast"), 1, "firsthand: not so fast\n"),
        (FileNotFoundError(2, "No such file or directory", "/a/b"), 1, "firsthand: /a/b: No such file or directory\n"),
        (ZeroDivisionError("oh"), 1, "firsthand: unexpected ZeroDivisionError: oh (FIRSTHAND_DEBUG=1 shows where)\n"),
        (BrokenPipeError(32, "Broken pipe"), 0, ""),
    ],
)
def test_an_error_is_one_line_and_no_traceback(
    error: Exception, status: int, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """API: errors go to standard error as one clear line."""
    monkeypatch.delenv("FIRSTHAND_DEBUG", raising=False)
    result = CliRunner().invoke(raising(error), ["why"])
    assert (result.exit_code, result.stderr, result.stdout) == (status, line, "")


def test_an_interruption_is_status_130_without_a_traceback() -> None:
    """Ours: as shells have it."""
    result = CliRunner().invoke(raising(KeyboardInterrupt()), ["why"])
    assert (result.exit_code, result.stderr.strip()) == (130, "")


def test_the_traceback_is_there_for_who_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the line of an unexpected error says how to get it."""
    monkeypatch.setenv("FIRSTHAND_DEBUG", "1")
    result = CliRunner().invoke(raising(ZeroDivisionError("oh")), ["why"])
    assert isinstance(result.exception, ZeroDivisionError)
