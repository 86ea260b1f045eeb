"""What an erasure takes with it, decided from rows alone: no store, no clock.

Forgetting a message takes it and the observations that rest on it alone. Forgetting a claim takes the observations
that carry it and the messages they quote, for as long as those words stay the claim is not forgotten. What others
still rest on stays, without the words erased: quotes and targets that would repeat them are emptied.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from firsthand.model import Observation, Target


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows to erase, and rows to write again without the words erased."""

    messages: tuple[str, ...]
    observations: tuple[Observation, ...]
    stripped: tuple[Observation, ...]

    @property
    def observation_ids(self) -> tuple[str, ...]:
        """Ids of the observations that go for good."""
        return tuple(o.id for o in self.observations)


def plan(
    messages: Iterable[str],
    observations: Iterable[Observation],
    ledger: Sequence[Observation],
    gone_before: Iterable[str] = (),
) -> Plan:
    """What goes when these messages and these observations go; `gone_before` are observations that are not there.

    `ledger` holds every observation that cites one of the messages or names one of the observations (more does no
    harm). An observation goes when all its evidence goes, or when it is an act on something that goes.
    """
    gone = set(messages)
    going = {o.id: o for o in observations}
    absent = set(gone_before)
    for each in ledger:
        if each.id not in going and (_rests_on(each, gone) or _aims_at(each, gone, going.keys() | absent)):
            going[each.id] = each
    kept = (each for each in ledger if each.id not in going)
    stripped = tuple(bare for each in kept if (bare := _without(each, gone, going.keys() | absent)) is not each)
    return Plan(tuple(sorted(gone)), tuple(sorted(going.values(), key=lambda o: o.position)), stripped)


def tombstones(key: bytes, ids: Iterable[str]) -> list[str]:
    """Keyed digests of ids: they bind import and merge, and say nothing of what was erased."""
    return [hashlib.blake2b(each.encode(), key=key, digest_size=16).hexdigest() for each in ids]


def _rests_on(observation: Observation, messages: set[str]) -> bool:
    cited = {evidence.message_id for evidence in observation.evidence}
    return bool(cited) and cited <= messages


def _aims_at(act: Observation, messages: set[str], observations: Collection[str]) -> bool:
    """An act that brings no value of its own has nothing left to say once its target is gone."""
    if act.target is None or (act.value is not None and act.act.value in ("correct", "confirm")):
        return False
    return act.target.message_id in messages or act.target.observation_id in observations


def _without(observation: Observation, messages: set[str], observations: Collection[str]) -> Observation:
    evidence = tuple(e for e in observation.evidence if e.message_id not in messages)
    target = observation.target
    if target is not None and target.observation_id in observations:
        target = Target(
            subject=target.subject,
            attribute=target.attribute,
            slot=target.slot,
            valid_from=target.valid_from,
            valid_to=target.valid_to,
        )
    if evidence == observation.evidence and target is observation.target:
        return observation
    return replace(observation, evidence=evidence, target=target)
