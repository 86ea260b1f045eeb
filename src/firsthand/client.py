"""The same verbs, spoken to a server: `Client("https://…")` where `Memory("agent.db")` stood.

Values come back as the same dataclasses, refusals as the same errors. Needs nothing but the standard library.
"""

from __future__ import annotations

import http.client
import json
import secrets
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar, Unpack
from urllib.parse import quote, urlencode, urlsplit

from firsthand import errors
from firsthand.errors import FirsthandError, InvalidInput, NotAllowed, StoreError, StoreUnavailable
from firsthand.forms import of_json
from firsthand.model import (
    EPOCH,
    Belief,
    Context,
    ErasureReceipt,
    Evidence,
    Explanation,
    Hit,
    Kind,
    Message,
    Owner,
    Pending,
    Position,
    Receipt,
    Report,
    Session,
    Source,
    State,
    to_json,
)

if TYPE_CHECKING:
    from firsthand.memory import ActOptions, Cites, Proving, ReadOptions, When, WriteOptions
    from firsthand.policy import Policy
    from firsthand.recall.recall import Found

IDLE = 4.0  # seconds after which a connection is not used again: servers let go of idle ones
LONGEST_WAIT = 10.0  # seconds that a server may ask to wait before a retry
PAGE = 1_000  # items asked for at a time
PIECE = 64 * 1024  # bytes read at a time
LINES = "application/x-ndjson"
JSON = "application/json"

T = TypeVar("T")


