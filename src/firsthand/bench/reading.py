"""Files of questions, read whole or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from firsthand.errors import InvalidInput


def text_of(path: Path) -> str:
    """The text of a file. Raises InvalidInput."""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not UTF-8 text") from error


def json_of(path: Path) -> Any:
    """The value of a JSON file, or the list of a JSON Lines file's values. Raises InvalidInput."""
    text = text_of(path)
    try:
        return json.loads(text)
    except ValueError:
        return [_line(path, number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def rows_of(path: Path) -> list[Any]:
    """The rows of a JSON Lines file, of one line as well, or of a JSON list. Raises InvalidInput."""
    given = json_of(path)
    return given if isinstance(given, list) else [given]


def need(holds: bool, path: Path, what: str) -> None:
    """Raise InvalidInput unless the file is what it should be."""
    if not holds:
        raise InvalidInput(f"{path}: this is no {what} file")


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"{path}: line {number} is no JSON: {error}") from error
