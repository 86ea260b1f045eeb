"""One write, from what the caller gave to the receipt: messages kept, claims admitted, acts aimed, beliefs folded.

A `Write` lives inside one transaction of one owner. It decides nothing by itself: what may enter is decided in
`ledger/admission.py`, what follows for beliefs in `beliefs/`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from firsthand.beliefs.slots import owner_key
from firsthand.errors import Conflict
from firsthand.folding import Change, Folder
from firsthand.ledger import intake
from firsthand.ledger.admission import Claim, admit
from firsthand.ledger.intake import Draft
from firsthand.model import (
    EPOCH,
    Act,
    Belief,
    Caller,
    Dropped,
    Evidence,
    Kind,
    Message,
    Observation,
    Pending,
    Receipt,
    Role,
    Source,
    State,
    Target,
    Unheard,
    Verdict,
    to_json,
)
from firsthand.policy import Policy
from firsthand.ports import MessageQuery, Proposal, Reading, SearchRow, Writer, Writing
from firsthand.resent import erased_turns
from firsthand.text import term_hashes, value_key

BULK = 1_000  # messages in a batch that brings its own past along
ERASED = "this turn was erased; a history that is sent again does not bring it back"
UNHEARD = 'not known to be the user; if {name} is, say so: aliases=["{name}"], or --as "{name}" on the command line'
BEFORE = 8  # turns of the session that a writer sees before the new ones


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages on their way in."""

    drafts: Sequence[Draft]
    session: str | None = None
    full: bool = False
    origin: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Offer:
    """A claim on its way in, with what admission has no say in."""

    claim: Claim
    said_at: datetime
    id: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    target: Target | None = None
    reason: str | None = None
    session: str | None = None
    writer: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Aim:
    """An act on its way in."""

    act: Act
    id: str  # what the caller named
    said_at: datetime
    value: str | None = None  # the new value of a correction
    at: datetime | None = None  # when it ended
    reason: str | None = None
    session: str | None = None
    origin: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expected: str | None = None  # the tag of the explanation that the caller saw


@dataclass(frozen=True, slots=True)
class Means:
    """What a write works with besides the transaction."""

    policy: Policy
    writer: Writer | None
    caller: Caller
    agent: str | None
    aliases: frozenset[str]
    fresh_id: Callable[[], str]
    vectors: Callable[[Sequence[str]], Sequence[bytes | None]]


