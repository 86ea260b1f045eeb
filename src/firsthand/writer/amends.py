"""Sentences that amend what was said before: taken back ("just kidding"), corrected ("no, it's Meng").

Both need to know what was said before. Where that is not plain, nothing is proposed.
"""

from __future__ import annotations

import re
from dataclasses import replace

from firsthand.model import Act, Source
from firsthand.ports import Proposal
from firsthand.text import value_key
from firsthand.writer.agreement import questioned
from firsthand.writer.hearing import Hearing
from firsthand.writer.statements import is_statement, tell
from firsthand.writer.talk import Turn
from firsthand.writer.values import Span

_SURE_SHAPES = ("names", "pattern", "listed", "date")  # values that a bare "no, it's …" can be told by
_ENDS = re.compile(r"\s*(?:$|[.!,;:…\u2013\u2014-]\s*)")
_QUESTION = re.compile(r"[^.!?\n]*\?")


def taken_back(hearing: Hearing) -> bool:
    """Whether the sentence takes something back; what it takes back is added to the reading."""
    requests = hearing.language.requests
    for pattern in hearing.heard(requests.retract_about):
        match = pattern.match(hearing.text)
        if match and not hearing.sentence.is_question and hearing.reading.is_meant():
            _take_back_about(hearing, match)
            return True
    for pattern in hearing.heard((*requests.retract_joke, *requests.retract_last)):
        match = pattern.match(hearing.text)
        ends = _ENDS.match(hearing.text, match.end()) if match else None
        if match and ends and hearing.reading.is_meant():
            _take_back_last(hearing, match)
            tell(hearing, hearing.after_lead(ends.end()))
            return True
    return False


def last_unsaid(hearing: Hearing) -> int | None:
    """Find where a sentence goes on that takes back what it said before: "I live in Rome, just kidding, in Bern"."""
    unsaid = hearing.heard(hearing.language.requests.unsaid)
    last = max((each for pattern in unsaid for each in pattern.finditer(hearing.text)), key=_start, default=None)
    if last is None:
        return None
    rest = _ENDS.match(hearing.text, last.end())
    return hearing.after_lead(rest.end()) if rest else len(hearing.text)


def _start(match: re.Match[str]) -> int:
    return match.start()


def _take_back_last(hearing: Hearing, match: re.Match[str]) -> None:
    """Take back what stands before it in the same message; else the person's last turn that said something."""
    reading, idle = hearing.reading, hearing.language.marks.idle
    before = reading.turn.message.content[: hearing.sentence.start]
    if not idle.match(before):
        _take_back_own(hearing, match)
        return
    turn = next((t for t in reading.talk.mine() if not idle.match(t.message.content)), None)
    if turn is None or turn.takes_back or turn.taken_back:
        return
    if turn.is_all_claim and (turn.claims() or not turn.ends_in_question):
        _take_back_turn(hearing, match, turn)
    elif turn.ends_in_claim or any(
        joke.search(hearing.text) for joke in hearing.heard(hearing.language.requests.retract_joke)
    ):
        turn.taken_back = reading.turn.takes_back = True
        reading.add(_retract_claim(hearing, match, p) for p in turn.last_claims)


def _take_back_own(hearing: Hearing, match: re.Match[str]) -> None:
    """Drop what the sentence before proposed; the message itself is taken back when it says nothing else."""
    reading = hearing.reading
    last = reading.number - 1
    reading.found[:] = [(number, p) for number, p in reading.found if number != last]
    says_more = reading.found or last > 1 or hearing.text[match.end() :].strip(" .!…)")
    if not says_more:
        reading.add([_retract(hearing, match, reading.turn)])


def _take_back_turn(hearing: Hearing, match: re.Match[str], turn: Turn) -> None:
    turn.taken_back = True
    hearing.reading.turn.takes_back = True
    hearing.reading.add([_retract(hearing, match, turn)])


def _take_back_about(hearing: Hearing, match: re.Match[str]) -> None:
    about = _content_words(hearing, match["about"])
    for turn in hearing.reading.talk.mine() if about else ():
        claims = [p for p in turn.claims() if about & _content_words(hearing, f"{p.value} {p.subject}")]
        if claims:
            hearing.reading.add(_retract_claim(hearing, match, p) for p in claims)
            return
        if about <= _content_words(hearing, turn.message.content) and not turn.taken_back:
            _take_back_turn(hearing, match, turn)
            return


def _content_words(hearing: Hearing, text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"[^\W_]{3,}", text)} - hearing.language.small_words


def _retract(hearing: Hearing, match: re.Match[str], turn: Turn) -> Proposal:
    found = hearing.proposal("retract", match.span(), act=Act.RETRACT)
    return replace(found, source=Source.STATED, retracts=turn.message.id)


