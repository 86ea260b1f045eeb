"""Long lists a page at a time: a cursor says where the next page begins. Opaque to callers, and no secret."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from firsthand.model import Message, Position
from firsthand.server.schema import Unfit

T = TypeVar("T")

PAGE = 100  # items of a page, unless the caller says otherwise
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Page:
    """Some items, and the cursor of the next page; None on the last one."""

    items: Sequence[Any]
    next: str | None


def page(items: Sequence[T], given: dict[str, Any], id_of: Callable[[T], str]) -> Page:
    """The page of a list that `cursor` and `limit` ask for; both are taken out of `given`.

    A cursor names the last item seen and its place: where the item has gone meanwhile, its place stands for it.
    """
    cursor, limit = given.pop("cursor", None), given.pop("limit", PAGE)
    start = 0
    if cursor is not None:
        place, last = _read(cursor, int, str)
        start = next((at + 1 for at, each in enumerate(items) if id_of(each) == last), max(place, 0))
    found = items[start : start + limit]
    more = start + limit < len(items) and found
    return Page(found, _cursor(start + len(found), id_of(found[-1])) if more else None)


def message_page(walk: Callable[..., Iterable[Message]], given: dict[str, Any]) -> Page:
    """A page of messages: the cursor is the position of the last one, so that no page is walked twice."""
    cursor, limit = given.pop("cursor", None), given.pop("limit", PAGE)
    after = Position(*_read(cursor, int, int, str)) if cursor is not None else None
    found = list(islice(walk(**given, after=after, limit=limit + 1), limit + 1))
    more = len(found) > limit
    return Page(found[:limit], _cursor(*found[limit - 1].position) if more else None)


def _cursor(*parts: int | str) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")


def _read(cursor: str, *kinds: type) -> list[Any]:
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        fits = isinstance(parts, list) and [type(each) for each in parts] == list(kinds)
    except ValueError:
        fits, parts = False, []
    if not fits or any(isinstance(each, int) and abs(each) >= 1 << 63 for each in parts):
        raise Unfit("cursor is none that a page gave; start without one")
    return list(parts)
