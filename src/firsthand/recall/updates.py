"""Updates: of statements about the same thing in free words, which comes first.

What fills a slot is put in order by the fold (`standing.py`). Free text has no slot: here two statements are taken to
be about the same thing when they hold the same of the question's words and lie close in meaning, and are by the same
speaker. "Currently" then brings the newer, "previously" the older, as far as it is nearly as relevant; where a question
asks how things are without a word of time, the newer comes first only of what is as good as equally relevant. What
happened (a question with "did", or with a date) is left to relevance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import inf, log, nextafter

import numpy as np
from numpy.typing import NDArray

from firsthand.model import Role
from firsthand.recall.candidates import Asking, Candidate
from firsthand.recall.postings import Figures, Found, Rows
from firsthand.recall.signals import words_of
from firsthand.recall.tense import Version

_USER = tuple(Role).index(Role.USER)
LOOKED_AT = 20  # candidates among which updates are looked for, whatever the limit


@dataclass(frozen=True, slots=True)
class Likeness:
    """From when on two statements are about the same thing, and how much less relevant one may be to go first."""

    words: float  # weighted share of the question's words that both hold, of those that either holds
    vector: float  # their cosine on the embedder's scale
    reach: float  # log odds of relevance


# Chosen on the knowledge-update questions of LongMemEval's development half and their mirror, and held to LoCoMo's
# recall; what each costs and brings is printed by evals/update_order.py.
_ALIKE = {
    Version.LATEST: Likeness(words=0.4, vector=0.2, reach=3.0),
    Version.EARLIER: Likeness(words=0.4, vector=0.2, reach=3.0),
    Version.STANDING: Likeness(words=0.8, vector=0.7, reach=0.3),
}


def in_order_of_time(asking: Asking, candidates: Iterator[Candidate], settled: frozenset[str]) -> Iterator[Candidate]:
    """The candidates with updates in the order that the question asks for. `settled` ids keep their place.

    Those that change places change scores, so that higher scores still come first.
    """
    likeness = _ALIKE.get(asking.question.asked.version)
    if likeness is None or not asking.question.asked.terms:
        return candidates
    first = list(islice(candidates, LOOKED_AT))
    free = [at for at, each in enumerate(first) if _is_free(each) and each.id not in settled]
    if len(free) > 1:
        alike = _alike(asking, [first[at] for at in free], likeness)
        _reordered(first, free, alike, newest=asking.question.asked.version is not Version.EARLIER)
    return chain(first, candidates)


def _is_free(candidate: Candidate) -> bool:
    """Whether it is a message, or a belief in free text that was said."""
    belief = candidate.belief
    return candidate.last == 0 and (belief is None or (belief.attribute is None and not belief.guess))


def _reordered(first: list[Candidate], free: Sequence[int], alike: NDArray[np.bool_], *, newest: bool) -> None:
    """Put the free ones in order, in place. `alike[i, j]`: free j may go before free i, if time asks for it."""
    rest, order = list(range(len(free))), []
    while rest:
        group = [at for at in rest if at == rest[0] or alike[rest[0], at]]
        sooner = max(group, key=lambda at: (first[free[at]].at if newest else -first[free[at]].at, -at))
        order.append(sooner)
        rest.remove(sooner)
    candidates = [first[free[at]] for at in order]
    scores = [first[at].score for at in free]
    last = inf
    for at, candidate, score in zip(free, candidates, scores, strict=True):
        last = score if score < last else nextafter(last, 0)  # equal scores would be put in order by time again
        first[at], candidate.score = candidate, last


def _alike(asking: Asking, candidates: Sequence[Candidate], likeness: Likeness) -> NDArray[np.bool_]:
    """Which may go before which, shape (candidates, candidates)."""
    leaning = np.array([_leaning(each) for each in candidates])
    reached = leaning[np.newaxis, :] >= leaning[:, np.newaxis] - likeness.reach
    return reached & _same_words(asking, candidates, likeness.words) & _close(asking, candidates, likeness.vector)


def _leaning(candidate: Candidate) -> float:
    """Log odds of the candidate's relevance."""
    share = min(max(candidate.terms["relevance"], 1e-6), 1 - 1e-6)
    return log(share / (1 - share))


def _same_words(asking: Asking, candidates: Sequence[Candidate], least: float) -> NDArray[np.bool_]:
    """Which are by the same speaker and hold the same of the question's words."""
    words = words_of(asking.question, asking.index)
    rows = np.array(_rows(asking, candidates), dtype=np.int32)
    beliefs = np.array([each.type == "belief" for each in candidates])
    pairs = zip(words.said, words.held, strict=True)
    holds = np.array([np.where(beliefs, _among(held, rows), _among(said, rows)) for said, held in pairs]).T
    both = (holds[:, np.newaxis] & holds[np.newaxis]) @ words.rarities
    either = (holds[:, np.newaxis] | holds[np.newaxis]) @ words.rarities
    speakers = [_speaker(asking, each, row) for each, row in zip(candidates, rows.tolist(), strict=True)]
    same = np.array([[one == other for other in speakers] for one in speakers])
    return np.asarray(same & (both >= least * either) & (either > 0), dtype=np.bool_)


def _among(found: Found, rows: Rows) -> NDArray[np.bool_]:
    """Which rows hold the term of these postings, which are in row order."""
    if not len(found.rows):
        return np.zeros(len(rows), dtype=np.bool_)
    at = np.minimum(np.searchsorted(found.rows, rows), len(found.rows) - 1)
    return np.asarray(found.rows[at] == rows, dtype=np.bool_)


def _speaker(asking: Asking, candidate: Candidate, row: int) -> str | int:
    """Equal for what the same one says. What is believed of the person counts as said by them."""
    if candidate.belief is not None:
        return "user" if candidate.belief.subject == "user" else candidate.id
    speaker, role = int(asking.index.columns.speaker[row]), int(asking.index.columns.role[row])
    if speaker >= 0:
        return speaker
    return "user" if role == _USER else -1 - role


def _close(asking: Asking, candidates: Sequence[Candidate], least: float) -> NDArray[np.bool_]:
    """Which lie close in meaning; all of them where there is nothing to tell by."""
    index, rows = asking.index, _rows(asking, candidates)
    size = max(index.vectors.dimensions, index.beliefs.vectors.dimensions)
    vectors = np.zeros((len(candidates), size), dtype=np.float32)
    for at, candidate in enumerate(candidates):
        floats = index.beliefs.vectors.floats if candidate.type == "belief" else index.vectors.floats
        if floats.shape[1:] == (size,) and rows[at] >= 0:
            vectors[at] = floats[rows[at]]
    scale = asking.question.scale
    cosines: Figures = (vectors @ vectors.T - np.float32(scale.unrelated)) / np.float32(scale.width)
    there = np.abs(vectors).sum(axis=1) > 0
    return np.asarray((cosines >= least) | ~(there[:, np.newaxis] & there), dtype=np.bool_)


def _rows(asking: Asking, candidates: Sequence[Candidate]) -> list[int]:
    """The search row of each candidate, -1 where it has none."""
    number, named = asking.index.beliefs.number, asking.held.rows
    return [
        number.get(named.get(each.id, ""), -1) if each.type == "belief" else asking.index.row(each.id)
        for each in candidates
    ]
