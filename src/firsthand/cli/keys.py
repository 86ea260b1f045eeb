"""The command `keys`: make, list, rotate and revoke the keys that `firsthand serve` asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from firsthand.cli import place
from firsthand.cli.options import Options, with_options, words
from firsthand.cli.screen import clean, day, dim, note, one_line, padded, say, show
from firsthand.errors import InvalidInput
from firsthand.model import Caller, from_micros

if TYPE_CHECKING:
    from firsthand.server.keys import Key, Keys

SUFFIX = ".keys"

with_file = click.option(
    "--keys", "file", envvar="FIRSTHAND_KEYS", metavar="PATH", help="The file of keys; beside the memory unless given."
)


def keys_path(options: Options, file: str | None) -> Path:
    """Where the keys of a memory are. Raises InvalidInput where the memory is no file and nobody said."""
    if file is not None:
        return Path(file)
    if not options.is_file:
        raise InvalidInput(f"{options.location} is no file to keep keys beside; say where with --keys PATH")
    if options.db is None:
        place.make_private(Path(options.location).parent)
    return Path(options.location + SUFFIX)


def _opened(options: Options, file: str | None) -> Keys:
    from firsthand.server.keys import Keys

    return Keys(keys_path(options, file))


@click.group(no_args_is_help=False)
def keys() -> None:
    """Make, list, rotate and revoke the keys that `firsthand serve` asks for.

    Only digests of keys are kept, in a file of their own beside the memory. A key is shown once, when it is made.
    What is done here holds at once in a running server.
    """


def _with_both(command: Callable[..., Any]) -> Callable[..., Any]:
    return with_file(with_options(command))


@keys.command()
@click.option("--role", default="write", metavar="ROLE", help="read, write (unless given) or admin.")
@click.option("--all-users", is_flag=True, help="For every user of the tenant, whom each request then names.")
@click.option("--whole-store", is_flag=True, help="For every tenant and user, and for what concerns the whole store.")
@click.option("--for-model", is_flag=True, help="Whoever holds it is a model: it may never claim what a person said.")
@click.option("--days", type=click.IntRange(min=1), metavar="N", help="How long it holds; without end unless given.")
@click.option("--label", type=words, default="", metavar="TEXT", help="What it is for, to tell it from others.")
@_with_both
def add(options: Options, *, all_users: bool, whole_store: bool, **given: Any) -> None:
    """Make a key, and print it this once.

    It is for the memory of --user in --tenant unless it is for more. `admin` may also erase, export and import: the
    person's own key is an admin's for that one user.
    """
    from firsthand.server.keys import ALL, Grant, Level

    grant = Grant(
        ALL if whole_store else options.tenant,
        ALL if whole_store or all_users else options.user,
        Level.of(given["role"]),
        Caller.MODEL if given["for_model"] else Caller.PERSON,
    )
    now = datetime.now(UTC)
    expires = now + timedelta(days=given["days"]) if given["days"] else None
    key, text = _opened(options, given["file"]).make(grant, now, label=given["label"], expires=expires)
    if not options.as_json:
        note(f"{' '.join(_told(key))}\nThis is shown once. Send it as: Authorization: Bearer KEY")
    show({"id": key.id, "key": text}, [text], as_json=options.as_json)


@keys.command(name="list")
@_with_both
def list_(options: Options, file: str | None) -> None:
    """List the keys, without their secrets."""
    found = _opened(options, file).all()
    show([_data(each) for each in found], _lines(found), as_json=options.as_json)


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option(
    "--keep-old", type=click.IntRange(min=0), default=0, metavar="SECONDS", help="How long the old one holds."
)
@_with_both
def rotate(options: Options, key_id: str, keep_old: int, file: str | None) -> None:
    """Give a key another secret, and print it this once."""
    text = _opened(options, file).rotate(key_id, datetime.now(UTC), keep_old)
    show({"id": key_id, "key": text}, [text], as_json=options.as_json)


@keys.command()
@click.argument("key_id", metavar="ID")
@_with_both
def revoke(options: Options, key_id: str, file: str | None) -> None:
    """Let a key open nothing any more, at once."""
    _opened(options, file).revoke(key_id, datetime.now(UTC))
    if not options.as_json:
        say(f"{clean(key_id)} opens nothing any more")


def _lines(found: Sequence[Key]) -> Iterator[str]:
    for each in found:
        yield f"{padded(each.id, 14)}{'  '.join(_told(each))}"
        yield dim(f"{' ' * 14}made {_day(each.made)}{f', {one_line(each.label)}' if each.label else ''}")
    if not found:
        yield "there are no keys; `firsthand keys add` makes one"


def _told(each: Key) -> Iterator[str]:
    """What a key is for, in words."""
    from firsthand.server.keys import ALL

    whose = "every user" if each.user == ALL else one_line(each.user)
    where = "of every tenant" if each.tenant == ALL else f"in {one_line(each.tenant)}"
    yield f"{each.role} key for {whose} {where}{' (a model)' if each.caller == Caller.MODEL else ''}"
    if each.revoked is not None:
        yield f"revoked {_day(each.revoked)}"
    elif each.expires is not None:
        yield f"until {_day(each.expires)}"


def _data(each: Key) -> dict[str, Any]:
    times = {name: getattr(each, name) for name in ("made", "expires", "revoked")}
    told = {name: None if at is None else from_micros(at).isoformat() for name, at in times.items()}
    return {name: told.get(name, getattr(each, name)) for name in each.__slots__}


def _day(at: int) -> str:
    return day(from_micros(at))
