"""What may enter as a value: text that every store can keep, and plain JSON, copied, bounded and checked.

Leaves to others: what a message means (`shapes.py`), what is secret in it (`secrets.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger.secret_shapes import tokens

Clean = Callable[[str], tuple[str, int]]  # a text as it may be stored, and how much was masked in it

MAX_MESSAGE_CHARS = 16 * 1024 * 1024  # one message with all that belongs to it; larger is refused, never cut
MAX_ID_CHARS = 512  # ids, sessions, users, tenants, origins
MAX_NAME_CHARS = 256  # speakers
MAX_DEPTH = 64  # lists and objects within each other
_MAX_NUMBER_BITS = 1024
_LONGEST_SHOWN = 40
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}


def kind_of(value: object) -> str:
    """What a value is, in the words of an error message."""
    if value is None:
        return "null"
    return _KINDS.get(type(value)) or f"a {type(value).__name__}"


def shown(text: str) -> str:
    """A caller's word as an error may repeat it: quoted, short, on one line."""
    return repr(text) if len(text) <= _LONGEST_SHOWN else repr(text[:_LONGEST_SHOWN]) + "…"


def checked_text(text: str, what: str) -> str:
    """The text itself. Raises InvalidInput for a NUL or a lone surrogate, which no store keeps faithfully."""
    if "\0" in text:
        raise InvalidInput(f"{what} holds a NUL character (at {text.index(chr(0)):,})")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as fault:
            raise InvalidInput(f"{what} holds half of a surrogate pair (at {fault.start:,})") from None
    return text


def checked_size(chars: int, what: str) -> None:
    """Refuse what is over the limit of one message. Raises InvalidInput that states the limit."""
    if chars > MAX_MESSAGE_CHARS:
        raise InvalidInput(f"{what} has {chars:,} characters; the limit is {MAX_MESSAGE_CHARS:,}")


def identifier(value: object, what: str) -> str:
    """An id, a session, an origin: one line of 1 to `MAX_ID_CHARS` characters, and no token. Raises InvalidInput.

    A secret in it is refused and not masked: two names that are masked alike would become one.
    """
    name = one_line(value, what, MAX_ID_CHARS)
    secret = next(tokens(name), None)
    if secret is not None:
        raise InvalidInput(f"{what} holds a secret ({secret.kind}); give it another name")
    return name


def one_line(value: object, what: str, longest: int) -> str:
    """Text of 1 to `longest` characters on one line. Raises InvalidInput."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} is {kind_of(value)}, not text")
    text = str.__str__(value)
    if not text:
        raise InvalidInput(f"{what} is empty")
    if len(text) > longest:
        raise InvalidInput(f"{what} has {len(text):,} characters; the limit is {longest:,}")
    control = _CONTROL.search(text)
    if control is not None:
        raise InvalidInput(f"{what} holds a control character (at {control.start():,})")
    return checked_text(text, what)


class JsonCopy:
    """Copies one value from outside as plain JSON: str, int, float, bool, None, list, dict with text keys.

    Tuples become lists, enumerations their values, objects with `model_dump()` (pydantic) what that gives. `chars`
    adds up the text seen, keys included. Raises InvalidInput that names the place of a fault.
    """

    def __init__(self) -> None:
        self.chars = 0

    def copy(self, value: object, path: str, depth: int = 0) -> Any:
        """The copy of `value`, called `path` in errors."""
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value), path)
        if isinstance(value, (int, float)):
            return _number(value, path)
        return self._nested(value, path, depth)

    def _nested(self, value: object, path: str, depth: int) -> Any:
        if depth >= MAX_DEPTH:
            raise InvalidInput(f"{_start(path)} is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, Mapping):
            return self._mapping(value, path, depth)
        if isinstance(value, (list, tuple)):
            return [self.copy(each, f"{path}[{at}]", depth + 1) for at, each in enumerate(value)]
        dump = getattr(value, "model_dump", None)
        if callable(dump):
            return self.copy(dump(), path, depth + 1)
        raise InvalidInput(f"{path} is {kind_of(value)}, which has no JSON form")

    def _text(self, text: str, path: str) -> str:
        self.chars += len(text)
        checked_size(self.chars, "it")
        return checked_text(text, path)

    def _mapping(self, value: Mapping[Any, object], path: str, depth: int) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for key, each in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"{path or 'it'} has a key that is {kind_of(key)}, not text")
            name = self._text(str.__str__(key), f"a key of {path}" if path else "a key")
            place = name if name.isprintable() and len(name) <= _LONGEST_SHOWN else shown(name)
            copied[name] = self.copy(each, f"{path}.{place}" if path else place, depth + 1)
        return copied


def json_object(value: object, what: str) -> dict[str, Any]:
    """A copy of a JSON object, checked. Raises InvalidInput."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} is {kind_of(value)}, not an object")
    copied: dict[str, Any] = JsonCopy().copy(value, what)
    return copied


def cleaned(value: Any, clean: Clean) -> tuple[Any, int]:
    """Plain JSON with every text in it cleaned, keys included, and how much was masked."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        parts = [cleaned(each, clean) for each in value]
        return [part for part, _ in parts], sum(count for _, count in parts)
    if isinstance(value, dict):
        return _cleaned_object(value, clean)
    return value, 0


def _cleaned_object(value: dict[str, Any], clean: Clean) -> tuple[dict[str, Any], int]:
    total, result = 0, {}
    for key, each in value.items():
        name, in_name = clean(key)
        part, in_part = cleaned(each, clean)
        while name in result:  # two secrets used as keys are masked alike
            name += "'"
        result[name] = part
        total += in_name + in_part
    return result, total


def _number(value: float, path: str) -> float:
    if isinstance(value, int):
        if value.bit_length() > _MAX_NUMBER_BITS:
            raise InvalidInput(f"{path} is a number of more than {_MAX_NUMBER_BITS} bits")
        return int(value)
    if not math.isfinite(value):
        raise InvalidInput(f"{path} is {value!r}, which has no JSON form")
    return float(value)


def _start(path: str) -> str:
    return path if len(path) <= _LONGEST_SHOWN else path[:_LONGEST_SHOWN] + "…"
