"""Commands about what was said: add, messages, sessions."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from firsthand.cli.options import Options, given, with_options, words
from firsthand.cli.screen import (
    clean,
    counted,
    day,
    dim,
    folded,
    minute,
    note,
    one_line,
    padded,
    pending_lines,
    show,
    show_each,
    wide,
)
from firsthand.cli.streams import on_terminal
from firsthand.errors import FirsthandError
from firsthand.model import Dropped, Message, Pending, Receipt, Session

if TYPE_CHECKING:
    from firsthand.ledger.formats import Conversation
    from firsthand.memory import Memory, User

AT_ONCE = 256  # messages stored between two commits: an interruption loses no more than these
FEW = 3  # things of a kind that a summary shows


@dataclass(frozen=True, slots=True)
class Source:
    """A file on its way in."""

    name: str
    form: str
    conversations: Sequence[Conversation]

    @property
    def messages(self) -> int:
        """How many messages it has."""
        return sum(len(each.messages) for each in self.conversations)


@dataclass(slots=True)
class Added:
    """What came of a file."""

    file: str
    format: str
    sessions: int
    messages: int = 0
    duplicates: int = 0
    stored: int = 0
    pending: list[Pending] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    speakers: dict[str, int] = field(default_factory=dict)
    unheard: dict[str, int] = field(default_factory=dict)  # speakers not known to be the user -> turns
    unmatched: list[str] = field(default_factory=list)  # names given for the user, where nobody has one of them
    dry_run: bool = False

    def count(self, receipt: Receipt, here: int) -> None:
        """Take a receipt into account; `here` are the messages of it that were stored before."""
        self.messages += len(receipt.messages)
        self.duplicates += here
        self.stored += len(receipt.stored)
        self.pending.extend(receipt.pending)
        self.dropped.extend(receipt.dropped)
        for each in receipt.unheard:
            self.unheard[each.speaker] = self.unheard.get(each.speaker, 0) + each.messages


def _zone(_: click.Context, __: click.Parameter, name: str | None) -> tzinfo:
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise click.BadParameter(f"{name!r} is no time zone; write it like Europe/Lisbon") from error


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="FILE...")
@click.option(
    "--format", "form", metavar="NAME", help="text, markdown, messages, jsonl, chatgpt, claude, … if in doubt."
)
@click.option("--as", "--name", "names", multiple=True, type=words, metavar="NAME", help="The speaker who is the user.")
@click.option("--origin", type=words, metavar="NAME", help="Where it came from; the file's name unless given.")
@click.option("--zone", callback=_zone, metavar="ZONE", help="Time zone of times without an offset; UTC unless given.")
@click.option("--dry-run", is_flag=True, help="Say what would be stored, and store nothing.")
@with_options
def add(options: Options, files: Sequence[str], *, zone: tzinfo, dry_run: bool, **reading: Any) -> None:
    """Add the messages in files: chats, exports, notes, transcripts.

    Reads plain text, Markdown, messages as JSON or JSON Lines, ChatGPT and Claude exports, Letta agent files, LoCoMo
    and LongMemEval; `-` is standard input. A file is checked whole before anything of it is stored. Adding it again
    adds only what is new, so an interrupted import goes on where it stopped.
    """
    sources = [_source(each, reading["form"]) for each in files]
    store = _rehearsal(zone) if dry_run else options.store(zone=zone)
    with store as memory:
        adding = _Adding(options.person(memory, reading["names"]), options.session, reading["origin"], dry_run=dry_run)
        for source in sources:
            added = adding.add(source)
            show(added, _added(added, named=bool(reading["names"])), as_json=options.as_json)


def _source(file: str, form: str | None) -> Source:
    from firsthand.ledger import formats

    if file == "-":
        name, found = "stdin", formats.load(sys.stdin.buffer.read(), "stdin", form)
    else:
        name, found = Path(file).name, formats.load(file, form=form)
    return Source(name, found.form, found.conversations)


def _rehearsal(zone: tzinfo) -> Memory:
    """A store that is not kept, for --dry-run."""
    from firsthand.memory import Memory

    return Memory(":memory:", embedder="none", zone=zone)


class _Adding:
    """Puts files into memory, batch by batch."""

    def __init__(self, person: User, session: str | None, origin: str | None, *, dry_run: bool) -> None:
        self.person = person
        self.session = session
        self.origin = origin
        self.dry_run = dry_run

    def add(self, source: Source) -> Added:
        """Store a file's messages, and count what came of them."""
        added = Added(source.name, source.form, len(source.conversations), dry_run=self.dry_run)
        speakers = Counter(m["name"] for each in source.conversations for m in each.messages if m.get("name"))
        added.speakers = {str(name): count for name, count in speakers.most_common()}
        added.unmatched = sorted(self.person.aliases) if self.person.aliases.isdisjoint(speakers) else []
        progress = _Progress(source.name, source.messages)
        try:
            for conversation in source.conversations:
                self._keep(conversation, source, added, progress)
        except FirsthandError as error:
            progress.over()
            raise self._late(error, added) from error
        except KeyboardInterrupt:
            progress.over()
            note(f"firsthand: stopped after {progress.done} of {source.messages} messages; the same command goes on")
            raise
        progress.over()
        return added

    def _keep(self, conversation: Conversation, source: Source, added: Added, progress: _Progress) -> None:
        session = self.session or conversation.session
        before = added.duplicates
        for start in range(0, len(conversation.messages), AT_ONCE):
            batch = conversation.messages[start : start + AT_ONCE]
            receipt = self.person.observe(batch, session=session, origin=self.origin or source.name)
            added.count(receipt, here=len(batch) - len(receipt.messages))
            progress.forward(len(batch))
        if added.duplicates > before and self.person.aliases:
            # They may have been added before without saying who the user is.
            added.count(self.person.extract(session=session), here=0)

    def _late(self, error: FirsthandError, added: Added) -> FirsthandError:
        if not added.messages or self.dry_run:
            return error
        return type(error)(f"{error} ({added.messages} messages before it were stored; adding the file again goes on)")


