"""The HTTP API as one table: which request calls which verb, who may, what it takes and what it answers.

The document (`openapi.py`) and the server (`app.py`) are both made from this table and cannot differ. What a request
takes is held to its schema before a verb is called; whose memory it is comes from the key and the headers, never from
the body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO

from firsthand.errors import NotAllowed
from firsthand.memory import Memory, User
from firsthand.model import (
    Belief,
    Context,
    ErasureReceipt,
    Explanation,
    Hit,
    Kind,
    Message,
    Owner,
    Pending,
    Receipt,
    Report,
    Session,
    Source,
    State,
)
from firsthand.recall.recall import Found
from firsthand.server.keys import ALL, Grant, Level
from firsthand.server.pages import MOST, PAGE, message_page, page
from firsthand.server.schema import (
    Schema,
    anything,
    either,
    flag,
    name,
    one_of,
    record,
    several,
    share,
    text,
    time,
    whole,
)

LINES = "application/x-ndjson"


class Scope(StrEnum):
    """What a route works on."""

    NOTHING = "nothing"  # no key is asked for
    OWNER = "owner"  # one user's memory
    TENANT = "tenant"  # all users of a tenant
    STORE = "store"  # everything


def _header(about: str) -> Schema:
    return {"type": "string", "description": about, "minLength": 1, "maxLength": 2_048, "pattern": "^[!-~]+$"}


OWNER_HEADERS: Mapping[str, Schema] = {
    "Firsthand-User": _header("Whose memory, where the key is for several users. UTF-8, percent-encoded."),
    "Firsthand-Tenant": _header("The user's tenant, where the key is for every tenant; `default` unless given."),
    "Firsthand-Agent": _header("Stamps what is written, narrows what is read. UTF-8, percent-encoded."),
    "Firsthand-Session": _header("The same for one conversation."),
    "Firsthand-Aliases": _header("Names that the person goes by in talk with several people, comma-separated."),
}
IDEMPOTENCY_KEY = _header("Makes it safe to send the request again.")
IF_MATCH = _header("The ETag of `why`, as you saw it: refused with 412 when it has changed.")


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as a handler sees it."""

    memory: Memory
    grant: Grant
    user: User | None = None
    id: str = ""  # from the path
    given: dict[str, Any] = field(default_factory=dict)  # from the body or the query, held to its schema
    idempotency_key: str | None = None
    expected: str | None = None  # from If-Match
    stream: BinaryIO | None = None  # a body that is read as it comes

    @property
    def person(self) -> User:
        """The verbs of the owner."""
        if self.user is None:
            raise NotAllowed("this needs a user")
        return self.user

    @property
    def writing(self) -> dict[str, Any]:
        """What was given with a write."""
        return {**self.given, "idempotency_key": self.idempotency_key}

    @property
    def acting(self) -> dict[str, Any]:
        """What was given with an act on a belief."""
        return {**self.writing, "expected": self.expected}


@dataclass(frozen=True, slots=True)
class Route:
    """A request that is served."""

    method: str
    path: str
    name: str
    level: Level
    about: str
    handle: Callable[[Call], Any]
    answer: Any  # a type with a JSON form, a schema, or None
    scope: Scope = Scope.OWNER
    body: Schema | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)
    needs: Sequence[str] = ()  # the parameters of the query that may not be missing
    pages: bool = False  # answers a page of `answer`
    repeats: bool = False  # takes an Idempotency-Key
    matches: bool = False  # takes If-Match
    reads_stream: bool = False
    tag: str = "reading"

    @property
    def headers(self) -> Mapping[str, Schema]:
        """The headers that it heeds."""
        return {
            **(OWNER_HEADERS if self.scope is Scope.OWNER else {}),
            **({"Idempotency-Key": IDEMPOTENCY_KEY} if self.repeats else {}),
            **({"If-Match": IF_MATCH} if self.matches else {}),
        }


# -- what requests take ------------------------------------------------------------------------------------------

