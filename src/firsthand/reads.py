"""What a read verb needs besides recall: ids resolved, beliefs as they were known, a handle's narrowing, and `why`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from firsthand.errors import NotFound
from firsthand.folding import fold_as_known
from firsthand.model import Belief, Explanation, Message, Observation, Owner, Quote, State, micros
from firsthand.policy import Policy
from firsthand.ports import MessageQuery, Reading
from firsthand.recall.asked import People
from firsthand.recall.recall import Beside
from firsthand.recall.standing import Held
from firsthand.snapshots import Seen, held_of


def as_known(work: Reading, seen: Seen, policy: Policy, moments: tuple[datetime, datetime]) -> Seen:
    """The owner as memory had been told by `known_at`, at `valid_at` (moments: valid_at, known_at)."""
    valid_at, known_at = moments
    told = micros(known_at)
    rows = list(work.observations.walk(known_at=told))
    retracted = {name: act for name, act in seen.retracted.items() if act.position.recorded_at <= told}
    view = fold_as_known(rows, policy, work.owner, valid_at)
    return replace(seen, view=view, held=held_of(view, policy), retracted=retracted)


def narrowed(work: Reading, seen: Seen, agent: str | None, session: str | None) -> tuple[Belief, ...]:
    """The beliefs that rest on something this agent or this session brought."""
    if agent is None and session is None:
        return seen.beliefs
    claims = [(slot, claim) for belief in seen.beliefs for slot, _, claim in seen.view.claims[belief.id]]
    brought = {
        (placed.slot, placed.claim)
        for placed, observation in work.beliefs.placements(claims=claims)
        if agent in (None, observation.agent) and session in (None, observation.session)
    }
    return tuple(b for b in seen.beliefs if any((s, c) in brought for s, _, c in seen.view.claims[b.id]))


def held_by(work: Reading, seen: Seen, agent: str | None, session: str | None) -> Held:
    """What recall may answer with on a handle narrowed to an agent or a session."""
    if agent is None and session is None:
        return seen.held
    return replace(seen.held, beliefs=narrowed(work, seen, agent, session))


_NAME = re.compile(r"[^\W\d_]{2,}(?:[ ._-][^\W\d_]{2,})*")
_NO_NAMES = frozenset({"user", "me", "default"})
_NAMING = ("name", "preferred_name")
_TRUE_ONCE = frozenset({State.ACTIVE, State.SCHEDULED, State.SUPERSEDED, State.EXPIRED})


def people(seen: Seen, owner: Owner, aliases: Iterable[str]) -> People:
    """Whom a question may name.

    The owner's person goes by the aliases given, by the names that memory holds, by the name on their messages where
    there is but one, and by the owner's id where that reads as a name: "marcus" is Marcus, written with a capital.
    """
    held = (b.value for b in seen.beliefs if b.subject == "user" and b.attribute in _NAMING and b.state in _TRUE_ONCE)
    alone = seen.index.sole_speaker
    names = tuple(dict.fromkeys([*sorted(aliases), *held, *([] if alone is None else [alone])]))
    named = owner.user not in _NO_NAMES and _NAME.fullmatch(owner.user) is not None
    handle = re.sub("[._-]", " ", owner.user).title() if named else None
    return People(seen.index.names, seen.held.subjects, names, handle, _bonds(seen))


def _bonds(seen: Seen) -> dict[str, str]:
    """Whom "my sister" means: what people are to the person, where only one is it now."""
    called: dict[str, set[str]] = {}
    for belief in seen.beliefs:
        if belief.attribute == "relationship" and belief.state is State.ACTIVE and belief.subject != "user":
            for bond in {belief.value.casefold(), belief.value.casefold().split()[-1]}:
                called.setdefault(bond, set()).add(belief.subject)
    return {bond: who.pop() for bond, who in called.items() if len(who) == 1}


def beside(work: Reading, seen: Seen) -> Beside:
    """What recall loads as it goes."""
    return Beside(lambda ids: messages_of(work, ids), work.beside.uses(), seen.retracted, _Metadata(work, seen))


class _Metadata(Mapping[str, Mapping[str, Any]]):
    """Metadata of beliefs, loaded when a filter asks for it: what their observations carry, the latest first."""

    def __init__(self, work: Reading, seen: Seen) -> None:
        self._work, self._seen = work, seen

    def __getitem__(self, belief_id: str) -> Mapping[str, Any]:
        belief = self._seen.held.by_id[belief_id]
        merged: dict[str, Any] = {}
        for observation in supporters(self._work, self._seen, belief):
            merged.update(observation.metadata)
        return merged

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen.held.by_id)

    def __len__(self) -> int:
        return len(self._seen.held.by_id)


def resolve(work: Reading, seen: Seen, belief_id: str) -> Belief:
    """The belief of this id, or the one that the observation of this id supports now.

    Raises NotFound, in the same words whether the id is nobody's or another owner's.
    """
    for belief in seen.beliefs:
        if belief.id == belief_id:
            return belief
    base = belief_id.partition("@")[0]
    placed = work.beliefs.placements(observation_ids=[base])
    claims = {(p.slot, p.cell, p.claim) for p, _ in placed if p.claim}
    carrying = [b for b in seen.beliefs if claims & set(seen.view.claims[b.id])]
    if not carrying:
        raise unknown(belief_id)
    return next((b for b in carrying if b.state is State.ACTIVE), carrying[-1])


def unknown(name: str) -> NotFound:
    """Nothing of this owner has that id."""
    return NotFound(f"nothing here has the id {name!r}; `beliefs` and `messages` list what there is")


def supporters(work: Reading, seen: Seen, belief: Belief) -> list[Observation]:
    """The observations that a belief rests on, and the acts that changed it, in ledger order."""
    claims = [(slot, claim) for slot, _, claim in seen.view.claims[belief.id]]
    return [observation for _, observation in work.beliefs.placements(claims=claims)]


def messages_of(work: Reading, ids: Iterable[str]) -> dict[str, Message]:
    """Those of the messages that exist."""
    wanted = list(dict.fromkeys(ids))
    return {m.id: m for m in work.messages.walk(MessageQuery(ids=wanted))} if wanted else {}


def known(work: Reading, ids: Iterable[str]) -> list[str]:
    """Those of the ids that are a message's, an observation's or a belief's, each once."""
    wanted = list(dict.fromkeys(ids))
    claims = work.observations.get([each.partition("@")[0] for each in wanted])
    heard = messages_of(work, wanted)
    return [each for each in wanted if each in heard or each.partition("@")[0] in claims]