class _Progress:
    """How far a long import is, on a terminal."""

    def __init__(self, name: str, total: int) -> None:
        self.name = one_line(name, 40)
        self.total = total
        self.done = 0
        self._shown = on_terminal(sys.stderr) and total > AT_ONCE

    def forward(self, count: int) -> None:
        """So many more are done."""
        self.done += count
        if self._shown:
            click.echo(f"\r{self.name}  {self.done:,} of {self.total:,}", nl=False, file=sys.stderr)

    def over(self) -> None:
        """Wipe the line."""
        if self._shown:
            click.echo(f"\r{' ' * 79}\r", nl=False, file=sys.stderr)


def _added(added: Added, *, named: bool) -> Iterator[str]:
    """The summary of a file."""
    verb = "would add" if added.dry_run else "added"
    where = counted(added.sessions, "session")
    here = f", {added.duplicates:,} were here before" if added.duplicates else ""
    yield f"{clean(added.file)} ({added.format}): {verb} {counted(added.messages, 'message')} in {where}{here}"
    done = "found" if added.dry_run else "stored"
    yield f"  {counted(added.stored, 'claim')} {done}, {len(added.pending)} waiting, {len(added.dropped)} dropped"
    for each in added.pending[:FEW]:
        yield from (f"  {line}" for line in (pending_lines(each) if not added.dry_run else [one_line(each.question)]))
    if len(added.pending) > FEW:
        yield "  `firsthand pending` lists all that waits"
    for lost in added.dropped[:FEW]:
        yield from folded(f"dropped “{one_line(lost.text, 60)}”: {lost.reason}", "    ", "  ")
    yield from _speakers(added, named=named)


def _speakers(added: Added, *, named: bool) -> Iterator[str]:
    """Who spoke, where names were used: whose words are only kept, and which name given is nobody's."""
    told = ", ".join(one_line(f"{name} ({count})") for name, count in list(added.speakers.items())[:FEW])
    if added.unmatched:
        names = ", ".join(map(one_line, added.unmatched))
        yield f"  no message is by {names}; " + (f"the speakers are {told}" if told else "no message names a speaker")
    if added.speakers and not named:
        yield f"  speakers: {told}; if one of them is the user, add the file again with --as NAME"
    if added.unheard and (not named or added.unmatched):
        turns = counted(sum(added.unheard.values()), "message")
        yield f"  {turns} with a name not known to be the user's: kept, and nothing concluded from them"


@click.command()
@click.option("--since", metavar="TIME", help="Said at or after.")
@click.option("--until", metavar="TIME", help="Said before.")
@click.option("--limit", type=click.IntRange(min=0), help="How many at most.")
@with_options
def messages(options: Options, **narrowing: Any) -> None:
    """List what was said, word for word, in the order it was told.

    With --json one message a line.
    """
    with options.reading() as person:
        show_each(person.messages(**given(narrowing)), _message_lines, as_json=options.as_json)


def _message_lines(message: Message) -> Iterator[str]:
    who = message.name or message.role
    place = f"  in {one_line(message.session)}" if message.session else ""
    yield dim(f"{minute(message.at)}  {one_line(message.id)}{place}")
    yield from folded(f"{who}: {message.content}", indent="  ", first="  ")


@click.command()
@with_options
def sessions(options: Options) -> None:
    """List the conversations."""
    with options.reading() as person:
        found = person.sessions()
    show(found, _session_lines(found), as_json=options.as_json)


def _session_lines(found: Sequence[Session]) -> Iterator[str]:
    names = [one_line(each.id or "(none)") for each in found]
    width = max(map(wide, names), default=0)
    for name, each in zip(names, found, strict=True):
        span = day(each.first) if day(each.first) == day(each.last) else f"{day(each.first)} to {day(each.last)}"
        yield f"{padded(name, width)}  {padded(counted(each.messages, 'message'), 15)}  {span}"
