"""What went wrong, as RFC 9457 problem details: one table from errors to statuses, one line that says what to do.

`type` is `urn:firsthand:` and the name of the error; `Client` turns it back into that error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from firsthand import errors

MEDIA = "application/problem+json"
URN = "urn:firsthand:"

STATUS: Mapping[type[errors.FirsthandError], int] = {
    errors.InvalidInput: 422,
    errors.Conflict: 409,
    errors.Stale: 412,
    errors.PolicyInvalid: 422,
    errors.NotFound: 404,
    errors.NotAllowed: 403,
    errors.PolicyMismatch: 409,
    errors.EmbedderMismatch: 409,
    errors.ProviderFailed: 502,
    errors.StoreError: 500,
    errors.StoreUnavailable: 503,
    errors.StoreBusy: 503,
    errors.StoreFull: 507,
    errors.StoreCorrupt: 500,
    errors.SchemaTooNew: 500,
    errors.FirsthandError: 500,
}

TITLES: Mapping[int, str] = {
    400: "The request is not what the document says",
    401: "No key that holds",
    403: "Not allowed",
    404: "Not here",
    405: "No such method",
    408: "The body did not come",
    409: "In conflict with what is here",
    412: "It changed meanwhile",
    413: "Too large",
    415: "Not JSON",
    421: "Not the name of this server",
    422: "Refused",
    429: "Too many requests",
    500: "The server failed",
    502: "A provider failed",
    503: "Not now",
    507: "No room left",
}


@dataclass(slots=True)
class Problem(Exception):
    """A refusal by the door itself, before any verb was called."""

    status: int
    name: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.detail


def of_error(error: errors.FirsthandError) -> Problem:
    """The problem that an error of the library is for a caller."""
    kind = next(each for each in type(error).__mro__ if each in STATUS)
    again = {"Retry-After": "1"} if isinstance(error, errors.StoreBusy | errors.StoreUnavailable) else {}
    return Problem(STATUS[kind], kind.__name__, str(error), again)


def body(problem: Problem) -> dict[str, Any]:
    """The problem's JSON form."""
    return {
        "type": URN + problem.name,
        "title": TITLES.get(problem.status, "It did not work"),
        "status": problem.status,
        "detail": problem.detail,
    }
