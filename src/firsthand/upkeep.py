"""What is done to a whole store or a whole owner: policies, embedders, rebuilding, erasing, importing, health."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from firsthand.beliefs import fold
from firsthand.beliefs.digest import digest
from firsthand.beliefs.view import View, view
from firsthand.errors import EmbedderMismatch, PolicyMismatch, SchemaTooNew
from firsthand.folding import Folder, SearchText, search_texts
from firsthand.model import Owner, Report, State
from firsthand.policy import Policy, default_policy, parse
from firsthand.ports import Embedder, MessageQuery, Reading, SearchRow, Store, Writing
from firsthand.snapshots import Snapshots
from firsthand.text import term_hashes
from firsthand.wiring import Parts

CHANGING = "changing to "
SIZE = "embedder_dimensions"  # the fact that holds how long vectors are
ANY_TIME = 2**62  # microseconds: after every time that anything can be due
AT_ONCE = 256  # rows embedded between two commits: an interruption loses no more than these


class Place(Protocol):
    """A memory, as upkeep needs it."""

    parts: Parts
    policy: Policy
    snapshots: Snapshots
    reembed: bool  # opened to make all vectors again

    def vectors(self, texts: Sequence[str]) -> list[bytes | None]:
        """Packed vectors of texts, None where they are made later."""


# -- policy and embedder -----------------------------------------------------------------------------------------


def settle_policy(store: Store, given: Policy | str | None) -> Policy:
    """The policy that this store is folded with; a new store takes the one given, or the default.

    Raises PolicyMismatch when another is given, PolicyInvalid when it is none.
    """
    wanted = parse(given) if isinstance(given, str) else given
    kept = store.facts().get("policy")
    if kept is None:
        chosen = wanted or default_policy()
        folded = {"policy_folded": chosen.digest, "fold": str(fold.VERSION)}
        store.set_facts({"policy": chosen.text, "policy_digest": chosen.digest, **folded})
        return chosen
    held = parse(kept)
    if wanted is not None and wanted.digest != held.digest:
        raise PolicyMismatch(
            "this store was folded with another policy; `firsthand policy apply FILE` takes the new one and folds again"
        )
    return held


Vectors = Callable[[Sequence[str]], Sequence[bytes | None]]


def in_step(place: Place) -> tuple[Policy, Vectors]:
    """The policy that the store has now, and how vectors are made. Asked inside a write.

    Another process may have applied another policy meanwhile, or made all vectors again with another embedder: then
    this one folds by the new policy, and leaves its vectors to be made by whoever has that embedder.
    """
    facts = place.parts.store.facts()
    _check_fold(facts)
    if facts.get("policy_digest") != place.policy.digest:
        place.policy = parse(facts["policy"])
    embedder = place.parts.embedder
    same_space = embedder is None or facts.get("embedder") == embedder.name
    return place.policy, place.vectors if same_space else _later


def _later(texts: Sequence[str]) -> list[bytes | None]:
    return [None] * len(texts)


def finish_folding(place: Place) -> None:
    """Fold again what an interrupted `apply_policy` left unfolded, or what an older version folded in another way.

    Raises SchemaTooNew where a newer version folded it.
    """
    facts = place.parts.store.facts()
    _check_fold(facts)
    if facts.get("policy_folded") != facts.get("policy_digest") or facts.get("fold") != str(fold.VERSION):
        apply_policy(place, place.policy)


def _check_fold(facts: Mapping[str, str]) -> None:
    if int(facts.get("fold", 0)) > fold.VERSION:
        raise SchemaTooNew(
            f"the beliefs here were folded by a newer firsthand (fold {facts['fold']}, this one knows {fold.VERSION}); "
            "upgrade firsthand to open it"
        )


def settle_embedder(store: Store, embedder: Embedder | None, *, reembed: bool) -> None:
    """Hold the store to one embedder. None (words alone) reads any store.

    Raises EmbedderMismatch when the store's vectors were made by another, unless `reembed`.
    """
    kept = store.facts().get("embedder")
    if embedder is None:
        return
    if kept == embedder.name and not reembed:
        settle_size(store, embedder)
    if kept is None:
        store.set_facts({"embedder": embedder.name})
        settle_size(store, embedder)
    elif kept != embedder.name and not reembed:
        made = kept.removeprefix(CHANGING)
        raise EmbedderMismatch(
            f"the vectors here were made by {made!r}, not by {embedder.name!r}; "
            "`firsthand embed --embedder NAME` makes them again, embedder='none' reads by words alone"
        )


def settle_size(store: Store, embedder: Embedder) -> None:
    """Hold an embedder of the name that the store knows to the size of its vectors too, where that is known by now.

    Raises EmbedderMismatch: another model answers under the same name.
    """
    if not embedder.dimensions:
        return
    kept = store.facts().get(SIZE)
    if not kept:
        store.set_facts({SIZE: str(embedder.dimensions)})
    elif kept != str(embedder.dimensions):
        raise EmbedderMismatch(
            f"the vectors here have {kept} dimensions, {embedder.name!r} makes {embedder.dimensions}: another model; "
            "open with reembed=True and call embed(), or give the embedder a name of its own"
        )


def embed(place: Place) -> int:
    """Make the vectors that are due; all of them where another embedder made them."""
    parts = place.parts
    embedder = parts.embedder
    if embedder is None:
        return 0
    if not embedder.dimensions:
        embedder.embed(["how long is a vector?"])  # a function shows its size when it is called
    if not place.reembed:
        settle_size(parts.store, embedder)
    facts = parts.store.facts()
    if facts.get("embedder") != embedder.name or facts.get(SIZE, "") not in ("", str(embedder.dimensions)):
        parts.store.set_facts({"embedder": CHANGING + embedder.name, SIZE: ""})
        for owner in parts.store.owners():
            with parts.store.writing(owner, parts.clock()) as work:
                work.search.forget_vectors()
                work.bump_epoch()
        parts.store.set_facts({"embedder": embedder.name, SIZE: str(embedder.dimensions)})
    return sum(_embed_owner(place, embedder, owner) for owner in parts.store.owners())


def _embed_owner(place: Place, embedder: Embedder, owner: Owner) -> int:
    made = 0
    while True:
        with place.parts.store.reading(owner) as work:
            due = work.search.due(AT_ONCE)
            texts = _belief_texts(work, place.policy, place.parts.clock()) if _any_belief(due) else {}
        named = [
            (kind, name, texts.get(name, SearchText("", "")) if kind == "belief" else SearchText(text, text))
            for kind, name, text in due
        ]
        if not named:
            return made
        vectors = embedder.embed([text.embedded for _, _, text in named]).astype("<f2")
        rows = [
            SearchRow(kind, name, term_hashes(text.searched), vector.tobytes())
            for (kind, name, text), vector in zip(named, vectors, strict=True)
        ]
        with place.parts.store.writing(owner, place.parts.clock()) as work:
            still = {(kind, name) for kind, name, _ in work.search.due(AT_ONCE)}  # what was erased meanwhile is not
            work.search.put([row for row in rows if (row.type, row.id) in still])
            work.bump_epoch()
        made += len(rows)


def _any_belief(due: Iterable[tuple[str, str, str]]) -> bool:
    return any(kind == "belief" for kind, _, _ in due)


def _belief_texts(work: Reading, policy: Policy, now: datetime) -> dict[str, SearchText]:
    return search_texts(view(work.beliefs.cells(), policy, now), policy)


# -- rebuilding --------------------------------------------------------------------------------------------------


def rebuild(place: Place) -> Report:
    """Derive beliefs and search rows of every owner again from the ledger."""
    different, counts = [], [0, 0, 0]
    for owner in place.parts.store.owners():
        with place.parts.store.writing(owner, place.parts.clock()) as work:
            _reindex(work, place.vectors)
            before, after = folder_of(place, work).rebuild()
            if before != after:
                different.append(f"{owner.tenant}/{owner.user}")
            for at, count in enumerate(_counts(work, place.policy, place.parts.clock())):
                counts[at] += count
        place.snapshots.forget(owner)
    owners = len(place.parts.store.owners())
    return Report(not different, owners, counts[0], counts[1], counts[2], tuple(different))


def apply_policy(place: Place, given: Policy | str) -> Report:
    """Store another policy and fold every owner again by it."""
    policy = parse(given) if isinstance(given, str) else given
    place.policy = policy
    place.parts.store.set_facts({"policy": policy.text, "policy_digest": policy.digest})
    report = rebuild(place)
    place.parts.store.set_facts({"policy_folded": policy.digest, "fold": str(fold.VERSION)})
    return report


def folder_of(place: Place, work: Writing) -> Folder:
    """Folds by the policy that the store has now."""
    policy, vectors = in_step(place)
    return Folder(work, policy, vectors, place.parts.clock())


def _reindex(work: Writing, vectors: Callable[[Sequence[str]], Sequence[bytes | None]]) -> None:
    kept = {facts.id: facts.vector for facts in work.search.messages()}
    rows: list[SearchRow] = []
    for message in work.messages.walk(MessageQuery()):
        vector = kept.get(message.id) or vectors([message.content])[0]
        rows.append(SearchRow("message", message.id, term_hashes(message.content), vector))
        if len(rows) >= AT_ONCE:
            work.search.put(rows)
            rows = []
    work.search.put(rows)


def _counts(work: Reading, policy: Policy, now: datetime) -> tuple[int, int, int]:
    messages = sum(session.messages for session in work.messages.sessions())
    observations = sum(1 for _ in work.observations.walk())
    return messages, observations, len(view(work.beliefs.cells(), policy, now).beliefs)


# -- health ------------------------------------------------------------------------------------------------------


def health(place: Place) -> dict[str, Any]:
    """Store invariants and counts."""
    wrong = list(place.parts.store.check())
    totals = dict.fromkeys(("owners", "messages", "observations", "dropped", "beliefs", "active", "pending", "due"), 0)
    for owner in place.parts.store.owners():
        with place.parts.store.reading(owner) as work:
            seen = view(work.beliefs.cells(), place.policy, place.parts.clock())
            totals["owners"] += 1
            totals["messages"] += sum(session.messages for session in work.messages.sessions())
            totals["observations"] += sum(1 for _ in work.observations.walk())
            totals["dropped"] += len(work.beside.dropped())
            totals["beliefs"] += len(seen.beliefs)
            totals["active"] += sum(b.state is State.ACTIVE for b in seen.beliefs)
            totals["pending"] += sum(b.state is State.PENDING for b in seen.beliefs)
            totals["due"] += len(work.search.due(10_000)) if place.parts.embedder else 0
            wrong.extend(f"{owner.tenant}/{owner.user}: {fault}" for fault in _faults(seen, place.policy))
    offered = totals["observations"] + totals["dropped"]
    return {
        "ok": not wrong,
        "wrong": wrong,
        **totals,
        "unread": _unread(place),
        "admission_rate": round(totals["observations"] / offered, 4) if offered else None,
        "erasure_unfinished": place.parts.store.facts().get("scrub_due") == "1",
        "embedder": place.parts.store.facts().get("embedder"),
        "policy_digest": place.policy.digest,
    }


def _unread(place: Place) -> dict[str, int]:
    """Sessions that a model is to read on, those that it failed on, and what models cost today."""
    cursors = []
    for owner in place.parts.store.due(ANY_TIME):
        with place.parts.store.reading(owner) as work:
            cursors += work.cursors.due(ANY_TIME)
    spent = place.parts.store.spent(place.parts.clock().date().isoformat())
    failing = sum(cursor.failures > 0 for cursor in cursors)
    return {"due": len(cursors), "failing": failing, "calls_today": spent.calls, "tokens_today": spent.tokens}


def _faults(seen: View, policy: Policy) -> Iterable[str]:
    """A slot of one value must hold one at a time, unless its values are disputed."""
    held: dict[str, str] = {}
    for belief in seen.beliefs:
        if belief.state is not State.ACTIVE or belief.attribute is None or belief.disputed_with:
            continue
        if (
            policy.attribute(belief.attribute).cardinality == "one"
            and held.setdefault(belief.slot, belief.id) != belief.id
        ):
            yield f"{belief.subject} has two values of {belief.attribute} at once"


def maintain(place: Place, now: datetime) -> dict[str, int]:
    """Due vectors, and upkeep of the file. Every step may be repeated or cut short."""
    made = embed(place)
    expired = 0
    for owner in place.parts.store.owners():
        with place.parts.store.reading(owner) as work:
            seen = view(work.beliefs.cells(), place.policy, now)
            expired += sum(b.state is State.EXPIRED for b in seen.beliefs)
    place.parts.store.scrub(locking=True)
    return {"vectors": made, "expired": expired}


def fingerprint(work: Reading) -> str:
    """The canonical digest of an owner's beliefs, without clocks and use."""
    return digest(work.beliefs.cells())
