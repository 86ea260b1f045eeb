"""What a memory promises about embedders: local by default, never waited for, never mixed, made again on request."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from firsthand import EmbedderMismatch, Memory, User

FACTS = [f"My plant number {n} is called Fern{n}." for n in range(20)]


class Hashing:
    """Unit vectors of a stated size from the words of a text; may be cut short after some texts."""

    inline = False

    def __init__(self, name: str, dimensions: int, breaks_after: int | None = None) -> None:
        self.name, self.dimensions, self._left = name, dimensions, breaks_after

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Counts of words, folded into the size."""
        out = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            if self._left is not None:
                if self._left == 0:
                    raise KeyboardInterrupt
                self._left -= 1
            for word in text.lower().strip("?.").split():
                row[crc32(word.encode()) % self.dimensions] += 1
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        return out


class Asleep:
    """An embedder whose model has not finished loading: it answers when the gate opens, and not before."""

    name, dimensions, inline = "asleep", 8, False

    def __init__(self) -> None:
        self.gate = Event()
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Wait for the gate."""
        self.asked += 1
        assert self.gate.wait(60)
        return np.full((len(texts), 8), 8**-0.5, dtype=np.float32)


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Connections that anybody tried to make: none comes about."""
    tried: list[object] = []

    def refuse(*address: object, **_: object) -> None:
        tried.append(address)
        raise OSError("the network is blocked")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    return tried


def filled(path: Path, embedder: Hashing) -> None:
    with Memory(path, embedder=embedder) as memory:
        memory.user("alex").observe(FACTS, session="s1")
        memory.embed()


def found(user: User) -> list[str]:
    return [hit.text for hit in user.recall("Which plant is called Fern7?", include="messages", limit=3)]


def test_another_embedder_is_refused_by_name_and_words_still_find(tmp_path: Path) -> None:
    """C061: an empty list is never the answer to a changed model."""
    path = tmp_path / "m.db"
    filled(path, Hashing("small", 8))
    with pytest.raises(EmbedderMismatch, match=r"'small', not by 'large'.*firsthand embed.*embedder='none'"):
        Memory(path, embedder=Hashing("large", 16))
    with Memory(path, embedder="none") as memory:
        assert FACTS[7] in found(memory.user("alex"))


def test_the_same_name_with_another_size_is_another_embedder(tmp_path: Path) -> None:
    """C061: id and size are stored; a model swapped behind one name is seen by its size."""
    path = tmp_path / "m.db"
    filled(path, Hashing("mine", 8))
    with pytest.raises(EmbedderMismatch, match=r"8 dimensions.*16"):
        Memory(path, embedder=Hashing("mine", 16))


def test_a_function_whose_size_shows_late_is_held_to_it_as_well(tmp_path: Path) -> None:
    """C061: a function's size is known after its first call; then it binds the same."""
    path = tmp_path / "m.db"
    sizes = iter((8, 16))

    def embed_with(size: int) -> object:
        def embed(texts: list[str]) -> list[list[float]]:
            return [[1.0] * size for _ in texts]

        return embed

    with Memory(path, embedder=embed_with(next(sizes))) as memory:  # type: ignore[arg-type]
        memory.user("alex").observe(FACTS)
        memory.embed()
    with Memory(path, embedder=embed_with(next(sizes))) as memory:  # type: ignore[arg-type]
        memory.user("alex").observe("One more.")
        with pytest.raises(EmbedderMismatch, match=r"8 dimensions.*16"):
            memory.embed()


def test_an_embedder_that_is_not_ours_is_asked_for(tmp_path: Path) -> None:
    """C061: reopened without the function that made its vectors, a store says whose they are and what to do."""
    path = tmp_path / "m.db"
    filled(path, Hashing("my.function", 8))
    with pytest.raises(EmbedderMismatch, match=r"'my\.function'.*embedder="):
        Memory(path)


def test_making_vectors_again_goes_on_where_it_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C061: one command re-embeds, and is resumable; what was said is not touched."""
    monkeypatch.setattr("firsthand.upkeep.AT_ONCE", 4)
    path = tmp_path / "m.db"
    filled(path, Hashing("small", 8))
    with (
        Memory(path, embedder=Hashing("large", 16, breaks_after=9), reembed=True) as memory,
        pytest.raises(KeyboardInterrupt),
    ):
        memory.embed()
    with Memory(path, embedder=Hashing("large", 16), reembed=True) as memory:
        assert memory.health()["due"] == 12
        assert memory.embed() == 12
    with Memory(path, embedder=Hashing("large", 16)) as memory:
        assert FACTS[7] in found(memory.user("alex"))
        assert [m.content for m in memory.user("alex").messages()] == FACTS


def test_every_verb_works_without_key_and_network(
    tmp_path: Path, connections: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """C063: no key, sockets blocked: open, add, search, correct, erase, export, and the provider is never asked."""
    for name in [each for each in os.environ if each.endswith(("_KEY", "_TOKEN"))]:
        monkeypatch.delenv(name)
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe("I live in Lisbon.", session="s1")
        assert alex.recall("Where do I live?")
        alex.correct(alex.beliefs("user", "lives_in")[0].id, "Porto")
        alex.export(tmp_path / "alex.jsonl")
        assert "Porto" in str(alex.context("Where do I live?"))
        assert alex.erase().messages == 1
        assert memory.rebuild().equal
    assert connections == []


def test_nothing_is_reported_to_anybody(tmp_path: Path, connections: list[object]) -> None:
    """C078: a hundred adds and searches; no connection is tried, no thread is left behind."""
    before = set(threading.enumerate())
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        for n in range(100):
            alex.observe(f"Note {n} for today.", session="s1")
            alex.recall(f"note {n}")
    assert connections == []
    assert set(threading.enumerate()) <= before


def test_adding_and_searching_never_wait_for_a_model_that_sleeps(tmp_path: Path) -> None:
    """C080: a hundred adds return with the embedder asleep, never having asked it; the words are found at once."""
    asleep = Asleep()
    with Memory(tmp_path / "m.db", embedder=asleep) as memory:
        alex = memory.user("alex")
        for n in range(100):
            alex.observe(f"Entry number {n}: the word is w{n}x.", session="s1")
        assert alex.recall("w42x")[0].text == "Entry number 42: the word is w42x."
        assert asleep.asked == 0
        assert memory.health()["due"] == 100


def test_an_add_made_twice_while_a_model_loads_is_stored_once(tmp_path: Path) -> None:
    """C085: opening and the first add never wait for a model; a client that gave up and tries again adds nothing."""
    asleep = Asleep()
    with Memory(tmp_path / "m.db", embedder=asleep) as memory:
        alex = memory.user("alex")
        first = alex.observe("I live in Lisbon.", session="s1", idempotency_key="k1")
        again = alex.observe("I live in Lisbon.", session="s1", idempotency_key="k1")
        assert again.duplicates[: len(first.messages)] == first.messages
        assert len(list(alex.messages())) == 1
        assert alex.recall("Where do I live?")
        assert asleep.asked == 0
