"""What a person says yes to: a bare "Yes." to "Do you live in Zürich?".

The question is turned round ("I live in Zürich") and read as a statement; what it would claim is proposed with both
turns as evidence. The words are the other's, so that admission lets such a claim wait for the person's own. What may
be asked so, and what counts as a yes, is in the table of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from firsthand.model import Act, Message, Role, Source
from firsthand.ports import Passage, Proposal
from firsthand.writer.cues import fold
from firsthand.writer.hearing import PERSON, Hearing
from firsthand.writer.language import Asked, Language
from firsthand.writer.sentences import Sentence, own_words, sentences
from firsthand.writer.statements import tell
from firsthand.writer.talk import Reading, Talk, Turn

_LONGEST_REPLY = 120  # characters; an address is no longer
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


def replied(hearing: Hearing) -> bool:
    """Whether few words answer a question about the person, such as for a name; what they say is added."""
    question = _last_question(hearing)
    if question is None or len(hearing.text) > _LONGEST_REPLY or hearing.sentence.is_question:
        return False
    if not hearing.reading.is_meant() or hearing.language.marks.idle.match(hearing.text):
        return False
    found = [p for each in _ways(hearing, question[1]) for p in _said_by(hearing, *each)]
    hearing.reading.add(found)
    return bool(found)


def _ways(hearing: Hearing, question: Sentence) -> Iterator[tuple[str, int]]:
    """Give the words that an answer is the rest of, and where it begins."""
    marks, reply = hearing.language.marks, hearing.language.reply
    asked_at = _after_leads(marks.lead, question.text)
    for each in reply.asked:
        if match := each.pattern.match(question.text, asked_at):
            start = hearing.after_lead(0)
            lead = reply.lead.match(hearing.text, start)
            start = lead.end() if lead else start
            begins = each.begins.format(**{name: value or "" for name, value in match.groupdict().items()})
            if not reply.none.match(hearing.text, start):
                yield begins, start
            return


def _said_by(hearing: Hearing, begins: str, at: int) -> list[Proposal]:
    """Read an answer with the words of the question before it, as a statement."""
    answer, reading, language = hearing.text[at:], hearing.reading, hearing.language
    first = hearing.sentence.start
    statement = Sentence(begins + answer, first + at - len(begins))
    alone = Reading(reading.writer, [language], reading.names, Talk(), reading.turn)
    alone.hear(statement)
    tell(Hearing(alone, language, statement, cues=language.cues.heard(fold(statement.text).split())))
    said = hearing.trimmed((at, len(hearing.text)))
    if any(when.begins > hearing.at for when in hearing.language.calendar.find(answer, hearing.at)):
        return []  # "41 next week"
    return [
        replace(p, source=Source.QUOTED, start=first + said[0], end=first + said[1])
        for _, p in alone.found
        if said is not None and p.act == Act.ASSERT and p.subject == PERSON and _is_sure(language, p, answer)
    ]


def _is_sure(language: Language, p: Proposal, answer: str) -> bool:
    """Whether an answer in small letters is one all the same: "secret" is no name."""
    return not answer[:1].islower() or not any(rule.single_lower for rule in language.rules_of(p.attribute))


def _after_leads(lead: re.Pattern[str], text: str) -> int:
    start = 0
    while match := lead.match(text, start):
        start = match.end()
    return start


def questioned(hearing: Hearing) -> Iterator[tuple[Proposal, Passage]]:
    """Find what the last turn asked of the person, as claims, and where it asked."""
    question = _last_question(hearing)
    if question is None:
        return
    message, last = question
    asked = Passage(message.id, last.start, last.end)
    for p in _claims(hearing, Turn(message, mine=False), last):
        if p.subject == PERSON and p.act == Act.ASSERT and p.attribute and p.value:
            yield (
                replace(p, source=Source.QUOTED, writer=f"{hearing.reading.writer}:{hearing.language.code}/agreed"),
                asked,
            )


def _last_question(hearing: Hearing) -> tuple[Message, Sentence] | None:
    """Find the question that the assistant's last turn ends with."""
    talk = hearing.reading.talk
    message = talk.turns[-1].message if talk.turns else None
    if message is None or message.role is not Role.ASSISTANT:
        return None
    last = None
    for last in sentences(own_words(message.content), hearing.language.abbreviations):  # noqa: B007 - the last one
        pass
    return (message, last) if last is not None and last.is_question else None


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
    start = _after_leads(marks.lead, question.text)
    for each in agree.asked:
        match = each.pattern.match(question.text, start)
        if match and not agree.open.search(match["rest"]):
            return _statement(question, each, match)
    return None


def _statement(question: Sentence, asked: Asked, match: re.Match[str]) -> Sentence | None:
    begins = asked.begins.format(**{name: value or "" for name, value in match.groupdict().items()})
    start = question.start + match.start("rest") - len(begins)
    return Sentence(f"{begins}{match['rest']}.", start) if start >= 0 else None
