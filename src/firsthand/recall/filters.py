"""Filters over metadata: a tree that is parsed once and then tells, of any metadata, whether it passes.

    {"topic": "work"}                             the value equals "work"
    {"n": {"gte": 10, "lt": 20}}                  every condition holds
    {"AND": [...]}, {"OR": [...]}, {"NOT": ...}   trees; several keys side by side are joined by AND

Operators: eq ne gt gte lt lte in nin exists, and any, all for values that are lists. Two-valued logic: on a missing key
every condition is false, but for `ne`, `nin` and `exists: false`, which are the negations of `eq`, `in` and `exists`.
Null is a value, not a missing key. Nothing is coerced: 1 is not "1" nor true; only numbers compare with numbers, text
with text (by code point) and, when the filter gives a datetime, ISO 8601 text that names an offset with it.
Keys and values are data: they are compared, never read as anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import ge, gt, le, lt
from typing import Any, TypeGuard

from firsthand.errors import InvalidInput

Passes = Callable[[Mapping[str, Any]], bool]

_DEEPEST = 32
_MISSING = object()
_NEGATED: Mapping[object, str] = {"ne": "eq", "nin": "in"}
_ORDERS: Mapping[object, Callable[[Any, Any], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}


def parse(filters: object) -> Passes:
    """What the filter tree accepts. Raises InvalidInput where it is not a tree of the form above."""
    return _tree(filters, 0)


def _tree(node: object, depth: int) -> Passes:
    if depth > _DEEPEST:
        raise InvalidInput(f"filters: nested deeper than {_DEEPEST} levels")
    if not isinstance(node, Mapping):
        raise InvalidInput(f"filters: expected an object with keys, got {type(node).__name__}")
    return _every([_branch(key, value, depth + 1) for key, value in node.items()])


def _branch(key: object, value: object, depth: int) -> Passes:
    if not isinstance(key, str):
        raise InvalidInput(f"filters: a key must be text, got {type(key).__name__}")
    if key == "AND":
        return _every(_branches(key, value, depth))
    if key == "OR":
        return _some(_branches(key, value, depth))
    if key == "NOT":
        return _not(_tree(value, depth))
    return _leaf(key, value)


def _branches(key: str, value: object, depth: int) -> list[Passes]:
    if not _is_list(value):
        raise InvalidInput(f"filters: {key} takes a list")
    return [_tree(each, depth) for each in value]


def _leaf(key: str, value: object) -> Passes:
    if not isinstance(value, Mapping):
        return _on(key, lambda held: _equal(held, value))
    if not value:
        raise InvalidInput(f"filters: no condition is given for {key[:80]!r}")
    return _every([_condition(key, name, operand) for name, operand in value.items()])


def _condition(key: str, name: Any, operand: object) -> Passes:
    if name == "exists":
        return _exists(key, operand)
    if isinstance(name, str) and name in _NEGATED:
        return _not(_condition(key, _NEGATED[name], operand))
    if name == "eq":
        return _on(key, lambda held: _equal(held, operand))
    if name == "in":
        return _on(key, _member(name, operand))
    if name in ("any", "all"):
        return _on(key, _list_condition(name, operand))
    if isinstance(name, str) and name in _ORDERS:
        return _on(key, _order(_ORDERS[name], operand))
    known = ", ".join(("eq", "ne", *map(str, _ORDERS), "in", "nin", "exists", "any", "all"))
    raise InvalidInput(f"filters: unknown operator {str(name)[:80]!r}; known are {known}")


def _on(key: str, holds: Callable[[Any], bool]) -> Passes:
    def passes(metadata: Mapping[str, Any]) -> bool:
        held = metadata.get(key, _MISSING)
        return held is not _MISSING and holds(held)

    return passes


def _exists(key: str, operand: object) -> Passes:
    if not isinstance(operand, bool):
        raise InvalidInput("filters: exists takes true or false")
    return lambda metadata: (key in metadata) is operand


def _member(name: str, operand: object) -> Callable[[Any], bool]:
    choices = _listed(name, operand)
    return lambda held: any(_equal(held, each) for each in choices)


def _list_condition(name: str, operand: object) -> Callable[[Any], bool]:
    wanted = _listed(name, operand)
    joined = any if name == "any" else all
    return lambda held: _is_list(held) and joined(any(_equal(own, each) for own in held) for each in wanted)


def _listed(name: str, operand: object) -> Sequence[Any]:
    if not _is_list(operand):
        raise InvalidInput(f"filters: {name} takes a list")
    return tuple(operand)


def _order(holds: Callable[[Any, Any], bool], operand: object) -> Callable[[Any], bool]:
    if isinstance(operand, datetime):
        if operand.tzinfo is None:
            raise InvalidInput("filters: a time to compare with needs an offset")
        return lambda held: (when := _instant(held)) is not None and holds(when, operand)
    if _is_number(operand):
        return lambda held: _is_number(held) and holds(held, operand)
    if isinstance(operand, str):
        return lambda held: isinstance(held, str) and holds(held, operand)
    raise InvalidInput("filters: only numbers, text and times can be compared by order")


def _instant(held: object) -> datetime | None:
    if not isinstance(held, str):
        return None
    try:
        when = datetime.fromisoformat(held)
    except ValueError:
        return None
    return None if when.tzinfo is None else when


def _equal(held: object, wanted: object) -> bool:
    """Equality of JSON values; true is not 1."""
    if isinstance(wanted, datetime):
        return _instant(held) == wanted
    if isinstance(held, bool) or isinstance(wanted, bool):
        return held is wanted
    if _is_list(held) and _is_list(wanted):
        return len(held) == len(wanted) and all(map(_equal, held, wanted))
    if isinstance(held, Mapping) and isinstance(wanted, Mapping):
        return held.keys() == wanted.keys() and all(_equal(held[key], wanted[key]) for key in held)
    return bool(held == wanted)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_list(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, (list, tuple))


def _every(parts: list[Passes]) -> Passes:
    return lambda metadata: all(part(metadata) for part in parts)


def _some(parts: list[Passes]) -> Passes:
    return lambda metadata: any(part(metadata) for part in parts)


def _not(part: Passes) -> Passes:
    return lambda metadata: not part(metadata)
