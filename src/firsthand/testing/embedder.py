"""What every embedder promises, as tests. Subclass `EmbedderContract`, say how to make yours, and run pytest."""

from __future__ import annotations

import pytest

from firsthand.ports import Embedder

ODD_TEXTS = (
    "",
    " ",
    "\n\t\r\n",
    "\x00",
    ".,;!?",
    "東京で寿司を食べた",
    "مرحبا بالعالم",
    "👩‍👩‍👧‍👦",
    "e\u0301\u0301\u0301",
    "x" * 20_000,
    "word " * 20_000,
    "[CLS] [SEP] [PAD] [UNK] ##s",
)
_TOLERANCE = 1e-5


class EmbedderContract:
    """Everything that `ports.Embedder` promises."""

    def make_embedder(self) -> Embedder:
        """A fresh embedder."""
        raise NotImplementedError

    @pytest.fixture
    def embedder(self) -> Embedder:
        """The embedder under test."""
        return self.make_embedder()

    def test_it_says_what_it_is(self, embedder: Embedder) -> None:
        """Design: the name is stored beside the vectors, so it must be there and stay the same."""
        assert isinstance(embedder, Embedder)
        assert embedder.name == self.make_embedder().name != ""
        assert embedder.dimensions == self.make_embedder().dimensions > 0
        assert isinstance(embedder.inline, bool)

    def test_vectors_are_float32_rows_of_unit_length(self, embedder: Embedder) -> None:
        """Ports: unit vectors, shape (texts, dimensions), float32."""
        vectors = embedder.embed(["I live in Lisbon", "The train was late"])
        assert vectors.shape == (2, embedder.dimensions)
        assert vectors.dtype.name == "float32"
        assert (abs((vectors * vectors).sum(axis=1) - 1) < _TOLERANCE).all()

    def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        """Ours: an empty batch is a shape, not an error."""
        vectors = embedder.embed([])
        assert vectors.shape == (0, embedder.dimensions)
        assert vectors.dtype.name == "float32"

    @pytest.mark.parametrize("text", ODD_TEXTS, ids=lambda text: f"{len(text)} {text[:8]!r}")
    def test_any_text_has_a_vector_of_unit_length(self, embedder: Embedder, text: str) -> None:
        """Ours: empty, blank, unknown or very long, there is never a zero or a nan to divide by."""
        (vector,) = embedder.embed([text])
        assert abs((vector * vector).sum() - 1) < _TOLERANCE

    def test_the_same_text_always_gets_the_same_vector(self, embedder: Embedder) -> None:
        """Design: same result every run; in another instance too."""
        texts = ["I live in Lisbon", "東京", ""]
        first = embedder.embed(texts)
        assert (first == embedder.embed(texts)).all()
        assert (first == self.make_embedder().embed(texts)).all()

    def test_company_does_not_change_a_vector(self, embedder: Embedder) -> None:
        """Ours: what a text is embedded with says nothing about it; the order of the rows is that of the texts."""
        texts = ["short", "", "a much longer text about trains and the sea " * 20, "東京で寿司", "short"]
        together = embedder.embed(texts)
        for text, vector in zip(texts, together, strict=True):
            assert abs(embedder.embed([text])[0] - vector).max() < _TOLERANCE

    def test_it_leaves_its_input_alone(self, embedder: Embedder) -> None:
        """Ours: any sequence of texts will do."""
        texts = ("one", "two")
        assert (embedder.embed(texts) == embedder.embed(list(texts))).all()
        assert texts == ("one", "two")

    def test_different_texts_are_told_apart(self, embedder: Embedder) -> None:
        """Ours: an embedder that gives every text the same vector ranks nothing."""
        near, far = embedder.embed(["I live in Lisbon", "quarterly tax report"])
        assert float(near @ far) < 1 - 1e-3
