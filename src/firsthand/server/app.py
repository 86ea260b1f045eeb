"""The application: requests through the gate and the table of routes to the verbs, and answers back.

Verbs are synchronous and run in threads, a bounded number at a time. A receipt is sent after its commit, so that
whatever was acknowledged is kept, however the server ends.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Router
from starlette.routing import Route as Path
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asgi

from firsthand.errors import FirsthandError
from firsthand.memory import Memory
from firsthand.model import Explanation, Receipt, to_json
from firsthand.server import bodies, metrics, openapi, schema
from firsthand.server.doorstep import LOOPBACK, Doorstep
from firsthand.server.gate import Gate, allow
from firsthand.server.keys import Grant
from firsthand.server.limits import Limits, Rate
from firsthand.server.problems import Problem, of_error
from firsthand.server.routes import LINES, ROUTES, Call, Route, Scope


@dataclass(frozen=True)
class Doors:
    """Everything that the faces of one server share."""

    memory: Memory
    gate: Gate
    limits: Limits = field(default_factory=Limits)
    hosts: Sequence[str] = LOOPBACK
    metrics: metrics.Metrics = field(default_factory=metrics.Metrics)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", Rate(self.limits.rate, self.limits.burst))
        object.__setattr__(self, "limiter", anyio.CapacityLimiter(self.limits.threads))

    rate: Rate = field(init=False)
    limiter: anyio.CapacityLimiter = field(init=False)

    def admit(self, request: Request) -> Grant:
        """What the caller may do, if it does not ask too often. Raises Problem 401 and 429."""
        peer = request.client.host if request.client else ""
        try:
            grant = self.gate.grant(request.headers.get("authorization"))
        except Problem:
            self.take(f"unknown {peer}")
            raise
        self.take(grant.key or peer)
        return grant

    def take(self, caller: str) -> None:
        """Count a request of a caller. Raises Problem 429."""
        wait = self.rate.wait(caller)
        if wait:
            after = {"Retry-After": str(max(1, round(wait)))}
            raise Problem(429, "StoreBusy", f"too many requests; ask again in {wait:.1f} s", after)


def application(doors: Doors) -> ASGIApp:
    """The whole server as one ASGI application. Whoever opened the memory closes it."""
    routes: list[BaseRoute] = [
        *_api(doors),
        Path("/openapi.json", Endpoint(_document(), ["GET"])),
        Path("/metrics", Endpoint(_metrics(doors), ["GET"])),
    ]
    router = Router(routes, redirect_slashes=False, default=_nowhere)
    return Doorstep(router, doors.hosts, doors.metrics)


async def _nowhere(*_: Any) -> None:
    raise Problem(404, "NotFound", "there is nothing at this address; /openapi.json says what there is")


# -- the API -----------------------------------------------------------------------------------------------------


def _api(doors: Doors) -> list[BaseRoute]:
    by_path: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = route
    return [Path(path, Endpoint(_serving(doors, methods), methods)) for path, methods in by_path.items()]


class Endpoint:
    """An address: answers the methods that it takes, and turns errors of the library into problems."""

    def __init__(self, serve: Callable[[Request], Awaitable[Any]], methods: Iterable[str]) -> None:
        self._serve, self._methods = serve, {*methods}
        self._methods |= {"HEAD"} if "GET" in self._methods else set()

    async def __call__(self, scope: Asgi, receive: Receive, send: Send) -> None:
        """Serve one request. Raises Problem."""
        if scope["method"] not in self._methods:
            allowed = ", ".join(sorted(self._methods))
            raise Problem(405, "NoSuchMethod", f"this address takes {allowed}", {"Allow": allowed})
        try:
            answer = await self._serve(Request(scope, receive, send))
        except schema.Unfit as fault:
            raise Problem(400, "Malformed", str(fault)) from None
        except FirsthandError as error:
            raise of_error(error) from error
        await answer(scope, receive, send)


def _serving(doors: Doors, routes: Mapping[str, Route]) -> Callable[[Request], Awaitable[Any]]:
    async def serve(request: Request) -> Any:
        route = routes["GET" if request.method == "HEAD" else request.method]
        request.scope["firsthand.route"] = route.name
        return await _serve(doors, route, request)

    return serve


async def _serve(doors: Doors, route: Route, request: Request) -> Any:
    call = await _call(doors, route, request)
    answer = await anyio.to_thread.run_sync(_carry_out, doors, route, call, limiter=doors.limiter)
    if route.answer is None:
        return Response(status_code=204)
    if route.answer == LINES:
        return bodies.Lines(answer, LINES, doors.limits.patience, doors.limiter)
    content, tag = answer
    if route.method != "GET" or route.scope is Scope.NOTHING:
        return Response(content, media_type="application/json")
    if tag in _tags(request.headers.get("if-none-match")):
        return Response(status_code=304, headers={"ETag": f'"{tag}"'})
    return Response(content, media_type="application/json", headers={"ETag": f'"{tag}"'})


async def _call(doors: Doors, route: Route, request: Request) -> Call:
    headers = request.headers
    if route.scope is Scope.NOTHING:
        schema.from_query(request.query_params.multi_items(), route.query)
        return Call(doors.memory, Grant("", "", route.level))
    grant = doors.admit(request)
    allow(grant, route)
    for key, wanted in route.headers.items():
        if key in headers:
            schema.check(headers[key], wanted, key)
    given, stream = await _given(doors, route, request)
    return Call(
        doors.memory,
        grant,
        doors.gate.person(doors.memory, grant, headers) if route.scope is Scope.OWNER else None,
        id=_id(request.path_params.get("id", "")),
        given=given,
        idempotency_key=headers.get("idempotency-key") if route.repeats else None,
        expected=_expected(headers.get("if-match")) if route.matches else None,
        stream=stream,
    )


async def _given(doors: Doors, route: Route, request: Request) -> tuple[dict[str, Any], Any]:
    limits = doors.limits
    query = schema.from_query(request.query_params.multi_items(), route.query)
    for each in route.needs:
        if each not in query:
            raise schema.Unfit(f"the query parameter {each} is missing")
    media = bodies.media_of(request)
    if route.reads_stream:
        if media != LINES:
            raise Problem(415, "Unsupported", f"the body must be {LINES}, not {media[:60] or 'untyped'}")
        return query, io.BufferedReader(bodies.Incoming(request, limits.upload, limits.patience), bodies.PIECE)
    if route.body is None:
        return query, None
    value = bodies.as_json(await bodies.whole(request, limits.body, limits.patience), media)
    schema.check(value, route.body)
    return value, None


def _carry_out(doors: Doors, route: Route, call: Call) -> Any:
    """Call the verb, in a thread: the JSON of its answer and its tag, or the lines of a stream."""
    answer = route.handle(call)
    if isinstance(answer, Receipt):
        doors.metrics.wrote(answer)
    if route.answer is None or route.answer == LINES:
        return answer
    content = json.dumps(to_json(answer), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return content, answer.tag if isinstance(answer, Explanation) else _digest(content)


def _id(part: str) -> str:
    """An id from a path, which came as it was sent."""
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise Problem(404, "NotFound", "the id is not UTF-8, percent-encoded") from None


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def _tags(header: str | None) -> list[str]:
    return [each.strip().removeprefix("W/").strip('"') for each in (header or "").split(",") if each.strip()]


def _expected(header: str | None) -> str | None:
    """The tag that If-Match names; `*` is any."""
    tags = _tags(header)
    return None if not tags or tags == ["*"] else tags[0]


# -- beside the verbs --------------------------------------------------------------------------------------------


def _document() -> Any:
    async def endpoint(request: Request) -> Response:
        request.scope["firsthand.route"] = "openapi"
        return JSONResponse(openapi.document())

    return endpoint


def _metrics(doors: Doors) -> Any:
    async def endpoint(request: Request) -> Response:
        request.scope["firsthand.route"] = "metrics"
        grant = doors.admit(request)
        if not grant.everywhere:
            raise Problem(403, "NotAllowed", "this needs a key for the whole store")
        text = await anyio.to_thread.run_sync(doors.metrics.text, doors.memory.health, limiter=doors.limiter)
        return PlainTextResponse(text, media_type=metrics.MEDIA)

    return endpoint
