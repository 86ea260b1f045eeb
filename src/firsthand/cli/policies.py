"""The command `policy`: show, check, explain or change the rules that decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firsthand.cli.options import Options, with_options, words
from firsthand.cli.screen import clean, note, show
from firsthand.cli.upkeep import rebuilt
from firsthand.errors import InvalidInput, NotFound, PolicyInvalid

if TYPE_CHECKING:
    from firsthand.policy import Policy

LONGEST = 4 * 1024 * 1024  # bytes of a policy file


@click.group(no_args_is_help=False)
def policy() -> None:
    """Show, check, explain or change the rules that decide.

    A store keeps the policy that it was folded with; a new one begins with the policy that ships with firsthand.
    """


def _in_use(options: Options) -> Policy:
    """The policy of the store, or the shipped one where there is no store yet."""
    if options.is_file and not Path(options.location).exists():
        from firsthand.policy import default_policy

        note(f"there is no memory at {options.shown} yet; this is the policy that a new one gets")
        return default_policy()
    with options.existing(vectors=False) as memory:
        return memory.policy


def _text_of(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            given = file.read(LONGEST + 1)
        text = given.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PolicyInvalid(f"{path} is not UTF-8 text (byte {error.start:,})") from error
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    if len(given) > LONGEST:
        raise PolicyInvalid(f"{path} is larger than {LONGEST:,} bytes; that is no policy")
    return text


def _named(path: str, parse: Callable[[str], Policy]) -> Policy:
    """The policy in a file, whose name goes before its faults. Raises PolicyInvalid, InvalidInput."""
    text = _text_of(path)
    try:
        return parse(text)
    except PolicyInvalid as error:
        raise PolicyInvalid(f"{path}: {error}") from None


@policy.command(name="show")
@with_options
def show_(options: Options) -> None:
    """Print the policy file in use."""
    used = _in_use(options)
    show({"digest": used.digest, "text": used.text}, [used.text.rstrip("\n")], as_json=options.as_json)


@policy.command()
@click.argument("file", type=click.Path())
@with_options
def check(options: Options, file: str) -> None:
    """Check a policy file, and name every fault with its line.

    Exit status 1 when there is one.
    """
    from firsthand.policy import parse

    read = _named(file, parse)
    found = {"ok": True, "attributes": len(read.attributes), "digest": read.digest}
    show(found, [f"{file} is a policy of {len(read.attributes)} attributes"], as_json=options.as_json)


@policy.command()
@click.argument("attribute", type=words)
@with_options
def explain(options: Options, attribute: str) -> None:
    """Say in words what the policy does with an attribute.

    ATTRIBUTE may be any of its names: `lives_in`, "home city", "resides in".
    """
    used = _in_use(options)
    lines = used.explain(attribute)
    found = {"attribute": used.canonical(attribute), "known": used.attribute(attribute).known, "lines": lines}
    show(found, [clean(line) for line in lines], as_json=options.as_json)


@policy.command()
@click.argument("file", type=click.Path())
@with_options
def apply(options: Options, file: str) -> None:
    """Take another policy: keep it in the store and fold every user's beliefs again.

    Nothing that was said is lost, and what admission answered stays answered.
    """
    from firsthand.policy import parse

    wanted = _named(file, parse)
    if options.is_file and not Path(options.location).exists():
        raise NotFound(f"there is no memory at {options.shown} to apply a policy to")
    with options.existing() as memory:
        report = memory.apply_policy(wanted)
    changed = "no belief changed" if report.equal else f"beliefs of {len(report.different)} users changed"
    show(report, [*list(rebuilt(report))[:1], changed], as_json=options.as_json)
