"""Hostile and odd input: the writer always answers, quotes exactly, and never makes up words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from writer_talk import rules, told, turn

from firsthand.writer.sentences import LONGEST_MESSAGE, own_words, sentences

_BITS = [
    *("I live in ", "Berlin", "my sister Ana ", "is a nurse", ". ", "\n", "I'm ", "allergic to ", "peanuts", " and "),
    *("remember that ", "from now on ", "no, it's ", "just kidding", '"', "'", "`", "```", "> ", "(", ", ", "in 2019"),
    *("last March ", "?", "!", "…", "东京", "é", "e\u0301", "\u2019", "👍🏽", "\x00", "\ud800", "\u2028", "\t", "  "),
    *("I moved to ", "call me "),
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(_BITS) | st.text(max_size=8), max_size=30).map("".join))
def test_any_text_is_read_and_quoted_exactly(text: str) -> None:
    """Ours: no text raises, and every value stands in the words quoted."""
    for found in rules().propose([turn(text)], []):
        assert 0 <= found.start < found.end <= len(text)
        quoted = " ".join(text[found.start : found.end].split())
        assert found.value is None or found.value in quoted


@given(st.lists(st.sampled_from(_BITS), max_size=30).map("".join))
def test_blanking_keeps_every_character_in_its_place(text: str) -> None:
    """Ours: spans of the blanked text are spans of the message."""
    blanked = own_words(text)
    assert len(blanked) == len(text)
    for sentence in sentences(blanked, frozenset()):
        assert blanked[sentence.start : sentence.end] == sentence.text


def test_a_document_is_not_read_as_talk() -> None:
    """Ours: what is longer than the stated length is no talk, however it begins."""
    said = "I live in Rome. "
    assert told(said * (LONGEST_MESSAGE // len(said))) == ["user.lives_in = Rome"]
    assert told(said * (LONGEST_MESSAGE // len(said) + 1)) == []


@pytest.mark.parametrize(
    "text",
    [
        "I " * 9_000,
        "I really " * 2_000,
        "I live in" + " " * 19_000,
        "my " * 6_000,
        "Berlin, " * 2_400,
        "'a " * 6_000,
        '"' * 19_000,
        "well, so, and, but, " * 900,
        "remember that " * 1_400,
        "last March " * 1_700,
        "A" * 19_000,
        "my best close old friend " * 700,
        "From: \nTo: " * 1_600,
        "`" * 19_999,
        "not a, not b, " * 1_300,
        "On a wrote" * 1_900,
    ],
)
def test_repeated_words_are_read_to_the_end(text: str) -> None:
    """Ours: expressions are bounded, so that no message stalls a write; hanging here is the failure."""
    assert isinstance(told(text), list)


def test_spans_index_the_message_as_it_is_stored() -> None:
    """Design: spans index the stored text, whatever characters stand before it."""
    text = "👍🏽 e\u0301 — “Hi!” By the way, I live\u00a0in  Berlin."
    (found,) = rules().propose([turn(text)], [])
    assert text[found.start : found.end] == "I live\u00a0in  Berlin"
    assert found.value == "Berlin"
