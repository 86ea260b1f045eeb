"""One sentence, heard in one language: what all rules share when they look at it.

Where its clauses begin, which dates it names, which words of the message stand at a span, and how a proposal is made
of them. The rules themselves are in `statements.py`, `requests.py` and `amends.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from firsthand.model import Act, Kind, Source
from firsthand.ports import Proposal
from firsthand.writer.cues import numbers
from firsthand.writer.dates import When
from firsthand.writer.language import Expression, Language, Saying
from firsthand.writer.sentences import FILLER, Sentence
from firsthand.writer.talk import Reading
from firsthand.writer.values import Clause, Span

PERSON = "user"  # the subject that is the owner's person
_OPENING, _CLOSING = '"“„«', '"”“»'
_CAPITAL = re.compile(r"(?!I\b)[A-Z]")
_WORDS = re.compile(r"[a-z]+")
_LEADS = 5  # words like "well, by the way" that are passed over before a clause, at most


@dataclass(slots=True)
class Hearing:
    """A sentence of the message being read, and the language it is heard in."""

    reading: Reading
    language: Language
    sentence: Sentence
    source: Source = Source.QUOTED
    said_from: int | None = None  # where the words begin that ask to be kept
    cues: int = 0  # which expressions may fit, as bits
    clauses: dict[bool, Clause] = field(default_factory=dict)
    said: dict[bool, list[Saying]] = field(default_factory=dict)
    lead_places: dict[tuple[int, bool], list[int]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sentence, with what is not the person's own blanked."""
        return self.sentence.text

    @property
    def at(self) -> datetime:
        """When it was said."""
        return self.reading.turn.message.at

    def heard(self, expressions: Iterable[Expression]) -> Iterator[re.Pattern[str]]:
        """Give those of the expressions that may fit, by the words of the sentence."""
        return (each.pattern for each in expressions if self.cues >> each.number & 1)

    @property
    def says(self) -> list[Saying]:
        """Every way to say something that fits somewhere in the sentence, in the order of the table."""
        asked = self.said_from is not None
        if asked not in self.said:
            self.said[asked] = self._sayings(self.language.sayings)
        return self.said[asked]

    def says_elided(self, *, first_person: bool) -> list[Saying]:
        """The same for clauses without their "I", or without who they are about."""
        return self._sayings(self.language.elided if first_person else self.language.elided_others)

    def _sayings(self, table: Mapping[int, Saying]) -> list[Saying]:
        text = self.text
        may_fit = (table[number] for number in numbers(self.cues) if number in table)
        return [
            saying
            for saying in may_fit
            if saying.expression.pattern.search(text)
            and (self.may_name or not saying.form.introduces)
            and (self.said_from is not None or not saying.form.asked)
        ]

    @property
    def may_name(self) -> bool:
        """Whether the sentence may name somebody: not when all its words are small and none is a known name."""
        text, given = self.text, self.reading.names.given
        return (
            not text.isascii() or _CAPITAL.search(text, 1) is not None or any(w in given for w in _WORDS.findall(text))
        )

    def clause(self, *, future: bool = False) -> Clause:
        """Give values a view of the sentence, with dates that lean to the past, or to the future."""
        if future not in self.clauses:
            self.clauses[future] = Clause(
                sentence=self.sentence,
                language=self.language,
                names=self.reading.names,
                introduced=self.reading.introduced,
                whens=self.language.calendar.find(
                    self.text, self.at, future=future, cues=self.cues >> self.language.dates_from
                ),
            )
        return self.clauses[future]

    def after_lead(self, start: int, *, corrections: bool = True) -> int:
        """Find where the words of a clause begin, after "well, by the way".

        Without `corrections`, words like "no" and "actually" are left to the clause.
        """
        return self.leads(start, corrections=corrections)[-1]

    def leads(self, start: int, *, corrections: bool = True) -> list[int]:
        """List every place where the words of a clause may begin, with fewer and fewer words in front of them."""
        places = self.lead_places.get((start, corrections))
        if places is None:
            places = self.lead_places[start, corrections] = self._leads(start, corrections=corrections)
        return places

    def _leads(self, start: int, *, corrections: bool) -> list[int]:
        marks, places = self.language.marks, [start]
        for _ in range(_LEADS):
            match = marks.lead.match(self.text, places[-1])
            if match is None or (not corrections and marks.correction.match(match[0])):
                break
            places.append(match.end())
        return places

    def words(self, span: Span) -> str:
        """Read what stands there in the message, blanks collapsed."""
        first = self.sentence.start
        return " ".join(self.reading.turn.message.content[first + span[0] : first + span[1]].split())

    def trimmed(self, span: Span, least: int = 1) -> Span | None:
        """Leave out blanks and stops around a span; None where it is not the person's own, or too few words."""
        text = self.text[slice(*span)]
        first = span[0] + len(text) - len(text.lstrip(" '\""))
        last = span[0] + len(text.rstrip(" .!?…'\""))
        if last <= first or FILLER in text or len(self.text[first:last].split()) < least:
            return None
        return first, last

    def proposal(
        self,
        rule: str,
        said: Span,
        *,
        attribute: str | None = None,
        value: Span | None = None,
        act: str = Act.ASSERT,
        kind: str = Kind.SEMANTIC,
    ) -> Proposal:
        """Make a proposal about the person, resting on the words said at a span of the sentence."""
        first = self.sentence.start
        return Proposal(
            act=Act(act),
            subject=PERSON,
            attribute=attribute,
            value=None if value is None else self.words(value),
            kind=Kind(kind),
            source=self.source,
            message_id=self.reading.turn.message.id,
            start=first + said[0],
            end=self._closed(first + said[0], first + said[1]),
            writer=f"{self.reading.writer}:{self.language.code}/{rule}",
        )

    def _closed(self, start: int, end: int) -> int:
        """Take in a closing quotation mark whose opening one is quoted."""
        content = self.reading.turn.message.content
        is_open = any(mark in content[start:end] for mark in _OPENING)
        return end + (is_open and content[end : end + 1] in tuple(_CLOSING))


def dated(when: When | None) -> Mapping[str, Any] | None:
    """Make the metadata of a claim whose words name a date."""
    return None if when is None else {"when": when.to_json()}
