"""Opening a file and finding out what it is.

The formats themselves are in the modules beside this one; each offers `found(…)`, and those that are JSON a
`fits(value)` that says from a parsed value whether it is theirs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger.formats import agents, archive, chatgpt, claude, locomo, longmemeval, markdown, messages, plain
from firsthand.ledger.formats.conversation import Conversation, Found, Labels
from firsthand.ledger.formats.parsing import MAX_FILE_BYTES, json_lines_of, json_of, text_of

# Tried in this order: the particular ones first, plain lists of messages last.
_JSON_FORMATS = (
    ("chatgpt", chatgpt),
    ("claude", claude),
    ("locomo", locomo),
    ("longmemeval", longmemeval),
    ("agents", agents),
    ("messages", messages),
)
_TEXT_FORMATS = ("text", "markdown", "jsonl")
FORMATS = (*_TEXT_FORMATS, *(name for name, _ in _JSON_FORMATS))
SUPPORTED = (
    "plain text, Markdown, messages as JSON or JSON Lines, ChatGPT and Claude exports (JSON or ZIP),"
    " Letta agent files, LoCoMo and LongMemEval"
)
_MARKDOWN_NAMES = (".md", ".markdown", ".mdown")
_LINES_NAMES = (".jsonl", ".ndjson")
_Parsed = tuple[str, Any]  # the format, and what its reader takes


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read: its format, and the conversations in it."""

    form: str
    conversations: list[Conversation]


def detect(source: str | os.PathLike[str] | bytes, name: str = "") -> str:
    """Which format a file has: one of FORMATS. `source` is a path, or the bytes of a file called `name`.

    Raises InvalidInput when it cannot be read or is none that is supported.
    """
    data, name = _loaded(source, name)
    with _naming(name):
        return _parsed(data, name)[0][0]


def read(path: str | os.PathLike[str], form: str | None = None) -> list[Conversation]:
    """The conversations of a file that the person named, in the file's order; `form` overrules what it looks like.

    Raises InvalidInput: no such file, no permission, not a regular file, too large, a format or a message that
    cannot be read, with the line or the place.
    """
    return load(path, form=form).conversations


def read_bytes(data: bytes, name: str, form: str | None = None) -> list[Conversation]:
    """The conversations in the bytes of a file called `name`. As `read`."""
    return load(data, name, form).conversations


def load(source: str | os.PathLike[str] | bytes, name: str = "", form: str | None = None) -> File:
    """A file with its format, parsed once: a path, or the bytes of a file called `name`. As `read`."""
    data, name = _loaded(source, name)
    if form is not None and form not in FORMATS:
        raise InvalidInput(f"format {form!r} is unknown: use one of {', '.join(FORMATS)}")
    with _naming(name):
        parsed = _parsed(data, name, form)
        found = [each for one in parsed for each in _found(one, name)]
        return File(parsed[0][0], Labels(parsed[0][0]).conversations(found, name))


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Put the file's name before what is wrong with it."""
    try:
        yield
    except InvalidInput as fault:
        raise InvalidInput(f"{name}: {fault}") from None
    except RecursionError:
        raise InvalidInput(f"{name}: its JSON is nested too deeply to be read") from None


def _loaded(source: str | os.PathLike[str] | bytes, name: str) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        return source, _on_one_line(name or "the file")
    path = Path(source)
    try:
        return _bytes_of(path), _on_one_line(path.name)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise InvalidInput(f"{_on_one_line(str(path))}: cannot be read: {reason}") from None


def _on_one_line(name: str) -> str:
    """A file's name as errors and sessions may carry it: some systems allow line breaks and undecodable bytes."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return printable.encode("utf-8", "replace").decode()


def _bytes_of(path: Path) -> bytes:
    """The bytes of a regular file."""
    with open(path, "rb", opener=_without_waiting) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise InvalidInput(f"{path}: cannot be read: it is not a regular file")
        if facts.st_size > MAX_FILE_BYTES:
            raise InvalidInput(f"{path}: it has {facts.st_size:,} bytes; the limit is {MAX_FILE_BYTES:,}: split it")
        return file.read(MAX_FILE_BYTES)


def _without_waiting(path: str, flags: int) -> int:
    """Open it at once: a pipe that nobody writes to would block for ever."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _parsed(data: bytes, name: str, form: str | None = None) -> list[_Parsed]:
    """The format with its parsed values: one, or one for each conversations.json of an archive."""
    if archive.is_archive(data):
        if form in _TEXT_FORMATS:
            raise InvalidInput(f"an archive is not read as {form}: unpack it first")
        return [_parsed_json(json_of(text_of(inner)), form) for _, inner in archive.conversations_of(data)]
    text = text_of(data)
    if not text.strip():
        raise InvalidInput("it is empty")
    return [_parsed_text(text, name.casefold(), form)]


def _parsed_text(text: str, name: str, form: str | None) -> _Parsed:
    if form in ("text", "markdown"):
        return form, text
    if form is None and name.endswith(_MARKDOWN_NAMES):
        return "markdown", text
    if form == "jsonl" or (form is None and _looks_like_lines(text, name)):
        return _parsed_lines(json_lines_of(text), form)
    if form is not None or name.endswith((".json", ".af")) or _looks_like_json(text):
        return _parsed_json(json_of(text), form)
    return "text", text


def _looks_like_json(text: str) -> bool:
    start = text.lstrip()[:2]
    return start[:1] == "{" or (start[:1] == "[" and start[1:].strip()[:1] in ("", "{", '"', "]"))


def _looks_like_lines(text: str, name: str) -> bool:
    """Whether it is JSON Lines: by its name, or because two lines are objects, each whole on its own."""
    if name.endswith(_LINES_NAMES):
        return True
    lines = [line.strip() for line in text[:1_000_000].split("\n", 50) if line.strip()][:2]
    return len(lines) > 1 and all(line.startswith("{") and line.endswith("}") for line in lines)


def _parsed_lines(rows: list[tuple[str, Any]], form: str | None) -> _Parsed:
    """JSON Lines: messages, or one conversation (or LongMemEval row) a line."""
    values = [value for _, value in rows]
    if isinstance(values[0], dict) and values[0].get("format") == "firsthand-export":
        raise InvalidInput("it is a firsthand export; `firsthand import` takes it in")
    if form != "jsonl":
        for known, reader in _JSON_FORMATS:
            if reader is not messages and reader.fits(values):
                return known, values
    return "jsonl", rows


def _parsed_json(value: Any, form: str | None) -> _Parsed:
    for known, reader in _JSON_FORMATS:
        if form in (None, known) and reader.fits(value):
            return known, value
    if form is not None:
        raise InvalidInput(f"it does not look like {form}: leave the format out to have it found")
    raise InvalidInput(f"{_unsupported(value)}: firsthand reads {SUPPORTED}")


def _unsupported(value: Any) -> str:
    """What it is, where that is known: dumps of what other memories concluded hold nothing that was said."""
    if messages.holds_conclusions(value):
        return "it holds facts that another memory extracted, and no messages"
    return "this JSON holds no messages in a known shape"


def _found(parsed: _Parsed, name: str) -> Sequence[Found]:
    form, value = parsed
    readers: dict[str, Callable[[Any, str], Sequence[Found]]] = {
        "text": plain.found,
        "markdown": markdown.found,
        "jsonl": messages.found_lines,
        **{known: reader.found for known, reader in _JSON_FORMATS},
    }
    return readers[form](value, name)
