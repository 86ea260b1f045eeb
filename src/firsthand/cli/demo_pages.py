"""How the demo reads: every event as lines of a page of 80 columns, with a little narration between.

What happens is in `demo_script.py`; here it is only told. Nothing is said of an event that is not in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from firsthand.cli.beliefs import story
from firsthand.cli.demo_script import Change, Event
from firsthand.cli.screen import PAGE, columns, day, dim, interval, one_line, padded, standing, strong, wide, wrapped
from firsthand.model import Belief, Hit, Message, Pending, State

_LABEL = 12  # columns of what happened to a belief
_MARGIN = "  "

_LABELS: Mapping[tuple[str | None, str], str] = {
    (None, State.ACTIVE): "believed",
    (None, State.SCHEDULED): "scheduled",
    (None, State.PENDING): "waits",
    (None, State.SUPERSEDED): "past",
    (None, State.WITHDRAWN): "withdrawn",
    (State.SCHEDULED, State.ACTIVE): "now holds",
    (State.PENDING, State.ACTIVE): "confirmed",
    (State.ACTIVE, State.ACTIVE): "now",
}
_COLOURS: Mapping[str, str] = {
    "believed": "green", "confirmed": "green", "now holds": "green", "waits": "yellow", "scheduled": "cyan",
    "past": "cyan", "superseded": "cyan", "withdrawn": "red", "dropped": "red", "masked": "red",
}  # fmt: skip


class Pages:
    """Tells events one after another."""

    def __init__(self) -> None:
        self._asked = False

    def lines(self, event: Event) -> Iterator[str]:
        """The lines of an event; none for one that there is nothing to say of."""
        tell: Callable[[Event], Iterator[str]] = getattr(self, f"_{event.kind}")
        yield from tell(event)

    # -- the talk -----------------------------------------------------------------------------------------------

    def _began(self, event: Event) -> Iterator[str]:
        yield strong("Eight weeks in the memory of an assistant")
        yield ""
        yield from _told(
            f"Mira draws maps and talks to an assistant twice a week: {event['messages']} messages. Below, the real "
            "engine hears them one by one, at their own times. No model is called: what Mira says outright is picked "
            "up by rules, and what her agent notes by itself is a call of `remember` that you can see. Shown is what "
            "changed what memory believes, and everything that it refused."
        )
        yield ""
        yield from _told(
            "Every belief says where it comes from and how sure it is: stated (she asked to remember it, or "
            "confirmed it) 1.00, corrected 0.90, quoted (her own words, in passing) 0.70, agent (noted by the agent) "
            "0.70, inferred (a guess) 0.40."
        )

    def _session(self, event: Event) -> Iterator[str]:
        yield ""
        yield strong(_date(event["at"]))
        if event["changes"]:
            yield from _told("Time has passed, and nobody had to say so:")
        for change in event["changes"]:
            yield from _change(change)

    def _said(self, event: Event) -> Iterator[str]:
        message: Message = event["message"]
        if not (event["changes"] or event["receipt"].dropped or message.masked or message.id in _WORTH_HEARING):
            return
        yield from _speech(message)
        if message.id in _CONCLUDES_NOTHING:
            yield from _outcome("kept", "word for word; nothing is concluded from it")
        if message.masked:
            yield from _outcome("masked", "a secret was said; its words were never written")
        yield from _outcomes(event)

    def _noted(self, event: Event) -> Iterator[str]:
        yield from _call(event["arguments"])
        yield from _outcomes(event)

    def _confirmed(self, event: Event) -> Iterator[str]:
        yield from _code("her yes", f"confirm({event['id']!r})")
        yield from _outcomes(event)

    # -- afterwards ---------------------------------------------------------------------------------------------

    def _profile(self, event: Event) -> Iterator[str]:
        yield from _title("What memory now holds of Mira")
        yield from _held(event["beliefs"])

    def _pending(self, event: Event) -> Iterator[str]:
        yield from _title("What waits for her yes or no")
        for waiting in event["waiting"]:
            yield from _waiting(waiting)

    def _recalled(self, event: Event) -> Iterator[str]:
        question, hits = event["question"], event["hits"]
        if not self._asked:
            self._asked = True
            yield from _title("Five questions, and one too many")
            yield from _told(
                "A score weighs relevance, recency, confidence and use, by 0.50, 0.25, 0.15 and 0.10; a question that "
                "does not ask for the present counts on relevance. Every term is shown."
            )
        yield ""
        yield f"{_MARGIN}{strong(question)}"
        for hit in hits:
            yield from _hit(hit)
        if not hits:
            yield f"{_MARGIN}  nothing that memory holds answers this"
        elif max(hit.terms["relevance"] for hit in hits) < _TOSS_UP:
            yield f"{_MARGIN}  relevance below 0.50: more likely than not, memory does not know"

    def _guarantee(self, event: Event) -> Iterator[str]:
        held: Belief = event["held"]
        yield from _title("Three guesses, one friend")
        yield from _told(
            "Three times the agent concluded that Joe is a recruiter: as his relationship, as his occupation, as a "
            f"plain sentence. What Mira said stands: {held.text} ({standing(held)})."
        )
        for guess in event["guesses"]:
            waits = guess.state is State.PENDING
            fate = f"waits: {guess.reason}" if waits else f"{standing(guess)}; always printed after what was said"
            yield from _outcome("guess", guess.text, fate)

    def _context(self, event: Event) -> Iterator[str]:
        yield from _title(f"What a model is given for “{event['question']}”")
        for line in str(event["context"]).splitlines():
            yield from wrapped(line, columns_of_page(), _MARGIN + "  ", _MARGIN)
        yield dim(f"{_MARGIN}{event['context'].tokens} tokens")

    def _why(self, event: Event) -> Iterator[str]:
        yield from _title("Why memory believes it")
        for line in story(event["explanation"], columns_of_page()):
            yield _MARGIN + line

    def _late(self, event: Event) -> Iterator[str]:
        yield from _title("Late news lands in the past")
        yield from _told(
            "Naples was mentioned in April 2026, Meridian House was left seventeen days before anybody said so. Each "
            "takes its own place in time and disturbs nothing else."
        )
        for held in event["histories"]:
            yield from _held(held, states=True)

    def _as_of(self, event: Event) -> Iterator[str]:
        yield from _title("What was believed a month ago")
        yield from _told(f"On {_date(event['then'])}, with what had been said by then:")
        yield from _held(event["believed_then"])
        yield from _told(f"Of {_date(event['between'])}, as believed on that day:")
        yield from _held(event["believed_between"])
        yield from _told("Of the same day, as it is known now:")
        yield from _held(event["known_now_of_between"])

    def _corrected(self, event: Event) -> Iterator[str]:
        yield from _title("A correction")
        yield from _code("Mira", f"correct({event['id']!r}, {event['to']!r})")
        yield from _held(event["history"], states=True)

    def _ended(self, event: Event) -> Iterator[str]:
        yield from _title("Your turn")
        yield from _told(f"All of this is in one file: {event['db']}")
        yield ""
        for command in event["commands"]:
            yield from _pasted(command)


# Said by the assistant, and needed to follow what comes after.
_WORTH_HEARING = (
    *("mar02-4", "mar19-4", "mar26-2", "mar26-3", "mar30-3", "apr02-3", "apr06-3", "apr09-3", "apr13-4"),
    *("mar12-3", "apr16-1", "apr23-1"),
)
_CONCLUDES_NOTHING = ("mar12-3", "apr16-1", "apr23-1")


def columns_of_page() -> int:
    """The demo's page: 80 columns, or as few as the terminal has."""
    return min(columns(), PAGE)


