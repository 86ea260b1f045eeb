"""Relevance: what the signals of a row are worth, as a figure that means the same in every question.

A weighted sum of absolute signals, bent by a logistic curve into [0, 1]. No signal is stretched between the best and
the worst row of a question, so a question that nothing answers has no good hit. Where the weights come from is said
beside them; how other terms join relevance is in `score.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from firsthand.recall.postings import Figures
from firsthand.recall.signals import Signals


@dataclass(frozen=True, slots=True)
class Recipe:
    """Weights of the signals, and the curve that makes their sum a relevance."""

    words: float
    words_around: float
    vector: float
    vector_around: float
    speaker: float
    period: float
    kind: float
    middle: float  # the sum at which relevance is one half
    steepness: float

    def leanings(self, signals: Signals) -> Figures:
        """How far each row leans towards relevant: the weighted sum from the middle, in log odds. Shape (rows,)."""
        total = np.float32(self.words) * signals.words
        total += np.float32(self.words_around) * signals.words_around
        if self.vector:
            total += np.float32(self.vector) * signals.vector
            total += np.float32(self.vector_around) * signals.vector_around
        total += np.float32(self.speaker) * signals.speaker
        total += np.float32(self.period) * signals.period
        total += np.float32(self.kind) * signals.kind
        total -= np.float32(self.middle)
        total *= np.float32(self.steepness)
        return total


# Fitted on the LoCoMo development half (which of a conversation's turns hold the answer), once for the static and the
# MiniLM embedder together, then moved half way towards a turn's own words, which costs 0.4 points there and brings 1.5
# on LongMemEval, whose turns are long; held-out figures are in evals/README.md. The middle is where the evidence of
# answerable questions and the best that unrelated questions find are equally likely: one half means a toss-up.
WITH_VECTOR = Recipe(
    words=2.0,
    words_around=5.0,
    vector=3.7,
    vector_around=4.1,
    speaker=3.0,
    period=2.0,
    kind=2.0,
    middle=9.0,
    steepness=0.5,
)
# Rows without a vector, and every row when there is no embedder.
WORDS_ONLY = Recipe(
    words=3.0,
    words_around=6.5,
    vector=0.0,
    vector_around=0.0,
    speaker=3.0,
    period=2.0,
    kind=2.0,
    middle=6.2,
    steepness=0.5,
)


def leanings(signals: Signals, *, embedded: bool) -> Figures:
    """Log odds of relevance of each row, shape (rows,). `embedded`: the question's vector could be compared."""
    if not embedded:
        return WORDS_ONLY.leanings(signals)
    out = WITH_VECTOR.leanings(signals)
    without = np.flatnonzero(signals.vector == 0)
    if len(without):
        out[without] = WORDS_ONLY.leanings(signals.at(without))
    return out


def relevance(leaning: Figures) -> Figures:
    """Relevance in [0, 1] of rows that lean so far, shape (rows,)."""
    return np.asarray(1 / (1 + np.exp(-leaning)), dtype=np.float32)


def leaning_of(share: float) -> float:
    """The log odds at which relevance is `share`."""
    return log(share / (1 - share))
