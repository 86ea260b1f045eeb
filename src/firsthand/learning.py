"""What a model reads: which talk is due, lent to one reader at a time, and what became of it.

A batch goes through three steps: it is lent (a short transaction), read by the model (no transaction at all, however
long it takes), and taken in (a short transaction again). Whoever dies on the way leaves the batch to the next one,
once the loan has run out; whoever comes back too late finds it read by another and adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from firsthand.model import Belief, Caller, Failed, Message, Owner, Position, Receipt, Role, State, micros
from firsthand.policy import Attribute, Policy
from firsthand.ports import Cursor, Extracted, Extractor, MessageQuery, Proposal, Reading, Task, Writing
from firsthand.text import terms, value_key
from firsthand.upkeep import Place, in_step
from firsthand.writer.triggers import Trigger
from firsthand.writes import BEFORE, Means, Write, joined

MOST_TURNS = 40  # of one batch
MOST_CHARACTERS = 24_000  # of one batch: some 6,000 tokens beside the prompt
MOST_HELD = 60  # lines of what is held that a model is shown
LENT = timedelta(minutes=15)  # longer than two calls at their longest wait
FIRST_PAUSE = timedelta(seconds=30)  # after a failure; doubles up to the longest
LONGEST_PAUSE = timedelta(hours=6)

CAPPED = "what models may cost today is spent"
TAKEN = "another reader has it"

NO_SESSION = ""


# -- what is due -------------------------------------------------------------------------------------------------


def mark(work: Writing, sessions: Sequence[str | None], trigger: Trigger, now: datetime) -> None:
    """Make sessions due that have new messages, where the trigger says so. Part of the write that brought them."""
    for session in dict.fromkeys(sessions):
        cursor = work.cursors.get(session or NO_SESSION)
        waiting = 0
        if trigger.turns is not None:
            turns = (m for m in unread(work, cursor) if m.role is Role.USER)
            waiting = sum(1 for _ in islice(turns, trigger.turns))
        due_at = trigger.due_at(waiting, now)
        if due_at is not None and (trigger.pause is not None or cursor.due_at is None):
            work.cursors.save(replace(cursor, due_at=due_at))


def mark_ended(work: Writing, session: str | None, now: datetime) -> None:
    """Make a session due, if anything in it was not read."""
    cursor = work.cursors.get(session or NO_SESSION)
    if next(unread(work, cursor), None) is not None:
        work.cursors.save(replace(cursor, due_at=micros(now)))


def unread(work: Reading, cursor: Cursor) -> Iterator[Message]:
    """The messages of a session that no model has read."""
    session = cursor.session or None
    found = work.messages.walk(MessageQuery(session=session, after=cursor.seen))
    return found if session is not None else (m for m in found if m.session is None)


# -- one batch ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """Talk that was lent to this reader."""

    cursor: Cursor  # as it was lent; `seen` is still what was read before
    task: Task
    last: Position  # of the last message in it
    agent: str | None
    more: bool  # whether more of the session waits after it

    @property
    def session(self) -> str | None:
        """The session it is of."""
        return self.cursor.session or None


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads on for one owner. `holder` names this reader among all."""

    place: Place
    owner: Owner
    extractor: Extractor
    aliases: frozenset[str] = frozenset()

    def read_due(self) -> Receipt:
        """Read all that is due by now and that nobody else is at."""
        receipt = Receipt()
        with self.place.parts.store.reading(self.owner) as work:
            due = [cursor.session for cursor in work.cursors.due(micros(self.place.parts.clock()))]
        for session in due:
            receipt = joined(receipt, self.read_on(session))
        return receipt

    def read_on(self, session: str) -> Receipt:
        """Read all that waits in a session, batch by batch, until something fails."""
        receipt = Receipt()
        while True:
            batch = self._lend(session)
            if batch is None or isinstance(batch, Failed):
                return receipt if batch is None else joined(receipt, Receipt(failed=(batch,)))
            read, receipt = self._read(batch, receipt)
            if not (read and batch.more):
                return receipt

    def read_again(self, messages: Sequence[Message]) -> Receipt:
        """Read messages of one session whether they were read or not, and add what is new. No cursor moves back."""
        receipt = Receipt()
        left = list(messages)
        while left:
            if self._over():
                return joined(receipt, Receipt(failed=(Failed(left[0].session, len(left), CAPPED),)))
            batch = list(_portion(left))
            with self.place.parts.store.reading(self.owner) as work:
                task = self._task(work, batch)
            extracted = self.extractor.extract(task)
            taken = self._take_again(batch, task, extracted)
            receipt = joined(receipt, taken)
            if extracted.failure is not None:
                return joined(receipt, Receipt(failed=(Failed(left[0].session, len(left), extracted.failure),)))
            left = left[len(batch) :]
        return receipt

    # -- lending --------------------------------------------------------------------------------------------------

    def _over(self) -> bool:
        return self.extractor.over(self.place.parts.store.spent(self._today()))

    def _today(self) -> str:
        return self.place.parts.clock().date().isoformat()

    def _lend(self, session: str) -> Batch | Failed | None:
        """The next batch of a session; None when nothing in it waits."""
        over = self._over()
        now = self.place.parts.clock()
        with self.place.parts.store.writing(self.owner, now) as work:
            cursor = work.cursors.get(session)
            waiting = list(islice(unread(work, cursor), MOST_TURNS + 1))
            if not waiting:
                if cursor.due_at is not None:
                    work.cursors.save(replace(cursor, due_at=None))
                return None
            if cursor.leased_until > micros(now):
                return Failed(session or None, len(waiting), TAKEN)
            if over:
                if cursor.due_at is None:
                    work.cursors.save(replace(cursor, due_at=micros(now)))
                return Failed(session or None, len(waiting), CAPPED)
            lent = replace(cursor, leased_until=micros(now + LENT), holder=self.place.parts.ids())
            work.cursors.save(lent)
            messages = list(_portion(waiting))
            agents = {message.agent for message in messages}
            agent = agents.pop() if len(agents) == 1 else None
            task = self._task(work, messages)
            return Batch(lent, task, messages[-1].position, agent, more=len(waiting) > len(messages))

    def _task(self, work: Reading, messages: Sequence[Message]) -> Task:
        policy = self.place.policy
        seen = self.place.snapshots.see(work, policy, self.place.parts.clock())
        mine = [self._as_owner(m) for m in messages]
        names = [b.value for b in seen.beliefs if b.subject == "user" and b.attribute in ("name", "preferred_name")]
        return Task(
            messages=mine,
            before=[self._as_owner(m) for m in _before(work, messages[0])],
            names=[*self.aliases, *names],
            held=list(islice(_held(seen.beliefs, mine), MOST_HELD)),
            attributes={each.name: _meaning(each) for each in policy.attributes.values() if _may_be_noted(each)},
            never=[each.about for each in policy.sensitivities.values() if set(each.admits.values()) == {"drop"}],
        )

    def _as_owner(self, message: Message) -> Message:
        return replace(message, name=None) if message.name in self.aliases else message

    # -- reading and taking in --------------------------------------------------------------------------------------

    def _read(self, batch: Batch, receipt: Receipt) -> tuple[bool, Receipt]:
        """Have a batch read: whether that went well, and the receipt with what came of it."""
        extracted = self.extractor.extract(batch.task)
        now = self.place.parts.clock()
        with self.place.parts.store.writing(self.owner, now) as work:
            work.cursors.spend(self._today(), extracted.spending)
            cursor = work.cursors.get(batch.cursor.session)
            if cursor.holder != batch.cursor.holder:
                return False, joined(receipt, self._not_read(batch, TAKEN))
            if extracted.failure is not None:
                work.cursors.save(_after_failure(cursor, now))
                return False, joined(receipt, self._not_read(batch, extracted.failure))
            due_at = cursor.due_at if batch.more or cursor.due_at != batch.cursor.due_at else None
            work.cursors.save(Cursor(cursor.session, seen=batch.last, due_at=due_at))
            taken = self._take(work, batch.task, extracted, batch.agent)
        return True, joined(receipt, taken)

    def _not_read(self, batch: Batch, why: str) -> Receipt:
        return Receipt(failed=(Failed(batch.session, len(batch.task.messages), why),))

    def _take_again(self, messages: Sequence[Message], task: Task, extracted: Extracted) -> Receipt:
        with self.place.parts.store.writing(self.owner, self.place.parts.clock()) as work:
            work.cursors.spend(self._today(), extracted.spending)
            if extracted.failure is not None:
                return Receipt()
            cursor = work.cursors.get(messages[0].session or NO_SESSION)
            next_up = [m.id for m in islice(unread(work, cursor), len(messages))]
            if next_up == [m.id for m in messages]:
                work.cursors.save(replace(cursor, seen=messages[-1].position))
            return self._take(work, task, extracted, None)

    def _take(self, work: Writing, task: Task, extracted: Extracted, agent: str | None) -> Receipt:
        """Offer what the model proposes. A model is never the person: admission holds it to what a model may claim."""
        policy, vectors = in_step(self.place)
        means = Means(policy, None, Caller.MODEL, agent, self.aliases, self.place.parts.ids, vectors)
        write = Write(work, means, self.place.parts.clock())
        here = {m.id: m for m in work.messages.walk(MessageQuery(ids=[m.id for m in task.messages]))}
        proposals = [_named(p, policy) for p in extracted.proposals if p.message_id in here]
        news, repeats = _new(work, proposals)
        dropped = [each for each in extracted.dropped if each.message_id is None or each.message_id in here]
        if dropped:
            work.beside.add_dropped(dropped, work.next_position())
        taken = write.take_in(news, here)
        return replace(taken, dropped=(*dropped, *taken.dropped), duplicates=(*repeats, *taken.duplicates))