def _date(at: datetime) -> str:
    return f"{at:%A} {at.day} {at:%B}"


def _title(text: str) -> Iterator[str]:
    yield ""
    yield ""
    yield strong(text)
    yield dim("-" * wide(text))


def _told(text: str) -> Iterator[str]:
    yield from wrapped(text, columns_of_page(), _MARGIN)


def _speech(message: Message) -> Iterator[str]:
    who = "Mira" if message.role == "user" else "Assistant"
    start = f"{_MARGIN}{who}: "
    yield from wrapped(f"“{message.content}”", columns_of_page(), _MARGIN + "  ", start)


def _call(arguments: Mapping[str, Any]) -> Iterator[str]:
    said = [repr(arguments["text"]), *(f"{name}={value!r}" for name, value in arguments.items() if name != "text")]
    yield from _code("agent", f"remember({', '.join(said)})")


def _code(who: str, call: str) -> Iterator[str]:
    for line in wrapped(
        call, columns_of_page(), " " * (len(_MARGIN) + _LABEL + 2), f"{_MARGIN}  {padded(who, _LABEL)}"
    ):
        yield dim(line)


def _outcomes(event: Event) -> Iterator[str]:
    for change in event["changes"]:
        yield from _change(change)
    for dropped in event["receipt"].dropped:
        yield from _outcome("dropped", dropped.reason)


