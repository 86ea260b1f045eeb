"""The command `serve`: the HTTP API, the Model Context Protocol and the pages, in one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from firsthand.cli.keys import keys_path, with_file
from firsthand.cli.options import Options, with_options
from firsthand.cli.screen import note
from firsthand.errors import InvalidInput

if TYPE_CHECKING:
    from firsthand.server.gate import Gate


@contextmanager
def the_extra() -> Iterator[None]:
    """What the server stands on is installed. Raises InvalidInput that says how."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InvalidInput(f"this needs {error.name}: pip install 'firsthand[server]'") from error


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8374, show_default=True, help="0 takes a free one.")
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="A name it is reached by; repeatable.")
@click.option("--no-keys", is_flag=True, help="Ask for no keys: on 127.0.0.1 only, for whoever uses this machine.")
@click.option(
    "--rate", type=click.FloatRange(min=0), default=100.0, show_default=True, help="Requests a second of a key."
)
@with_file
@with_options
def serve(options: Options, *, no_keys: bool, rate: float, file: str | None, **where: Any) -> None:
    """Serve this memory over HTTP until stopped.

    An API under /v1 with its document at /openapi.json. Callers need a key (`firsthand keys add`); --no-keys opens it
    to this machine, where --user is whose memory is shown first.
    """
    with the_extra():
        from firsthand.server.app import Doors
        from firsthand.server.limits import Limits
        from firsthand.server.serve import Address, check_open, run
    address = Address(**where)
    if no_keys:
        check_open(address)
    hosts = address.hosts
    with options.store() as memory:
        doors = Doors(memory, _gate(options, file, no_keys=no_keys), Limits(rate=rate, burst=int(2 * rate) + 1), hosts)
        run(doors, address, lambda url: note(f"firsthand serves {options.location} at {url} (Ctrl-C stops it)"))


def _gate(options: Options, file: str | None, *, no_keys: bool) -> Gate:
    from firsthand.server.gate import Gate
    from firsthand.server.keys import ALL, Grant, Keys, Level
    from firsthand.wiring import system_clock

    if no_keys:
        return Gate(None, system_clock, open=Grant(ALL, ALL, Level.ADMIN), user=options.user)
    found = Keys(keys_path(options, file))
    if not found.all():
        note("there are no keys yet, so that nobody can come in; `firsthand keys add` makes one")
    return Gate(found, system_clock)
