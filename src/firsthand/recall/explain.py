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
    below_floor: int = 0  # things looked at that were not relevant enough
    hits: tuple[Step, ...] = ()
    cuts: tuple[Cut, ...] = ()  # what was found and left out on the way to the last hit


def seen(hits: Sequence[Hit]) -> tuple[Step, ...]:
    """The hits as steps of a trace."""
    return tuple(Step(each.id, each.score, each.terms, each.why) for each in hits)


def why(question: Question, figures: Mapping[str, float], words: frozenset[str]) -> str:
    """One line that says what spoke for a text with these terms."""
    asked = question.asked
    reasons = []
    shared = shared_words(question.text, words & set(asked.terms))
    if shared:
        quoted = ", ".join(shared[:_MANY]) + (" …" if len(shared) > _MANY else "")
        reasons.append(f"shares {quoted}")
    if figures["vector"] >= _CLOSE:
        reasons.append(f"close in meaning ({figures['vector']:.2f})")
    if figures["speaker"]:
        reasons.append(f"by or about {', '.join(asked.named) or 'the one asked about'}")
    if figures["period"] and asked.period is not None:
        reasons.append(f"said about {asked.period.words}")
    if figures["kind"]:
        reasons.append(f"{asked.kind} memory, as asked for")
    if figures["window"] >= _AROUND and figures["window"] > max(figures["words"], figures["vector"]):
        reasons.append("what was said around it fits")
    return "; ".join(reasons) or "faintly like the question"


def shared_words(asked: str, shared: frozenset[str]) -> list[str]:
    """The words of the question that stand for these terms, in the question's order and spelling."""
    out: dict[str, str] = {}
    for word in _WORD.findall(asked) if shared else ():
        for term in terms(word):
            if term in shared:
                out.setdefault(term, word)
    return list(out.values())