SESSION = name("The conversation.")
SINCE, UNTIL = time("Said at or after."), time("Said before.")
WRITING: Mapping[str, Schema] = {
    "said_at": time("When it was said; now unless given."),
    "session": SESSION,
    "origin": name("Where it came from, to undo all of it by `forget_source`."),
    "metadata": anything("Kept with it, and there to filter by."),
}
AS_OF: Mapping[str, Schema] = {
    "valid_at": time("What was true then."),
    "known_at": time("What memory had been told by then."),
}
NARROWING: Mapping[str, Schema] = {
    "limit": whole("How many at most.", 0, MOST, default=10),
    "kinds": several("Only these kinds.", one_of("A kind.", Kind), most=8),
    "sessions": several("Only from these conversations.", SESSION, most=1_000),
    "since": SINCE,
    "until": UNTIL,
    **AS_OF,
    "include": one_of("Where to look.", ("all", "beliefs", "messages"), default="all"),
    "filters": anything("A tree of conditions on metadata."),
}
PAGING: Mapping[str, Schema] = {
    "limit": whole("Items of a page.", 1, MOST, default=PAGE),
    "cursor": text("`next` of the page before.", most=2_000),
}
QUESTION = text("What is asked.", least=0, most=100_000)
REASON = text("Why.", most=2_000)
SUBJECT = name("Whom or what it is about; `user` is the person.")
ATTRIBUTE = name("An attribute of the policy, or one of your own, in snake case.")
MESSAGE = either(
    "A message: text (the user's), or an object with role and content as OpenAI, Anthropic or LangChain have it.",
    text("What the user said.", most=16 * 1024 * 1024),
    anything("A message with role and content."),
)
OBSERVE = record(
    {
        "messages": either(
            "One message or several.",
            several("Messages, in order.", MESSAGE, least=1),
            *MESSAGE["anyOf"],
        ),
        "full": flag("Whether it is the whole history of the session, sent again."),
        **WRITING,
    },
    ["messages"],
)
PLACE_IN_TEXT = whole("Where in the message.", 0, 16 * 1024 * 1024)
QUOTED = record(
    {
        "message_id": name("A message's id."),
        "quote": text("Words in it."),
        "start": PLACE_IN_TEXT,
        "end": PLACE_IN_TEXT,
    },
    ["message_id"],
)
REMEMBER = record(
    {
        "text": text("A sentence, or the value of `attribute`."),
        "subject": SUBJECT,
        "attribute": ATTRIBUTE,
        "source": one_of("Where the claim comes from.", [s for s in Source if s is not Source.REPEATED]),
        "confidence": share("Lower than what the source gives."),
        "kind": one_of("What kind of memory.", Kind),
        "valid_from": time("Since when it holds."),
        "valid_to": time("Until when it holds."),
        "expires_at": time("When it stops being of use."),
        "evidence": several(
            "What it rests on.",
            either(
                "A message's id, or the words in it.",
                name("A message's id."),
                QUOTED,
            ),
            most=100,
        ),
        **WRITING,
    },
    ["text"],
)
ACT = record({"reason": REASON, **WRITING})
CORRECT = record({"value": text("What holds instead."), "reason": REASON, **WRITING}, ["value"])
END = record({"at": time("When it ended; now unless given."), "reason": REASON, **WRITING})
LATER = flag("Leave what a model has to read to a worker, and answer at once.")
EXTRACT = record({"since": SINCE, "session": SESSION, "background": LATER})
USED = record({"ids": several("Ids of hits.", name("An id."), least=1, most=1_000)}, ["ids"])
ASK = record({"question": QUESTION, **NARROWING}, ["question"])
BUDGET = whole("The budget in tokens.", 1, 1_000_000, default=800)
BLOCK = record({"question": QUESTION, "max_tokens": BUDGET, **NARROWING}, ["question"])
STATE = one_of("Only in this state.", [*State, "all"], default="active")
PLACE = record({"session": SESSION, "message": name("A message's id."), "origin": name("An origin.")})

# -- what handlers do beyond calling a verb ----------------------------------------------------------------------


def _observe(call: Call) -> Receipt:
    given = call.writing
    return call.person.observe(given.pop("messages"), **given)


def _remember(call: Call) -> Receipt:
    given = call.writing
    return call.person.remember(given.pop("text"), **given)


def _correct(call: Call) -> Receipt:
    given = call.acting
    return call.person.correct(call.id, given.pop("value"), **given)


def _beliefs(call: Call) -> Any:
    given, paging = _parted(call)
    return page(call.person.beliefs(**given), paging, lambda each: each.id)


def _history(call: Call) -> Any:
    given, paging = _parted(call)
    return page(call.person.history(**given), paging, lambda each: each.id)


