"""An owner's ledger as JSON Lines, and back: lossless, with counts and a checksum. No model is called.

The first line is a header, then one line a message, an observation and a use, in ledger order, one for each keyed
digest that erasures left behind, then a footer with counts and the SHA-256 of all lines before it. Beliefs are not in
it: they follow from the ledger. The same ledger always gives the same bytes.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from firsthand.errors import InvalidInput
from firsthand.model import Message, Observation, Owner, message_from_json, observation_from_json, to_json
from firsthand.ports import MessageQuery, Reading

FORMAT = "firsthand-export"
VERSION = 2
KNOWN = (1, 2)  # 1 had no marks of what was erased
_PART = ".part"
MOST_LINE = 64 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class Ledger:
    """One owner's rows, as an export holds them."""

    owner: Owner
    policy_digest: str
    messages: tuple[Message, ...]
    observations: tuple[Observation, ...]
    uses: Mapping[str, tuple[int, int]]
    tombstones: Mapping[str, int] = field(default_factory=dict)


def write(path: Path, work: Reading, policy_digest: str) -> tuple[int, int]:
    """Write an owner's ledger to a file, whole or not at all. Returns how many messages and observations it has.

    Raises InvalidInput where the file cannot be written.
    """
    try:
        for left in path.parent.glob(f".{glob.escape(path.name)}.*{_PART}"):  # by an export that was killed
            left.unlink(missing_ok=True)
        start = f".{path.name}."
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=start, suffix=_PART, delete=False) as out:
            try:
                counts = _copied(encoded(work, policy_digest), out.write)
                out.flush()
                os.fsync(out.fileno())
            except BaseException:
                Path(out.name).unlink(missing_ok=True)
                raise
        Path(out.name).replace(path)
    except OSError as error:
        raise InvalidInput(f"cannot write the export to {path}: {error.strerror or error}") from error
    return counts


def lines(work: Reading, policy_digest: str) -> Iterator[dict[str, Any]]:
    """The lines of an owner's export, but for the footer."""
    yield {"format": FORMAT, "version": VERSION, "owner": to_json(work.owner), "policy": policy_digest}
    for message in work.messages.walk(MessageQuery()):
        yield {"message": to_json(message)}
    for row in work.observations.walk():
        yield {"observation": to_json(row.observation)}
    for name, (count, last) in sorted(work.beside.uses().items()):
        yield {"use": {"id": name, "count": count, "last": last}}
    for digest, at in work.tombstones().items():
        yield {"erased": {"digest": digest, "at": at}}


def encoded(work: Reading, policy_digest: str) -> Generator[bytes, None, tuple[int, int]]:
    """The lines of an owner's export as bytes, footer included; returns how many messages and observations it has."""
    digest = hashlib.sha256()
    messages = observations = 0
    for record in lines(work, policy_digest):
        line = _line(record)
        digest.update(line)
        yield line
        messages += "message" in record
        observations += "observation" in record
    yield _line({"end": {"messages": messages, "observations": observations, "sha256": digest.hexdigest()}})
    return messages, observations


def _copied(pieces: Generator[bytes, None, tuple[int, int]], put: Callable[[bytes], Any]) -> tuple[int, int]:
    while True:
        try:
            put(next(pieces))
        except StopIteration as done:
            counts: tuple[int, int] = done.value
            return counts


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def read(path: Path | BinaryIO) -> Ledger:
    """The ledger in an export, a file or an open one, checked whole before anything of it is used.

    Raises InvalidInput naming the line that is wrong, or saying that the file was cut or changed.
    """
    if not isinstance(path, Path):
        return _Reader("the export").read(path)
    try:
        with path.open("rb") as source:
            return _Reader(path.name).read(source)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._messages: list[Message] = []
        self._observations: list[Observation] = []
        self._uses: dict[str, tuple[int, int]] = {}
        self._erased: dict[str, int] = {}

    def read(self, source: Any) -> Ledger:
        digest = hashlib.sha256()
        header: dict[str, Any] | None = None
        end: dict[str, Any] | None = None
        for number, line in enumerate(iter(lambda: source.readline(MOST_LINE), b""), start=1):
            if end is not None:
                raise self._wrong(number, "there is more after the last line")
            record = self._record(number, line)
            if header is None:
                header = self._header(record)
            elif "end" in record:
                end = self._footer(number, record["end"])
                if end.get("sha256") != digest.hexdigest():
                    raise InvalidInput(f"{self._name}: the checksum does not fit; the file was changed")
            else:
                self._take(number, record)
            digest.update(line)
        if header is None or end is None:
            raise InvalidInput(f"{self._name} is not a whole firsthand export; write it again")
        if (end.get("messages"), end.get("observations")) != (len(self._messages), len(self._observations)):
            raise InvalidInput(f"{self._name}: the counts do not fit; the file was changed")
        owner = Owner(header["owner"]["tenant"], header["owner"]["user"])
        rows = tuple(self._messages), tuple(self._observations)
        return Ledger(owner, header["policy"], *rows, self._uses, self._erased)

    def _record(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._wrong(number, "it is not JSON") from error
        if not isinstance(record, dict):
            raise self._wrong(number, "it is not an object")
        return record

    def _header(self, record: dict[str, Any]) -> dict[str, Any]:
        if record.get("format") != FORMAT:
            raise InvalidInput(f"{self._name} is not a firsthand export; `firsthand add` reads other files")
        if record.get("version") not in KNOWN:
            raise InvalidInput(
                f"{self._name} is export version {record.get('version')!r}; this program reads {KNOWN[-1]} and older"
            )
        owner = record.get("owner")
        named = isinstance(owner, dict) and all(isinstance(owner.get(k), str) for k in ("tenant", "user"))
        if not named or not isinstance(record.get("policy"), str):
            raise self._wrong(1, "the header names no owner")
        return record

    def _footer(self, number: int, end: Any) -> dict[str, Any]:
        if not isinstance(end, dict):
            raise self._wrong(number, "the footer is not an object")
        return end

    def _take(self, number: int, record: dict[str, Any]) -> None:
        try:
            if "message" in record:
                self._messages.append(message_from_json(record["message"]))
            elif "observation" in record:
                self._observations.append(observation_from_json(record["observation"]))
            elif "use" in record:
                use = record["use"]
                self._uses[str(use["id"])] = (int(use["count"]), int(use["last"]))
            elif "erased" in record:
                self._erased[str(record["erased"]["digest"])] = int(record["erased"]["at"])
            else:
                raise self._wrong(number, "it is no kind of line that an export has")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._wrong(number, "a field is missing or of the wrong type") from error

    def _wrong(self, number: int, what: str) -> InvalidInput:
        return InvalidInput(f"{self._name}, line {number}: {what}; nothing was imported")
