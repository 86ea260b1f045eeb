"""Who is calling, in whose memory, and whether they may: the key decides, headers only choose among what it covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote_to_bytes

from firsthand.memory import Memory, User
from firsthand.server.keys import ALL, Grant, Keys
from firsthand.server.problems import Problem
from firsthand.server.routes import Route, Scope

TENANT = "default"


@dataclass(frozen=True, slots=True)
class Gate:
    """Lets callers in by their keys. Without a file of keys (`keys` None) whoever reaches it has the `open` grant."""

    keys: Keys | None
    clock: Callable[[], datetime]
    open: Grant | None = None  # what everybody may do where there are no keys
    user: str | None = None  # whose memory, where a caller may choose and does not

    def grant(self, authorization: str | None) -> Grant:
        """What the caller may do. Raises Problem 401."""
        if self.open is not None:
            return self.open
        scheme, _, text = (authorization or "").partition(" ")
        key = self.keys.opened_by(text.strip(), self.clock()) if self.keys and scheme.casefold() == "bearer" else None
        if key is None:
            raise Problem(
                401,
                "Unauthorized",
                "this needs a key that holds: Authorization: Bearer KEY (`firsthand keys add` makes one)",
                {"WWW-Authenticate": 'Bearer realm="firsthand"'},
            )
        return key.grant

    def still(self, key: str | None) -> Grant | None:
        """What a session that was opened by the key of this id may do now; None when the key holds no more."""
        if self.open is not None:
            return self.open
        found = self.keys.standing(key, self.clock()) if self.keys is not None and key is not None else None
        return None if found is None else found.grant

    def person(self, memory: Memory, grant: Grant, headers: Mapping[str, str]) -> User:
        """The verbs of the owner that the headers choose. Raises Problem 403 for one that the key does not cover."""
        tenant, user = _header(headers, "tenant"), _header(headers, "user")
        aliases = headers.get("firsthand-aliases", "").split(",")
        return memory.user(
            _chosen(grant.user, user or self.user, "user"),
            tenant=_chosen(grant.tenant, tenant or (TENANT if grant.tenant == ALL else None), "tenant"),
            agent=_header(headers, "agent"),
            session=_header(headers, "session"),
            aliases=[_decoded(each.strip(), "aliases") for each in aliases if each.strip()],
            caller=grant.caller,
        )


def allow(grant: Grant, route: Route) -> None:
    """Raises Problem 403 where a key does not open a route."""
    if grant.level < route.level:
        raise Problem(403, "NotAllowed", f"this needs a key with the role {route.level.word}")
    if route.scope is Scope.STORE and not grant.everywhere:
        raise Problem(403, "NotAllowed", "this needs a key for the whole store")
    if route.scope is Scope.TENANT and grant.user != ALL:
        raise Problem(403, "NotAllowed", "this needs a key for all users of a tenant")


def _chosen(covered: str, asked: str | None, what: str) -> str:
    if covered != ALL:
        if asked is not None and asked != covered:
            raise Problem(403, "NotAllowed", f"the key is for another {what}")
        return covered
    if asked is None:
        raise Problem(
            400, "Malformed", f"the key is for several {what}s; say which one: Firsthand-{what.title()}: NAME"
        )
    return asked


def _header(headers: Mapping[str, str], what: str) -> str | None:
    value = headers.get(f"firsthand-{what}")
    return None if value is None else _decoded(value, what)


def _decoded(value: str, what: str) -> str:
    try:
        return unquote_to_bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        raise Problem(422, "InvalidInput", f"Firsthand-{what.title()} is not UTF-8, percent-encoded") from None