def explain(work: Reading, seen: Seen, policy: Policy, belief: Belief) -> Explanation:
    """The whole story of a belief."""
    observations = supporters(work, seen, belief)
    heard = messages_of(work, (e.message_id for o in observations for e in o.evidence))
    others = [b for b in seen.beliefs if b.slot == belief.slot and b.id != belief.id]
    return Explanation(
        belief=belief,
        rule=_rule(belief, policy),
        observations=tuple(observations),
        quotes=tuple(_quotes(observations, heard)),
        displaced=tuple(b for b in others if _displaced_by(b, belief)),
        changes_if=_changes_if(belief, policy),
    )


def _quotes(observations: Sequence[Observation], heard: dict[str, Message]) -> Iterable[Quote]:
    seen = set()
    for evidence in (e for o in observations for e in o.evidence):
        message = heard.get(evidence.message_id)
        span = (evidence.message_id, evidence.start, evidence.end)
        if message is None or span in seen:
            continue
        seen.add(span)
        words = message.content if evidence.start is None else message.content[evidence.start : evidence.end]
        yield Quote(message.id, message.role, message.name, message.at, message.session, words, message.content)


def _displaced_by(other: Belief, belief: Belief) -> bool:
    if other.state in (State.PENDING, State.REJECTED, State.WITHDRAWN):
        return True
    return other.superseded_by == belief.id


def _rule(belief: Belief, policy: Policy) -> str:
    if belief.attribute is None:
        return "free text is a slot of its own: it stands until it is corrected, ended or taken back"
    attribute = policy.attribute(belief.attribute)
    return f"{attribute.name} holds {_COUNT[attribute.cardinality]}; {_MERGE[attribute.merge]}"


_COUNT = {"one": "one value", "many": "many values, each on its own"}

_MERGE = {
    "latest": "the latest statement wins, and nothing noted by an agent or guessed displaces what was said",
    "ranked": "what was said outranks what was noted, and that outranks a guess; among equals the latest wins",
    "alternatives": "among equals nothing displaces anything: both stand and are shown as disputed",
    "confirm": "only what the person says or confirms is believed",
    "append": "nothing displaces anything; only the same value can be ended or taken back",
}


def _changes_if(belief: Belief, policy: Policy) -> str:
    if belief.state is State.PENDING:
        return "the person confirms or rejects it"
    if belief.state in (State.WITHDRAWN, State.REJECTED):
        return "the person says it anew"
    if belief.attribute is None:
        return "a correction, an ending or a retraction of it"
    attribute = policy.attribute(belief.attribute)
    if attribute.cardinality == "many" and attribute.opposite:
        opposite = policy.phrase(belief.subject, attribute.opposite, belief.value)
        return f'the person saying the opposite ("{opposite}"), ending it or taking it back'
    if attribute.cardinality == "many":
        return "the person ending it or taking it back"
    return "another value said by the person, with the date since when it holds, or a correction"