def _after_failure(cursor: Cursor, now: datetime) -> Cursor:
    """The cursor of a batch that waits: longer each time, never for good."""
    pause = min(FIRST_PAUSE * 2 ** min(cursor.failures, 20), LONGEST_PAUSE)
    return replace(cursor, due_at=micros(now + pause), leased_until=0, holder="", failures=cursor.failures + 1)


def _portion(messages: Sequence[Message]) -> Iterator[Message]:
    """The first messages that go into one batch; one at least, however long it is."""
    characters = 0
    for number, message in enumerate(messages):
        characters += len(message.content)
        if number >= MOST_TURNS or (number and characters > MOST_CHARACTERS):
            return
        yield message


def _before(work: Reading, first: Message) -> list[Message]:
    """The turns before a batch, oldest first. Talk of no session has no order to speak of."""
    if first.session is None:
        return []
    newest = work.messages.walk(MessageQuery(session=first.session, newest_first=True))
    earlier = (m for m in newest if m.position < first.position)
    return list(islice(earlier, BEFORE))[::-1]


# -- what a model is told ----------------------------------------------------------------------------------------


def _held(beliefs: Sequence[Belief], messages: Sequence[Message]) -> Iterator[str]:
    """What is held of the person and of those the messages name."""
    said = {term for message in messages for term in terms(message.content)}
    for belief in beliefs:
        if belief.state is not State.ACTIVE or belief.guess:
            continue
        about_user = belief.subject == "user"
        if about_user and belief.attribute is None and said.isdisjoint(terms(belief.value)):
            continue
        if about_user or not said.isdisjoint(terms(belief.subject)):
            yield f"{belief.subject}: {belief.text} (since {belief.valid_from:%Y-%m-%d})"


