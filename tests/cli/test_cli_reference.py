"""docs/reference/cli.md says what the commands say of themselves.

`FIRSTHAND_WRITE_DOCS=1 pytest tests/cli/test_cli_reference.py` writes the page anew.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from firsthand.cli.door import SECTIONS, firsthand
from firsthand.cli.options import SHARED_NAMES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"

OPENING = """\
# The command line

`firsthand COMMAND [OPTIONS] [ARGUMENTS]`; `python -m firsthand` is the same. This page is written from the commands'
own help by `tests/cli/test_cli_reference.py`, which also holds it to them.

## What holds for every command

| option | environment | meaning |
|---|---|---|
"""

CONDUCT = """\

* Without `--db` and `FIRSTHAND_DB`, memory is kept in `firsthand/memory.db` in the user's data folder:
  `$XDG_DATA_HOME` or `~/.local/share` on Linux, `~/Library/Application Support` on macOS, `%LOCALAPPDATA%` on Windows.
  The folder and the file are for their owner alone. `firsthand doctor` prints the path.
* `add`, `remember` and `import` start a memory where there is none. All other commands say that there is none.
* The passphrase of an encrypted file comes from `FIRSTHAND_KEY` or `--key-file`, never from the command line itself.
* Times are ISO 8601; without an offset they are UTC (`add --zone` names another zone for the times in a file).
* Exit status: 0 done, also when nothing was found; 1 refused, with the reason as one line on standard error; 2 the
  command line was not understood; 130 interrupted. `FIRSTHAND_DEBUG=1` shows where an error came from.
* Input is UTF-8 whatever the locale. Output is UTF-8 into pipes and files; a terminal, or `PYTHONIOENCODING`, that
  cannot say a character gets it spelled out, and `--json` stays exact in every encoding.
* Colours are for terminals only; `NO_COLOR` is respected.
"""


def page() -> str:
    """The whole page."""
    return OPENING + "\n".join(_shared()) + "\n" + CONDUCT + "".join(_sections())


def _shared() -> Iterator[str]:
    command = firsthand.get_command(click.Context(firsthand), "recall")
    assert command is not None
    for option in _options(command):
        if option.name in SHARED_NAMES:
            environment = f"`{option.envvar}`" if option.envvar else ""
            yield f"| {_spelled(option)} | {environment} | {option.help} |"


def _sections() -> Iterator[str]:
    for section, commands in SECTIONS.items():
        yield f"\n## {section}\n"
        for name in commands:
            command = firsthand.get_command(click.Context(firsthand), name)
            assert command is not None
            yield from _command(f"firsthand {name}", command)


def _command(path: str, command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        yield f"\n### {path}\n\n{inspect.cleandoc(command.help or '')}\n"
        for name, inner in command.commands.items():
            yield from _command(f"{path} {name}", inner)
        return
    arguments = [_argument(each) for each in command.params if isinstance(each, click.Argument)]
    yield f"\n### {path}\n\n    {' '.join([path, '[OPTIONS]', *arguments])}\n\n{inspect.cleandoc(command.help or '')}\n"
    own = [each for each in _options(command) if each.name not in SHARED_NAMES]
    if own:
        yield "\n| option | meaning |\n|---|---|\n"
        yield from (f"| {_spelled(each)} | {_meaning(each)} |\n" for each in own)


def _options(command: click.Command) -> list[click.Option]:
    return [each for each in command.params if isinstance(each, click.Option)]


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or str(argument.name).upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _spelled(option: click.Option) -> str:
    names = ", ".join(option.opts)
    if option.is_flag:
        return f"`{names}`"
    if isinstance(option.type, click.Choice):
        return f"`{names} {'/'.join(map(str, option.type.choices))}`"
    return f"`{names} {option.metavar or _KINDS.get(option.type.name, 'TEXT')}`"


_KINDS = {"integer": "N", "integer range": "N", "float": "X"}


def _meaning(option: click.Option) -> str:
    default = f" Default: {option.default}." if option.show_default else ""
    return f"{option.help}{default}"


def test_the_page_says_what_the_commands_say() -> None:
    """Ours: every command appears in the docs, with each of its options."""
    if os.environ.get("FIRSTHAND_WRITE_DOCS"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("name", [name for commands in SECTIONS.values() for name in commands])
def test_every_command_and_option_has_words(name: str) -> None:
    """Ours: nothing is left to be guessed."""
    command = firsthand.get_command(click.Context(firsthand), name)
    assert command is not None
    inner = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    for each in inner:
        assert each.help
        assert all(option.help for option in _options(each))
