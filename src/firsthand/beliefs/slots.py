"""Where an observation belongs: its slot, the cells of that slot which it touches, and how the slot folds.

A keyed slot is named "subject key, unit separator, attribute"; opposites (likes, dislikes) share one slot, named by
the alphabetically first of the two. Free text is a slot of its own, named by a keyed digest. What happens in a cell is
in `replay.py`; which values are equal is decided by `text.value_key` alone.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from firsthand.model import Act, Observation, Owner, Target
from firsthand.policy import Policy
from firsthand.text import value_key

SEPARATOR = "\x1f"  # a blank to `value_key`, so no subject key contains it
SLOT_CELL = ""  # the cell of a slot that has one; in a slot of many values, the cell of what all of them share

_FREE = "~"
_LONGEST_NAME = 64
_MANY = "many"
_NOTHING = Target()
_ON_ACTS = (Act.CONFIRM, Act.RETRACT, Act.REJECT)


@dataclass(frozen=True, slots=True)
class Shape:
    """How a slot folds, as the policy has it."""

    attribute: str | None  # None: free text
    many: bool  # a cell for every value
    opposite: str | None  # the other attribute that lives in this slot
    merge: str

    @property
    def beside(self) -> bool:
        """Whether values of equal rank stand side by side."""
        return self.merge == "alternatives" and not self.many


def owner_key(owner: Owner) -> bytes:
    """The key that tells one owner's digests from another's."""
    return hashlib.blake2b(_packed([owner.tenant, owner.user]), digest_size=32).digest()


def slot_of(observation: Observation, policy: Policy, owner_key: bytes) -> str:
    """The slot an observation belongs to; '' when it belongs to none, as an act on a message."""
    target = observation.target or _NOTHING
    if target.message_id is not None and target.observation_id is None and target.value is None:
        return ""
    if observation.attribute is not None:
        return _keyed(observation.subject, observation.attribute, policy)
    if observation.act is not Act.ASSERT:
        if target.attribute is not None:
            return _keyed(observation.subject, target.attribute, policy)
        if target.slot is not None and _is_free(target.slot):
            return target.slot
    text = aimed_value(observation)
    if text is None:
        return ""
    named = _packed([value_key(observation.subject), observation.kind.value, value_key(text)])
    return _FREE + hashlib.blake2b(named, key=owner_key, digest_size=16).hexdigest()


def cells_of(observation: Observation, policy: Policy) -> tuple[str, ...]:
    """The cells of its slot that an observation may touch, the slot's own first; none when it has no slot.

    An `end` of whatever holds touches every cell of a slot of many values: `fold.advance` leaves it to a full fold.
    """
    target = observation.target or _NOTHING
    if target.message_id is not None and target.observation_id is None and target.value is None:
        return ()
    attribute = observation.attribute
    if attribute is None and observation.act is not Act.ASSERT:
        attribute = target.attribute
    if attribute is None or policy.attribute(attribute).cardinality != _MANY:
        return (SLOT_CELL,)
    values = {value_cell(value) for value in (observation.value, aimed_value(observation)) if value is not None}
    return (SLOT_CELL, *sorted(values))


def aimed_value(observation: Observation) -> str | None:
    """The value an act is aimed at: of a correction the old one, of an assertion its own; None for an act on an act."""
    target = observation.target
    if observation.act is Act.ASSERT or target is None:
        return observation.value
    if aimed_act(observation) is not None:
        return None
    return observation.value if target.value is None else target.value


def aimed_act(observation: Observation) -> str | None:
    """The id of the act that an act is aimed at: an ending to take back, a proposal to confirm or to turn down.

    Such a target names no value. So when that act was erased nothing happens, instead of something else.
    """
    target = observation.target
    if target is None or target.value is not None or observation.act not in _ON_ACTS:
        return None
    return target.observation_id


def shape_of(slot: str, policy: Policy) -> Shape:
    """How the slot of this name folds."""
    if _is_free(slot):
        # What the person corrected in a free text must not come undone by extracting the old words again.
        return Shape(attribute=None, many=False, opposite=None, merge="ranked")
    known = policy.attribute(slot.partition(SEPARATOR)[2])
    many = known.cardinality == _MANY
    opposite = policy.canonical(known.opposite) if many and known.opposite is not None else None
    if opposite is not None and known.merge == "append":
        return Shape(known.name, many, opposite, "latest")
    return Shape(known.name, many, opposite, known.merge)


def value_cell(value: str) -> str:
    """The name of a value's cell in a slot of many values."""
    key = value_key(value)
    if key and len(key) <= _LONGEST_NAME and not key.startswith("#"):
        return key
    return "#" + hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _keyed(subject: str, attribute: str, policy: Policy) -> str:
    known = policy.attribute(attribute)
    name = known.name
    if known.cardinality == _MANY and known.opposite is not None:
        name = min(name, policy.canonical(known.opposite))
    return f"{value_key(subject)}{SEPARATOR}{name}"


def _is_free(slot: str) -> bool:
    return slot.startswith(_FREE) and SEPARATOR not in slot


def _packed(parts: list[str]) -> bytes:
    return json.dumps(parts).encode()