@dataclass(frozen=True, slots=True)
class Write:
    """One transaction's worth of entering."""

    work: Writing
    means: Means
    now: datetime

    # -- messages -----------------------------------------------------------------------------------------------

    def keep(self, batch: Batch, vectors: Mapping[str, bytes | None]) -> Receipt:
        """Append the messages that are new, and offer what the rules find in them."""
        new = unseen(self.work, batch)
        messages = [self._message(draft, batch) for draft in new.drafts]
        self.work.messages.add(messages)
        self.work.search.put(
            [SearchRow("message", m.id, term_hashes(m.content), vectors.get(m.content)) for m in messages]
        )
        heard = self.listen(messages)
        return replace(
            heard,
            messages=tuple(m.id for m in messages),
            duplicates=(*new.duplicates, *heard.duplicates),
            dropped=(*(Dropped(draft.content, ERASED, rule="erased") for draft in new.erased), *heard.dropped),
            unheard=self._unheard(messages),
        )

    def _unheard(self, messages: Sequence[Message]) -> tuple[Unheard, ...]:
        """Whose turns of the role user are not the person's, so that the writer passes them over."""
        if self.means.writer is None:
            return ()
        named = [m.name for m in map(self.as_owner, messages) if m.role is Role.USER and m.name and not m.recalled]
        return tuple(Unheard(name, count, UNHEARD.format(name=name)) for name, count in Counter(named).items())

    def _message(self, draft: Draft, batch: Batch) -> Message:
        return Message(
            id=draft.id or f"m{self.means.fresh_id()}",
            role=draft.role,
            content=draft.content,
            at=draft.at,
            position=self.work.next_position(),
            name=draft.name,
            session=draft.session if draft.session is not None else batch.session,
            agent=self.means.agent,
            origin=draft.origin or batch.origin,
            at_original=draft.at_original,
            raw=draft.raw,
            metadata={**batch.metadata, **draft.metadata},
            recalled=draft.recalled,
            masked=draft.masked,
        )

    def listen(self, messages: Sequence[Message]) -> Receipt:
        """Offer what the writer proposes of these messages; what it proposed before is a duplicate."""
        writer = self.means.writer
        mine = [self.as_owner(m) for m in messages]
        if writer is None or not any(m.role is Role.USER and m.name is None for m in mine):
            return Receipt()
        return self.take_in(writer.propose(mine, self._before(mine)), {m.id: m for m in mine})

    def take_in(self, proposals: Sequence[Proposal], messages: Mapping[str, Message]) -> Receipt:
        """Offer what a writer proposes of these messages, in order."""
        receipt = Receipt()
        for group in _runs(proposals, messages):
            receipt = joined(receipt, self._take(group))
        return receipt

    def as_owner(self, message: Message) -> Message:
        """The message, without a name where the name is the person's."""
        return replace(message, name=None) if message.name in self.means.aliases else message

    def _before(self, messages: Sequence[Message]) -> list[Message]:
        known = {m.id for m in messages}
        query = MessageQuery(session=messages[0].session, newest_first=True, limit=BEFORE + len(known))
        if messages[0].session is None or len(known) > BULK:  # a bulk load brings its own past
            return []
        earlier = [self.as_owner(m) for m in self.work.messages.walk(query) if m.id not in known]
        return earlier[:BEFORE][::-1]

    def _take(self, proposals: Sequence[Proposal]) -> Receipt:
        named = {self._proposal_id(p): p for p in proposals}
        known = self.work.observations.get(list(named))
        answered = [p.answers.message_id for p in named.values() if p.answers]
        cited = self._cited([*(p.message_id for p in named.values()), *answered])
        offers = [self._proposed(name, p, cited) for name, p in named.items() if name not in known]
        return replace(self.offer(offers), duplicates=tuple(name for name in named if name in known))

    def _proposal_id(self, p: Proposal) -> str:
        """The same words, read the same way, are the same observation, whoever reads them again."""
        parts = (p.message_id, p.act, p.subject, p.attribute, value_key(p.value or ""), p.start, p.end, p.retracts)
        given = json.dumps(parts, ensure_ascii=False).encode()
        return "x" + hashlib.blake2b(given, key=owner_key(self.work.owner), digest_size=10).hexdigest()

    def _proposed(self, name: str, p: Proposal, cited: Mapping[str, Message]) -> Offer:
        message = cited[p.message_id]
        claim = Claim(
            act=Act(p.act),
            subject=p.subject,
            attribute=p.attribute,
            value=p.value,
            kind=Kind(p.kind),
            source=Source(p.source),
            confidence=None,
            evidence=_evidence(p, cited),
            origin=message.origin,
        )
        return Offer(
            claim,
            said_at=message.at,
            id=name,
            valid_from=self._since(p, message),
            valid_to=p.valid_to,
            target=self._aim(p),
            session=message.session,
            writer=p.writer,
            metadata=p.metadata or {},
        )

    def _since(self, p: Proposal, message: Message) -> datetime | None:
        """Since when a proposed claim holds, or when what it ends did end.

        "I moved to Lisbon last week" says where the person lives now. Where another value is known to have begun
        after that week did, the claim holds from when it was said: it is no news about the past. "I left Nokia last
        week" ends, in the same way, what was first heard of yesterday.
        """
        if not _begun_before(p, message):
            return p.valid_from
        held = [b for b in self._held(p.subject, str(p.attribute)) if b.state is State.ACTIVE]
        if p.act == "end":
            held = [b for b in held if p.value is None or value_key(b.value) == value_key(p.value)]
        elif self.means.policy.attribute(str(p.attribute)).cardinality == "many":
            return p.valid_from
        return message.at if any(_time(p) < b.valid_from <= message.at for b in held) else p.valid_from

    def _aim(self, p: Proposal) -> Target | None:
        """What a proposed act is aimed at, as the beliefs stand now."""
        if p.retracts is not None:
            return Target(message_id=p.retracts)
        if p.act not in ("correct", "retract") or p.attribute is None:
            return None
        held = self._held(p.subject, p.attribute)
        old = [b for b in held if p.replaces is None or value_key(b.value) == value_key(p.replaces)]
        return target_of(old[-1]) if old else None

    def _held(self, subject: str, attribute: str) -> list[Belief]:
        probe = Observation(
            id="",
            act=Act.ASSERT,
            subject=subject,
            attribute=attribute,
            value="",
            kind=Kind.SEMANTIC,
            source=Source.STATED,
            confidence=1.0,
            said_at=self.now,
            position=self.work.next_position(),
        )
        standing = (State.ACTIVE, State.PENDING)
        return [b for b in self._folder().of_slot(probe).beliefs if b.state in standing]

    # -- claims and acts ----------------------------------------------------------------------------------------

    def offer(self, offers: Sequence[Offer]) -> Receipt:
        """Put claims before admission, append what may enter, and fold."""
        cited = self._cited(e.message_id for o in offers for e in o.claim.evidence)
        dropped: list[Dropped] = []
        observations: list[Observation] = []
        for offer in offers:
            admitted = admit(offer.claim, cited, self.means.policy, self.means.caller)
            if admitted.verdict is Verdict.DROP:
                first = offer.claim.evidence[0] if offer.claim.evidence else None
                text = offer.claim.value or (first.quote if first else None) or ""
                dropped.append(Dropped(text, admitted.reason or "", first.message_id if first else None, admitted.rule))
                continue
            observations.append(self._observation(offer, admitted))
        if dropped:
            self.work.beside.add_dropped(dropped, self.work.next_position())
        change = self._folder().append(observations) if observations else Change((), ())
        return self._receipt(observations, change, dropped)

    def act(self, aim: Aim, belief: Belief) -> Receipt:
        """Aim an act at a belief: correct, end, retract, confirm or reject it."""
        keeps = aim.act in (Act.CORRECT, Act.CONFIRM)
        claim = Claim(
            act=aim.act,
            subject=belief.subject,
            attribute=belief.attribute,
            value=belief.value if aim.act in (Act.CONFIRM, Act.END) else aim.value,
            kind=belief.kind,
            source=self._source_of(aim.act),
            confidence=None,
            evidence=(),
            origin=aim.origin,
        )
        offer = Offer(
            claim,
            said_at=aim.said_at,
            valid_from=belief.valid_from if keeps else None,
            valid_to=belief.valid_to if keeps else (aim.at or aim.said_at if aim.act is Act.END else None),
            target=target_of(belief),
            reason=aim.reason,
            session=aim.session,
            metadata=aim.metadata,
        )
        return self.offer([offer])

    def take_back(self, aim: Aim, message: Message) -> Receipt:
        """Mark a message as never meant; what rests on it alone never was."""
        claim = Claim(
            act=Act.RETRACT,
            subject="user",
            attribute=None,
            value=None,
            kind=Kind.EPISODIC,
            source=self._source_of(aim.act),
            confidence=None,
            evidence=(),
            origin=aim.origin,
        )
        target = Target(message_id=message.id)
        return self.offer(
            [Offer(claim, aim.said_at, target=target, reason=aim.reason, session=aim.session, metadata=aim.metadata)]
        )

    def _source_of(self, act: Act) -> Source:
        if self.means.caller is Caller.MODEL:
            return Source.AGENT
        return Source.CORRECTED if act is Act.CORRECT else Source.STATED

    def _observation(self, offer: Offer, admitted: Any) -> Observation:
        claim = offer.claim
        return Observation(
            id=offer.id or f"o{self.means.fresh_id()}",
            act=claim.act,
            subject=claim.subject,
            attribute=claim.attribute,
            value=claim.value,
            kind=claim.kind,
            source=admitted.source,
            confidence=admitted.confidence,
            said_at=offer.said_at,
            position=self.work.next_position(),
            valid_from=offer.valid_from,
            valid_to=offer.valid_to,
            expires_at=offer.expires_at,
            evidence=admitted.evidence,
            target=offer.target,
            verdict=admitted.verdict,
            reason=admitted.reason if admitted.verdict is Verdict.NEEDS_CONFIRM else offer.reason,
            session=offer.session,
            agent=self.means.agent,
            origin=claim.origin,
            writer=offer.writer,
            metadata=offer.metadata,
        )

    def _receipt(self, observations: Sequence[Observation], change: Change, dropped: Sequence[Dropped]) -> Receipt:
        waiting = {belief.id: belief for belief in change.pending()}
        return Receipt(
            stored=tuple(o.id for o in observations if o.id not in waiting),
            pending=tuple(pending(belief, self.means.policy) for belief in waiting.values()),
            dropped=tuple(dropped),
            superseded=change.superseded(),
        )

    def _folder(self) -> Folder:
        return Folder(self.work, self.means.policy, self.means.vectors, self.now)

    def _cited(self, ids: Iterable[str]) -> dict[str, Message]:
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        found = self.work.messages.walk(MessageQuery(ids=wanted))
        return {m.id: self.as_owner(m) for m in found}


