"""The static embedder: verified, deterministic, shared by threads, and sensible about meaning."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from firsthand.errors import ProviderFailed
from firsthand.ports import Embedder
from firsthand.providers import static
from firsthand.providers.static import StaticEmbedder, Table

TURNS = [
    "I moved to Lisbon in March.",
    "My sister is allergic to peanuts",
    "Remind me to send the weekly report on Monday!",
    "東京に住んでいます",
]


def no_network(*_: object, **__: object) -> None:
    raise AssertionError("the network was asked")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    monkeypatch.setattr(socket.socket, "connect", no_network)


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The table as not yet loaded, and a count of how often it is read."""
    reads: list[str] = []
    real = static.read

    def counted(resource: object, sha256: str) -> Table:
        reads.append(sha256)
        return real(resource, sha256)  # type: ignore[arg-type]

    monkeypatch.setattr(static, "read", counted)
    static._packaged.cache_clear()
    return lambda: len(reads)


def test_it_is_an_embedder() -> None:
    """Design: the port."""
    embedder = StaticEmbedder()
    assert isinstance(embedder, Embedder)
    assert embedder.inline


def test_vectors_have_unit_length() -> None:
    """Design: the port promises unit vectors of the stated size, one for each text."""
    vectors = StaticEmbedder().embed(TURNS)
    assert vectors.shape == (len(TURNS), StaticEmbedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("text", ["", "  \n", "\x00", "🦄🦄"], ids=ascii)
def test_a_text_without_a_known_piece_gives_zeros(text: str) -> None:
    """Ours: nothing is near to nothing; no direction is made up."""
    assert not StaticEmbedder().embed([text]).any()


def test_unknown_pieces_do_not_move_a_vector() -> None:
    """Ours: an emoji that the vocabulary lacks says nothing."""
    plain, decorated = StaticEmbedder().embed(["my cat", "my cat 🦄"])
    np.testing.assert_array_equal(plain, decorated)


def test_no_texts_give_no_vectors() -> None:
    """Design: shape (texts, dimensions), also for none."""
    assert StaticEmbedder().embed([]).shape == (0, StaticEmbedder.dimensions)


def test_a_vector_does_not_depend_on_the_texts_beside_it() -> None:
    """Ours: a message stored alone and one stored in bulk are found alike."""
    together = StaticEmbedder().embed(TURNS)
    alone = np.vstack([StaticEmbedder().embed([turn]) for turn in TURNS])
    np.testing.assert_array_equal(together, alone)


def test_a_fresh_process_gives_the_same_vectors() -> None:
    """Design: same result every run."""
    script = (
        "import sys; from firsthand.providers.static import StaticEmbedder\n"
        "sys.stdout.buffer.write(StaticEmbedder().embed(['I moved to Lisbon in March.']).tobytes())"
    )
    fresh = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)  # noqa: S603
    assert fresh.stdout == StaticEmbedder().embed(TURNS[:1]).tobytes()


def test_the_very_end_of_an_endless_text_does_not_count() -> None:
    """Ours: a write does not wait for ten megabytes to be averaged."""
    start = "tax " * (static.TEXT_LIMIT // 4)
    np.testing.assert_array_equal(*StaticEmbedder().embed([start, start + "kitten " * 1000]))


@pytest.mark.parametrize(
    ("word", "near", "far"),
    [
        ("cat", "kitten", "tax"),
        ("where do you live", "my home is in Berlin", "I like to paint"),
        ("her job", "she works as a nurse", "the weather is fine"),
        ("allergic to peanuts", "nuts make me ill", "we went hiking"),
        ("guitar", "violin", "invoice"),
    ],
)
def test_what_means_alike_lies_nearer(word: str, near: str, far: str) -> None:
    """Ours: the table in the package is one of meanings, rows in the right places."""
    vectors = StaticEmbedder().embed([word, near, far])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1


def test_nothing_is_asked_of_the_network(offline: None, unloaded: Callable[[], int]) -> None:  # noqa: ARG001
    """C063, C078: works with sockets blocked, the loading included."""
    assert StaticEmbedder().embed(TURNS).any()
    assert unloaded() == 1


def test_threads_load_one_table_and_agree(unloaded: Callable[[], int]) -> None:
    """Ours: one table serves any number of threads that begin at once."""
    gate = Barrier(8)

    def embed(_: int) -> bytes:
        gate.wait()
        return StaticEmbedder().embed(TURNS).tobytes()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(embed, range(8)))) == 1
    assert unloaded() == 1


def test_importing_and_creating_loads_no_table(unloaded: Callable[[], int]) -> None:
    """C085: opening a store never waits for a model."""
    StaticEmbedder()
    assert unloaded() == 0


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    """Ours: wrong vectors would be stored for good; a wrong digest is seen before."""
    damaged = bytearray(static.write(small_table()))
    damaged[-1] ^= 1
    file = tmp_path / "table.bin"
    file.write_bytes(damaged)
    with pytest.raises(ProviderFailed, match=r"table\.bin is not the one firsthand came with"):
        static.read(file, static.SHA256)


@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
def test_a_table_that_cannot_be_read_is_a_failed_provider(tmp_path: Path, content: bytes | None) -> None:
    """Ours: one clear line that says what to do."""
    file = tmp_path / "table.bin"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ProviderFailed, match=r"cannot be read .* reinstall firsthand"):
        static.read(file, static.SHA256)


def test_a_table_survives_its_file(tmp_path: Path) -> None:
    """Ours: what the build script writes is what is read."""
    import hashlib

    data = static.write(small_table())
    file = tmp_path / "table.bin"
    file.write_bytes(data)
    table = static.read(file, hashlib.sha256(data).hexdigest())
    np.testing.assert_array_equal(table.scales, small_table().scales)
    np.testing.assert_array_equal(table.rows, small_table().rows)


def small_table() -> Table:
    return Table(np.array([0.5, 2.0, 0.0], dtype=np.float32), np.arange(12, dtype=np.int8).reshape(3, 4))