def _change(change: Change) -> Iterator[str]:
    belief = change.belief
    label = _LABELS.get((change.before, belief.state), str(belief.state))
    if belief.state is State.ACTIVE:
        guess = ", a guess" if belief.guess else ""
        yield from _outcome(label, belief.text, f"{standing(belief)}{guess}, {interval(belief)}")
    elif belief.state is State.SCHEDULED:
        yield from _outcome(label, belief.text, interval(belief))
    else:
        yield from _outcome(label, belief.text, belief.reason)


def _outcome(label: str, text: str, why: str = "") -> Iterator[str]:
    """What happened to a belief, and in brackets what is to be said of it, on a line of its own if need be."""
    indent = _MARGIN + "  " + " " * _LABEL
    remark = f"[{why}]" if why else ""
    fits = wide(indent) + wide(text) + 1 + wide(remark) <= columns_of_page()
    parts = [f"{text} {remark}"] if remark and fits else [text, remark]
    first, *rest = [line for part in parts if part for line in wrapped(part, columns_of_page(), indent)]
    yield f"{_MARGIN}  {click.style(padded(label, _LABEL), fg=_COLOURS.get(label))}{first[len(indent) :]}"
    yield from rest


def _held(beliefs: Sequence[Belief], *, states: bool = False) -> Iterator[str]:
    """Beliefs in columns: what, how sure, since when; long ones in several lines."""
    facts = [f"{padded(standing(belief), 16)}{interval(belief)}" for belief in beliefs]
    widest = columns_of_page() - len(_MARGIN) - 4 - max(map(wide, facts), default=0)
    room = min(max((wide(b.text) for b in beliefs), default=0), widest)
    for belief, fact in zip(beliefs, facts, strict=True):
        first, *rest = wrapped(belief.text, room)
        yield f"{_MARGIN}  {padded(first, room)}  {fact}"
        yield from (f"{_MARGIN}  {line}" for line in rest)
        if states and belief.state is not State.ACTIVE:
            reason = f"{belief.state}: {belief.reason}" if belief.reason else str(belief.state)
            yield from (dim(line) for line in wrapped(reason, columns_of_page(), _MARGIN + "    "))


def _pasted(command: str) -> Iterator[str]:
    """A command to paste, in two lines where it is too long for one and the shell joins them again."""
    if wide(command) + len(_MARGIN) <= columns_of_page() or os.name == "nt":
        yield _MARGIN + command
        return
    words, _, options = command.partition(" --db ")
    yield f"{_MARGIN}{words} \\"
    yield f"{_MARGIN}    --db {options}"


def _waiting(waiting: Pending) -> Iterator[str]:
    yield from wrapped(waiting.question, columns_of_page(), _MARGIN + "  ")
    yield from (dim(line) for line in wrapped(waiting.reason, columns_of_page(), _MARGIN + "    "))


def _hit(hit: Hit) -> Iterator[str]:
    who = {"user": "Mira: ", "assistant": "Assistant: "}.get(str(hit.role), "") if hit.type == "message" else ""
    text = f"{who}“{hit.text}”" if hit.type == "message" else hit.text
    yield f"{_MARGIN}  {hit.score:.2f}  {one_line(text, columns_of_page() - 10)}"
    terms = " ".join(f"{short} {hit.terms[name]:.2f}" for name, short in _TERMS.items())
    remarks = [_said(hit), "a guess" if hit.guess else "", hit.note or "", f"[{terms}]"]
    indent = _MARGIN + " " * 8
    yield from (dim(line) for line in wrapped(" · ".join(filter(None, remarks)), columns_of_page(), indent))


def _said(hit: Hit) -> str:
    if hit.type == "message" or hit.valid_from is None:
        return f"said {day(hit.at)}"
    return f"since {day(hit.valid_from)}" if hit.valid_to is None else f"{day(hit.valid_from)} to {day(hit.valid_to)}"


_TOSS_UP = 0.5  # relevance is calibrated: below it, a hit is more likely wrong than right
_TERMS = {"relevance": "rel", "recency": "rec", "confidence": "conf", "use": "use"}
