"""Back from JSON: values of the words of `model.py`, read by their annotations. The other way is `model.to_json`."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from firsthand.errors import InvalidInput

T = TypeVar("T")
Read = Callable[[Any], Any]


def of_json(kind: type[T], data: Any) -> T:
    """The value of a type whose JSON form this is. Fields that the type does not have are passed over.

    Raises InvalidInput where it is no such form.
    """
    try:
        return cast("T", _reader(cast("Any", kind))(data))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"this is no {getattr(kind, '__name__', kind)} in JSON: {error}") from error


@cache
def _reader(kind: Any) -> Read:
    """How a type is read, found once."""
    if kind is datetime:
        return datetime.fromisoformat
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _of_dataclass(kind)
    return _of_generic(kind)


def _of_dataclass(kind: type) -> Read:
    hints = get_type_hints(kind)
    readers: list[tuple[str, Read]] = []

    def read(data: Any) -> Any:
        if not readers:  # not before a value is read, for a type may hold itself
            readers.extend((each.name, _reader(hints[each.name])) for each in dataclasses.fields(kind))
        return kind(**{name: reader(data[name]) for name, reader in readers if name in data})

    return read


def _of_generic(kind: Any) -> Read:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _of_union(inner)
    if origin is tuple and inner[-1] is not Ellipsis:
        return _of_several([_reader(each) for each in inner])
    if origin in (tuple, list, Sequence):
        each = _reader(inner[0])
        made = list if origin is list else tuple
        return lambda data: made(each(part) for part in data)
    if isinstance(kind, type) and issubclass(kind, tuple):  # a named tuple
        parts = _of_several([_reader(each) for each in get_type_hints(kind).values()])
        return lambda data: kind(*parts(data))
    if origin in (Mapping, dict):
        value = _reader(inner[1])
        return lambda data: {key: value(part) for key, part in data.items()}
    return _as_it_is


def _of_union(inner: Sequence[Any]) -> Read:
    some = [each for each in inner if each is not type(None)]
    if len(some) != 1:
        return _as_it_is
    read = _reader(some[0])
    return lambda data: None if data is None else read(data)


def _of_several(readers: Sequence[Read]) -> Read:
    return lambda data: tuple(read(part) for read, part in zip(readers, data, strict=True))


def _as_it_is(data: Any) -> Any:
    return data
