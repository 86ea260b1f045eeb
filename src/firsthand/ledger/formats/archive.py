"""The conversations inside an export that came as a ZIP file, read in memory.

Names inside the archive are compared, never used as paths; nothing is unpacked to disk.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from firsthand.errors import InvalidInput
from firsthand.ledger.formats.parsing import MAX_FILE_BYTES

_WANTED = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_MAX_MEMBERS = 100_000
_MAX_EXPANSION = 500  # times its packed size; chat text packs to a tenth or so


def is_archive(data: bytes) -> bool:
    """Whether the bytes begin as a ZIP file does."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def conversations_of(data: bytes) -> list[tuple[str, bytes]]:
    """The name and bytes of each conversations.json in it, by name. Raises InvalidInput."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > _MAX_MEMBERS:
                raise InvalidInput(f"the archive holds more than {_MAX_MEMBERS:,} files")
            wanted = sorted((each for each in members if _WANTED.fullmatch(each.filename)), key=lambda m: m.filename)
            _check_sizes(wanted)
            return [(each.filename.rpartition("/")[2], _content(archive, each)) for each in wanted]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OverflowError) as fault:
        raise InvalidInput(f"the archive is damaged or of an unknown kind: {fault}") from None


def _check_sizes(members: list[zipfile.ZipInfo]) -> None:
    if not members:
        raise InvalidInput("the archive holds no conversations.json: is it a ChatGPT or Claude export?")
    if any(each.flag_bits & 1 for each in members):
        raise InvalidInput("the archive is encrypted: unpack it first and add the conversations.json in it")
    if sum(each.file_size for each in members) > MAX_FILE_BYTES:
        raise InvalidInput(f"the conversations in it are larger than {MAX_FILE_BYTES:,} bytes")
    for each in members:
        if each.file_size > _MAX_EXPANSION * max(each.compress_size, 1):
            raise InvalidInput(f"{each.filename[-60:]!r} in it expands more than {_MAX_EXPANSION} times")


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Its bytes, and no more than it promised, since the size in the directory may be a lie."""
    with archive.open(member) as file:
        data = file.read(member.file_size + 1)
    if len(data) > member.file_size:
        raise InvalidInput("the archive is damaged: a file in it is larger than it says")
    return data
