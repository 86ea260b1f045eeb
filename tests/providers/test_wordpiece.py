"""WordPiece: the reference tokenizer's pieces, and counts that a context is budgeted by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidInput, ProviderFailed
from firsthand.providers.wordpiece import CallableTokenizer, WordPiece, WordPieceTokenizer, uncased, words

# Sentences of ours; the ids are what the `tokenizers` package gives for them with BERT's uncased vocabulary.
REFERENCE = json.loads((Path(__file__).parent / "wordpiece_reference.json").read_text("utf-8"))


@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: ascii(case["text"][:24]))
def test_pieces_are_those_of_the_reference(case: dict[str, object]) -> None:
    """Ours: the table's vectors and the model's weights are bound to the reference's pieces."""
    assert uncased().encode(str(case["text"])) == case["ids"]


def test_names_of_special_tokens_are_ordinary_text() -> None:
    """Design: user text is never syntax."""
    special = {uncased().id_of(name) for name in ("[CLS]", "[SEP]", "[PAD]", "[MASK]")}
    assert special.isdisjoint(uncased().encode("[CLS] hello [SEP] [PAD] [MASK]"))


@given(st.text())
def test_any_text_has_pieces_of_the_vocabulary(text: str) -> None:
    """Ours: no text makes the tokenizer fail or leave the vocabulary."""
    wordpiece = uncased()
    assert all(0 <= piece < wordpiece.size for piece in wordpiece.encode(text))


@given(st.text(st.characters(max_codepoint=127)), st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_agrees_with_the_general_way(left: str, right: str) -> None:
    """Ours: the fast path changes nothing but time."""
    assert words(left + right) == words(left + right + " é")[:-1]


def test_a_lone_surrogate_is_left_out() -> None:
    """Ours: text that is no Unicode is refused at the door, and does no harm here either."""
    assert words("a\ud800b") == ["ab"]


def test_a_word_too_long_to_spell_is_one_unknown_piece() -> None:
    """Ours: the reference's limit, which also bounds the time that a word takes."""
    assert uncased().encode("x" * 101) == [uncased().unknown]


def test_a_vocabulary_without_the_unknown_piece_is_refused() -> None:
    """Ours: a wrong vocabulary shows at once."""
    with pytest.raises(InvalidInput, match=r"\[UNK\]"):
        WordPiece(["a", "b"])


def test_the_default_tokenizer_counts_pieces() -> None:
    """Design: contexts are budgeted in the tokens of the tokenizer in use."""
    assert WordPieceTokenizer().count("unaffable, isn't it?") == len(uncased().encode("unaffable, isn't it?"))
    assert WordPieceTokenizer().count("") == 0


def test_a_function_serves_as_tokenizer() -> None:
    """Design: the tokenizer is pluggable."""
    assert CallableTokenizer(len).count("four") == 4


@pytest.mark.parametrize("answer", [-1, 1.5, "7", None, True], ids=repr)
def test_a_count_that_is_no_count_is_a_failed_provider(answer: object) -> None:
    """Ours: a wrong count would silently overflow somebody's context."""
    with pytest.raises(ProviderFailed, match="number of tokens"):
        CallableTokenizer(lambda _: answer).count("text")  # type: ignore[arg-type,return-value]


def test_a_tokenizer_that_raises_is_a_failed_provider() -> None:
    """Ours: foreign errors are translated where they enter."""

    def broken(_: str) -> int:
        raise KeyError("cl100k")

    with pytest.raises(ProviderFailed, match="KeyError") as caught:
        CallableTokenizer(broken).count("text")
    assert isinstance(caught.value.__cause__, KeyError)
