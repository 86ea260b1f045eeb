"""Words: BM25 over segments is what the formula says, however the rows came in."""

from __future__ import annotations

from math import log1p

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firsthand.recall.postings import Postings, evenness, rarity, saturated
from firsthand.text import term_hash, term_hashes, terms

TEXTS = st.lists(st.lists(st.sampled_from(["tea", "cat", "dog", "sun", "sea"]), max_size=6).map(" ".join), max_size=12)


@given(TEXTS, st.integers(0, 12))
def test_postings_hold_every_term_of_every_row_however_many_batches_brought_them(texts: list[str], cut: int) -> None:
    """Ours: an index that grew is the index that would have been built at once."""
    packed = [term_hashes(each) for each in texts]
    postings = Postings().appended(packed[:cut], 0).appended(packed[cut:], len(packed[:cut]))
    for term in ["tea", "cat", "dog", "sun", "sea", "absent"]:
        (found,) = postings.find(np.array([term_hash(term)], dtype=np.uint64))
        held = dict(zip(found.rows.tolist(), found.counts.tolist(), strict=True))
        assert held == {row: terms(text).count(term) for row, text in enumerate(texts) if term in terms(text)}


@given(st.lists(st.lists(st.sampled_from([1, 2, 3, 2**20, 2**63 + 1]), max_size=6), min_size=1, max_size=12))
def test_terms_whose_hashes_differ_in_their_last_bits_only_stay_apart(texts: list[list[int]]) -> None:
    """Ours: rows take the low bits of hashes while both are sorted, unless two hashes differ there alone."""
    postings = Postings().appended([np.array(each, dtype="<u8").tobytes() for each in texts], 0)
    for term in (1, 2, 3, 2**20, 2**63 + 1, 4):
        (found,) = postings.find(np.array([term], dtype=np.uint64))
        held = dict(zip(found.rows.tolist(), found.counts.tolist(), strict=True))
        assert held == {row: text.count(term) for row, text in enumerate(texts) if term in text}


@given(st.lists(st.lists(st.sampled_from(["tea", "cat", "dog"]), max_size=3).map(" ".join), max_size=40))
def test_one_row_at_a_time_keeps_few_segments(texts: list[str]) -> None:
    """Ours: appending costs a logarithm, and a question looks into few places (C081)."""
    postings = Postings()
    for row, text in enumerate(texts):
        postings = postings.appended([term_hashes(text)], row)
    assert len(postings.segments) <= 1 + np.log2(1 + sum(segment.size for segment in postings.segments) + len(texts))


def test_rarity_and_saturation_follow_the_formula_of_bm25() -> None:
    """Ours: k1 = 1.2 and b = 0.75, a single mention in a text of average length counts as 1."""
    assert rarity(10, 2) == np.float64(log1p(8.5 / 2.5))
    lengths = np.array([4, 4, 8], dtype=np.float32)
    counts = np.array([1, 3, 1], dtype=np.float32)
    share = saturated(counts, evenness(lengths))
    expected = [
        count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / lengths.mean()))
        for count, length in zip(counts, lengths, strict=True)
    ]
    assert np.allclose(share, expected)


def test_a_term_in_every_row_still_says_a_little() -> None:
    """Ours: no term counts against a row that holds it."""
    assert rarity(5, 5) > 0
