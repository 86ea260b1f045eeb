"""Admission: what may enter the ledger, as what, and what has to wait for the person.

Holds three questions, asked in this order of every claim and act: who may claim which source, what the cited words
are evidence of, and what the policy says of such things. It answers with a verdict and the reason, which are recorded
and never decided again. Pure: the messages cited and the policy are given. What a claim does to beliefs is not its
business, and masking is in `secrets.py`.
"""
# ruff: noqa: RUF001 - other scripts' signs are meant

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from firsthand.errors import InvalidInput
from firsthand.ledger import secrets
from firsthand.ledger.secret_shapes import MARKED
from firsthand.model import CONFIDENCE, RANK, SAID, Act, Caller, Evidence, Kind, Message, Role, Source, Verdict
from firsthand.policy import Policy, Sensitivity
from firsthand.text import question_terms, terms, value_key

USER = "user"
_ASKED_OTHERWISE = {Act.END: "Is this no longer so", Act.RETRACT: "Was this never so", Act.REJECT: "Is this wrong"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody wants to enter."""

    act: Act
    subject: str
    attribute: str | None  # None: free text
    value: str | None
    kind: Kind
    source: Source
    confidence: float | None = None  # None: what the source gives; a number may only lower it
    evidence: tuple[Evidence, ...] = ()
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    """The verdict, and the claim's source, confidence and evidence as they may be recorded."""

    verdict: Verdict
    source: Source
    confidence: float
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None  # why it waits, was dropped, or counts for less than was claimed
    question: str | None = None  # what to ask the person, for a claim that waits
    rule: str = "admitted"  # the name of the rule that decided


def admit(claim: Claim, cited: Mapping[str, Message], policy: Policy, caller: Caller) -> Admitted:
    """Decide on one claim or act. `cited` holds the messages it names, the owner's own without a name.

    Evidence that names no message of `cited` is left out. Raises InvalidInput for a confidence that is no number
    between 0 and 1, and for the source `repeated`, which only the fold may give.
    """
    _check(claim)
    words = _Words.of(claim, cited)
    standing = _standing(claim, words, caller)
    admitted = Admitted(
        verdict=standing.verdict,
        source=standing.source,
        confidence=_confidence(claim.confidence, standing.source),
        evidence=words.evidence,
        reason=standing.reason,
        rule=standing.rule,
    )
    if admitted.verdict is not Verdict.DROP:
        admitted = _by_policy(admitted, claim, words, policy)
    if admitted.verdict is not Verdict.NEEDS_CONFIRM:
        return admitted
    return replace(admitted, question=_question(claim, policy))


def _question(claim: Claim, policy: Policy) -> str:
    if claim.act not in _ASKED_OTHERWISE or claim.value is None:
        return policy.question(claim.subject, claim.attribute, claim.value or "")
    return f'{_ASKED_OTHERWISE[claim.act]}: "{policy.phrase(claim.subject, claim.attribute, claim.value)}"?'


def _check(claim: Claim) -> None:
    if claim.source is Source.REPEATED:
        raise InvalidInput('the source "repeated" is derived from evidence; claim the source that the words have')
    given = claim.confidence
    if given is None:
        return
    if isinstance(given, bool) or not isinstance(given, (int, float)) or math.isnan(given) or not 0 <= given <= 1:
        raise InvalidInput(f"confidence must be a number between 0 and 1, not {given!r}")


def _confidence(given: float | None, source: Source) -> float:
    return CONFIDENCE[source] if given is None else min(float(given), CONFIDENCE[source])


# -- what the cited words are ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Words:
    """The evidence of a claim, looked up and checked."""

    evidence: tuple[Evidence, ...]  # what stands in the cited messages, with spans where there is a quote
    spoken: tuple[tuple[Message, Evidence], ...]  # own words of the person or of the subject, quoted exactly
    messages: tuple[Message, ...]  # all messages cited
    quotes: bool  # whether a quote was given at all
    unknown: bool  # whether a message was named that is not there

    @classmethod
    def of(cls, claim: Claim, cited: Mapping[str, Message]) -> _Words:
        found = [(cited[e.message_id], e) for e in claim.evidence if e.message_id in cited]
        checked = [(message, _located(message, e, claim)) for message, e in found]
        own = [(m, e) for m, e in checked if e.quote is not None and _speaks_for(m, claim.subject)]
        return cls(
            evidence=tuple(e for _, e in checked),
            spoken=tuple(own),
            messages=tuple(m for m, _ in found),
            quotes=any(e.quote is not None or e.start is not None for _, e in found),
            unknown=len(found) < len(claim.evidence),
        )

    @property
    def quote(self) -> str:
        """All words quoted, for the look at what they speak of."""
        return " ".join(e.quote for e in self.evidence if e.quote)

    @property
    def misquotes(self) -> bool:
        """Whether quotes were given and none of them stands where it was said to."""
        return self.quotes and not any(e.quote for e in self.evidence)

    @property
    def heard(self) -> bool:
        """Whether a person's turn is among what is cited."""
        return any(m.role is Role.USER and not m.recalled for m in self.messages)


def _located(message: Message, evidence: Evidence, claim: Claim) -> Evidence:
    """The evidence with its quote and its exact span, or with neither when the words are not in the message."""
    span = _span(message.content, evidence)
    if span is None and evidence.quote is None and evidence.start is None and claim.value:
        span = _whole_words(message.content, claim.value)
    if span is None:
        return Evidence(message.id)
    return Evidence(message.id, *span, message.content[span[0] : span[1]])


def _span(content: str, evidence: Evidence) -> tuple[int, int] | None:
    start, end, quote = evidence.start, evidence.end, evidence.quote
    given = start is not None and end is not None and 0 <= start < end <= len(content)
    if quote is None:
        return (start, end) if given and start is not None and end is not None else None
    if not any(char.isalnum() for char in quote):
        return None
    if given and content[start:end] == quote:
        return (start or 0, end or 0)
    at = _nearest(content, quote, start or 0)
    return None if at < 0 else (at, at + len(quote))


def _nearest(content: str, quote: str, start: int) -> int:
    """Where the quote stands at or after the offset given, or else before it."""
    at = content.find(quote, max(0, start))
    return at if at >= 0 else content.rfind(quote)


def _whole_words(content: str, value: str) -> tuple[int, int] | None:
    """Where a value stands word for word: what a message alone, cited without a quote, is evidence of."""
    found = re.search(rf"(?<!\w){re.escape(value.strip())}(?!\w)", content, re.IGNORECASE)
    return found.span() if found and found[0] else None


def _speaks_for(message: Message, subject: str) -> bool:
    """Whether these are the owner's own words, or the subject's of itself in a group."""
    if message.role is not Role.USER or message.recalled:
        return False
    return message.name is None or value_key(message.name) == value_key(subject)


# -- who may claim which source ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Standing:
    source: Source
    verdict: Verdict = Verdict.WRITE
    reason: str | None = None
    rule: str = "admitted"


_NOTED = _Standing(Source.AGENT, reason="a model notes, only the person states", rule="agent-at-most")
_MISQUOTED = _Standing(Source.INFERRED, reason="the quote is not in the message cited", rule="quote-not-found")


def _standing(claim: Claim, words: _Words, caller: Caller) -> _Standing:
    """The source that a claim may have, and whether its evidence lets it in at all."""
    if caller is Caller.PERSON and RANK[claim.source] is SAID:
        return _Standing(claim.source)
    if caller is Caller.MODEL and claim.act is Act.CONFIRM and not words.spoken:
        return _dropped(claim, "only the person confirms: quote the words in which it was confirmed", "person-confirms")
    kept = _unheard(claim, words, caller)
    if kept is not None:
        return kept
    if claim.source is Source.AGENT:
        return _MISQUOTED if words.misquotes else _Standing(claim.source)
    if claim.source is Source.INFERRED:
        return _Standing(claim.source)
    return _quoted(claim, words)


def _unheard(claim: Claim, words: _Words, caller: Caller) -> _Standing | None:
    """What to do with a claim that rests on nothing a person said; None when it rests on something."""
    if words.heard:
        return None
    if not words.messages:
        return _uncited(claim, words, caller)
    if claim.source is Source.AGENT:
        what = "it rests on no words of the person's and waits until the person confirms it"
        return _Standing(Source.AGENT, Verdict.NEEDS_CONFIRM, what, "not-heard") if _is_about_user(claim) else None
    if (barred := _barred(claim, words)) is not None:
        return _dropped(claim, *barred)
    return _Standing(Source.INFERRED, reason="no person said it", rule="not-heard")


def _barred(claim: Claim, words: _Words) -> tuple[str, str] | None:
    """Why nothing may rest on these messages, and the rule; None when something may."""
    if any(m.recalled for m in words.messages):
        return "recalled context fed back is no evidence", "recalled"
    if any(m.role is Role.SYSTEM for m in words.messages):
        return "system text is no evidence", "system-text"
    if _is_about_user(claim):
        roles = " and ".join(sorted({m.role.value for m in words.messages}))
        return f"{roles} text never becomes a fact about the user", "not-heard"
    return None


def _uncited(claim: Claim, words: _Words, caller: Caller) -> _Standing | None:
    if claim.source is Source.AGENT:
        return None
    if caller is Caller.PERSON:
        reason = None if claim.source is Source.INFERRED else "no words are cited"
        return _Standing(Source.INFERRED, reason=reason, rule="no-quote")
    if words.unknown:
        return _dropped(claim, "the message that it cites is not there", "nothing-cited")
    if RANK[claim.source] is SAID:  # a tool call of the agent's own
        return _NOTED
    return _dropped(claim, "it cites no message", "nothing-cited")


def _quoted(claim: Claim, words: _Words) -> _Standing:
    """A claim that wants to count as the person's words: `stated`, `quoted`, or else an inference."""
    if not words.spoken:
        return _not_quoted(claim, words)
    if not _is_in_words(claim, [m for m, _ in words.spoken]):
        if _is_in_words(claim, words.messages):
            what = "the words are another's, the person only agreed to them"
            return _Standing(Source.QUOTED, Verdict.NEEDS_CONFIRM, what, "agreed-only")
        return _Standing(Source.INFERRED, reason="its words are not in the message quoted", rule="value-not-quoted")
    if claim.source is Source.QUOTED or (claim.source is Source.STATED and _is_asked(claim, words)):
        return _Standing(claim.source)
    return _Standing(Source.QUOTED, reason="the person did not ask to remember it", rule="quoted-at-most")


def _is_asked(claim: Claim, words: _Words) -> bool:
    own = [(m, e) for m, e in words.spoken if m.name is None and _is_in_words(claim, [m])]
    return any(asks_to_remember(m.content, e.start or 0) for m, e in own)


def _not_quoted(claim: Claim, words: _Words) -> _Standing:
    if words.misquotes:
        return _MISQUOTED
    if RANK[claim.source] is SAID and not words.quotes:
        return _NOTED
    return _Standing(Source.INFERRED, reason="no words of the person's own are quoted", rule="no-quote")


def _dropped(claim: Claim, reason: str, rule: str) -> _Standing:
    return _Standing(claim.source, Verdict.DROP, reason, rule)


def _is_about_user(claim: Claim) -> bool:
    """Whether it says something of the user, or how the user wants things done, whatever subject it names."""
    return value_key(claim.subject) == USER or claim.kind is Kind.PROCEDURAL


_TELLING = "user users person wants prefers likes needs says said asks asked mentioned wishes"
_MOST = 0.75
_DATE = re.compile(r"\d{4}(?:-\d{2}){1,2}")


def _is_in_words(claim: Claim, messages: Iterable[Message]) -> bool:
    """Whether a claim's words were said. Without this a quote of "I sent Joe my résumé" could make him a recruiter.

    Every word of a slot's value must be there, compared by stems; dates may be written otherwise. Of free text, which
    displaces nothing, most words, leaving out those in which one tells of somebody else's wishes.
    """
    if claim.value is None or _DATE.fullmatch(claim.value.strip()):
        return True
    said = {term for message in messages for term in terms(message.content)}
    told = question_terms(claim.value)
    if claim.attribute is not None:
        return said.issuperset(told)
    own = [term for term in told if term not in _telling()] or told
    return sum(term in said for term in own) >= _MOST * len(own)


@cache
def _telling() -> frozenset[str]:
    """Stems that tell of a wish or of who had it; made when first needed, since stems need their library."""
    return frozenset(terms(_TELLING))


# -- asking to remember ------------------------------------------------------------------------------------------

_ASKS = re.compile(
    r"(?i)(?<!\w)(?:"
    r"(?:remember|memori[sz]e)(?!\s*\?)(?!,? (?:when|how|if|whether|why|where|who|what|the time|that time)\b)"
    r"|(?:do not|don['’]t|never) forget|keep (?:it |this |that )?in mind|bear (?:it |this |that )?in mind"
    r"|(?:make|take) a note|for (?:future|your) reference"
    r"|(?:save|store|add|put|write) (?:this|that|it)\b[^.!?\n]{0,40}?\b(?:memory|down)|from now on|going forward"
    r"|merk(?:e)? dir|bitte merken|vergiss nicht|denk(?:e)? daran|notier(?:e)?|ab jetzt|von nun an"
    r"|souviens[- ]toi|souvenez[- ]vous|rappelle[- ]toi|n['’]oublie(?:z)? pas|retiens|retenez|désormais"
    r"|recuerda(?:me)?|no (?:te )?olvides|ten en cuenta|a partir de ahora"
    r"|ricorda(?:ti)?|non dimenticare|d['’]ora in poi|lembre(?:-se)?|não (?:se )?esqueça|a partir de agora"
    r"|запомни(?:те)?|не забудь(?:те)?|имей в виду|отныне"
    r")(?!\w)"
    r"|请?(?:记住|记得|别忘了)|請?(?:記住|記得|別忘了)|覚えて(?:おいて|ください|ね)|忘れないで|기억해"
)
# What turns the same words into a question, a memory of the speaker's own, or somebody else's request.
_ASKS_NOT = re.compile(
    r"(?i)(?:\b(?:do|did|can|could|will|would|does) (?:you|he|she|they|i|we|anyone) (?:even |still |really |ever )?"
    r"|\b(?:i|we|he|she|it|they|you|who|people|users?)(?:['’](?:ll|d|ve|m|re|s))? (?:can |could |do |did |will |would "
    r"|still |always |just |also |even |vaguely |clearly |barely |hardly |must |should |may |might ){0,3}"
    r"|n['’]t |\bcannot |\bnot |\bnever |\bto (?:please )?|\blet me "
    r"|\b(?:mi|ti|ci|me|te|se|le|lo|la|os|nos|ich|je|yo|tu|non|no|nicht|кто|я) )$"
)
_WISHES = re.compile(
    r"(?i)\b(?:i(?:['’]d)? (?:want|need|like|would like|ask)(?: for)? you to"
    r"|(?:can|could|will|would) you(?: please)?) $"
)
_STOPS = re.compile(r"[.!?\n。！？]+(?=\s|$|[\u3040-\u9fff])|\n")
_POINTS_BACK = re.compile(
    r"(?i)\b(?:that|this|it|das|dies|cela|ça|eso|esto|это)(?: in mind| down)?"
    r"(?:,? (?:please|bitte|ok(?:ay)?|for (?:later|next time|me|the future)))?[^:\w]*$"
)
_POINTS_ON = re.compile(r"(?i)(?:[:：]|\b(?:this|the following|one thing|something|folgendes|ceci|esto)\s*[.!:]*)\s*$")
_NOT_OWN = re.compile(r"```.*?(?:```|\Z)|^[ \t]*>[^\n]*|[\"“„«][^\"“”„«»\n]{0,2000}[\"”“»]", re.DOTALL | re.MULTILINE)


def asks_to_remember(content: str, start: int) -> bool:
    """Whether a message asks to remember what it says at `start`: in that sentence, or pointing at it from the next.

    Words in quotation marks, code and quoted lines ask nothing.
    """
    own = _NOT_OWN.sub(lambda found: " " * len(found[0]), content)
    sentences = _sentences(own)
    at = next((n for n, (_, end) in enumerate(sentences) if start < end), len(sentences) - 1)
    said = own[slice(*sentences[at])]
    if _asks(said):
        return True
    before = own[slice(*sentences[at - 1])] if at > 0 else ""
    if _asks(before) and _POINTS_ON.search(before):
        return True
    after = own[slice(*sentences[at + 1])] if at + 1 < len(sentences) else ""
    return _asks(after) and _POINTS_BACK.search(after) is not None


def _sentences(content: str) -> list[tuple[int, int]]:
    ends = [found.end() for found in _STOPS.finditer(content)]
    if not ends or ends[-1] < len(content):
        ends.append(len(content))
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _asks(sentence: str) -> bool:
    return any(_is_request(sentence[: found.start()]) for found in _ASKS.finditer(sentence))


def _is_request(before: str) -> bool:
    """Whether what stands before the word leaves it a request."""
    near = before[-60:]
    return _WISHES.search(near) is not None or _ASKS_NOT.search(near) is None


# -- what the policy says ----------------------------------------------------------------------------------------

_VERDICTS = {"write": Verdict.WRITE, "confirm": Verdict.NEEDS_CONFIRM, "drop": Verdict.DROP}
_SEVERITY = (Verdict.WRITE, Verdict.NEEDS_CONFIRM, Verdict.DROP)
_TAKES_AWAY = (Act.RETRACT, Act.REJECT)
_FEWEST_WORDS = 4


def _by_policy(admitted: Admitted, claim: Claim, words: _Words, policy: Policy) -> Admitted:
    """The verdict after authority, credentials, sensitive classes and the attribute's own rule; the strictest holds."""
    if _is_credential(claim):
        return _stricter(admitted, Verdict.DROP, "credentials are never kept", "credential")
    if claim.act in _TAKES_AWAY:  # whoever may not claim it may still say that it is wrong
        return admitted
    attribute = policy.attribute(claim.attribute) if claim.attribute is not None else None
    if attribute is not None and attribute.authority and admitted.source not in attribute.authority:
        allowed = ", ".join(sorted(attribute.authority))
        return _stricter(admitted, Verdict.DROP, f"{attribute.name} is taken from {allowed} only", "authority")
    for name in _classes(claim, words, policy):
        rule = policy.sensitivities[name]
        verdict = _VERDICTS[rule.admits[admitted.source]]
        if verdict is Verdict.NEEDS_CONFIRM and claim.act is Act.CONFIRM and RANK[admitted.source] is SAID:
            continue  # this is the confirmation
        admitted = _stricter(admitted, verdict, _why(rule, admitted.source), f"sensitive-{name}")
    if attribute is None or attribute.admission == "write":
        return admitted
    if attribute.admission == "drop":
        return _stricter(admitted, Verdict.DROP, f"{attribute.name} is never kept", "attribute")
    waits = Verdict.WRITE if RANK[admitted.source] is SAID else Verdict.NEEDS_CONFIRM
    return _stricter(admitted, waits, f"{attribute.name} waits for the person's own word", "attribute")


def _stricter(admitted: Admitted, verdict: Verdict, reason: str, rule: str) -> Admitted:
    if _SEVERITY.index(verdict) <= _SEVERITY.index(admitted.verdict):
        return admitted
    if verdict is Verdict.DROP and admitted.reason and rule.startswith(("sensitive", "authority")):
        reason = f"{reason} ({admitted.reason})"  # what it was claimed as might have been let in
    return replace(admitted, verdict=verdict, reason=reason, rule=rule)


def _why(rule: Sensitivity, source: Source) -> str:
    if rule.admits[source] == "confirm":
        return f"{rule.about}: it waits until the person confirms it"
    if source is Source.INFERRED:
        return f"{rule.about}: never taken from an inference"
    written = [each.value for each, verdict in rule.admits.items() if verdict == "write"]
    return f"{rule.about}: taken from {', '.join(written)} only" if written else f"{rule.about}: never kept"


def _classes(claim: Claim, words: _Words, policy: Policy) -> Sequence[str]:
    """Sensitive classes of a claim: the attribute's own, and those that its words belong to.

    What the policy does not name is also judged by the words quoted, so that a health matter is one as free text and
    under an invented attribute as well.
    """
    texts = [claim.value or ""]
    own = None
    if claim.attribute is None or not policy.attribute(claim.attribute).known:
        texts += [words.quote, (claim.attribute or "").replace("_", " ")]
    else:
        own = policy.attribute(claim.attribute).sensitivity
    found = policy.classes_of("\n".join(texts))
    return found if own is None or own in found else (own, *found)


def _is_credential(claim: Claim) -> bool:
    """Whether a value is a secret, or so little beside a masked one that nothing else is left to remember."""
    value = claim.value or ""
    label = f"{claim.attribute.replace('_', ' ')}: " if claim.attribute is not None else ""
    if secrets.mask(value)[1] or secrets.mask(label + value)[1]:
        return True
    rest, marks = MARKED.subn(" ", value)
    return marks > 0 and (claim.attribute is not None or len(rest.split()) < _FEWEST_WORDS)