def _may_be_noted(attribute: Attribute) -> bool:
    """Whether a model may propose it at all."""
    return attribute.admission != "drop" and (not attribute.authority or "quoted" in attribute.authority)


def _meaning(attribute: Attribute) -> str:
    return f"{attribute.cardinality}; {attribute.phrase}" if attribute.phrase else attribute.cardinality


def _named(proposal: Proposal, policy: Policy) -> Proposal:
    """The proposal under the policy's own name of its attribute."""
    if proposal.attribute is None:
        return proposal
    return replace(proposal, attribute=policy.canonical(proposal.attribute))


def _new(work: Reading, proposals: Sequence[Proposal]) -> tuple[list[Proposal], list[str]]:
    """Proposals that say what no observation of their message says, and the ids of the observations that do."""
    known: dict[tuple[object, ...], str] = {}
    for observation in work.observations.citing([p.message_id for p in proposals]):
        said = (
            observation.act,
            value_key(observation.subject),
            observation.attribute,
            value_key(observation.value or ""),
        )
        for evidence in observation.evidence:
            known.setdefault((evidence.message_id, *said), observation.id)
    news: list[Proposal] = []
    repeats: list[str] = []
    for p in proposals:
        name = known.get((p.message_id, p.act, value_key(p.subject), p.attribute, value_key(p.value or "")))
        if name is None:
            news.append(p)
        else:
            repeats.append(name)
    return news, repeats
