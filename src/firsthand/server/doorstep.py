"""What holds for every request, whichever face it is for: this server's names, foreign pages, headers, failures.

A browser sends requests on behalf of any page that it shows. A page that had its name resolve to this machine gives
itself away by the Host header, and a form on a foreign page by the Origin header; both are turned away here.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Collection, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from firsthand.server import problems, tracing
from firsthand.server.metrics import Metrics
from firsthand.server.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SAFE = ("GET", "HEAD", "OPTIONS")
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
log = logging.getLogger("firsthand.server")


class Doorstep:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], metrics: Metrics) -> None:
        self._app = app
        self._hosts = frozenset(host.casefold() for host in hosts)
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.monotonic()
        answer = _Answer(send)
        with tracing.span(scope["method"]) as span:
            try:
                self._check(scope)
                await self._app(_as_sent(scope), receive, answer)
            except Problem as problem:
                await answer.refuse(problem)
            except Exception as error:  # noqa: BLE001 - the last resort: a defect of ours is one problem, and never shows content
                log.error("a request failed: %s", _place(error))  # noqa: TRY400 - a traceback may quote content
                await answer.refuse(Problem(500, "FirsthandError", "the server failed; its log says where"))
            finally:
                route = scope.get("firsthand.route", "other")
                span.done(route, answer.status)
                self._metrics.request(route, answer.status, time.monotonic() - started)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if "*" not in self._hosts and _name(host) not in self._hosts:
            raise Problem(
                421, "Misdirected", f"this server is not called {host[:100]!r}; `serve --allow-host` names it"
            )
        origin = headers.get(b"origin")
        if scope["method"] in _SAFE or origin is None:
            return
        if urlsplit(origin.decode("latin-1")).netloc.casefold() != host.casefold():
            raise Problem(403, "NotAllowed", "a page of another site may not write here")


def _as_sent(scope: Scope) -> Scope:
    """The scope with its path as it came, so that an encoded slash in an id is no separator."""
    raw = scope.get("raw_path")
    if raw and raw.startswith((b"/v1/", b"/ui/")):
        scope["path"] = raw.decode("latin-1")
    return scope


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").casefold()
    except ValueError:
        return ""


def _place(error: BaseException) -> str:
    """What went wrong and where, without the message, which may quote what somebody said."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


class _Answer:
    """Sends an answer, with the headers that each one has, and remembers its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            _complete(message)
        await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        """Answer with a problem, unless an answer has begun."""
        if self.status:
            return
        content = json.dumps(problems.body(problem), ensure_ascii=False).encode("utf-8", "replace")
        headers = {"content-type": problems.MEDIA, "content-length": str(len(content)), **problem.headers}
        pairs = [(key.lower().encode("latin-1"), value.encode("latin-1")) for key, value in headers.items()]
        await self({"type": "http.response.start", "status": problem.status, "headers": pairs})
        await self._send({"type": "http.response.body", "body": content})


def _complete(message: MutableMapping[str, Any]) -> None:
    headers = list(message.get("headers", []))
    given = {key.lower() for key, _ in headers}
    message["headers"] = headers + [(key, value) for key, value in _HEADERS if key not in given]
