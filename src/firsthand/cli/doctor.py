"""The command `doctor`: what is installed, where memory is kept, and whether it is well."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import click

from firsthand.cli.options import Options, with_options
from firsthand.cli.screen import clean, folded, padded, show
from firsthand.errors import FirsthandError, StoreError

_NEEDED = ("numpy", "apsw-sqlite3mc", "click", "snowballstemmer")
_EXTRAS = {"onnx": "onnxruntime", "postgres": "psycopg"}


@click.command()
@with_options
def doctor(options: Options) -> None:
    """Say what is installed and where memory is kept; check both.

    Exit status 1 when something is wrong.
    """
    found = {"program": _program(), "store": _store(options)}
    show(found, _lines(found), as_json=options.as_json)
    wrong = found["store"]["wrong"]
    if wrong:
        raise StoreError(str(wrong[0]))


def _program() -> dict[str, Any]:
    return {
        "firsthand": _version("firsthand") or "not installed",
        "python": f"{platform.python_version()} on {platform.platform(terse=True)}",
        **{name: _version(name) for name in _NEEDED},
        **{f"extra [{extra}]": _version(name) or "not installed" for extra, name in _EXTRAS.items()},
        "output": getattr(sys.stdout, "encoding", None),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _store(options: Options) -> dict[str, Any]:
    path = Path(options.location)
    facts: dict[str, Any] = {
        "path": str(path.absolute()) if options.is_file else options.shown,
        "chosen by": _chosen_by(options),
        "user": options.user,
    }
    if options.is_file and not path.exists():
        return {**facts, "state": "nothing is kept here yet", "wrong": list(_obstacles(path))}
    try:
        return {**facts, **_facts(options, path)}
    except FirsthandError as error:
        return {**facts, "state": "it cannot be opened", "wrong": [str(error)]}


def _chosen_by(options: Options) -> str:
    if options.db is None:
        return "the user's data folder"
    return "FIRSTHAND_DB" if options.db == os.environ.get("FIRSTHAND_DB") else "--db"


def _obstacles(path: Path) -> Iterator[str]:
    """What would keep a store from being made there."""
    folder = path.absolute().parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        yield f"{folder} is not a folder"
    elif not os.access(folder, os.W_OK):
        yield f"the folder {folder} may not be written; say where with --db PATH or FIRSTHAND_DB"


def _facts(options: Options, path: Path) -> dict[str, Any]:
    with options.existing(vectors=False) as memory:
        health = memory.health()
        mine = [owner.user for owner in memory.users() if owner.tenant == options.tenant]
    facts = {
        "state": "well" if health["ok"] else "not well",
        "encrypted": options.key() is not None,
        "holds": {
            name: health[name] for name in ("owners", "messages", "observations", "beliefs", "active", "pending")
        },
        "this user is here": options.user in mine,
        "embedder": health["embedder"],
        "wrong": list(health["wrong"]),
    }
    if options.is_file:
        status = path.stat()
        facts["bytes"] = status.st_size
        if os.name == "posix":
            facts["mode"] = f"{status.st_mode & 0o777:04o}"
    return facts


def _lines(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for part, facts in found.items():
        yield part
        for name, value in facts.items():
            if name == "wrong":
                yield from _wrong(value)
            else:
                yield f"  {padded(name, 20)}{_said(value)}"


def _wrong(faults: Sequence[str]) -> Iterator[str]:
    for fault in faults:
        yield from folded(fault, " " * 22, f"  {padded('wrong', 20)}")


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{count} {name}" for name, count in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return clean("none" if value is None else str(value))
