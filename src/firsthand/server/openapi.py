"""The OpenAPI 3.1 document, made from the table of routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import firsthand
from firsthand.server import problems
from firsthand.server.routes import LINES, ROUTES, Route, Scope
from firsthand.server.schema import Schema, of_type


def document(server: str | None = None) -> dict[str, Any]:
    """The document; `server` is the address that it is reached at."""
    parts: dict[str, Any] = {"Problem": _problem()}
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, parts)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "firsthand",
            "version": firsthand.__version__,
            "description": "Long-term memory for AI agents: keeps what was actually said, and can prove it.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        **({"servers": [{"url": server}]} if server else {}),
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(parts.items())),
            "responses": {str(status): _told(title) for status, title in problems.TITLES.items()},
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "From `firsthand keys add`."}
            },
        },
    }


def _problem() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "What went wrong (RFC 9457); `type` names the error.",
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
        },
        "required": ["type", "title", "status", "detail"],
    }


def _operation(route: Route, parts: dict[str, Any]) -> dict[str, Any]:
    body = _body(route)
    return {
        "operationId": route.name,
        "summary": route.about,
        "tags": [route.tag],
        "parameters": [*_path(route), *_query(route), *_headers(route)],
        **({"requestBody": body} if body else {}),
        **({"security": []} if route.scope is Scope.NOTHING else {}),
        "responses": {**_done(route, parts), **_refused(route)},
    }


def _path(route: Route) -> Iterable[dict[str, Any]]:
    if "{id}" in route.path:
        schema = {"type": "string", "minLength": 1, "maxLength": 512}
        yield {"name": "id", "in": "path", "required": True, "schema": schema, "description": "What it is about."}


def _query(route: Route) -> Iterable[dict[str, Any]]:
    for key, schema in route.query.items():
        told, rest = _split(schema)
        yield {"name": key, "in": "query", "required": key in route.needs, "schema": rest, "description": told}


def _headers(route: Route) -> Iterable[dict[str, Any]]:
    for key, schema in route.headers.items():
        told, rest = _split(schema)
        yield {"name": key, "in": "header", "required": False, "schema": rest, "description": told}


def _split(schema: Schema) -> tuple[str, dict[str, Any]]:
    rest = dict(schema)
    return rest.pop("description", ""), rest


def _body(route: Route) -> dict[str, Any] | None:
    if route.reads_stream:
        return {"required": True, "content": {LINES: {"schema": {"type": "string"}}}}
    if route.body is None:
        return None
    return {"required": bool(route.body.get("required")), "content": {"application/json": {"schema": route.body}}}


def _done(route: Route, parts: dict[str, Any]) -> dict[str, Any]:
    if route.answer is None:
        return {"204": {"description": "Done."}}
    if route.answer == LINES:
        return {"200": {"description": "The lines.", "content": {LINES: {"schema": {"type": "string"}}}}}
    schema = _answer(route, parts)
    answer: dict[str, Any] = {"description": "Done.", "content": {"application/json": {"schema": schema}}}
    if route.method != "GET" or route.scope is Scope.NOTHING:
        return {"200": answer}
    tag = {"description": "For If-None-Match.", "schema": {"type": "string"}}
    return {"200": {**answer, "headers": {"ETag": tag}}, "304": {"description": "As it was when you last asked."}}


def _answer(route: Route, parts: dict[str, Any]) -> Mapping[str, Any]:
    if isinstance(route.answer, Mapping):
        return route.answer
    inner = of_type(route.answer, parts)
    if not route.pages:
        return inner
    following = {"type": ["string", "null"], "description": "The cursor of the next page; null on the last."}
    return {
        "type": "object",
        "properties": {"items": {"type": "array", "items": inner}, "next": following},
        "required": ["items", "next"],
    }


def _refused(route: Route) -> dict[str, Any]:
    statuses = [400, 413, 421, 422, 429, 503]
    if route.scope is not Scope.NOTHING:
        statuses += [401, 403, 404]
    if route.repeats:
        statuses += [409]
    if route.matches:
        statuses += [412]
    if route.body is not None or route.reads_stream:
        statuses += [408, 415]
    told = {str(each): {"$ref": f"#/components/responses/{each}"} for each in sorted(statuses)}
    return {**told, "default": {"$ref": "#/components/responses/500"}}


def _told(title: str) -> dict[str, Any]:
    return {
        "description": title,
        "content": {problems.MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
