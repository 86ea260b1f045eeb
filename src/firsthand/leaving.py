"""What leaves, and the proof that it left: what an erasure takes, its one transaction, and the search for its bytes.

Which rows go along is decided in `ledger/erasure.py`; which pieces of them are looked for in `ledger/canaries.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from firsthand.beliefs.slots import owner_key
from firsthand.beliefs.view import view
from firsthand.errors import StoreBusy, StoreFull, StoreUnavailable
from firsthand.folding import Folder
from firsthand.ledger import erasure
from firsthand.ledger.canaries import Going, canaries, spread
from firsthand.model import ErasureReceipt, Message, Observation, Proof
from firsthand.ports import MessageQuery, Reading, Removal, Store, Writing
from firsthand.reads import messages_of, resolve, supporters, unknown
from firsthand.resent import marks
from firsthand.snapshots import Seen

_UNFINISHED = (StoreBusy, StoreFull, StoreUnavailable)


@dataclass(frozen=True, slots=True)
class Leaving:
    """What the caller asked to erase."""

    messages: tuple[str, ...] = ()
    observations: tuple[Observation, ...] = ()
    everything: bool = False


def named(work: Reading, seen: Seen, name: str) -> Leaving:
    """What goes when this message, observation or belief is forgotten. Raises NotFound."""
    if any(belief.id == name for belief in seen.beliefs):
        carried = supporters(work, seen, resolve(work, seen, name))
        return Leaving(tuple({e.message_id for o in carried for e in o.evidence}), tuple(carried))
    single = work.observations.get([name])
    if single:
        return Leaving(tuple({e.message_id for e in single[name].evidence}), (single[name],))
    if not messages_of(work, [name]):
        raise unknown(name)
    return Leaving(messages=(name,))


def learned_from(work: Reading, *, session: str | None, origin: str | None) -> Leaving:
    """What was said in one session or came from one origin, and what was claimed there."""
    heard = work.messages.walk(MessageQuery(session=session, origin=origin))
    claimed = (row.observation for row in work.observations.walk())
    matching = (
        o for o in claimed if (session is None or o.session == session) and (origin is None or o.origin == origin)
    )
    return Leaving(tuple(m.id for m in heard), tuple(matching))


def all_of_it(_: Reading) -> Leaving:
    """Everything of the owner."""
    return Leaving(everything=True)


@dataclass(frozen=True, slots=True)
class Departure:
    """What goes when something is erased: rows that go for good, and rows that are written again without words."""

    plan: erasure.Plan
    everything: bool = False


def departure(work: Reading, asked: Leaving) -> Departure:
    """What has to go for what was asked."""
    ledger = [row.observation for row in work.observations.walk()]
    if not asked.everything:
        return Departure(erasure.plan(asked.messages, asked.observations, ledger))
    messages = tuple(m.id for m in work.messages.walk(MessageQuery()))
    return Departure(erasure.Plan(messages, tuple(ledger), ()), everything=True)


def erase(work: Writing, going: Departure, folder: Folder) -> ErasureReceipt:
    """Remove rows, write again without the erased words what others still rest on, and fold what is left."""
    plan, key = going.plan, owner_key(work.owner)
    before = len(view(work.beliefs.cells(), folder.policy, folder.now).beliefs)
    digests = erasure.tombstones(key, [*plan.messages, *plan.observation_ids])
    if going.everything:
        work.erase(Removal(everything=True), digests)
        return ErasureReceipt(len(plan.messages), len(plan.observations), before, tuple(digests))
    rewritten = [o.id for o in plan.stripped]
    placed = work.beliefs.placements(observation_ids=[*plan.observation_ids, *rewritten])
    turns = marks(work, messages_of(work, plan.messages).values())
    work.erase(Removal(plan.messages, [*plan.observation_ids, *rewritten]), [*digests, *turns])
    work.observations.add(plan.stripped)
    folder.refold({placement.slot for placement, _ in placed}, rewritten)
    after = len(view(work.beliefs.cells(), folder.policy, folder.now).beliefs)
    return ErasureReceipt(len(plan.messages), len(plan.observations), before - after, tuple(digests))


def finish(store: Store, receipt: ErasureReceipt) -> ErasureReceipt:
    """Take the bytes of what was erased out of the store, or say what keeps them: the rows are gone either way."""
    try:
        if store.scrub():
            return receipt
        left = "their bytes are the server's, and go when the tables' owner runs `firsthand maintain`"
    except _UNFINISHED as error:
        left = str(error)
    return replace(receipt, complete=False, left=left)


def resume(store: Store) -> None:
    """Go on with an erasure whose bytes were left, by a process that was killed or a disk that was full."""
    if store.facts().get("scrub_due") == "1":
        finish(store, ErasureReceipt(0, 0, 0))


# -- the proof ---------------------------------------------------------------------------------------------------


def pieces(work: Reading, going: Departure, words: Iterable[str]) -> list[bytes]:
    """What to look for after an erasure, taken from what is about to go; `words` are further ones."""
    messages = spread(going.plan.messages)
    heard = messages_of(work, messages)
    names = [work.owner.user, *_sessions(heard.values())] if going.everything else []
    vectors = [facts.vector for facts in work.search.messages() if facts.id in heard and facts.vector]
    observations = spread(going.plan.observations)
    return canaries(Going(tuple(heard.values()), observations, vectors, names), words)


def _sessions(messages: Iterable[Message]) -> list[str]:
    return list({m.session for m in messages if m.session is not None})


def prove(store: Store, receipt: ErasureReceipt, needles: Sequence[bytes]) -> ErasureReceipt:
    """Search everything that the store keeps, and write into the receipt what was found."""
    seen = store.scan(needles)
    traces = [(place, needle) for place, needle in seen.found if needle not in seen.living]
    proof = Proof(
        places=tuple(f"{name} ({size:,} bytes)" for name, size in seen.places),
        pieces=len(needles),
        said_elsewhere=len(seen.living),
        traces=tuple(f"{name}: {count} of them" for name, count in sorted(Counter(name for name, _ in traces).items())),
        unreached=seen.unreached,
    )
    return replace(receipt, proof=proof)
