"""What is passed over at a glance is what no rule would have found anything in."""

from __future__ import annotations

from collections.abc import Iterable
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rules_writer_forms import STATEMENTS
from test_rules_writer_silence import SILENT
from writer_talk import told

from firsthand.writer.cues import CLAUSES, Cues, Expressions, fold

SAID = sorted((*STATEMENTS, *SILENT))


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("I (?:live|reside) in {place}", [{" live ", " reside "}, {" in "}]),
        ("favou?rite", [{"favourite", "favorite"}]),
        ("{often}{0,2}love {place}", [{"love "}]),
        ("I {often}{0,2}love {place}", [{" love "}]),
        (r"born in \d{4}", [{" 0000"}, {"born "}]),
        ("(?:ab?c|d+e)", []),
        ("(?:a.*|b)", []),
        ("(?!never)always", [{"always"}]),
        ("(?:please )?call me", [{"call "}]),
        (r"{place} is my \w+", [{" is "}]),
    ],
)
def test_an_expression_requires_its_rarest_words(text: str, clauses: list[set[str]]) -> None:
    """Ours: what must be there whatever else is; words in brackets that may be left out are not asked for."""
    reading = Expressions({"often": "(?:(?:now|also) )"}, {})

    found = reading.required(text)

    assert [set(each) for each in found][:CLAUSES] == clauses[:CLAUSES] or {frozenset(c) for c in clauses} <= set(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(?:like|love)", "I L\u0130KE it"),
        ("kind", "\u212aind of"),
        ("is mine", "that \u0131s  mine"),
        ("spaß", "viel SPA\u1e9e"),
        (r"\d\d", "im Jahr \u0661\u0662"),
        ("sister", "\u017fi\u017fter"),
    ],
)
def test_letters_that_are_alike_without_case_are_cues_as_well(text: str, said: str) -> None:
    """Ours: expressions ignore case as `re` does, in all scripts; a cue may not be stricter."""
    cues = Cues([Expressions({}, {}).required(text)])

    assert cues.heard(fold(said).split()) == 1


def _everything(self: Cues, words: Iterable[str]) -> int:  # noqa: ARG001 - stands in for `heard`
    return (1 << self._count) - 1


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(SAID), min_size=1, max_size=3),
    st.sampled_from((" ", ", ", "\n", " and ", "; ", " — ")),
    st.sampled_from((str, str.lower, str.upper, lambda text: text.replace("'", "\u2019"))),
)
def test_nothing_is_lost_at_a_glance(parts: list[str], joint: str, shape: type[str]) -> None:
    """Ours: with every expression tried on every sentence, the same is proposed."""
    text = shape(joint.join(parts))
    with patch.object(Cues, "heard", _everything):
        tried_in_full = told(text)

    assert told(text) == tried_in_full


def test_a_cue_is_looked_for_in_every_word() -> None:
    """Ours: the numbers of those that may fit, and of no others."""
    cues = Cues([Expressions({}, {}).required(each) for each in ("allergic to", "moved", ".+", r"\bI am\b")])

    assert cues.heard(fold("I removed it").split()) == 0b0110
    assert cues.heard(fold("I am allergic to it").split()) == 0b1101
