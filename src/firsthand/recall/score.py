"""The score: 0.50 relevance + 0.25 recency + 0.15 confidence + 0.10 use, with weights that follow what is asked.

Every term lies in [0, 1]. Which row has which relevance is in `relevance.py`; what outranks what whatever the score
says (a successor, a thing taken back) is in `standing.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log1p

import numpy as np
from numpy.typing import NDArray

from firsthand.model import Role, micros
from firsthand.recall.postings import Figures
from firsthand.recall.tense import Tense

HALF_LIFE = timedelta(days=30)
MANY_USES = 32  # uses at which the use term reaches 1
FLOOR = 0.12  # relevance below which nothing is a hit
BELOW = 0.999  # what stands below another scores at most this share of it

# How first-hand a message is, as evidence of what it says about the person.
FIRSTHAND: Mapping[Role, float] = {Role.USER: 1.0, Role.ASSISTANT: 0.7, Role.TOOL: 0.5, Role.SYSTEM: 0.3}


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each term counts; they add up to 1."""

    relevance: float
    recency: float
    confidence: float
    use: float

    def score(self, terms: Mapping[str, float]) -> float:
        """The score of one candidate, in [0, 1]."""
        return (
            self.relevance * terms["relevance"]
            + self.recency * terms["recency"]
            + self.confidence * terms["confidence"]
            + self.use * terms["use"]
        )

    @property
    def lowest(self) -> float:
        """Less than any hit scores, one that stands below many others included. What comes after is scaled by it."""
        return self.relevance * FLOOR / 2


WEIGHTS: dict[Tense, Weights] = {
    Tense.PRESENT: Weights(0.50, 0.25, 0.15, 0.10),
    Tense.OPEN: Weights(0.90, 0.04, 0.04, 0.02),
    Tense.PAST: Weights(0.94, 0.00, 0.04, 0.02),
}


def recency(at: NDArray[np.int64], now: datetime) -> Figures:
    """Halves every 30 days since it was said, 1 for what is new or lies ahead. `at` in microseconds since 1970."""
    half_life = HALF_LIFE // timedelta(microseconds=1)
    age = np.maximum(micros(now) - at, 0)
    return np.exp2(-age / half_life).astype(np.float32)


def use(count: int) -> float:
    """0 when never used, growing with the logarithm of the count, 1 from `MANY_USES` on."""
    return min(1.0, log1p(count) / log1p(MANY_USES))