def once(work: Writing, key: str | None, body: str, write: Callable[[], Receipt]) -> Receipt:
    """Do a write unless its idempotency key was used before: with the same body a repeat, with another a Conflict."""
    if key is None:
        return write()
    digest = hashlib.blake2b(body.encode("utf-8", "surrogatepass"), key=owner_key(work.owner)).hexdigest()
    known = work.beside.remembered_receipt(key)
    if known is not None and known[0] != digest:
        raise Conflict(f"idempotency key {key!r} was used for another write; use a new key")
    if known is not None:
        return Receipt(duplicates=tuple(json.loads(known[1])))
    receipt = write()
    ids = [*receipt.messages, *receipt.stored, *(each.id for each in receipt.pending)]
    work.beside.remember_receipt(key, digest, json.dumps(ids))
    return receipt


@dataclass(frozen=True, slots=True)
class Unseen:
    """What is new in a batch, and what is not."""

    drafts: list[Draft]
    duplicates: list[str]  # ids of those that are here already
    erased: list[Draft] = field(default_factory=list)  # of a history sent again: not taken in again


def unseen(work: Reading, batch: Batch) -> Unseen:
    """Tell what is new in a batch.

    Raises Conflict when an id that is here comes back with other content.
    """
    drafts = list(batch.drafts)
    repeats: list[str] = []
    erased: list[Draft] = []
    if batch.full:
        history = list(work.messages.walk(MessageQuery(session=batch.session)))
        turns = [d for d in drafts if d.role is not Role.SYSTEM]
        places = erased_turns(work, batch.session, len(turns))
        erased = [turns[place] for place in sorted(places)]
        drafts = intake.aligned(history, drafts, places)
        repeats = [m.id for m in history[: len(batch.drafts) - len(drafts) - len(erased)]]
    named = [d.id for d in drafts if d.id is not None]
    known: dict[str, Message | Draft] = {m.id: m for m in work.messages.walk(MessageQuery(ids=named))} if named else {}
    fresh = []
    for draft in drafts:
        earlier = known.get(draft.id) if draft.id is not None else None
        if earlier is None:
            fresh.append(draft)
            known.update({draft.id: draft} if draft.id is not None else {})
        elif intake.same(draft, earlier):
            repeats.append(str(draft.id))
        else:
            raise Conflict(f"message {draft.id!r} is here with other content; give the new one an id of its own")
    return Unseen(fresh, repeats, erased)


