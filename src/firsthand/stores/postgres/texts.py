"""Text as PostgreSQL can hold it. It knows every character but NUL, and what was said is kept as it was said.

NUL becomes SUBSTITUTE and "0"; SUBSTITUTE itself becomes SUBSTITUTE and "1". Nothing else changes, so texts compare,
begin and sort as they did, but for those two characters.
"""

from __future__ import annotations

from psycopg import Connection
from psycopg.adapt import Buffer, Loader
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import StrDumperUnknown

_MARK = "\x1a"


def packed(text: str) -> str:
    """The text without NUL."""
    if "\x00" not in text and _MARK not in text:
        return text
    return text.replace(_MARK, f"{_MARK}1").replace("\x00", f"{_MARK}0")


def unpacked(text: str) -> str:
    """The text that was packed."""
    if _MARK not in text:
        return text
    return text.replace(f"{_MARK}0", "\x00").replace(f"{_MARK}1", _MARK)


class _Packer(StrDumperUnknown):
    """Takes its type from where it stands in the statement."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(packed(obj))


class _Unpacker(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        return unpacked(str(data, "utf-8"))


class _UnpackerOfText(_Unpacker):
    format = Format.TEXT


class _Whole(Int8BinaryDumper):
    """One type for every number, so that a statement means the same whatever is given."""


def teach(connection: Connection[tuple[object, ...]]) -> None:
    """Have a connection speak text this way, and numbers as bigint."""
    connection.adapters.register_dumper(str, _Packer)
    connection.adapters.register_dumper(int, _Whole)
    for kind in ("text", "varchar"):
        connection.adapters.register_loader(kind, _Unpacker)
        connection.adapters.register_loader(kind, _UnpackerOfText)
