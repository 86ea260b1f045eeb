"""Sentences that ask memory for something: "remember that …", "from now on …".

What is asked to be remembered is read as a statement first; what no form fits is kept as free text, in the person's
own words. How things are to be done becomes an instruction.
"""

from __future__ import annotations

import re
from dataclasses import replace

from firsthand.model import Kind, Source
from firsthand.writer.dates import When
from firsthand.writer.hearing import Hearing, dated
from firsthand.writer.statements import tell
from firsthand.writer.talk import is_ironic

_WORTH_KEEPING = 3  # words besides the keyed claims of a request, for its whole text to be kept as well
_TEXT = 2  # words of a free text, at least


def remembered(hearing: Hearing) -> bool:
    """Whether the sentence asks to have something remembered; what it is is added to the reading."""
    start = hearing.after_lead(0)
    requests = hearing.language.requests
    if any(pattern.match(hearing.text, start) for pattern in hearing.heard(requests.remember_back)):
        return _keep_before(hearing)
    for pattern in hearing.heard(requests.remember):
        match = pattern.match(hearing.text, start)
        if match and _is_request(hearing, match) and hearing.reading.is_meant():
            hearing.source, hearing.said_from = Source.STATED, match.start()
            told = tell(hearing, hearing.after_lead(match.start("text")))
            if not told and match["that"] and requests.remember_standing.match(match["text"]):
                _instruct(hearing, match)
            elif not told or _left_over(hearing, match.start("text")) >= _WORTH_KEEPING:
                _keep_text(hearing, match, told=told)
            return True
    return False


def _keep_before(hearing: Hearing) -> bool:
    """Let "remember that." raise what the sentence before it said; what no form fitted is kept as free text."""
    reading = hearing.reading
    before = reading.sentences[-2] if reading.number > 1 else None
    if before is None or before.is_question or before.is_loud or not reading.is_meant():
        return False
    if is_ironic(before, reading.languages):
        return False
    if not reading.of_sentence(reading.number - 1):
        earlier = replace(hearing, sentence=before)
        value = earlier.trimmed((0, len(before.text)), _TEXT)
        if value is not None:
            reading.found.append((reading.number - 1, earlier.proposal("remember", value, value=value)))
    reading.found[:] = [
        (number, replace(p, source=Source.STATED) if number == reading.number - 1 else p) for number, p in reading.found
    ]
    return True


def _is_request(hearing: Hearing, match: re.Match[str]) -> bool:
    requests = hearing.language.requests
    polite = requests.polite.match(hearing.text, match.start())
    if requests.remember_never.match(match["text"]) or (hearing.sentence.is_question and not polite):
        return False
    opening = requests.remember_clause if match["that"] else requests.remember_own
    if match["that"] and requests.remember_standing.match(match["text"]):
        return True
    return opening.match(match["text"]) is not None


def _left_over(hearing: Hearing, first: int) -> int:
    """Count the words of a request that none of its claims rests on."""
    said = hearing.text[first:]
    for p in hearing.reading.of_sentence(hearing.reading.number):
        said = said.replace(
            hearing.text[max(p.start - hearing.sentence.start, first) : p.end - hearing.sentence.start], " "
        )
    return sum(len(word) > 2 for word in re.findall(r"[^\W_]+", said))  # noqa: PLR2004 - "at", "in", "I" say nothing


def _keep_text(hearing: Hearing, match: re.Match[str], *, told: bool) -> None:
    value = hearing.trimmed(match.span("text"), _TEXT)
    if value is None:
        return
    when = _first_when(hearing, match)
    found = replace(hearing.proposal("remember", (match.start(), value[1]), value=value), metadata=dated(when))
    if when and not told and when.relation == "at" and when.ends <= hearing.at:
        found = replace(found, kind=Kind.EPISODIC, valid_from=when.begins)
    hearing.reading.add([found])


def _first_when(hearing: Hearing, match: re.Match[str]) -> When | None:
    """Find the first date of a free text, unless it may lie before or after ("on 3 July")."""
    past = hearing.language.calendar.find(match["text"], hearing.at)[:1]
    return (
        past[0] if past and past == hearing.language.calendar.find(match["text"], hearing.at, future=True)[:1] else None
    )


def wished(hearing: Hearing) -> bool:
    """Whether the sentence says how things are to be done from now on; what it says is added to the reading."""
    return _from_now_on(hearing) or _as_a_rule(hearing)


def _from_now_on(hearing: Hearing) -> bool:
    start, requests = hearing.after_lead(0), hearing.language.requests
    for pattern in hearing.heard((*requests.howto, *requests.howto_after)):
        match = pattern.match(hearing.text, start)
        if match is None or not hearing.reading.is_meant():
            continue
        hearing.source, hearing.said_from = Source.STATED, match.start()
        if tell(hearing, hearing.after_lead(match.start("text"))):
            return True
        if requests.wish.match(match["text"]) and not hearing.sentence.is_question:
            _instruct(hearing, match)
            return True
        hearing.source, hearing.said_from = Source.QUOTED, None
    return False


def _as_a_rule(hearing: Hearing) -> bool:
    start = hearing.after_lead(0)
    for pattern in hearing.heard(hearing.language.requests.rule):
        match = pattern.match(hearing.text, start)
        if match and not hearing.sentence.is_question and hearing.reading.is_meant():
            if not tell(hearing, start):
                _instruct(hearing, match)
            return True
    return False


def _instruct(hearing: Hearing, match: re.Match[str]) -> None:
    start, end = match.span("text")
    polite = hearing.language.requests.courtesy.search(hearing.text, start, end)
    value = hearing.trimmed((start, polite.start() if polite else end), _TEXT)
    said = hearing.trimmed(match.span())
    if value and said:
        found = hearing.proposal(
            "instruction", (match.start(), said[1]), attribute="instruction", value=value, kind=Kind.PROCEDURAL
        )
        hearing.reading.add([found])