class Client:
    """A memory at a server.

    Args:
        url: where the server is, such as "https://memory.example.org".
        key: what `firsthand keys add` printed; None for a server on this machine that asks for none.
        timeout: seconds that one answer may take to come.
        retries: how often a request that the server put off (too busy, too many) is sent again; a read or a write that
            is safe to repeat is also sent again when the connection broke.
        context: how certificates are checked; the system's way unless given.

    Safe to use from several threads. Raises InvalidInput for an address that is none.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 2,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.line = Line(url, key, timeout, retries, context)

    def user(
        self,
        user: str | None = None,
        *,
        tenant: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        aliases: Iterable[str] = (),
    ) -> RemoteUser:
        """The verbs of one owner; the one whose key it is where neither user nor tenant is given."""
        return RemoteUser(self.line, user, tenant, agent, session, tuple(aliases))

    def users(self) -> list[Owner]:
        """Every owner that the key is for."""
        return list(_paged(self.line, "/v1/users", Owner, {}, {}))

    def import_(
        self, source: str | Path | BinaryIO, *, owner: Owner | None = None, restore_erased: bool = False
    ) -> Report:
        """Take in an export: a path or an open binary file. `restore_erased` brings back what was erased there."""
        if isinstance(source, str | Path):
            try:
                with Path(source).open("rb") as opened:
                    return self.import_(opened, owner=owner, restore_erased=restore_erased)
            except OSError as error:
                raise InvalidInput(f"cannot read {source}: {error.strerror or error}") from error
        head = source.readline()
        whose = owner or _owner_of(head)
        path = _with("/v1/import", {"restore_erased": "true"} if restore_erased else {})
        return of_json(Report, self.line.upload(path, _pieces(head, source), _names(whose.user, whose.tenant)))

    def merge(self, location: str | Path, *, key: str | bytes | None = None) -> Report:
        """Refused: a request names no file of the server's. Run `firsthand merge` where the memory is."""
        del location, key
        raise NotAllowed(
            "a server merges nothing by request; run `firsthand merge` on its machine, or import an export"
        )

    def rebuild(self) -> Report:
        """Derive beliefs and indexes again from the ledger, and say whether they came out equal."""
        return of_json(Report, self.line.json("POST", "/v1/rebuild"))

    def apply_policy(self, policy: Policy | str) -> Report:
        """Take another policy and fold every owner again."""
        text = policy if isinstance(policy, str) else policy.text
        return of_json(Report, self.line.json("PUT", "/v1/policy", {"text": text}))

    def embed(self) -> int:
        """Make the vectors that are due. Returns how many were made."""
        return int(self.line.json("POST", "/v1/embed")["vectors"])

    def work(self) -> Receipt:
        """Let a model read what is due, of everybody."""
        return of_json(Receipt, self.line.json("POST", "/v1/work"))

    def health(self) -> dict[str, Any]:
        """Store invariants and counts."""
        return dict(self.line.json("GET", "/v1/health"))

    def maintain(self) -> dict[str, int]:
        """Make due vectors, count what expired, tidy the file."""
        return dict(self.line.json("POST", "/v1/maintain"))

    def close(self) -> None:
        """Let go of connections. Safe to call twice."""
        self.line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class RemoteUser:
    """The verbs of one owner at a server. Each takes what the verb of `User` takes, and answers what it answers."""

    line: Line
    user: str | None = None
    tenant: str | None = None
    agent: str | None = None
    session: str | None = None
    aliases: tuple[str, ...] = ()

    # -- writing ------------------------------------------------------------------------------------------------

    def observe(self, messages: object, *, full: bool = False, **options: Unpack[WriteOptions]) -> Receipt:
        """Keep messages word for word, and what the writer's rules find in them."""
        return self._write("/v1/messages", {"messages": _messages(messages), "full": full}, options)

    def extract(self, since: When = None, *, session: str | None = None, background: bool = False) -> Receipt:
        """Run the writer on what it has not read, or again on all that was said since a time."""
        return self._write("/v1/extract", {"since": since, "session": session, "background": background}, {})

    def end_session(self, session: str | None = None) -> Receipt:
        """The conversation is over: run the writer on what it said and was not looked at yet."""
        return self._write("/v1/end-session", {"session": session}, {})

    def remember(
        self,
        text: str,
        *,
        subject: str = "user",
        attribute: str | None = None,
        source: Source | str = Source.STATED,
        confidence: float | None = None,
        kind: Kind | str | None = None,
        valid_from: When = None,
        valid_to: When = None,
        expires_at: When = None,
        evidence: Iterable[Cites] = (),
        **options: Unpack[WriteOptions],
    ) -> Receipt:
        """Offer one claim to memory: free text, or the value of an attribute of a subject."""
        claim = {
            "text": text,
            "subject": subject,
            "attribute": attribute,
            "source": source,
            "confidence": confidence,
            "kind": kind,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "expires_at": expires_at,
            "evidence": [_given(to_json(each)) if isinstance(each, Evidence) else each for each in evidence],
        }
        return self._write("/v1/memories", claim, options)

    def correct(
        self, belief_id: str, value: str, *, reason: str | None = None, **options: Unpack[ActOptions]
    ) -> Receipt:
        """Replace a belief over the whole of its interval: it never was."""
        return self._act(belief_id, "correct", {"value": value, "reason": reason}, options)

    def end(
        self, belief_id: str, at: When = None, *, reason: str | None = None, **options: Unpack[ActOptions]
    ) -> Receipt:
        """It was true and no longer is, as of `at` (now unless said)."""
        return self._act(belief_id, "end", {"at": at, "reason": reason}, options)

    def retract(self, id: str, *, reason: str | None = None, **options: Unpack[ActOptions]) -> Receipt:  # noqa: A002 - the public name
        """It was never true. Takes the id of a belief, an observation or a message."""
        return self._act(id, "retract", {"reason": reason}, options)

    def confirm(self, belief_id: str, **options: Unpack[ActOptions]) -> Receipt:
        """The person says that it is so."""
        return self._act(belief_id, "confirm", {}, options)

    def reject(self, belief_id: str, *, reason: str | None = None, **options: Unpack[ActOptions]) -> Receipt:
        """The person says that it is not so."""
        return self._act(belief_id, "reject", {"reason": reason}, options)

    def used(self, ids: Iterable[str]) -> None:
        """Say which hits served. Unknown ids are ignored."""
        wanted = list(ids)
        if wanted:
            self.line.json("POST", "/v1/used", {"ids": wanted}, self._headers())

    # -- reading ------------------------------------------------------------------------------------------------

    def recall(self, question: str, *, limit: int = 10, **options: Unpack[ReadOptions]) -> list[Hit]:
        """What memory holds that answers a question, best first; at most `limit`."""
        return of_json(list[Hit], self._ask("/v1/recall", {"question": question, "limit": limit, **options}))

    def search(self, question: str, *, limit: int = 10, **options: Unpack[ReadOptions]) -> Found:
        """As `recall`, with the account of how each hit came about and what was left out."""
        from firsthand.recall.recall import Found

        return of_json(Found, self._ask("/v1/search", {"question": question, "limit": limit, **options}))

    def context(
        self, question: str, *, max_tokens: int = 800, limit: int = 10, **options: Unpack[ReadOptions]
    ) -> Context:
        """The block to give to the model: the profile first, then what the question needs, dated and cited."""
        asked = {"question": question, "max_tokens": max_tokens, "limit": limit, **options}
        return of_json(Context, self._ask("/v1/context", asked))

    def profile(self, *, valid_at: When = None, known_at: When = None) -> list[Belief]:
        """What is always worth knowing of the person: current values of the profile's slots."""
        query = {"valid_at": valid_at, "known_at": known_at}
        return of_json(list[Belief], self.line.json("GET", _with("/v1/profile", query), None, self._headers()))

    def beliefs(
        self,
        subject: str | None = None,
        attribute: str | None = None,
        *,
        state: State | str | None = State.ACTIVE,
        valid_at: When = None,
        known_at: When = None,
    ) -> list[Belief]:
        """What memory holds, in one state ("active" unless said) or in every one (None or "all")."""
        query = {"subject": subject, "attribute": attribute, "state": state or "all"}
        return list(self._pages("/v1/beliefs", Belief, {**query, "valid_at": valid_at, "known_at": known_at}))

    def history(self, subject: str, attribute: str | None = None) -> list[Belief]:
        """Every belief that the slot has held, oldest first, with intervals, states and reasons."""
        return list(self._pages("/v1/history", Belief, {"subject": subject, "attribute": attribute}))

    def pending(self) -> list[Pending]:
        """What waits for the person, with the question to put to them."""
        return list(self._pages("/v1/pending", Pending, {}))

    def why(self, id: str) -> Explanation:  # noqa: A002 - the public name
        """Why memory holds a belief: the observations, the words quoted, the rule applied, what it displaced."""
        return of_json(Explanation, self.line.json("GET", f"{_named(id)}/why", None, self._headers()))

    def messages(
        self,
        session: str | None = None,
        *,
        since: When = None,
        until: When = None,
        after: Position | None = None,
        limit: int | None = None,
    ) -> Iterator[Message]:
        """Every message, in the order that memory was told; `after` is the position of the last one seen."""
        query = {"session": session, "since": since, "until": until}
        found = self._pages("/v1/messages", Message, query)
        seen = 0
        for message in found:
            if after is not None and message.position <= after:
                continue
            if limit is not None and seen >= limit:
                return
            seen += 1
            yield message

    def sessions(self) -> list[Session]:
        """The conversations, by their first message."""
        return list(self._pages("/v1/sessions", Session, {}))

    # -- leaving ------------------------------------------------------------------------------------------------

    def forget(self, id: str, **how: Unpack[Proving]) -> ErasureReceipt:  # noqa: A002 - the public name
        """Erase one message, observation or belief, and all that rests on it alone."""
        _search_nothing(how)
        return of_json(ErasureReceipt, self.line.json("DELETE", _named(id), None, self._headers()))

    def forget_source(
        self,
        *,
        session: str | None = None,
        message: str | None = None,
        origin: str | None = None,
        **how: Unpack[Proving],
    ) -> ErasureReceipt:
        """Erase everything learned from one session, message or origin, and the messages themselves."""
        _search_nothing(how)
        place = _given({"session": session, "message": message, "origin": origin})
        return of_json(ErasureReceipt, self.line.json("POST", "/v1/forget-source", place, self._headers()))

    def erase(self, **how: Unpack[Proving]) -> ErasureReceipt:
        """Everything of this owner goes. The user must be named, though the key may be theirs alone."""
        _search_nothing(how)
        if self.user is None:
            raise NotAllowed("erase() takes a user by name: client.user(NAME).erase()")
        address = _with("/v1/memories", {"user": self.user})
        return of_json(ErasureReceipt, self.line.json("DELETE", address, None, self._headers()))

    def exported(self) -> Iterator[bytes]:
        """The lines of an export, one by one."""
        yield from self.line.lines("/v1/export", self._headers())

    def export(self, path: str | Path) -> Report:
        """Write everything of this owner as JSON Lines, whole or not at all."""
        target = Path(path)
        partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        last = b"{}"
        try:
            with partial.open("xb") as out:
                for last in self.exported():
                    out.write(last)
            counts = _footer(last)
            partial.replace(target)
        except OSError as error:
            raise InvalidInput(f"cannot write the export to {path}: {error.strerror or error}") from error
        finally:
            partial.unlink(missing_ok=True)
        held = len(self.beliefs(state="all"))
        return Report(
            equal=True, owners=1, messages=counts["messages"], observations=counts["observations"], beliefs=held
        )

    # -- how the verbs reach the server -------------------------------------------------------------------------

    def _headers(self) -> dict[str, str]:
        named = {"Agent": self.agent, "Session": self.session}
        some = {f"Firsthand-{name}": quote(value, safe="") for name, value in named.items() if value is not None}
        aliases = {"Firsthand-Aliases": ",".join(quote(each, safe="") for each in self.aliases)}
        return {**_names(self.user, self.tenant), **some, **(aliases if self.aliases else {})}

    def _write(self, path: str, body: Mapping[str, Any], options: Mapping[str, Any]) -> Receipt:
        rest = dict(options)
        headers = self._headers()
        headers["Idempotency-Key"] = rest.pop("idempotency_key", None) or secrets.token_hex(16)
        expected = rest.pop("expected", None)
        if expected is not None:
            headers["If-Match"] = f'"{expected}"'
        return of_json(Receipt, self.line.json("POST", path, _sent({**body, **rest}), headers))

    def _act(self, name: str, verb: str, body: Mapping[str, Any], options: Mapping[str, Any]) -> Receipt:
        return self._write(f"{_named(name)}/{verb}", body, options)

    def _ask(self, path: str, body: Mapping[str, Any]) -> Any:
        return self.line.json("POST", path, _sent(body), self._headers(), safe=True)

    def _pages(self, path: str, kind: type[T], query: Mapping[str, Any]) -> Iterator[T]:
        return _paged(self.line, path, kind, query, self._headers())


