"""Standard output and error as they are on this machine: encodings that fall back instead of failing, and colours."""

from __future__ import annotations

import codecs
import os
from typing import Any

# Typography of ours, for encodings that lack it.
_PLAIN = {
    "\N{HORIZONTAL ELLIPSIS}": "...",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{MIDDLE DOT}": "-",
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHTWARDS ARROW}": "->",
    "\N{NO-BREAK SPACE}": " ",
}


def prepare(stream: Any) -> None:
    """Make a standard stream one that prints anything: UTF-8 into pipes and files, a terminal by its own encoding.

    What an encoding cannot say is spelled in plain characters or escapes. PYTHONIOENCODING is obeyed.
    """
    if not hasattr(stream, "reconfigure"):
        return
    codecs.register_error("firsthand", _spelled)
    asked = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    encoding = None if asked or stream.isatty() else "utf-8"
    stream.reconfigure(encoding=encoding, errors="firsthand")


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    said = error.object[error.start : error.end]
    plain = (_PLAIN.get(each) or each.encode("ascii", "backslashreplace").decode() for each in said)
    return "".join(plain), error.end


def wants_colour() -> bool | None:
    """None lets each stream decide (a terminal has colours, a pipe has none); False where the user wants none."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return False if plain else None


def on_terminal(stream: Any) -> bool:
    """Whether a person is looking at the stream."""
    try:
        return bool(stream.isatty())
    except ValueError:  # closed
        return False
