"""The scale of an embedder: which cosine means "unrelated" and which means "says the same".

Embedders differ: for one, texts that have nothing in common lie at 0.05, for another at 0.65. So a cosine says
nothing before it is known whose it is. Here an embedder is measured once with sentences of our own, in pairs that say
the same, and its cosines are read on the scale that comes out: 0 for unrelated, 1 for the same thing in other words.
The measurement depends on the embedder alone, never on what is in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Pairs that say the same about some everyday thing; no two pairs share a subject.
PROBES: tuple[tuple[str, str], ...] = (
    ("I moved to a small town by the sea last spring.", "Last spring I went to live in a little seaside town."),
    ("My sister is afraid of dogs.", "Dogs frighten my sister."),
    ("We had soup and bread for dinner yesterday.", "Yesterday's dinner was bread with soup."),
    ("The meeting with the bank is on Thursday at nine.", "Thursday at nine there is an appointment at the bank."),
    ("He plays the violin in an orchestra.", "He is a violinist in an orchestra."),
    ("Please send the report as a table.", "The report should be sent in table form."),
    ("My car broke down on the motorway.", "On the motorway my car stopped working."),
    ("She has been learning Japanese for two years.", "For two years now she has studied Japanese."),
    ("The doctor told me to sleep more.", "My doctor's advice was to get more sleep."),
    ("They painted the kitchen yellow.", "The kitchen was painted yellow by them."),
    ("I lost my passport on the train.", "My passport went missing while I was on the train."),
    ("Our team won the final by one goal.", "By a single goal our side won the final."),
    ("The new release fixes the login error.", "The login error is fixed in the new version."),
    ("He asked for a refund because the shoes were too small.", "The shoes were too tight, so he wanted his money."),
    ("The garden needs water every evening.", "Every evening the garden has to be watered."),
    ("I would rather read than watch films.", "Reading is something I prefer to watching films."),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Cosines of one embedder that texts have on average."""

    unrelated: float = 0.0
    same: float = 0.8

    @property
    def width(self) -> float:
        """How far the two lie apart."""
        return max(0.05, self.same - self.unrelated)


def probes() -> list[str]:
    """The texts to embed, in the order that `measured` expects."""
    return [text for pair in PROBES for text in pair]


def measured(vectors: NDArray[np.float32]) -> Scale:
    """The scale of the embedder that made these vectors of `probes()`, shape (2 * pairs, dimensions)."""
    first, second = vectors[0::2].astype(np.float64), vectors[1::2].astype(np.float64)
    cosines = first @ second.T
    same = float(np.diag(cosines).mean())
    pairs = len(cosines)
    unrelated = float((cosines.sum() - np.diag(cosines).sum()) / (pairs * (pairs - 1)))
    return Scale(unrelated, max(same, unrelated))