# -- the line ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Line:
    """The connections to a server: sends requests, and turns refusals back into errors."""

    url: str
    key: str | None
    timeout: float
    retries: int
    context: ssl.SSLContext | None
    _host: str = field(init=False)
    _port: int | None = field(init=False)
    _root: str = field(init=False)
    _secure: bool = field(init=False)
    _idle: list[tuple[float, http.client.HTTPConnection]] = field(init=False, default_factory=list)
    _lock: Lock = field(init=False, default_factory=Lock)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise InvalidInput(f"{self.url!r} is no address: {error}") from error
        if parts.scheme not in ("http", "https") or not host:
            raise InvalidInput(f"{self.url!r} is no address of a server; write it like https://memory.example.org")
        self._host, self._port, self._secure = host, port, parts.scheme == "https"
        self._root = parts.path.rstrip("/")

    def json(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None, *, safe: bool = False
    ) -> Any:
        """The JSON of an answer, None where it has none. `safe` may be sent again though it is no GET."""
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        sent = {"Accept": JSON, **({"Content-Type": JSON} if content is not None else {}), **(headers or {})}
        again = safe or method == "GET" or "Idempotency-Key" in sent
        for left in range(self.retries, -1, -1):
            try:
                status, told, answer = self._ask(method, path, content, sent)
            except (OSError, http.client.HTTPException) as error:
                if left and again:
                    continue
                raise self._unreachable(error) from error
            wait = _wait(status, told) if left else None
            if wait is None:
                return _answer(status, answer)
            time.sleep(wait)
        raise AssertionError("the last try answers or raises")

    def upload(self, path: str, pieces: Iterable[bytes], headers: Mapping[str, str]) -> Any:
        """The JSON of the answer to a body that is sent as it is read."""
        sent = {"Content-Type": LINES, "Transfer-Encoding": "chunked", **headers}
        try:
            status, _, answer = self._ask("POST", path, pieces, sent)
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        return _answer(status, answer)

    def lines(self, path: str, headers: Mapping[str, str]) -> Iterator[bytes]:
        """The lines of an answer, as they come."""
        line = self._open()
        try:
            line.request("GET", self._root + path, headers={**self._key(), **headers})
            answer = line.getresponse()
            if answer.status != http.client.OK:
                _answer(answer.status, answer.read())
            yield from answer
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            line.close()

    def close(self) -> None:
        """Let go of idle connections."""
        with self._lock:
            for _, line in self._idle:
                line.close()
            self._idle.clear()

    def _ask(
        self, method: str, path: str, body: Any, headers: Mapping[str, str]
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of one answer."""
        line = self._taken() or self._open()
        try:
            sent = {**self._key(), **headers}
            line.request(method, self._root + path, body, sent, encode_chunked="Transfer-Encoding" in headers)
            answer = line.getresponse()
            content = answer.read()
        except BaseException:
            line.close()
            raise
        if answer.will_close:
            line.close()
        else:
            with self._lock:
                self._idle.append((time.monotonic(), line))
        return answer.status, {name.casefold(): value for name, value in answer.getheaders()}, content

    def _taken(self) -> http.client.HTTPConnection | None:
        """A connection that is open and was used a moment ago."""
        with self._lock:
            while self._idle:
                since, line = self._idle.pop()
                if time.monotonic() - since < IDLE:
                    return line
                line.close()
        return None

    def _open(self) -> http.client.HTTPConnection:
        if self._secure:
            context = self.context or ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=self.timeout, context=context)
        return http.client.HTTPConnection(self._host, self._port, timeout=self.timeout)

    def _key(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key is not None else {}

    def _unreachable(self, error: Exception) -> StoreUnavailable:
        said = str(error) or type(error).__name__
        return StoreUnavailable(f"the server at {self.url} does not answer ({said}); is it running?")


_AGAIN = (429, 503)


def _wait(status: int, headers: Mapping[str, str]) -> float | None:
    """Seconds after which a request that was put off may be sent again; None for one that was not."""
    if status not in _AGAIN:
        return None
    after = headers.get("retry-after", "1")
    return min(float(after), LONGEST_WAIT) if after.isdecimal() else 1.0


def _answer(status: int, content: bytes) -> Any:
    """The value that an answer writes. Raises the error that the server names."""
    if status == http.client.NO_CONTENT:
        return None
    try:
        told = json.loads(content)
    except ValueError:
        raise StoreUnavailable(f"the server answered {status} and no JSON; is it firsthand that is there?") from None
    if status == http.client.OK:
        return told
    raise _error(status, told if isinstance(told, dict) else {})


def _error(status: int, told: Mapping[str, Any]) -> FirsthandError:
    name = str(told.get("type", "")).rpartition(":")[2]
    kind = getattr(errors, name, None)
    detail = str(told.get("detail") or f"the server answered {status}")
    if isinstance(kind, type) and issubclass(kind, FirsthandError):
        return kind(detail)
    kinds: Mapping[str, Callable[[str], FirsthandError]] = {"Malformed": InvalidInput, "Unauthorized": NotAllowed}
    return kinds.get(name, StoreError)(detail)


# -- what is sent ------------------------------------------------------------------------------------------------


def _names(user: str | None, tenant: str | None) -> dict[str, str]:
    named = {"Firsthand-User": user, "Firsthand-Tenant": tenant}
    return {name: quote(value, safe="") for name, value in named.items() if value is not None}


def _named(name: str) -> str:
    if not name:
        raise InvalidInput("the id is empty")
    encoded = quote(name, safe="")
    return f"/v1/memories/{encoded.replace('.', '%2E') if set(encoded) == {'.'} else encoded}"


def _search_nothing(how: Mapping[str, Any]) -> None:
    """Whether a store's bytes hold a word tells of other users too, so no request may ask."""
    if any(how.values()):
        raise NotAllowed("a server is not searched by request; run `firsthand erase --verify` on its machine")


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _sent(values: Mapping[str, Any]) -> dict[str, Any]:
    """A body: what was given, times as text, sequences as lists."""
    return {name: _plain(name, value) for name, value in values.items() if value is not None}


_TIMES = {"said_at", "valid_from", "valid_to", "expires_at", "since", "until", "valid_at", "known_at", "at"}


def _plain(name: str, value: Any) -> Any:
    if name in _TIMES and isinstance(value, int | float):
        from firsthand.ledger.times import read_time

        return read_time(value, EPOCH.tzinfo).isoformat()  # type: ignore[arg-type]  # EPOCH is aware
    if isinstance(value, set | frozenset) or (isinstance(value, Iterable) and not isinstance(value, _HAVE_A_FORM)):
        return [_plain("", each) for each in value]
    return to_json(value)


_HAVE_A_FORM = (str, bytes, Mapping, list, tuple)


def _with(path: str, query: Mapping[str, Any]) -> str:
    given = _sent(query)
    return f"{path}?{urlencode(given)}" if given else path


def _messages(given: object) -> Any:
    """Messages as they are sent: as their callers have them, objects by what they say of themselves."""
    if isinstance(given, str | Mapping):
        return given
    if isinstance(given, Message):
        from firsthand.ledger.intake import as_given

        return as_given(given)
    dump = getattr(given, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(given, Iterable):
        return [_messages(each) for each in given]
    raise InvalidInput("a message is text, a mapping, or an object with model_dump(); give a list of those")


def _paged(line: Line, path: str, kind: type[T], query: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[T]:
    cursor: str | None = None
    while True:
        page = line.json("GET", _with(path, {**query, "limit": PAGE, "cursor": cursor}), None, headers)
        for each in page["items"]:
            yield of_json(kind, each)
        cursor = page["next"]
        if cursor is None:
            return


def _owner_of(head: bytes) -> Owner:
    with suppress(ValueError, KeyError, TypeError):
        owner = json.loads(head)["owner"]
        return Owner(str(owner["tenant"]), str(owner["user"]))
    raise InvalidInput("this is no firsthand export: its first line names no owner")


def _footer(line: bytes) -> Mapping[str, int]:
    with suppress(ValueError, KeyError, TypeError):
        end = json.loads(line)["end"]
        return {name: int(end[name]) for name in ("messages", "observations")}
    raise StoreUnavailable("the export was cut short; try again")


def _pieces(head: bytes, rest: BinaryIO) -> Iterator[bytes]:
    yield head
    while piece := rest.read(PIECE):
        yield piece
