"""The same verbs, off the event loop: each runs in a thread, and is otherwise the verb of `memory.py`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import islice
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from firsthand.memory import Memory, User
from firsthand.model import Message

P = ParamSpec("P")
R = TypeVar("R")

PAGE = 256  # messages or lines handed over at a time


def _in_thread(
    verb: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Any, P], Awaitable[R]]:
    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(verb, self._sync, *args, **kwargs)

    call.__name__, call.__doc__ = verb.__name__, verb.__doc__
    return call


class AsyncUser:
    """The verbs of one owner, awaitable."""

    def __init__(self, user: User) -> None:
        self._sync = user

    observe = _in_thread(User.observe)
    extract = _in_thread(User.extract)
    end_session = _in_thread(User.end_session)
    remember = _in_thread(User.remember)
    correct = _in_thread(User.correct)
    end = _in_thread(User.end)
    retract = _in_thread(User.retract)
    confirm = _in_thread(User.confirm)
    reject = _in_thread(User.reject)
    recall = _in_thread(User.recall)
    search = _in_thread(User.search)
    context = _in_thread(User.context)
    profile = _in_thread(User.profile)
    beliefs = _in_thread(User.beliefs)
    history = _in_thread(User.history)
    pending = _in_thread(User.pending)
    why = _in_thread(User.why)
    sessions = _in_thread(User.sessions)
    used = _in_thread(User.used)
    forget = _in_thread(User.forget)
    forget_source = _in_thread(User.forget_source)
    erase = _in_thread(User.erase)
    export = _in_thread(User.export)

    def exported(self) -> AsyncIterator[bytes]:
        """The lines of an export, one by one. See `User.exported`."""
        return _pages(self._sync.exported())

    async def messages(self, session: str | None = None, **options: Any) -> AsyncIterator[Message]:
        """Every message, in the order that memory was told. Takes what `User.messages` takes."""
        async for message in _pages(self._sync.messages(session, **options)):
            yield message


async def _pages(found: Iterator[R]) -> AsyncIterator[R]:
    """What a blocking iterator gives, fetched in a thread some at a time."""
    while page := await asyncio.to_thread(lambda: list(islice(found, PAGE))):
        for each in page:
            yield each


class AsyncMemory:
    """A place where memories are kept, for event loops. Takes what `Memory` takes; opening is quick and synchronous."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._sync = Memory(*args, **options)

    def user(self, user: str, **options: Any) -> AsyncUser:
        """The verbs of one owner. Takes what `Memory.user` takes."""
        return AsyncUser(self._sync.user(user, **options))

    users = _in_thread(Memory.users)
    import_ = _in_thread(Memory.import_)
    merge = _in_thread(Memory.merge)
    rebuild = _in_thread(Memory.rebuild)
    apply_policy = _in_thread(Memory.apply_policy)
    embed = _in_thread(Memory.embed)
    work = _in_thread(Memory.work)
    health = _in_thread(Memory.health)
    maintain = _in_thread(Memory.maintain)
    close = _in_thread(Memory.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()
