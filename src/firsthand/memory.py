"""The whole flow on one page: talk comes in, is kept, admitted, folded into beliefs, recalled, explained and erased.

`Memory` is a place where memories are kept; `Memory.user(...)` gives the verbs of one owner. Each verb reads top to
bottom: take what the caller gave, let a stage decide, write once, answer with a receipt. The stages (`writer`,
`ledger`, `beliefs`, `recall`, `stores`) do not know each other: values pass between them here, in `writes.py` (one
transaction that enters), `folding.py` (rows to beliefs) and `reads.py` (beliefs to answers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Self, TypedDict, TypeVar, Unpack

from firsthand import learning, leaving, merging, reads, upkeep, wiring
from firsthand.copying import refuse_unfinished
from firsthand.errors import InvalidInput, NotAllowed, NotFound, Stale
from firsthand.folding import Folder
from firsthand.ledger import export, intake, secrets
from firsthand.ledger.admission import Claim
from firsthand.model import (
    EPOCH,
    RANK,
    SAID,
    Act,
    Belief,
    Caller,
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
    micros,
)
from firsthand.policy import Policy
from firsthand.ports import MessageQuery, Reading, Tokenizer, Writing
from firsthand.recall.context import Budget, build
from firsthand.recall.question import Conditions, Question, ask
from firsthand.recall.recall import Found, search
from firsthand.recall.scale import Scale, measured, probes
from firsthand.snapshots import MOST_BYTES, Seen, Snapshots
from firsthand.text import value_key
from firsthand.worker import Worker
from firsthand.writer.triggers import Spec, Trigger, trigger_of
from firsthand.writes import Aim, Batch, Means, Offer, Write, body_of, joined, once, pending, unseen

MOST_VALUE = 20_000  # characters of one remembered value; longer texts are messages

When = datetime | str | float | None
Cites = Evidence | str | Mapping[str, Any]


class WriteOptions(TypedDict, total=False):
    """What every writing verb also takes."""

    said_at: When  # when it was said; now unless given
    session: str | None
    origin: str | None  # where it came from, for `forget_source`
    metadata: Mapping[str, Any] | None
    idempotency_key: str | None


class ActOptions(WriteOptions, total=False):
    """What every act on a belief also takes."""

    expected: str | None  # the `tag` of the Explanation that the caller saw; refused as Stale when it is another now


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller gave with an act."""

    value: str | None = None
    at: datetime | None = None
    reason: str | None = None


class Proving(TypedDict, total=False):
    """How an erasure is proved."""

    verify: bool  # search the raw bytes of the store for pieces of what went
    canaries: Iterable[str]  # further words to search for


class ReadOptions(TypedDict, total=False):
    """What narrows a recall."""

    kinds: Sequence[Kind | str] | None
    sessions: Sequence[str] | None
    since: When  # said at or after
    until: When  # said before
    valid_at: When  # what was true then
    known_at: When  # what memory had been told by then
    include: str  # "all", "beliefs" or "messages"
    filters: Mapping[str, Any] | None  # a tree over metadata


