"""JSON schemas: how a request's parts are described, and how they are held to the description.

A small dialect of JSON Schema 2020-12, which is what OpenAPI 3.1 speaks: the same value is printed in the document and
checked against a request, so that the two cannot differ. The words that `check` knows are the ones the builders write.
Leaves to the verbs whatever a schema cannot say.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

Schema = Mapping[str, Any]

MOST_ITEMS = 10_000  # messages in one request; the body's size is bounded besides
_SHOWN = 40  # characters of a caller's word that an error repeats
_ONE_LINE = "^[^\\x00-\\x1f\\x7f]+$"


class Unfit(Exception):
    """A value is not what its schema says. The message says where and what."""


# -- builders ----------------------------------------------------------------------------------------------------


def text(about: str, *, least: int = 1, most: int = 20_000, **more: Any) -> Schema:
    """Text of so many characters."""
    return {"type": "string", "description": about, "minLength": least, "maxLength": most, **more}


def name(about: str, most: int = 512) -> Schema:
    """An id, a session, a subject: text on one line."""
    return {"type": "string", "description": about, "minLength": 1, "maxLength": most, "pattern": _ONE_LINE}


def one_of(about: str, words: Sequence[str] | type[StrEnum], **more: Any) -> Schema:
    """One of a few words."""
    return {"type": "string", "description": about, "enum": [str(word) for word in words], **more}


def time(about: str) -> Schema:
    """A time, as ISO 8601 text. Without an offset it is read in the zone of the memory."""
    return {"type": "string", "description": f"{about} ISO 8601.", "format": "date-time", "maxLength": 64}


def whole(about: str, least: int, most: int, **more: Any) -> Schema:
    """A whole number."""
    return {"type": "integer", "description": about, "minimum": least, "maximum": most, **more}


def share(about: str) -> Schema:
    """A number from 0 to 1."""
    return {"type": "number", "description": about, "minimum": 0, "maximum": 1}


def flag(about: str, *, default: bool = False) -> Schema:
    """True or false."""
    return {"type": "boolean", "description": about, "default": default}


def several(about: str, items: Schema, *, least: int = 0, most: int = MOST_ITEMS) -> Schema:
    """A list."""
    return {"type": "array", "description": about, "items": items, "minItems": least, "maxItems": most}


def anything(about: str) -> Schema:
    """Any JSON object."""
    return {"type": "object", "description": about}


def record(properties: Mapping[str, Schema], required: Sequence[str] = (), about: str = "") -> Schema:
    """An object with these properties and no others."""
    told = {"description": about} if about else {}
    needed = {"required": list(required)} if required else {}
    return {"type": "object", **told, "properties": dict(properties), **needed, "additionalProperties": False}


def either(about: str, *kinds: Schema) -> Schema:
    """One of several forms."""
    return {"description": about, "anyOf": list(kinds)}


# -- checking ----------------------------------------------------------------------------------------------------


def check(value: object, schema: Schema, where: str = "") -> None:
    """Hold a value to a schema. Raises Unfit with the first fault."""
    if "anyOf" in schema:
        _check_any(value, schema["anyOf"], where)
        return
    kind = schema.get("type")
    if kind is not None:
        _check_kind(value, kind, where)
        _CHECKS.get(kind, _nothing)(value, schema, where)


def _check_any(value: object, kinds: Sequence[Schema], where: str) -> None:
    faults = []
    for kind in kinds:
        try:
            check(value, kind, where)
        except Unfit as fault:
            faults.append(str(fault))
        else:
            return
    raise Unfit(faults[-1] if len(faults) == 1 else f"{where or 'the body'} has none of the forms that it may have")


def _check_kind(value: object, kind: str, where: str) -> None:
    if kind == "number" and isinstance(value, int) and not isinstance(value, bool):
        return
    wanted = _TYPES[kind]
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean"):
        raise Unfit(f"{where or 'the body'} must be {_WORDS[kind]}, not {_told(value)}")


def _check_text(value: Any, schema: Schema, where: str) -> None:
    import re

    if len(value) < schema.get("minLength", 0):
        raise Unfit(f"{where} is empty")
    if len(value) > schema.get("maxLength", len(value)):
        raise Unfit(f"{where} has {len(value):,} characters; the limit is {schema['maxLength']:,}")
    if "enum" in schema and value not in schema["enum"]:
        raise Unfit(f"{where} is one of {', '.join(schema['enum'])}; not {value[:_SHOWN]!r}")
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        raise Unfit(f"{where} holds a character that it may not: it matches {schema['pattern']}")


def _check_number(value: Any, schema: Schema, where: str) -> None:
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    if not least <= value <= most:
        raise Unfit(f"{where} is {value!r}; it goes from {least} to {most}")


def _check_list(value: Any, schema: Schema, where: str) -> None:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        raise Unfit(f"{where} has {len(value):,} items; it takes {schema.get('minItems', 0)} to {schema['maxItems']:,}")
    for place, each in enumerate(value):
        check(each, schema.get("items", {}), f"{where}[{place}]")


def _check_object(value: Any, schema: Schema, where: str) -> None:
    properties = schema.get("properties", {})
    missing = [each for each in schema.get("required", ()) if each not in value]
    if missing:
        raise Unfit(f"{_inside(where, missing[0])} is missing")
    for key, each in value.items():
        if key in properties:
            check(each, properties[key], _inside(where, key))
        elif schema.get("additionalProperties") is False:
            raise Unfit(f"{_inside(where, str(key)[:_SHOWN])} is not known here; there are {', '.join(properties)}")


def _nothing(value: Any, schema: Schema, where: str) -> None:
    """Booleans have nothing more to check."""


_CHECKS: Mapping[str, Callable[[Any, Schema, str], None]] = {
    "string": _check_text,
    "integer": _check_number,
    "number": _check_number,
    "array": _check_list,
    "object": _check_object,
}
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def _inside(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _told(value: object) -> str:
    if value is None:
        return "null"
    return next((_WORDS[kind] for kind in ("boolean", *_TYPES) if isinstance(value, _TYPES[kind])), "that")


# -- query strings -----------------------------------------------------------------------------------------------


def from_query(given: Sequence[tuple[str, str]], query: Mapping[str, Schema]) -> dict[str, Any]:
    """The parameters of a query string, by their schemas; a list is given by repeating its name. Raises Unfit."""
    found: dict[str, Any] = {}
    for key, value in given:
        schema = query.get(key)
        if schema is None:
            known = ", ".join(query) or "none"
            raise Unfit(f"the query parameter {key[:_SHOWN]!r} is not known here; there are {known}")
        if schema.get("type") == "array":
            found.setdefault(key, []).append(value)
        elif key in found:
            raise Unfit(f"the query parameter {key} is given twice")
        else:
            found[key] = _read(value, schema, key)
    for key, value in found.items():
        check(value, query[key], key)
    return found


def _read(value: str, schema: Schema, where: str) -> Any:
    kind = schema.get("type")
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    if kind == "integer":
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):  # noqa: PLR2004 - what 64 bits hold
            raise Unfit(f"{where} must be a whole number")
        return int(value)
    return value


# -- from the words of the model ---------------------------------------------------------------------------------


def of_type(kind: Any, parts: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type's JSON form (`model.to_json`); dataclasses are put into `parts` and referred to."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _of_dataclass(kind, parts)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"type": "string", "enum": [str(each) for each in kind]}
    if kind in _SIMPLE:
        return dict(_SIMPLE[kind])
    return _of_generic(kind, parts)


_SIMPLE: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


def _of_dataclass(kind: type, parts: dict[str, Any]) -> dict[str, Any]:
    title = kind.__name__
    if title not in parts:
        parts[title] = {}  # stands for itself while its own fields are looked at
        hints = get_type_hints(kind)
        fields = [each.name for each in dataclasses.fields(kind)]
        about = (kind.__doc__ or "").partition("\n")[0]
        properties = {each: of_type(hints[each], parts) for each in fields}
        parts[title] = {"type": "object", "description": about, "properties": properties, "required": fields}
    return {"$ref": f"#/components/schemas/{title}"}


def _of_generic(kind: Any, parts: dict[str, Any]) -> dict[str, Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _of_union([of_type(each, parts) for each in inner])
    if origin is tuple and len(inner) > 1 and inner[-1] is not Ellipsis:
        return {
            "type": "array",
            "prefixItems": [of_type(each, parts) for each in inner],
            "minItems": len(inner),
            "maxItems": len(inner),
        }
    if origin in (tuple, list, Sequence, Iterator):
        return {"type": "array", "items": of_type(inner[0], parts)}
    if isinstance(kind, type) and issubclass(kind, tuple):  # a named tuple
        hints = get_type_hints(kind)
        return _of_generic(tuple[tuple(hints.values())], parts)  # type: ignore[misc]
    if origin in (Mapping, dict):
        inside = of_type(inner[1], parts)
        return {"type": "object", **({"additionalProperties": inside} if inside else {})}
    raise TypeError(f"no schema for {kind!r}")


def _of_union(kinds: list[dict[str, Any]]) -> dict[str, Any]:
    simple = [each["type"] for each in kinds if set(each) == {"type"}]
    return {"type": simple} if len(simple) == len(kinds) else {"anyOf": kinds}