def _parted(call: Call) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was given for the verb, and for the page."""
    given = dict(call.given)
    return given, {key: given.pop(key) for key in PAGING if key in given}


def _users(call: Call) -> Any:
    owners = [each for each in call.memory.users() if call.grant.tenant in (ALL, each.tenant)]
    return page(owners, dict(call.given), lambda each: f"{each.tenant}\x1f{each.user}")


def _erase(call: Call) -> ErasureReceipt:
    if call.given["user"] != call.person.owner.user:
        raise NotAllowed("`user` is not the name of the one whose memory this is; nothing was erased")
    return call.person.erase()


def _import(call: Call) -> Report:
    if call.stream is None:
        raise NotAllowed("an import needs a body")
    return call.memory.import_(call.stream, owner=call.person.owner, **call.given)


def _used(call: Call) -> None:
    call.person.used(call.given["ids"])


def _policy(call: Call) -> Any:
    return {"text": call.memory.policy.text, "digest": call.memory.policy.digest}


def _ready(call: Call) -> Any:
    call.memory.parts.store.facts()
    return {"status": "ok"}


def _pending(call: Call) -> Any:
    return page(call.person.pending(), dict(call.given), lambda each: each.id)


def _sessions(call: Call) -> Any:
    return page(call.person.sessions(), dict(call.given), lambda each: each.id or "")


POLICY = record({"text": text("The policy file.", most=1_000_000)}, ["text"])
HELD_POLICY = record(
    {"text": {"type": "string"}, "digest": {"type": "string"}}, ["text", "digest"], "The policy in use."
)
COUNTS: Schema = {"type": "object", "description": "Counts by name."}
SAYS_OK: Schema = record({"status": {"type": "string", "enum": ["ok"]}}, ["status"], "It is well.")

# -- the table ---------------------------------------------------------------------------------------------------

R, W, A = Level.READ, Level.WRITE, Level.ADMIN
# fmt: off
ROUTES: Sequence[Route] = (
    Route("POST", "/v1/messages", "observe", W, "Keep messages word for word, and what the rules find in them.",
          _observe, Receipt, body=OBSERVE, repeats=True, tag="writing"),
    Route("POST", "/v1/memories", "remember", W, "Offer one claim to memory.",
          _remember, Receipt, body=REMEMBER, repeats=True, tag="writing"),
    Route("POST", "/v1/memories/{id}/correct", "correct", W, "Replace a belief: it never was so.",
          _correct, Receipt, body=CORRECT, repeats=True, matches=True, tag="writing"),
    Route("POST", "/v1/memories/{id}/end", "end", W, "It was true and no longer is.",
          lambda call: call.person.end(call.id, **call.acting), Receipt, body=END,
          repeats=True, matches=True, tag="writing"),
    Route("POST", "/v1/memories/{id}/retract", "retract", W, "It was never true: a belief, a claim or a message.",
          lambda call: call.person.retract(call.id, **call.acting), Receipt, body=ACT,
          repeats=True, matches=True, tag="writing"),
    Route("POST", "/v1/memories/{id}/confirm", "confirm", W, "The person says that it is so.",
          lambda call: call.person.confirm(call.id, **call.acting), Receipt, body=record(WRITING),
          repeats=True, matches=True, tag="writing"),
    Route("POST", "/v1/memories/{id}/reject", "reject", W, "The person says that it is not so.",
          lambda call: call.person.reject(call.id, **call.acting), Receipt, body=ACT,
          repeats=True, matches=True, tag="writing"),
    Route("POST", "/v1/extract", "extract", W, "Run the writer on what was said, and add what is new.",
          lambda call: call.person.extract(**call.given), Receipt, body=EXTRACT, tag="writing"),
    Route("POST", "/v1/end-session", "end_session", W, "The conversation is over: look at what it said.",
          lambda call: call.person.end_session(**call.given), Receipt, body=record({"session": SESSION}),
          tag="writing"),
    Route("POST", "/v1/used", "used", W, "Say which hits served; unknown ids are passed over.",
          _used, None, body=USED, tag="writing"),

    Route("POST", "/v1/recall", "recall", R, "What memory holds that answers a question, best first.",
          lambda call: call.person.recall(**call.given), list[Hit], body=ASK),
    Route("POST", "/v1/search", "search", R, "As recall, with the account of what was left out and why.",
          lambda call: call.person.search(**call.given), Found, body=ASK),
    Route("POST", "/v1/context", "context", R, "The block to give to a model.",
          lambda call: call.person.context(**call.given), Context, body=BLOCK),
    Route("GET", "/v1/profile", "profile", R, "What is always worth knowing of the person.",
          lambda call: call.person.profile(**call.given), list[Belief], query=AS_OF),
    Route("GET", "/v1/beliefs", "beliefs", R, "What memory holds.", _beliefs, Belief, pages=True,
          query={"subject": SUBJECT, "attribute": ATTRIBUTE, "state": STATE, **AS_OF, **PAGING}),
    Route("GET", "/v1/history", "history", R, "Every belief that a slot has held, oldest first.",
          _history, Belief, pages=True, needs=("subject",),
          query={"subject": SUBJECT, "attribute": ATTRIBUTE, **PAGING}),
    Route("GET", "/v1/pending", "pending", R, "What waits for the person, with the question to put to them.",
          _pending, Pending, pages=True, query=PAGING),
    Route("GET", "/v1/memories/{id}/why", "why", R, "Why memory holds a belief. Its ETag is what If-Match takes.",
          lambda call: call.person.why(call.id), Explanation),
    Route("GET", "/v1/messages", "messages", R, "What was said, in the order that memory was told.",
          lambda call: message_page(call.person.messages, dict(call.given)), Message, pages=True,
          query={"session": SESSION, "since": SINCE, "until": UNTIL, **PAGING}),
    Route("GET", "/v1/sessions", "sessions", R, "The conversations, by their first message.",
          _sessions, Session, pages=True, query=PAGING),
    Route("GET", "/v1/policy", "policy", R, "The rules that decide.", _policy, HELD_POLICY),

    Route("DELETE", "/v1/memories/{id}", "forget", A, "Erase one message, claim or belief and what rests on it alone.",
          lambda call: call.person.forget(call.id), ErasureReceipt, tag="leaving"),
    Route("POST", "/v1/forget-source", "forget_source", A, "Erase everything learned from one place.",
          lambda call: call.person.forget_source(**call.given), ErasureReceipt, body=PLACE, tag="leaving"),
    Route("DELETE", "/v1/memories", "erase", A, "Erase everything of the user. `user` is their name, to be sure.",
          _erase, ErasureReceipt, query={"user": name("The user's name, once more.")}, needs=("user",), tag="leaving"),
    Route("GET", "/v1/export", "export", R, "Everything of the user as JSON Lines, lossless.",
          lambda call: call.person.exported(), LINES, tag="leaving"),
    Route("POST", "/v1/import", "import", A, "Take in an export of this user.",
          _import, Report, reads_stream=True, tag="leaving",
          query={"restore_erased": flag("Bring back what was erased here and is in the file.")}),

    Route("GET", "/v1/users", "users", R, "Every user that the key is for.", _users, Owner, scope=Scope.TENANT,
          pages=True, query=PAGING, tag="store"),
    Route("GET", "/v1/health", "health", A, "Store invariants and counts.",
          lambda call: call.memory.health(), COUNTS, scope=Scope.STORE, tag="store"),
    Route("POST", "/v1/rebuild", "rebuild", A, "Derive beliefs and indexes again, and compare.",
          lambda call: call.memory.rebuild(), Report, scope=Scope.STORE, tag="store"),
    Route("POST", "/v1/maintain", "maintain", A, "Do what time asks for.",
          lambda call: call.memory.maintain(), COUNTS, scope=Scope.STORE, tag="store"),
    Route("POST", "/v1/embed", "embed", A, "Make the vectors that are due.",
          lambda call: {"vectors": call.memory.embed()}, COUNTS, scope=Scope.STORE, tag="store"),
    Route("POST", "/v1/work", "work", A, "Let a model read what is due, of everybody.",
          lambda call: call.memory.work(), Receipt, scope=Scope.STORE, tag="store"),
    Route("PUT", "/v1/policy", "apply_policy", A, "Take another policy, and fold everybody again.",
          lambda call: call.memory.apply_policy(call.given["text"]), Report, scope=Scope.STORE, body=POLICY,
          tag="store"),

    Route("GET", "/livez", "livez", R, "Whether the process answers.", lambda _: {"status": "ok"}, SAYS_OK,
          scope=Scope.NOTHING, tag="server"),
    Route("GET", "/readyz", "readyz", R, "Whether the store answers.", _ready, SAYS_OK,
          scope=Scope.NOTHING, tag="server"),
)
# fmt: on