class Memory:
    """A place where memories are kept: a SQLite file, `:memory:`, or a database on a PostgreSQL server.

    Args:
        location: a path, ":memory:", or "postgresql://…" (see docs/postgres.md).
        policy: the text of a policy file, or a Policy. None: the one the store has, the default one in a new store.
        embedder: "static" (a table in the package), "onnx", "none", a function from texts to vectors, or an object
            with `name`, `dimensions`, `inline` and `embed`. "auto": the one that the store has, static in a new one.
        writer: "rules" (explicit first-person statements, no model), "none", LLMWriter(…) (rules, and a model that
            reads later), or an object with `propose` or with `extract`.
        trigger: when a model reads on: "session_end" (the default), "every_turn", ("every", turns), ("idle", seconds)
            or "manual". Marks what is due, also for a worker in another process.
        background: let a thread read what is due, rather than `end_session` and `extract`.
        clock: a function that tells the time, for tests and replays. None: the system's.
        key: passphrase of an encrypted file. A lost key is a lost store.
        zone: time zone of naive times. UTC unless said.
        tokenizer: counts the tokens of a context: an object with `count`, or a function.
        cache: bytes of memory that the owners read last may take, to be found again without loading them.
        reembed: open a store whose vectors another embedder made, so that `embed()` can make them again.

    Raises StoreUnavailable, StoreCorrupt, SchemaTooNew, PolicyMismatch, EmbedderMismatch, InvalidInput.
    """

    def __init__(
        self,
        location: str | Path = ":memory:",
        *,
        policy: Policy | str | None = None,
        embedder: wiring.EmbedderSpec = wiring.AUTO,
        writer: wiring.WriterSpec = "rules",
        trigger: Spec | None = None,
        background: bool = False,
        clock: Callable[[], datetime] | None = None,
        key: str | bytes | None = None,
        zone: tzinfo = UTC,
        tokenizer: Tokenizer | Callable[[str], int] | None = None,
        cache: int = MOST_BYTES,
        reembed: bool = False,
    ) -> None:
        if cache < 0:
            raise InvalidInput("cache= is a number of bytes: 0 or more")
        marks = trigger_of(trigger) if trigger is not None else None
        self.parts = wiring.assemble(
            location=str(location), key=key, embedder=embedder, writer=writer, tokenizer=tokenizer, clock=clock
        )
        self.zone = zone
        self.trigger = marks or (Trigger() if self.parts.extractor is not None else None)
        self.background = Worker(self.work) if background and self.parts.extractor is not None else None
        self.reembed = reembed
        self.snapshots = Snapshots(cache)
        try:
            refuse_unfinished(self.parts.store)
            self.policy = upkeep.settle_policy(self.parts.store, policy)
            upkeep.settle_embedder(self.parts.store, self.parts.embedder, reembed=reembed)
            upkeep.finish_folding(self)
            leaving.resume(self.parts.store)
        except BaseException:
            self.parts.store.close()
            raise

    @cached_property
    def scale(self) -> Scale:
        """Which cosines of the embedder in use mean "unrelated" and "says the same". Measured once."""
        embedder = self.parts.embedder
        return Scale() if embedder is None else measured(embedder.embed(probes()))

    def user(
        self,
        user: str,
        *,
        tenant: str = "default",
        agent: str | None = None,
        session: str | None = None,
        aliases: Iterable[str] = (),
        caller: Caller = Caller.PERSON,
    ) -> User:
        """The verbs of one owner.

        `agent` and `session` stamp what is written and narrow what is read. `aliases` are the names that the person
        goes by in talk with several people. `caller` MODEL binds the sources that may be claimed.
        """
        owner = Owner(intake.name_of(tenant, "tenant"), intake.name_of(user, "user"))
        agent = intake.name_of(agent, "agent") if agent is not None else None
        session = intake.name_of(session, "session") if session is not None else None
        return User(self, owner, agent=agent, session=session, aliases=frozenset(aliases), caller=caller)

    def users(self) -> list[Owner]:
        """Every owner that this store holds something of."""
        return self.parts.store.owners()

    def import_(
        self, source: str | Path | BinaryIO, *, owner: Owner | None = None, restore_erased: bool = False
    ) -> Report:
        """Take in an export: same ids once, what was erased here or there stays erased, beliefs fold again.

        `source` is a path or an open binary file. With `owner`, an export of anybody else is NotAllowed.
        `restore_erased` brings back what was erased here and is in the file. Raises InvalidInput, Conflict.
        """
        given = export.read(Path(source) if isinstance(source, str) else source)
        if owner is not None and given.owner != owner:
            raise NotAllowed("the export is of another user than the one that this memory is of; nothing was imported")
        return merging.take_in(self, given, restore_erased=restore_erased)

    def merge(self, location: str | Path, *, key: str | bytes | None = None) -> Report:
        """Take in everything of another store, and everything that was erased there. The other store stays as it is.

        Merging two stores into each other makes them hold the same, whichever comes first.
        Raises InvalidInput, Conflict, StoreUnavailable and its kin.
        """
        other = wiring.open_existing(str(location), key)
        try:
            return merging.merge(self, other)
        finally:
            other.close()

    def rebuild(self) -> Report:
        """Derive beliefs and indexes again from the ledger, and say whether they came out equal."""
        return upkeep.rebuild(self)

    def apply_policy(self, policy: Policy | str) -> Report:
        """Take another policy: store it and fold every owner again. Admission verdicts stay as they were given."""
        return upkeep.apply_policy(self, policy)

    def embed(self) -> int:
        """Make the vectors that are due with the embedder in use; resumable. Returns how many were made."""
        return upkeep.embed(self)

    def work(self) -> Receipt:
        """Have the model read all that is due, of every user, and that nobody else is at. What a worker does.

        Raises InvalidInput where no model is configured, StoreError.
        """
        if self.parts.extractor is None:
            raise InvalidInput(
                'no model is configured to read: open the memory with writer=LLMWriter("PROVIDER:MODEL")'
            )
        receipt = Receipt()
        for owner in self.parts.store.due(micros(self.parts.clock())):
            receipt = joined(receipt, learning.Reader(self, owner, self.parts.extractor).read_due())
        return receipt

    def health(self) -> dict[str, Any]:
        """Store invariants and counts: what is wrong (empty when nothing is), and how much there is of what."""
        return upkeep.health(self)

    def maintain(self, now: datetime | None = None) -> dict[str, int]:
        """Make due vectors, count what expired, tidy the file. Safe to run at any time, twice, or to be killed."""
        return upkeep.maintain(self, now or self.parts.clock())

    def vectors(self, texts: Sequence[str]) -> list[bytes | None]:
        """Packed float16 vectors of texts; None each where vectors are made later or not at all."""
        embedder = self.parts.embedder
        if embedder is None or not embedder.inline or not texts:
            return [None] * len(texts)
        return [row.tobytes() for row in embedder.embed(texts).astype("<f2")]

    def close(self) -> None:
        """Let go of the file. Safe to call twice."""
        if self.background is not None:
            self.background.stop()
        self.parts.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class User:
    """The verbs of one owner. Every write is one transaction and answers with a receipt after the commit."""

    memory: Memory
    owner: Owner
    agent: str | None = None
    session: str | None = None
    aliases: frozenset[str] = frozenset()
    caller: Caller = Caller.PERSON

    # -- writing: talk ------------------------------------------------------------------------------------------

    def observe(self, messages: object, *, full: bool = False, **options: Unpack[WriteOptions]) -> Receipt:
        """Keep messages word for word, and what the writer's rules find in them.

        Takes a string, a message or a list of them, in the shapes of OpenAI, Anthropic and LangChain. A message with
        an id that is here already is a duplicate; with other content, a Conflict. `full=True` for clients that send
        the whole history each time. Never calls a model.

        Raises InvalidInput (the whole batch is refused), Conflict, StoreError.
        """
        now = self.memory.parts.clock()
        drafts = intake.drafts(messages, now=self._said_at(options) or now, zone=self.memory.zone, mask=secrets.mask)
        batch = Batch(drafts, self._session(options), full, self._origin(options), self._metadata(options))
        vectors = self._vectors_of_new(batch)
        told = [draft if draft.at_original is not None else replace(draft, at=EPOCH) for draft in drafts]
        body = (told, batch.session, self._said_at(options))  # a repeat comes later: the clock is no part of it
        receipt = self._write(now, options, body, lambda write: self._keep(write, batch, vectors))
        self._wake()
        return receipt

    def extract(self, since: When = None, *, session: str | None = None, background: bool = False) -> Receipt:
        """Run the writer on what it has not read, or again on all that was said since a time. Adds what is new.

        Rules read at once. A model reads outside of any transaction; what it cannot read is in `Receipt.failed`, waits,
        and is read by whoever comes next. `background=True` leaves the model's part to a worker. Safe to repeat.

        Raises InvalidInput, StoreError.
        """
        session = session or self.session
        query = MessageQuery(since=self._time(since, "since"), session=session, agent=self.agent)
        with self._reading() as work:
            found = _conversations(list(work.messages.walk(query)))
        receipt = Receipt()
        for talk in found:
            heard = self._write(self.memory.parts.clock(), {}, (), partial(Write.listen, messages=talk))
            receipt = joined(receipt, heard)
        if background or self.memory.background is not None:
            self._leave_to_worker([talk[0].session for talk in found])
            return receipt
        return joined(receipt, self._read(found, again=since is not None))

    def end_session(self, session: str | None = None) -> Receipt:
        """The conversation is over: run the writer on what it said and was not looked at yet."""
        if self.memory.trigger is not None:
            self._leave_to_worker([session or self.session])
        return self.extract(session=session)

    # -- writing: claims ----------------------------------------------------------------------------------------

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
        """Offer one claim to memory: free text, or the value of an attribute of a subject.

        `evidence` are message ids, or mappings {"message_id", "quote"}. `confidence` may only lower what the source
        gives. Raises InvalidInput, NotAllowed (a source the caller may not claim), Conflict, StoreError.
        """
        now = self.memory.parts.clock()
        rule = self.memory.policy.attribute(intake.name_of(attribute, "attribute")) if attribute is not None else None
        cites = tuple(_evidence(each) for each in evidence)
        claim = Claim(
            act=Act.ASSERT,
            subject=self._subject(subject),
            attribute=rule.name if rule else None,
            value=intake.value_of(text, MOST_VALUE, secrets.mask),
            kind=_one_of(Kind, kind, "kind") if kind is not None else (rule.kind if rule else Kind.SEMANTIC),
            source=_one_of(Source, source, "source"),
            confidence=confidence,
            evidence=cites,
            origin=self._origin(options),
        )
        offer = Offer(
            claim,
            said_at=self._said_at(options) or self._heard_at(cites) or now,
            valid_from=self._time(valid_from, "valid_from"),
            valid_to=self._time(valid_to, "valid_to"),
            expires_at=self._time(expires_at, "expires_at"),
            session=self._session(options),
            metadata=self._metadata(options),
        )
        if offer.valid_to is not None and offer.valid_to <= (offer.valid_from or offer.said_at):
            raise InvalidInput("valid_to must be later than valid_from")
        body = (claim, offer.valid_from, offer.valid_to, offer.expires_at, offer.metadata)
        return self._write(now, options, body, lambda write: write.offer([offer]))

    def correct(
        self, belief_id: str, value: str, *, reason: str | None = None, **options: Unpack[ActOptions]
    ) -> Receipt:
        """Replace a belief over the whole of its interval: it never was. The old one is kept as withdrawn."""
        new = intake.value_of(value, MOST_VALUE, secrets.mask)
        return self._act(Act.CORRECT, belief_id, Given(value=new, reason=_reason(reason)), options)

    def end(
        self, belief_id: str, at: When = None, *, reason: str | None = None, **options: Unpack[ActOptions]
    ) -> Receipt:
        """It was true and no longer is, as of `at` (now unless said)."""
        return self._act(Act.END, belief_id, Given(at=self._time(at, "at"), reason=_reason(reason)), options)

    def retract(self, id: str, *, reason: str | None = None, **options: Unpack[ActOptions]) -> Receipt:  # noqa: A002 - the public name
        """It was never true. Takes the id of a belief, an observation or a message."""
        return self._act(Act.RETRACT, id, Given(reason=_reason(reason)), options)

    def confirm(self, belief_id: str, **options: Unpack[ActOptions]) -> Receipt:
        """The person says that it is so."""
        return self._act(Act.CONFIRM, belief_id, Given(), options)

    def reject(self, belief_id: str, *, reason: str | None = None, **options: Unpack[ActOptions]) -> Receipt:
        """The person says that it is not so."""
        return self._act(Act.REJECT, belief_id, Given(reason=_reason(reason)), options)

    # -- reading ------------------------------------------------------------------------------------------------

    def recall(self, question: str, *, limit: int = 10, **options: Unpack[ReadOptions]) -> list[Hit]:
        """What memory holds that answers a question, best first; at most `limit`, each with its terms and evidence.

        Never writes. Empty when nothing is good enough. Raises InvalidInput, ProviderFailed, StoreError.
        """
        return list(self.search(question, limit=limit, **options).hits)

    def search(self, question: str, *, limit: int = 10, **options: Unpack[ReadOptions]) -> Found:
        """As `recall`, with the account of how each hit came about and what was left out."""
        _refuse_unknown(options, ReadOptions)
        with self._reading() as work:
            seen = self._see(work, options.get("valid_at"), options.get("known_at"))
            held = reads.held_by(work, seen, self.agent, self.session)
            asked = self._ask(question, seen, self._conditions(limit, options))
            return search(asked, seen.index, held, reads.beside(work, seen))

    def context(
        self, question: str, *, max_tokens: int = 800, limit: int = 10, **options: Unpack[ReadOptions]
    ) -> Context:
        """The block to give to the model: the profile first, then what the question needs, dated and cited."""
        times = {"valid_at": options.get("valid_at"), "known_at": options.get("known_at")}
        hits = self.recall(question, limit=limit, **options)
        now = self._time(options.get("valid_at"), "valid_at") or self.memory.parts.clock()
        budget = Budget(
            self.memory.parts.tokenizer,
            now,
            intake.limit_of(max_tokens),
            intake.limit_of(limit),
            lambda attribute: None if attribute is None else self.memory.policy.attribute(attribute).half_life_days,
        )
        return build(self.profile(**times), hits, budget)

    def profile(self, *, valid_at: When = None, known_at: When = None) -> list[Belief]:
        """What is always worth knowing of the person: current values of the profile's slots. Guesses never enter.

        How things are to be done (kind procedural) is part of it in free words too, where the person said so.
        """
        held = self.beliefs(subject="user", valid_at=valid_at, known_at=known_at)
        return [b for b in held if not b.guess and self._is_profile(b)]

    def _is_profile(self, belief: Belief) -> bool:
        if belief.attribute is None:
            return belief.kind is Kind.PROCEDURAL and RANK[belief.source] is SAID
        return self.memory.policy.attribute(belief.attribute).profile

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
        wanted = None if state in (None, "all") else _one_of(State, state, "state")
        with self._reading() as work:
            seen = self._see(work, valid_at, known_at)
            found = list(reads.narrowed(work, seen, self.agent, self.session))
        if subject is not None:
            key = value_key(self._subject(subject))
            found = [b for b in found if value_key(b.subject) == key]
        if attribute is not None:
            found = [b for b in found if b.attribute == self.memory.policy.canonical(attribute)]
        return [b for b in found if wanted is None or b.state is wanted]

    def history(self, subject: str, attribute: str | None = None) -> list[Belief]:
        """Every belief that the slot has held, oldest first, with intervals, states and reasons."""
        return sorted(self.beliefs(subject, attribute, state=None), key=lambda b: (b.valid_from, b.recorded_at, b.id))

    def pending(self) -> list[Pending]:
        """What waits for the person, with the question to put to them."""
        return [pending(belief, self.memory.policy) for belief in self.beliefs(state=State.PENDING)]

    def why(self, id: str) -> Explanation:  # noqa: A002 - the public name
        """Why memory holds a belief: the observations, the words quoted, the rule applied, what it displaced.

        Takes the id of a belief or of any observation that supports it. Raises NotFound.
        """
        with self._reading() as work:
            seen = self._see(work)
            return reads.explain(work, seen, self.memory.policy, reads.resolve(work, seen, id))

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
        query = MessageQuery(
            session=session or self.session,
            agent=self.agent,
            since=self._time(since, "since"),
            until=self._time(until, "until"),
            after=after,
            limit=intake.limit_of(limit) if limit is not None else None,
        )
        with self._reading() as work:
            yield from work.messages.walk(query)

    def sessions(self) -> list[Session]:
        """The conversations, by their first message."""
        with self._reading() as work:
            return [s for s in work.messages.sessions() if self.session in (None, s.id)]

    def used(self, ids: Iterable[str]) -> None:
        """Say which hits served: feeds the use term of the score. Unknown ids are ignored."""
        now = self.memory.parts.clock()
        with self.memory.parts.store.writing(self.owner, now) as work:
            work.beside.add_use(reads.known(work, ids), micros(now))

    # -- leaving ------------------------------------------------------------------------------------------------

    def forget(self, id: str, **how: Unpack[Proving]) -> ErasureReceipt:  # noqa: A002 - the public name
        """Erase one message, observation or belief, and all that rests on it alone. Bytes go, not only rows.

        A belief goes with the messages that it quotes: as long as those words stay, it is not forgotten.
        `verify=True` searches the store's raw bytes afterwards and puts what it found into the receipt.
        Raises NotFound.
        """
        return self._leave(lambda work: leaving.named(work, self._see(work), id), how)

    def forget_source(
        self,
        *,
        session: str | None = None,
        message: str | None = None,
        origin: str | None = None,
        **how: Unpack[Proving],
    ) -> ErasureReceipt:
        """Erase everything learned from one session, message or origin, and the messages themselves."""
        if sum(each is not None for each in (session, message, origin)) != 1:
            raise InvalidInput("forget_source takes exactly one of session=, message= and origin=")
        if message is not None:
            return self.forget(message, **how)
        return self._leave(lambda work: leaving.learned_from(work, session=session, origin=origin), how)

    def erase(self, **how: Unpack[Proving]) -> ErasureReceipt:
        """The right to erasure: everything of this owner goes. Refused on a handle narrowed to an agent or session.

        `verify=True` searches the store's raw bytes afterwards and puts what it found into the receipt.
        """
        if self.agent is not None or self.session is not None:
            raise NotAllowed("erase() takes a whole owner; open the user without agent= and session=")
        return self._leave(leaving.all_of_it, how)

    def export(self, path: str | Path) -> Report:
        """Write everything of this owner as JSON Lines: lossless, with counts and a checksum. Calls no model."""
        with self._reading() as work:
            messages, observations = export.write(Path(path), work, self.memory.policy.digest)
            return Report(
                equal=True,
                owners=1,
                messages=messages,
                observations=observations,
                beliefs=len(self._see(work).beliefs),
            )

    def exported(self) -> Iterator[bytes]:
        """The lines of an export, one by one, as `export` would write them; the store is read while it is walked."""
        with self._reading() as work:
            yield from export.encoded(work, self.memory.policy.digest)

    # -- what a model reads ---------------------------------------------------------------------------------------

    def _leave_to_worker(self, sessions: Sequence[str | None]) -> None:
        """Mark sessions as due. Who reads them, this process or another, is a matter of who comes first."""
        now = self.memory.parts.clock()
        with self.memory.parts.store.writing(self.owner, now) as work:
            for session in sessions:
                learning.mark_ended(work, session, now)
        self._wake()

    def _wake(self) -> None:
        if self.memory.background is not None:
            self.memory.background.wake()

    def _read(self, talks: Sequence[Sequence[Message]], *, again: bool) -> Receipt:
        extractor = self.memory.parts.extractor
        receipt = Receipt()
        if extractor is None:
            return receipt
        reader = learning.Reader(self.memory, self.owner, extractor, self.aliases)
        for talk in talks:
            read = reader.read_again(talk) if again else reader.read_on(talk[0].session or learning.NO_SESSION)
            receipt = joined(receipt, read)
        return receipt

    # -- what is asked ------------------------------------------------------------------------------------------

    def _conditions(self, limit: int, options: ReadOptions) -> Conditions:
        sessions = options.get("sessions")
        return Conditions(
            limit=limit,
            kinds=options.get("kinds"),
            sessions=[self.session] if sessions is None and self.session is not None else sessions,
            agent=self.agent,
            since=self._time(options.get("since"), "since"),
            until=self._time(options.get("until"), "until"),
            valid_at=self._time(options.get("valid_at"), "valid_at"),
            known_at=self._time(options.get("known_at"), "known_at"),
            include=options.get("include", "all"),
            filters=options.get("filters"),
        )

    def _ask(self, question: str, seen: Seen, conditions: Conditions) -> Question:
        text = intake.question_of(question)
        people = reads.people(seen, self.owner, self.aliases)
        asked = ask(text, self.memory.parts.clock(), people, conditions)
        embedder = self.memory.parts.embedder
        if embedder is None or not seen.index.has_vectors:  # nothing to compare with: a model need not even load
            return asked
        return asked.with_vector(embedder.embed([asked.asked.topic])[0], self.memory.scale)

    # -- how the verbs reach the store --------------------------------------------------------------------------

    def _reading(self) -> AbstractContextManager[Reading]:
        return self.memory.parts.store.reading(self.owner)

    def _see(self, work: Reading, valid_at: When = None, known_at: When = None) -> Seen:
        now = self.memory.parts.clock()
        when = self._time(valid_at, "valid_at") or now
        seen = self.memory.snapshots.see(work, self.memory.policy, when)
        told = self._time(known_at, "known_at")
        return seen if told is None else reads.as_known(work, seen, self.memory.policy, (when, told))

    def _write(self, now: datetime, options: WriteOptions, body: object, enter: Callable[[Write], Receipt]) -> Receipt:
        _refuse_unknown(options, WriteOptions)
        parts = self.memory.parts
        key = options.get("idempotency_key")
        key = intake.name_of(key, "idempotency_key") if key is not None else None
        with parts.store.writing(self.owner, now) as work:
            policy, vectors = upkeep.in_step(self.memory)
            means = Means(policy, parts.writer, self.caller, self.agent, self.aliases, parts.ids, vectors)
            return once(work, key, body_of(body) if key else "", lambda: enter(Write(work, means, now)))

    def _act(self, act: Act, name: str, given: Given, options: ActOptions) -> Receipt:
        now = self.memory.parts.clock()
        expected = options.pop("expected", None)
        aim = Aim(
            act,
            name,
            said_at=self._said_at(options) or now,
            value=given.value,
            at=given.at,
            reason=given.reason,
            session=self._session(options),
            origin=self._origin(options),
            metadata=self._metadata(options),
            expected=expected,
        )
        return self._write(now, options, (act, name, given), lambda write: self._carry_out(write, aim))

    def _carry_out(self, write: Write, aim: Aim) -> Receipt:
        seen = self._see(write.work)
        heard = reads.messages_of(write.work, [aim.id]) if aim.act is Act.RETRACT else {}
        try:
            belief = reads.resolve(write.work, seen, aim.id)
        except NotFound:
            if aim.id not in heard:
                raise
            return write.take_back(aim, heard[aim.id])
        if aim.expected is not None:
            self._unchanged(reads.explain(write.work, seen, write.means.policy, belief), aim.expected)
        return write.act(aim, belief)

    def _unchanged(self, told: Explanation, expected: str) -> None:
        if told.tag != expected:
            raise Stale(f"{told.belief.id!r} is not as you saw it: ask why it is held, and decide again")

    def _keep(self, write: Write, batch: Batch, vectors: Mapping[str, bytes | None]) -> Receipt:
        in_space = write.means.vectors == self.memory.vectors  # see upkeep.in_step
        receipt = write.keep(batch, vectors if in_space else {})
        if self.memory.trigger is not None and receipt.messages:
            sessions = [draft.session if draft.session is not None else batch.session for draft in batch.drafts]
            learning.mark(write.work, sessions, self.memory.trigger, write.now)
        return receipt

    def _leave(self, choose: Callable[[Writing], leaving.Leaving], how: Proving) -> ErasureReceipt:
        now, store = self.memory.parts.clock(), self.memory.parts.store
        verify = how.get("verify", False)
        with store.writing(self.owner, now) as work:
            policy, vectors = upkeep.in_step(self.memory)
            going = leaving.departure(work, choose(work))
            pieces = leaving.pieces(work, going, how.get("canaries", ())) if verify else []
            receipt = leaving.erase(work, going, Folder(work, policy, vectors, now))
        self.memory.snapshots.forget(self.owner)
        receipt = leaving.finish(store, receipt)
        return leaving.prove(store, receipt, pieces) if verify else receipt

    def _vectors_of_new(self, batch: Batch) -> Mapping[str, bytes | None]:
        """Vectors are made before the transaction, so that no other process waits for them."""
        with self._reading() as work:
            new = unseen(work, batch)
        texts = list(dict.fromkeys(draft.content for draft in new.drafts))
        made = self.memory.vectors(texts)
        embedder = self.memory.parts.embedder
        if embedder is not None and any(made) and not self.memory.reembed:
            upkeep.settle_size(self.memory.parts.store, embedder)
        return dict(zip(texts, made, strict=True))

    # -- what the caller gave -----------------------------------------------------------------------------------

    def _subject(self, subject: str) -> str:
        name = intake.name_of(secrets.mask(subject)[0] if isinstance(subject, str) else subject, "subject")
        return "user" if name in self.aliases or name.casefold() == "user" else name

    def _session(self, options: WriteOptions) -> str | None:
        given = options.get("session")
        return intake.name_of(given, "session") if given is not None else self.session

    def _origin(self, options: WriteOptions) -> str | None:
        given = options.get("origin")
        return intake.name_of(given, "origin") if given is not None else None

    def _metadata(self, options: WriteOptions) -> Mapping[str, Any]:
        return intake.metadata_of(options.get("metadata"), secrets.mask)

    def _time(self, value: When, name: str) -> datetime | None:
        return None if value is None else intake.time_of(value, name, self.memory.zone)

    def _said_at(self, options: WriteOptions) -> datetime | None:
        return self._time(options.get("said_at"), "said_at")

    def _heard_at(self, cites: Sequence[Evidence]) -> datetime | None:
        """A claim with evidence was said when its first message was."""
        with self._reading() as work:
            heard = reads.messages_of(work, (each.message_id for each in cites))
        missing = [each.message_id for each in cites if each.message_id not in heard]
        if missing:
            raise InvalidInput(f"evidence names the message {missing[0]!r}, which is not here")
        return heard[cites[0].message_id].at if cites else None


