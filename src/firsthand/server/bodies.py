"""Bodies on their way in and out: bounded, and never waited for without end."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anyio

from firsthand.server.problems import Problem
from firsthand.server.schema import Unfit

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Send
    from starlette.types import Scope as Asgi

PIECE = 64 * 1024  # bytes sent at a time
_JSON = "application/json"


async def whole(request: Request, most: int, patience: float) -> bytes:
    """The body of a request. Raises Problem 413 and 408."""
    _check_announced(request, most)
    pieces, size = [], 0
    try:
        async for piece in _pieces(request, patience):
            size += len(piece)
            if size > most:
                raise _too_large(most)
            pieces.append(piece)
    except TimeoutError:
        raise _slow() from None
    return b"".join(pieces)


async def _pieces(request: Request, patience: float) -> Any:
    stream = request.stream().__aiter__()
    while True:
        with anyio.fail_after(patience):
            try:
                piece = await anext(stream)
            except StopAsyncIteration:
                return
        yield piece


def _check_announced(request: Request, most: int) -> None:
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > most:
        raise _too_large(most)


def media_of(request: Request) -> str:
    """The type of a body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().casefold()


def as_json(content: bytes, media: str) -> Any:
    """The value that a body writes; an empty one is an empty object. Raises Problem 415, Unfit."""
    if not content:
        return {}
    if media != _JSON:
        raise Problem(415, "Unsupported", f"the body must be {_JSON}, not {media[:60] or 'untyped'}")
    try:
        return json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Unfit("the body is not JSON") from None


def _no_number(word: str) -> Any:
    raise ValueError(word)


def _too_large(most: int) -> Problem:
    return Problem(413, "InvalidInput", f"the body is too large; the limit is {most:,} bytes", {"Connection": "close"})


def _slow() -> Problem:
    return Problem(408, "StoreBusy", "the body did not come in time; send it again", {"Connection": "close"})


class Incoming(io.RawIOBase):
    """A body as an open file, for a thread: read as it comes, so that none of it is kept twice."""

    def __init__(self, request: Request, most: int, patience: float) -> None:
        _check_announced(request, most)
        self._pieces = _pieces(request, patience)
        self._most, self._seen = most, 0
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Some bytes more; 0 at the end. Raises Problem 413 and 408."""
        while not self._left:
            piece = anyio.from_thread.run(self._next)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    async def _next(self) -> bytes | None:
        try:
            async for piece in self._pieces:
                self._seen += len(piece)
                if self._seen > self._most:
                    raise _too_large(self._most)
                if piece:
                    return bytes(piece)
        except TimeoutError:
            raise _slow() from None
        return None


class Lines:
    """An answer that is made while it is sent. A reader that stops reading is let go, and the store with it."""

    def __init__(self, lines: Iterator[bytes], media: str, patience: float, limiter: anyio.CapacityLimiter) -> None:
        self._lines, self._media, self._patience, self._limiter = lines, media, patience, limiter

    async def __call__(self, scope: Asgi, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send it. An answer that is cut short ends without its footer, and no import takes it."""
        first = await self._piece()
        headers = [(b"content-type", self._media.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            piece = first
            while piece:
                with anyio.fail_after(self._patience):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                piece = await self._piece()
            await send({"type": "http.response.body", "body": b""})
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(getattr(self._lines, "close", _nothing), limiter=self._limiter)

    async def _piece(self) -> bytes:
        return await anyio.to_thread.run_sync(self._gather, limiter=self._limiter)

    def _gather(self) -> bytes:
        gathered, size = [], 0
        for line in self._lines:
            gathered.append(line)
            size += len(line)
            if size >= PIECE:
                break
        return b"".join(gathered)


def _nothing() -> None:
    """What has no close needs none."""
