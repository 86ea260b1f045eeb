"""How anything is printed: JSON for programs, aligned lines for people, on any terminal and through any pipe.

Holds how a time, a belief and a receipt read, and how lines fit the page; encodings and colours are in `streams.py`.
Text that was said by somebody is shown with its control characters spelled out, so that a stored message cannot steer
the terminal.
"""

from __future__ import annotations

import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import click

from firsthand.cli.streams import on_terminal
from firsthand.model import Belief, Pending, Receipt, State, to_json

PAGE = 80  # columns where nothing says how wide the page is
WIDEST = 100  # longer lines are hard to read
HELD = 43  # columns for how sure and since when

_STEERING = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004 - two digits name a byte
    for code in (
        *(c for c in range(0x20) if c not in (0x09, 0x0A)),
        *range(0x7F, 0xA0),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    )
}


def columns() -> int:
    """The width of the page: the terminal's, within reason."""
    return min(shutil.get_terminal_size((PAGE, 24)).columns, WIDEST) if on_terminal(sys.stdout) else PAGE


# -- printing ----------------------------------------------------------------------------------------------------


def show(value: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print the answer of a verb: as one JSON document, or as its lines."""
    if as_json:
        say(_json(value, indent=2))
        return
    for line in lines:
        say(line)


def show_each(values: Iterable[Any], lines: Any, *, as_json: bool) -> int:
    """Print a stream: JSON Lines, or the lines of each value as `lines` gives them. Returns how many there were."""
    count = 0
    for count, value in enumerate(values, start=1):  # noqa: B007 - the count is the answer
        if as_json:
            say(_json(value))
        else:
            for line in lines(value):
                say(line)
    return count


def say(text: str) -> None:
    """Print a line. The stream is named, for click would put one of its own in front of an ASCII one."""
    click.echo(text, file=sys.stdout)


def note(text: str) -> None:
    """Say something about the work, beside its output."""
    click.echo(text, file=sys.stderr)


def counted(number: int, noun: str) -> str:
    """How many of a thing, in words: 1 message, 2 messages."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _json(value: Any, indent: int | None = None) -> str:
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    return json.dumps(to_json(value), ensure_ascii=not encoding.startswith("utf"), indent=indent)


# -- text --------------------------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Text as it may be shown: nothing in it moves the cursor, changes colours or turns the reading direction."""
    return text.translate(_STEERING)


def one_line(text: str, most: int | None = None) -> str:
    """Text on one line, cut with an ellipsis where it is longer than `most` columns."""
    line = clean(" ".join(text.split()))
    if most is None or wide(line) <= most:
        return line
    kept, room = [], most - 1
    for each in line:
        room -= wide(each)
        if room < 0:
            break
        kept.append(each)
    return "".join(kept).rstrip() + "…"


def wide(text: str) -> int:
    """Columns that a text takes: CJK and emoji take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(c) or unicodedata.category(c) == "Cf"
        else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def padded(text: str, width: int) -> str:
    """Text filled up with blanks to a number of columns."""
    return text + " " * max(0, width - wide(text))


def folded(text: str, indent: str = "", first: str | None = None) -> list[str]:
    """Text in lines of the page; not broken where its reader is a program."""
    start = indent if first is None else first
    if not on_terminal(sys.stdout):
        return [start + one_line(text)]
    return wrapped(text, columns(), indent, start)


def wrapped(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """Text in lines of at most `width` columns, the first after `first`, the others after `indent`."""
    line = indent if first is None else first
    lines, fresh = [], True
    for word in _pieces(one_line(text), width - wide(indent)):
        if not fresh and wide(line) + 1 + wide(word) > width:
            lines.append(line)
            line, fresh = indent, True
        line, fresh = (line + word, False) if fresh else (f"{line} {word}", False)
    return [*lines, line.rstrip() if fresh else line]


def _pieces(text: str, room: int) -> Iterator[str]:
    """The words of a text; those that fit no line in pieces that do."""
    for word in text.split():
        piece = ""
        for each in word if wide(word) > room else ():
            if wide(piece + each) > room:
                yield piece
                piece = ""
            piece += each
        yield piece or word


def dim(text: str) -> str:
    """Text that is there for reference."""
    return click.style(text, dim=True)


def strong(text: str) -> str:
    """Text that is read first."""
    return click.style(text, bold=True)


# -- the words of memory -----------------------------------------------------------------------------------------


def day(at: datetime) -> str:
    """The date, in the offset it was given with."""
    return at.isoformat()[:10]


def minute(at: datetime) -> str:
    """Date, time and offset."""
    return at.isoformat(sep=" ", timespec="minutes")


def interval(belief: Belief) -> str:
    """Since when, or from when until when."""
    if belief.valid_to is not None:
        return f"{day(belief.valid_from)} to {day(belief.valid_to)}"
    return f"{'from' if belief.state is State.SCHEDULED else 'since'} {day(belief.valid_from)}"


def standing(belief: Belief) -> str:
    """Where it comes from and how sure it is."""
    return f"{belief.source} {belief.confidence:.2f}"


def belief_lines(belief: Belief) -> Iterator[str]:
    """A belief for a person: what, since when, how sure; then its state, whose words, and its id."""
    held = f"{padded(standing(belief), 16)}{interval(belief)}"
    room = columns() - HELD
    text = one_line(belief.text)
    if wide(text) <= room:
        yield f"{strong(padded(text, room))}  {held}"
    else:
        yield from (strong(line) for line in folded(text, indent="  ", first=""))
        yield " " * (room + 2) + held
    yield dim(f"  {belief.id}  {'; '.join(_remarks(belief))}".rstrip())


def _remarks(belief: Belief) -> Iterator[str]:
    if belief.state is not State.ACTIVE:
        yield f"{belief.state}: {one_line(belief.reason)}" if belief.reason else str(belief.state)
    if belief.guess:
        yield "a guess"
    if belief.disputed_with:
        yield f"disputed with {', '.join(belief.disputed_with)}"
    if belief.evidence:
        more = len(belief.evidence) - 3
        yield f"from {', '.join(map(one_line, belief.evidence[:3]))}{f' and {more} more' if more > 0 else ''}"


def pending_lines(waiting: Pending) -> Iterator[str]:
    """What waits, why, and what to type."""
    yield from folded(waiting.question, indent="  ", first="")
    yield from folded(waiting.reason, indent="  ")
    yield dim(f"  firsthand confirm {waiting.id}   or   firsthand reject {waiting.id}")


def receipt_lines(receipt: Receipt) -> Iterator[str]:
    """A receipt: what was kept, what waits, what was left out and why."""
    for name in ("messages", "stored", "superseded", "duplicates"):
        ids: Sequence[str] = getattr(receipt, name)
        if ids:
            shown = f"{len(ids)}" if len(ids) > 3 else ", ".join(map(one_line, ids))  # noqa: PLR2004 - as many as fit
            yield f"{padded(_RECEIPT[name], 11)}{shown}"
    for each in receipt.pending:
        yield f"{padded('waits', 11)}{each.id}"
        yield from (f"  {line}" for line in pending_lines(each))
    for lost in receipt.dropped:
        yield from folded(f"“{one_line(lost.text, 60)}”: {lost.reason}", indent=" " * 11, first=padded("dropped", 11))
    for other in receipt.unheard:
        told = f"{one_line(other.speaker, 40)} ({other.messages}): {other.reason}"
        yield from folded(told, indent=" " * 11, first=padded("not heard", 11))
    if receipt == Receipt():
        yield "nothing was stored"


_RECEIPT = {"messages": "messages", "stored": "stored", "superseded": "superseded", "duplicates": "here before"}
