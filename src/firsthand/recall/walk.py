"""The walk: candidates best first, until enough of them are hits.

Loads texts a page at a time, drops what the metadata filter refuses, and prints a thing once: of those that say the
same words one stays and the others become its evidence, and of a belief and a message that says little else the belief
stays. What the order is, is decided before, in `recall.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

from firsthand.recall.candidates import Asking, Candidate
from firsthand.recall.explain import Cut
from firsthand.text import terms, value_key

_ARTICLES = frozenset({"a", "an", "the"})
_FURTHER_WORDS = 8  # distinct terms that a message may hold beside the belief's value and still say the same


@dataclass(slots=True)
class Walk:
    """What was kept and what was left out so far."""

    asking: Asking
    kept: dict[str, Candidate] = field(default_factory=dict)
    cuts: list[Cut] = field(default_factory=list)

    def over(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The hits among the candidates, at most as many as are asked for, best first."""
        limit = self.asking.question.limit
        for each in self._loaded(candidates):
            if len(self.kept) == limit and not self._repeats(each):
                break
            if not self._passes(each):
                self._cut(each, "does not pass the filter")
            elif (key := _sameness(each)) in self.kept:
                self._merge(self.kept[key], each)
            else:
                self._keep(key, each)
        return _levelled(sorted(self.kept.values(), key=lambda each: each.place))

    def _loaded(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """The candidates in order, messages with their text."""
        rest = iter(candidates)
        while page := list(islice(rest, self.asking.question.limit + 2)):
            wanted = [each.id for each in page if each.type == "message"]
            texts = self.asking.beside.messages(wanted) if wanted else {}
            for each in page:
                each.message = texts.get(each.id)
                if each.type == "message" and each.message is None:
                    self._cut(each, "is not there any more")
                    continue
                each.words = frozenset(terms(text_of(each)))
                yield each

    def _repeats(self, candidate: Candidate) -> bool:
        """Whether a candidate says again what the last hit says: then it is still its evidence."""
        return _sameness(candidate) in self.kept

    def _passes(self, candidate: Candidate) -> bool:
        passes = self.asking.question.passes
        if passes is None:
            return True
        if candidate.message is not None:
            return passes(candidate.message.metadata)
        return passes(self.asking.beside.metadata.get(candidate.id, {}))

    def _keep(self, key: str, candidate: Candidate) -> None:
        """Keep a candidate, unless it is what a kept belief rests on; a belief takes the place of such messages."""
        twins = [(name, each) for name, each in self.kept.items() if _says_the_same(each, candidate)]
        if twins and candidate.message is not None:
            self._cut(candidate, f"is what {twins[0][1].id} rests on")
            return
        for name, message in twins:
            del self.kept[name]
            candidate.terms["relevance"] = max(candidate.terms["relevance"], message.terms["relevance"])
            candidate.score = max(candidate.score, message.score)
            self._cut(message, f"is what {candidate.id} rests on")
        self.kept[key] = candidate

    def _merge(self, kept: Candidate, same: Candidate) -> None:
        """Make a candidate evidence of the one that says the same words."""
        kept.evidence = tuple(dict.fromkeys((*evidence_of(kept), *evidence_of(same))))
        self._cut(same, f"says the same as {kept.id}")

    def _cut(self, candidate: Candidate, reason: str) -> None:
        self.cuts.append(Cut(candidate.type, candidate.id, reason))


def _levelled(hits: list[Candidate]) -> list[Candidate]:
    """The same hits, none with a higher score than the one before it: what comes last may have kept one."""
    for before, each in pairwise(hits):
        each.score = min(each.score, before.score)
    return hits


def text_of(candidate: Candidate) -> str:
    """What a candidate says."""
    if candidate.message is not None:
        return candidate.message.content
    return "" if candidate.belief is None else candidate.belief.text


def evidence_of(candidate: Candidate) -> tuple[str, ...]:
    """The messages that a candidate rests on: a message rests on itself."""
    return candidate.evidence or ((candidate.id,) if candidate.type == "message" else ())


def _sameness(candidate: Candidate) -> str:
    """Equal for candidates that say the same words: of one speaker, or of one subject."""
    message, belief = candidate.message, candidate.belief
    if belief is not None:
        return f"b\x1f{value_key(belief.subject)}\x1f{belief.attribute or ''}\x1f{value_key(belief.text)}"
    who = "" if message is None else f"{message.role}\x1f{message.name or ''}"
    words = " ".join(sorted(candidate.words - _ARTICLES)) or value_key(text_of(candidate))
    return f"m\x1f{who}\x1f{words}"


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    """Whether one is a belief and the other a message that it rests on which says little else."""
    belief = one.belief or other.belief
    said = one if one.belief is None else other
    if belief is None or said.belief is not None or said.id not in belief.evidence:
        return False
    if one.last != other.last:  # what waits does not take the place of words that were said
        return False
    value = frozenset(terms(belief.value))
    return value <= said.words and len(said.words - value) <= _FURTHER_WORDS
