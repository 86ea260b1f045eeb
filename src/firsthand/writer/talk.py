"""What was said so far, as the rules writer remembers it while it reads: turns, and the message being read.

Holds no rule. A `Talk` is one session; a `Reading` is one message with what was found in it up to now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from firsthand.model import Act, Message
from firsthand.ports import Proposal
from firsthand.text import value_key
from firsthand.writer.language import Gazetteer, Language
from firsthand.writer.sentences import Sentence

_QUESTION = 200  # characters of a turn that hold its last question


@dataclass(slots=True)
class Turn:
    """A message, and what was proposed of it when it is the person's."""

    message: Message
    mine: bool
    proposals: list[Proposal] = field(default_factory=list)
    last_claims: list[Proposal] = field(default_factory=list)  # of the last sentence that claimed something
    sentences: int = 0
    ends_in_claim: bool = False  # whether that was its last sentence
    ends_in_question: bool = False
    taken_back: bool = False
    takes_back: bool = False  # it says that an earlier one was not meant

    def claims(self) -> list[Proposal]:
        """List what it claims of a slot."""
        return [p for p in self.proposals if _is_claim(p)]

    @property
    def is_all_claim(self) -> bool:
        """Whether it says nothing but what its last sentence claims, or claims nothing at all."""
        return not self.claims() or self.sentences == 1


@dataclass(slots=True)
class Talk:
    """The turns of one session so far, oldest first."""

    turns: list[Turn] = field(default_factory=list)
    people: set[str] = field(default_factory=set)  # those who were introduced, folded
    bonds: dict[str, set[str]] = field(default_factory=dict)  # what they are to the person, folded -> their names
    has_claims: bool = False
    plays: bool = False  # whether the turns play something: "let's role-play"

    def add(self, turn: Turn) -> None:
        """Take in the next turn."""
        self.turns.append(turn)
        for p in turn.proposals:
            self.has_claims = self.has_claims or _is_claim(p)
            if p.attribute == "relationship":
                self.people.add(p.subject.casefold())
                self.bonds.setdefault((p.value or "").casefold(), set()).add(p.subject)

    def mine(self) -> Iterator[Turn]:
        """Walk the person's turns, newest first."""
        return (turn for turn in reversed(self.turns) if turn.mine)

    def was_asked(self) -> bool:
        """Whether the last turn is another's, and ends with a question."""
        return bool(self.turns) and not self.turns[-1].mine and self.turns[-1].message.content.rstrip().endswith("?")

    def question(self) -> str:
        """Give the end of the last turn, where it is another's and asks something."""
        return self.turns[-1].message.content[-_QUESTION:] if self.was_asked() else ""

    def since(self, turn: Turn) -> list[Turn]:
        """List the turns after one of them."""
        return self.turns[self.turns.index(turn) + 1 :]


@dataclass(slots=True)
class Reading:
    """One message being read."""

    writer: str
    languages: Sequence[Language]
    names: Gazetteer
    talk: Talk
    turn: Turn
    introduced: set[str] = field(default_factory=set)
    found: list[tuple[int, Proposal]] = field(default_factory=list)  # number of the sentence, what it proposed
    number: int = 0  # of the sentence being read
    sentences: list[Sentence] = field(default_factory=list)  # up to the one being read
    played: int = 0  # how many of them were looked at for the beginning of a play
    plays: bool = False

    def hear(self, sentence: Sentence) -> None:
        """Go on to the next sentence."""
        self.number += 1
        self.sentences.append(sentence)

    def is_meant(self) -> bool:
        """Whether the sentence being read is meant: no irony, and no play or pasted text has begun.

        Looked at only when a sentence would say something, since most say nothing.
        """
        for sentence in self.sentences[self.played :]:
            self.plays = self.plays or any(each.marks.fiction.search(sentence.text) for each in self.languages)
        self.played = len(self.sentences)
        last = self.sentences[-1]
        return not self.plays and not last.is_loud and not is_ironic(last, self.languages)

    def add(self, proposals: Iterable[Proposal]) -> None:
        """Keep what was found in the sentence being read."""
        for proposal in proposals:
            self.found.append((self.number, proposal))
            if proposal.attribute == "relationship":
                self.introduced.add(proposal.subject.casefold())

    def called(self, kin: str) -> str:
        """Give the name of the one whom the person called "my sister" before, else those words."""
        names = set(self.talk.bonds.get(kin.casefold(), ()))
        names.update(p.subject for _, p in self.found if p.attribute == "relationship" and _is(p, kin))
        return names.pop() if len(names) == 1 else kin

    def of_sentence(self, number: int) -> list[Proposal]:
        """List what one sentence proposed."""
        return [p for each, p in self.found if each == number]

    def own_claims(self) -> list[Proposal]:
        """List what this message claimed of a slot so far."""
        return [p for _, p in self.found if _is_claim(p)]

    def has_claims(self) -> bool:
        """Whether anything was claimed of a slot before."""
        return self.talk.has_claims or any(_is_claim(p) for _, p in self.found)

    def earlier_claims(self) -> list[Proposal]:
        """List what was claimed before, newest first: in this message, then in the person's earlier turns."""
        earlier = (turn for turn in self.talk.mine() if not turn.taken_back)
        return [*reversed(self.own_claims()), *(p for turn in earlier for p in reversed(turn.claims()))]

    def finish(self) -> None:
        """Fill in the turn: what was found, in order, each claim once."""
        self.turn.sentences = self.number
        self.turn.ends_in_question = bool(self.sentences) and self.sentences[-1].is_question
        if not self.found:
            return
        kept: dict[tuple[Any, ...], Proposal] = {}
        for _, p in self.found:
            kept.setdefault((p.act, p.subject, p.attribute, value_key(p.value or ""), p.retracts), p)
        claiming = [number for number, p in self.found if _is_claim(p)]
        self.turn.proposals = list(kept.values())
        self.turn.last_claims = [p for p in self.of_sentence(max(claiming)) if _is_claim(p)] if claiming else []
        self.turn.ends_in_claim = bool(claiming) and max(claiming) == self.number


def is_ironic(sentence: Sentence, languages: Sequence[Language]) -> bool:
    """Whether the words of a sentence mean their opposite, or nothing."""
    return any(each.marks.sarcasm.search(sentence.text) for each in languages)


def _is(p: Proposal, value: str) -> bool:
    return (p.value or "").casefold() == value.casefold()


def _is_claim(p: Proposal) -> bool:
    return p.act in (Act.ASSERT, Act.CORRECT) and bool(p.attribute and p.value)
