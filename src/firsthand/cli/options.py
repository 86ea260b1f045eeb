"""What every command takes (which memory, whose, how to print), and how a command gets from there to the verbs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from firsthand.cli import place
from firsthand.errors import InvalidInput, NotAllowed, NotFound, StoreUnavailable

if TYPE_CHECKING:
    from firsthand.memory import Memory, User
    from firsthand.ports import Store

_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*(?=@)|[?&]password=[^&]*")
FEW = 5  # users that an error lists
TENANT = "default"


def words(typed: str) -> str:
    """Text typed by a person: bytes that the locale could not read are taken for the UTF-8 they most likely are."""
    if not any("\udc80" <= each <= "\udcff" for each in typed):
        return typed
    try:
        return typed.encode(sys.getfilesystemencoding(), "surrogateescape").decode("utf-8")
    except UnicodeError:
        return typed  # the verb refuses it with a reason


@dataclass(frozen=True, slots=True)
class Options:
    """Which memory, whose, and how to print."""

    db: str | None = None
    user: str = "me"
    tenant: str = TENANT
    agent: str | None = None
    session: str | None = None
    as_json: bool = False
    embedder: str | None = None
    key_file: str | None = None

    # -- where --------------------------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        """The store: --db, FIRSTHAND_DB, or the file in the user's data folder."""
        return self.db or str(self._default())

    @property
    def shown(self) -> str:
        """The location as it may be printed: without a password."""
        return _PASSWORD.sub(r"\1", self.location)

    @property
    def is_file(self) -> bool:
        """Whether the location is a path, rather than `:memory:` or an address."""
        return self.location != ":memory:" and "://" not in self.location

    def key(self) -> str | None:
        """The passphrase, from --key-file or FIRSTHAND_KEY. Raises InvalidInput when it cannot be read."""
        if self.key_file is None:
            return os.environ.get("FIRSTHAND_KEY") or None
        try:
            key = Path(self.key_file).read_text(encoding="utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"the key file {self.key_file} is not UTF-8 text") from error
        except OSError as error:
            raise InvalidInput(f"cannot read the key file {self.key_file}: {error.strerror or error}") from error
        if not key:
            raise InvalidInput(f"the key file {self.key_file} is empty")
        return key

    def _default(self) -> Path:
        try:
            home = Path.home()
        except RuntimeError as error:
            raise StoreUnavailable("there is no home folder to keep memory in; say where with --db PATH") from error
        return place.default_path(os.environ, sys.platform, home)

    # -- opening ------------------------------------------------------------------------------------------------

    @contextmanager
    def existing(self, *, vectors: bool = True, reembed: bool = False) -> Iterator[Memory]:
        """The store, which must be there already; nothing is listened to in it, so that no writer is loaded.

        Without `vectors` no embedder is loaded either, whichever it was made with.

        Raises StoreUnavailable and its kin.
        """
        self._must_exist()
        embedder = self.embedder or ("static" if vectors else "none")
        with self._open(embedder, reembed=reembed, writer="none") as memory:
            yield memory

    @contextmanager
    def rows(self) -> Iterator[Store]:
        """The store's rows, past the verbs, which must be there already. Raises StoreUnavailable and its kin."""
        self._must_exist()
        with self.rows_of_copy() as store:
            yield store

    @contextmanager
    def rows_of_copy(self) -> Iterator[Store]:
        """The same, made where there are none. A key is for files."""
        from firsthand.wiring import open_store

        with closing(open_store(self.location, self.key() if self.is_file else None)) as store:
            yield store

    @contextmanager
    def store(self, **more: Any) -> Iterator[Memory]:
        """The store, made where there is none. `more` goes to `Memory`: a zone, a clock."""
        if self.is_file and self.db is None:
            place.make_private(Path(self.location).parent)
        with self._open(self.embedder or "static", **more) as memory:
            yield memory

    @contextmanager
    def reading(self, *, vectors: bool = False) -> Iterator[User]:
        """The verbs of a user that is there. Raises NotFound where the store holds nothing of that user."""
        with self.existing(vectors=vectors) as memory:
            known = [owner.user for owner in memory.users() if owner.tenant == self.tenant]
            if self.user not in known:
                raise NotFound(f"{self.shown} holds nothing of the user {self.user!r}{_listed(known)}")
            yield self.person(memory)

    @contextmanager
    def writing(self) -> Iterator[User]:
        """The verbs of a user, who may be new, in a store that may be new; for claims, not for talk."""
        with self.store(writer="none") as memory:
            yield self.person(memory)

    def person(self, memory: Memory, aliases: Sequence[str] = ()) -> User:
        """The verbs of the user in an open store."""
        return memory.user(self.user, tenant=self.tenant, agent=self.agent, session=self.session, aliases=aliases)

    def _must_exist(self) -> None:
        if self.is_file and not Path(self.location).exists():
            raise StoreUnavailable(
                f"there is no memory at {self.location}; `firsthand add` and `firsthand remember` start one"
            )

    def _open(self, embedder: str, **more: Any) -> Memory:
        from firsthand.memory import Memory

        return Memory(self.location, key=self.key(), embedder=embedder, **more)


def _listed(known: Sequence[str]) -> str:
    if not known:
        return ""
    more = f" and {len(known) - FEW} more" if len(known) > FEW else ""
    return f"; there are {', '.join(repr(each) for each in sorted(known)[:FEW])}{more} (--user)"


_SHARED = (
    click.option("--db", envvar="FIRSTHAND_DB", metavar="PLACE", help="The file, or postgresql://… address."),
    click.option("--user", envvar="FIRSTHAND_USER", type=words, default="me", metavar="NAME", help="Whose memory."),
    click.option(
        "--tenant",
        envvar="FIRSTHAND_TENANT",
        type=words,
        default=TENANT,
        metavar="NAME",
        help="The tenant that the user belongs to.",
    ),
    click.option("--agent", type=words, metavar="NAME", help="Stamp what is written, narrow what is read to an agent."),
    click.option("--session", type=words, metavar="ID", help="The same for one conversation."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON (JSON Lines where the answer is a stream)."),
    click.option(
        "--embedder", envvar="FIRSTHAND_EMBEDDER", metavar="NAME", help="static, onnx, or none (search by words alone)."
    ),
    click.option("--key-file", metavar="PATH", help="A file with the passphrase; or set FIRSTHAND_KEY."),
)
SHARED_NAMES = ("db", "user", "tenant", "agent", "session", "as_json", "embedder", "key_file")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the shared options, as one value in front of its own arguments."""

    @wraps(command)
    def gathered(*args: Any, **given: Any) -> None:
        shared = {name: given.pop(name) for name in SHARED_NAMES}
        command(Options(**shared), *args, **given)

    decorated: Callable[..., None] = gathered
    for option in reversed(_SHARED):
        decorated = option(decorated)
    return decorated


def given(values: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, so that a verb's own defaults stand for the rest."""
    return {name: value for name, value in values.items() if value not in (None, ())}


def typed_text(text: str) -> str:
    """The text of an argument; `-` stands for what comes in, as UTF-8. Raises InvalidInput."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"standard input is not UTF-8 text (byte {error.start:,})") from error


def agreed(question: str, answer: str, *, yes: bool) -> None:
    """Have the person type `answer` before something is erased. Raises NotAllowed unless they do."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotAllowed("this erases for good and there is no terminal to confirm on; give --yes if it is meant")
    click.echo(f"{question} ", nl=False, file=sys.stderr)
    if sys.stdin.readline().strip() != answer:
        raise NotAllowed("nothing was erased")
