"""OpenTelemetry, where it is installed: one span a request, named by its route. Never a user, an id or content."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import firsthand


class Span:
    """A span that goes nowhere."""

    def done(self, route: str, status: int) -> None:
        """The request was answered."""


class _Recorded(Span):
    def __init__(self, span: Any, method: str) -> None:
        self._span, self._method = span, method

    def done(self, route: str, status: int) -> None:
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attributes({"http.route": route, "http.response.status_code": status})


@cache
def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("firsthand.server", firsthand.__version__)


@contextmanager
def span(method: str) -> Iterator[Span]:
    """The span of one request."""
    tracer = _tracer()
    if tracer is None:
        yield Span()
        return
    with tracer.start_as_current_span(method, attributes={"http.request.method": method}) as live:
        yield _Recorded(live, method)
