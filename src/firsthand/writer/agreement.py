"""What a person says yes to: a bare "Yes." to "Do you live in Zürich?".

The question is turned round ("I live in Zürich") and read as a statement; what it would claim is proposed with both
turns as evidence. The words are the other's, so that admission lets such a claim wait for the person's own. What may
be asked so, and what counts as a yes, is in the table of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from firsthand.model import Act, Role, Source
from firsthand.ports import Passage, Proposal
from firsthand.writer.cues import fold
from firsthand.writer.hearing import PERSON, Hearing
from firsthand.writer.language import Asked
from firsthand.writer.sentences import Sentence, own_words, sentences
from firsthand.writer.statements import tell
from firsthand.writer.talk import Reading, Talk, Turn

_LONGEST_YES = 60  # characters; what is longer says something of its own


def agreed(hearing: Hearing) -> bool:
    """Whether the message is a bare yes to a question about the person; what was asked is added to the reading."""
    reading = hearing.reading
    words = reading.turn.message.content.strip()
    if len(words) > _LONGEST_YES or not any(yes.match(words) for yes in hearing.heard(hearing.language.agree.yes)):
        return False
    said = hearing.trimmed((0, len(hearing.text)))
    if said is None:
        return False
    first = hearing.sentence.start
    found = [
        replace(p, message_id=reading.turn.message.id, start=first + said[0], end=first + said[1], answers=asked)
        for p, asked in questioned(hearing)
    ]
    reading.add(found)
    return bool(found)


def questioned(hearing: Hearing) -> Iterator[tuple[Proposal, Passage]]:
    """Find what the last turn asked of the person, as claims, and where it asked."""
    talk = hearing.reading.talk
    message = talk.turns[-1].message if talk.turns else None
    if message is None or message.role is not Role.ASSISTANT:
        return
    last = None
    for last in sentences(own_words(message.content), hearing.language.abbreviations):  # noqa: B007 - the last one
        pass
    if last is None or not last.is_question:
        return
    asked = Passage(message.id, last.start, last.end)
    for p in _claims(hearing, Turn(message, mine=False), last):
        if p.subject == PERSON and p.act == Act.ASSERT and p.attribute and p.value:
            yield (
                replace(p, source=Source.QUOTED, writer=f"{hearing.reading.writer}:{hearing.language.code}/agreed"),
                asked,
            )


def _claims(hearing: Hearing, turn: Turn, question: Sentence) -> list[Proposal]:
    statement = _turned_round(hearing, question)
    if statement is None:
        return []
    language = hearing.language
    reading = Reading(hearing.reading.writer, [language], hearing.reading.names, Talk(), turn)
    reading.hear(statement)
    tell(Hearing(reading, language, statement, cues=language.cues.heard(fold(statement.text).split())))
    return [p for _, p in reading.found]


def _turned_round(hearing: Hearing, question: Sentence) -> Sentence | None:
    """Make the statement that a question asks about, its words at their place in the message."""
    marks, agree = hearing.language.marks, hearing.language.agree
    start = 0
    while lead := marks.lead.match(question.text, start):
        start = lead.end()
    for each in agree.asked:
        match = each.pattern.match(question.text, start)
        if match and not agree.open.search(match["rest"]):
            return _statement(question, each, match)
    return None


def _statement(question: Sentence, asked: Asked, match: re.Match[str]) -> Sentence | None:
    begins = asked.begins.format(**{name: value or "" for name, value in match.groupdict().items()})
    start = question.start + match.start("rest") - len(begins)
    return Sentence(f"{begins}{match['rest']}.", start) if start >= 0 else None
