"""Hits: a candidate as the caller sees it, with its note and why it was recalled."""

from __future__ import annotations

from firsthand.model import Belief, Hit, Kind, Message, State, from_micros
from firsthand.recall.candidates import Asking, BeliefPool, Candidate
from firsthand.recall.explain import why
from firsthand.recall.standing import Held
from firsthand.recall.walk import evidence_of


def hit_of(candidate: Candidate, asking: Asking, beliefs: BeliefPool) -> Hit:
    """The hit that a candidate has become."""
    reason = why(asking.question, candidate.terms, candidate.words)
    if candidate.message is not None:
        return _message_hit(candidate, candidate.message, reason, _message_note(candidate, asking, beliefs))
    if candidate.belief is None:
        raise AssertionError("a candidate is a message or a belief")
    return _belief_hit(candidate, candidate.belief, reason, _belief_note(candidate.belief, asking.held))


def _message_hit(candidate: Candidate, message: Message, reason: str, note: str | None) -> Hit:
    return Hit(
        type="message",
        id=message.id,
        kind=Kind.EPISODIC,
        text=message.content,
        at=message.at,
        score=candidate.score,
        terms=candidate.terms,
        why=reason,
        role=message.role,
        speaker=message.name,
        session=message.session,
        evidence=evidence_of(candidate),
        confidence=candidate.terms["confidence"],
        note=note,
        last_said=message.at,
        metadata=message.metadata,
    )


def _belief_hit(candidate: Candidate, belief: Belief, reason: str, note: str | None) -> Hit:
    return Hit(
        type="belief",
        id=belief.id,
        kind=belief.kind,
        text=belief.text,
        at=from_micros(candidate.at),
        score=candidate.score,
        terms=candidate.terms,
        why=reason,
        evidence=evidence_of(candidate),
        source=belief.source,
        confidence=belief.confidence,
        state=belief.state,
        valid_from=belief.valid_from,
        valid_to=belief.valid_to,
        subject=belief.subject,
        attribute=belief.attribute,
        value=belief.value,
        note=note,
        guess=belief.guess,
        last_said=belief.last_said,
    )


def _message_note(candidate: Candidate, asking: Asking, beliefs: BeliefPool) -> str | None:
    act = asking.beside.taken_back.get(candidate.id)
    if act is not None:
        return f"taken back on {act.said_at:%Y-%m-%d}" + (f": {act.reason}" if act.reason else "")
    if candidate.last:
        return "carries recalled memory"
    gist = asking.held.gist(candidate.id, beliefs.closeness)
    if gist is None or gist.state not in (State.SUPERSEDED, State.WITHDRAWN):
        return None
    verb = "was corrected" if gist.state is State.WITHDRAWN else "no longer holds"
    return f"says what {verb}: {gist.text}{_instead(gist, asking.held)}"


def _belief_note(belief: Belief, held: Held) -> str | None:
    match belief.state:
        case State.SUPERSEDED:
            until = "" if belief.valid_to is None else f" since {belief.valid_to:%Y-%m-%d}"
            return f"no longer holds{until}{_instead(belief, held)}"
        case State.EXPIRED:
            return "expired"
        case State.SCHEDULED:
            return f"holds from {belief.valid_from:%Y-%m-%d}"
        case State.PENDING:
            return "awaits confirmation" + (f": {belief.reason}" if belief.reason else "")
    others = [held.by_id[each].text for each in belief.disputed_with if each in held.by_id]
    if belief.disputed_with:
        return "disputed" + (f" with {'; '.join(others)}" if others else "")
    return None


def _instead(belief: Belief, held: Held) -> str:
    holder = held.holder(belief)
    return "" if holder is None else f"; now: {holder.text}"
