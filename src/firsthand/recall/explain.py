"""Explanations: why a hit was recalled, in one line, and the account of a whole search."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firsthand.model import Hit
from firsthand.recall.question import Question
from firsthand.text import terms

_WORD = re.compile(r"\w+")
_CLOSE = 0.3  # a cosine from which on a text is said to be close in meaning
_AROUND = 0.3
_MANY = 4  # words quoted in a line


@dataclass(frozen=True, slots=True)
class Cut:
    """Something that was found and left out."""

    type: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Step:
    """One hit as the search saw it."""

    id: str
    score: float
    terms: Mapping[str, float]
    why: str


@dataclass(frozen=True, slots=True)
class Trace:
    """How a search went."""

    asked: tuple[str, ...]  # what the words of the question were taken to say
    considered: int  # candidates above the floor
    below_floor: int  # things looked at that were not relevant enough
    hits: tuple[Step, ...]
    cuts: tuple[Cut, ...]


def seen(hits: Sequence[Hit]) -> tuple[Step, ...]:
    """The hits as steps of a trace."""
    return tuple(Step(each.id, each.score, each.terms, each.why) for each in hits)


def why(question: Question, figures: Mapping[str, float], text: str) -> str:
    """One line that says what spoke for a text."""
    reasons = []
    shared = shared_words(question.text, question.asked.terms, text)
    if shared:
        quoted = ", ".join(shared[:_MANY]) + (" …" if len(shared) > _MANY else "")
        reasons.append(f"shares {quoted}")
    if figures["vector"] >= _CLOSE:
        reasons.append(f"close in meaning ({figures['vector']:.2f})")
    if figures["speaker"]:
        whom = ", ".join(question.asked.named) or "the one asked about"
        reasons.append(f"by or about {whom}")
    if figures["window"] >= _AROUND and figures["window"] > max(figures["words"], figures["vector"]):
        reasons.append("what was said around it fits")
    return "; ".join(reasons) or "faintly like the question"


def shared_words(asked: str, wanted: Sequence[str], text: str) -> list[str]:
    """The words of the question that the text holds in some form, in the question's order and spelling."""
    held = set(terms(text)) & set(wanted)
    out: dict[str, str] = {}
    for word in _WORD.findall(asked):
        for term in terms(word):
            if term in held:
                out.setdefault(term, word)
    return list(out.values())