_OWN_OPTIONS = (
    *("subject", "attribute", "source", "confidence", "kind", "valid_from", "valid_to", "expires_at", "evidence"),
    *("full", "reason", "expected", "limit", "max_tokens"),
)


def _refuse_unknown(options: Mapping[str, Any], known: type) -> None:
    """A misspelt option is an error, as any misspelt argument is: dropped silently it would change what is meant."""
    for name in options:
        if name not in known.__annotations__:
            alike = get_close_matches(name, [*known.__annotations__, *_OWN_OPTIONS], n=1)
            hint = f"; did you mean {alike[0]!r}?" if alike else ""
            raise TypeError(f"unexpected option {name!r}{hint}")


E = TypeVar("E", bound=StrEnum)


def _one_of(kind: type[E], value: object, what: str) -> E:
    try:
        return kind(str(value))
    except ValueError:
        known = ", ".join(each for each in kind if each is not Source.REPEATED)  # derived, never an input
        raise InvalidInput(f"{what} is one of {known}; not {str(value)[:40]!r}") from None


def _reason(given: str | None) -> str | None:
    return intake.value_of(given, MOST_VALUE, secrets.mask) if given else None


def _evidence(given: Cites) -> Evidence:
    if isinstance(given, Evidence):
        return given
    if isinstance(given, str):
        return Evidence(given)
    if isinstance(given, Mapping) and isinstance(given.get("message_id"), str) and set(given) <= _EVIDENCE:
        return Evidence(**given)
    raise InvalidInput('evidence is a message id, or {"message_id": …, "quote": …}')


_EVIDENCE = {"message_id", "start", "end", "quote"}


def _conversations(messages: Sequence[Message]) -> list[list[Message]]:
    """Messages by session, each session in ledger order."""
    ordered = sorted(messages, key=lambda m: m.session or "")
    return [list(talk) for _, talk in groupby(ordered, key=lambda m: m.session)]