def target_of(belief: Belief) -> Target:
    """The belief as an act's target, with all that the fold needs of it copied in."""
    return Target(
        observation_id=belief.id.partition("@")[0],
        subject=belief.subject,
        attribute=belief.attribute,
        value=belief.value,
        slot=belief.slot if belief.attribute is None else None,
        valid_from=belief.valid_from,
        valid_to=belief.valid_to,
    )


def pending(belief: Belief, policy: Policy) -> Pending:
    """What waits, with the question to put to the person."""
    return Pending(belief.id, belief.reason, policy.question(belief.subject, belief.attribute, belief.value))


def joined(one: Receipt, other: Receipt) -> Receipt:
    """Two receipts as one."""
    return Receipt(
        stored=(*one.stored, *other.stored),
        pending=(*one.pending, *other.pending),
        dropped=(*one.dropped, *other.dropped),
        superseded=tuple(dict.fromkeys((*one.superseded, *other.superseded))),
        messages=(*one.messages, *other.messages),
        duplicates=(*one.duplicates, *other.duplicates),
        failed=(*one.failed, *other.failed),
        unheard=(*one.unheard, *other.unheard),
    )


def body_of(*parts: object) -> str:
    """A write's body as text, to tell a repeat from another write."""
    return json.dumps([to_json(each) for each in parts], sort_keys=True, ensure_ascii=False)


def _runs(proposals: Sequence[Proposal], messages: Mapping[str, Message]) -> list[list[Proposal]]:
    """Assertions that follow each other go in together; what depends on what is held goes alone, after those before."""
    groups: list[list[Proposal]] = []
    joins = False
    for proposal in proposals:
        plain = proposal.act == "assert" and not _begun_before(proposal, messages[proposal.message_id])
        if plain and joins:
            groups[-1].append(proposal)
        else:
            groups.append([proposal])
        joins = plain
    return groups


def _evidence(p: Proposal, cited: Mapping[str, Message]) -> tuple[Evidence, ...]:
    """The words that a proposal rests on, and the question that they answer."""
    words = Evidence(p.message_id, p.start, p.end, p.quote or cited[p.message_id].content[p.start : p.end])
    if p.answers is None or p.answers.message_id not in cited:
        return (words,)
    name, start, end = p.answers
    return words, Evidence(name, start, end, cited[name].content[start:end])


def _begun_before(p: Proposal, message: Message) -> bool:
    """Whether it claims a value that began before it was said and has not ended, or an ending before it was said."""
    if p.act not in ("assert", "end") or p.attribute is None or p.valid_to is not None:
        return False
    return p.valid_from is not None and p.valid_from < message.at


def _time(p: Proposal) -> datetime:
    return p.valid_from or EPOCH
