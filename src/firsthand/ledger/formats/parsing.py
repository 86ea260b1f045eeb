"""From bytes to text and JSON, with limits and errors that name the place.

Text is UTF-8, with or without a mark at its start, or UTF-16 with one; the locale is never asked.
"""

from __future__ import annotations

import codecs
import json
from typing import Any, NoReturn

from firsthand.errors import InvalidInput

MAX_FILE_BYTES = 512 * 1024 * 1024  # of one file, or of one file inside an archive
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def text_of(data: bytes) -> str:
    """The text of a file, its line ends as plain newlines. Raises InvalidInput when it is no text."""
    coding = next((coding for mark, coding in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(coding)
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise InvalidInput(f"line {line}: it is not UTF-8 text") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InvalidInput(f"line {line}: it holds a NUL character, so it is no text file")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def json_of(text: str) -> Any:
    """The JSON value of a text. A text that holds JSON again (double-encoded) is opened once more.

    Raises InvalidInput naming line and column.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
        return json_of(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") else value
    except json.JSONDecodeError as fault:
        raise InvalidInput(f"line {fault.lineno}: not JSON: {fault.msg} (column {fault.colno})") from None
    except RecursionError:
        raise InvalidInput("its JSON is nested too deeply to be read") from None
    except ValueError as fault:
        raise InvalidInput(f"not JSON: {fault}") from None


def json_lines_of(text: str) -> list[tuple[str, Any]]:
    """Each line's value with its place ("line 7"); blank lines are skipped. Raises InvalidInput naming the line."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_constant=_no_constant)
        except json.JSONDecodeError as fault:
            raise InvalidInput(f"line {number}: not JSON: {fault.msg} (column {fault.colno})") from None
        except RecursionError:
            raise InvalidInput(f"line {number}: its JSON is nested too deeply to be read") from None
        except ValueError as fault:
            raise InvalidInput(f"line {number}: not JSON: {fault}") from None
        found.append((f"line {number}", value))
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