def _retract_claim(hearing: Hearing, match: re.Match[str], claim: Proposal) -> Proposal:
    """Take back one claim, not all of the message that made it."""
    found = hearing.proposal("retract", match.span(), act=Act.RETRACT, attribute=claim.attribute, kind=claim.kind)
    return replace(found, source=Source.STATED, subject=claim.subject, value=claim.value, replaces=claim.value)


def corrected(hearing: Hearing) -> bool:
    """Whether the sentence corrects a claim made just before; the correction is added to the reading."""
    if hearing.sentence.is_question or not (hearing.reading.has_claims() or hearing.reading.talk.was_asked()):
        return False
    return _swapped(hearing) or _replaced(hearing)


def _swapped(hearing: Hearing) -> bool:
    """Read "it's Meng, not Ming": the old value was claimed before, so that the words can mean nothing else."""
    start = hearing.after_lead(0, corrections=False)
    for pattern in hearing.heard(hearing.language.requests.correct_swap):
        match = pattern.match(hearing.text, start)
        if match is None or any(is_statement(hearing, at) for at in (*hearing.leads(0), match.start("new"))):
            continue  # "I work at Ericsson, not Nokia" is read as a statement
        old = value_key(match["old"].strip(" .!'\""))
        for claim in hearing.reading.earlier_claims():
            if old == value_key(claim.value or ""):
                return _correct(hearing, claim, match)
    return False


def _replaced(hearing: Hearing) -> bool:
    """Read "no, it's Meng": one claim was made just before, and what was answered did not change the subject."""
    start = hearing.after_lead(0, corrections=False)
    for pattern in hearing.heard(hearing.language.requests.correct_bare):
        match = pattern.match(hearing.text, start)
        if match and not is_statement(hearing, match.start("new")):
            fitting = [c for c in _just_claimed(hearing) if _cut_like(hearing, c, match.span("new"))]
            if fitting:
                return len(fitting) == 1 and _correct(hearing, fitting[0], match)
            return _answered(hearing, match)
    return False


def _answered(hearing: Hearing, match: re.Match[str]) -> bool:
    """Read "no, in Bern" after "Do you live in Zürich?": what was asked, with the person's own value."""
    asked = [(p, cut) for p, _ in questioned(hearing) if (cut := _cut_like(hearing, p, match.span("new")))]
    if len(asked) != 1 or not hearing.reading.is_meant():
        return False
    (claim, value), said = asked[0], hearing.trimmed(match.span())
    if said is None or value_key(hearing.words(value)) == value_key(claim.value or ""):
        return False
    place = (match.start(), said[1])
    hearing.reading.add([hearing.proposal("answer", place, attribute=claim.attribute, value=value, kind=claim.kind)])
    return True


def _just_claimed(hearing: Hearing) -> list[Proposal]:
    own = hearing.reading.own_claims()
    turn = next(hearing.reading.talk.mine(), None)
    if own or turn is None or turn.taken_back:
        return own
    return [claim for claim in turn.claims() if _is_still_spoken_of(hearing, claim, turn)]


def _is_still_spoken_of(hearing: Hearing, claim: Proposal, turn: Turn) -> bool:
    """Whether every answer since repeats the value, in its last question where it asks one."""
    for answer in hearing.reading.talk.since(turn):
        questions = _QUESTION.findall(answer.message.content)
        said = questions[-1] if questions else answer.message.content
        if (claim.value or "").casefold() not in said.casefold():
            return False
    return True


def _cut_like(hearing: Hearing, claim: Proposal, span: Span) -> Span | None:
    """Cut a value of the same kind as a claim's, when it fills the span and its kind can be told by its shape."""
    for rule in hearing.language.rules_of(claim.attribute):
        if rule.shape in _SURE_SHAPES:
            cut = hearing.clause().cut(rule, span, whole=True)
            if len(cut) == 1:
                return cut[0]
    return None


def _correct(hearing: Hearing, claim: Proposal, match: re.Match[str]) -> bool:
    value = _cut_like(hearing, claim, match.span("new")) or hearing.trimmed(match.span("new"))
    said = hearing.trimmed(match.span())
    if value is None or said is None or value_key(hearing.words(value)) == value_key(claim.value or ""):
        return False
    if not hearing.reading.is_meant():
        return False
    found = hearing.proposal(
        "correction", (match.start(), said[1]), attribute=claim.attribute, value=value, act=Act.CORRECT, kind=claim.kind
    )
    hearing.reading.add([replace(found, subject=claim.subject, source=Source.CORRECTED, replaces=claim.value)])
    return True
