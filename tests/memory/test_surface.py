"""The public surface: what is exported, and that both faces have the same verbs."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import firsthand
from firsthand import AsyncMemory, AsyncUser, Memory, User


def verbs(kind: type) -> set[str]:
    """Public verbs of a class."""
    return {name for name, value in vars(kind).items() if callable(value) and not name.startswith("_")}


def test_every_name_that_is_promised_is_there() -> None:
    """Ours: the list of names and the names agree."""
    assert sorted(set(firsthand.__all__)) == sorted(firsthand.__all__)
    for name in firsthand.__all__:
        assert getattr(firsthand, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = firsthand.nonsense


def test_the_type_checkers_imports_and_the_list_of_names_agree() -> None:
    """Ours: what a type checker sees is what can be imported."""
    source = Path(str(firsthand.__file__)).read_text()
    block = source[source.index("if TYPE_CHECKING:") : source.index("__version__ =")]
    seen = {word.strip(" ,()") for line in block.splitlines() for word in line.partition("import ")[2].split(",")}
    seen |= {line.strip(" ,") for line in block.splitlines() if line.startswith("        ")}
    assert set(firsthand.__all__) - {"__version__"} <= seen


def test_importing_the_package_loads_nothing_heavy() -> None:
    """Issue: `--help` is fast; nothing heavy is imported until it is used."""
    script = "import sys, firsthand; print([m for m in ('numpy', 'apsw', 'click') if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    assert told.stdout.strip() == "[]"


def test_the_async_faces_have_the_same_verbs() -> None:
    """Design: the same verbs, off the event loop."""
    assert verbs(AsyncUser) == verbs(User)
    assert verbs(AsyncMemory) == verbs(Memory) - {"vectors", "scale"}
    for name in verbs(AsyncUser) - {"messages", "exported"}:
        assert inspect.getdoc(getattr(AsyncUser, name)) == inspect.getdoc(getattr(User, name))


def test_the_flow_works_off_the_event_loop(tmp_path: Path) -> None:
    """API: sync and async."""

    async def flow() -> None:
        async with AsyncMemory(tmp_path / "m.db", clock=lambda: datetime(2026, 6, 1, tzinfo=UTC)) as mem:
            alex = mem.user("alex")
            await asyncio.gather(*(alex.observe(f"I like tea number {n}", session="s") for n in range(8)))
            await alex.remember("Lisbon", attribute="lives_in")
            assert [m.content async for m in alex.messages()] != []
            assert len([m async for m in alex.messages(limit=5)]) == 5
            assert "Lisbon" in str(await alex.context("where do I live?"))
            await alex.erase()
            assert [m async for m in alex.messages()] == []

    asyncio.run(flow())


def test_what_waits_and_what_was_dropped_unpack_as_the_surface_says(alex: User) -> None:
    """Design: .pending [(id, reason, question)], .dropped [(text, reason)]."""
    waiting = alex.observe("I'm allergic to hazelnuts.").pending
    ((name, reason, question),) = waiting
    assert (waiting[0][0], waiting[0].reason, waiting[0][2]) == (name, reason, question)
    dropped = alex.remember("asthma", attribute="health", source="inferred").dropped
    ((text, why),) = dropped
    assert (text, dropped[0][1]) == ("asthma", why)


@pytest.mark.parametrize(
    ("verb", "given", "meant"),
    [
        ("remember", {"attribut": "lives_in"}, "attribute"),
        ("remember", {"valid_form": "2020-01-01"}, "valid_from"),
        ("observe", {"sesion": "s1"}, "session"),
        ("recall", {"limt": 1}, "limit"),
        ("context", {"max_token": 50}, "max_tokens"),
        ("retract", {"reson": "x"}, "reason"),
    ],
)
def test_a_misspelt_option_is_an_error_and_stores_nothing(
    alex: User, verb: str, given: dict[str, object], meant: str
) -> None:
    """Ours: a dropped option changes what is meant, without a word."""
    alex.remember("oak", attribute="favourite_tree")
    target = alex.beliefs()[0].id if verb == "retract" else "Paris"
    with pytest.raises(TypeError, match=f"did you mean '{meant}'"):
        getattr(alex, verb)(target, **given)
    assert [b.value for b in alex.beliefs()] == ["oak"]
    assert list(alex.messages()) == []
