"""The model writer: one call for a batch of talk, and proposals that are held against the words they quote.

What is here asks, reads the answer and judges it; the model itself comes in as `ports.LanguageModel`. When to ask, for
which messages, and what becomes of the proposals is decided outside.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from firsthand.errors import InvalidInput, ProviderFailed
from firsthand.model import Dropped, Message, Role
from firsthand.ports import Extracted, LanguageModel, Proposal, Spending, Task
from firsthand.text import value_key
from firsthand.writer import answers, grounding
from firsthand.writer.answers import Found, Reading, Unusable
from firsthand.writer.prompts import Prompt, prompt
from firsthand.writer.sentences import LONGEST_MESSAGE

ATTEMPTS = 2  # one answer, and one more when it was of no use
LONGEST_WAIT = 300.0  # seconds for one call; a batch is lent out for no longer than ATTEMPTS such calls and a margin

_ECHOED = 2_000  # characters of a useless answer that the model is shown again

_USER = "user"


@dataclass(frozen=True, slots=True)
class LLMWriter:
    """Which language model reads the talk, and what it may cost.

    Args:
        model: "openai:gpt-4o-mini", another name that pydantic-ai knows, or an object with `name` and `answer`.
        base_url: any endpoint that speaks OpenAI's chat completions, a local one too.
        api_key: the provider's own environment variable unless given.
        timeout: seconds for one call, at most 300.
        calls_per_day, tokens_per_day: what all users of the store may cost together in a day (UTC). Past it messages
            are still kept and rules still read them; the model goes on the next day. None: no cap.

    The names need the `llm` extra. Raises InvalidInput.
    """

    model: str | LanguageModel
    base_url: str | None = None
    api_key: str | None = None
    timeout: float = 60.0
    calls_per_day: int | None = None
    tokens_per_day: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= LONGEST_WAIT:
            raise InvalidInput(f"timeout is more than 0 and at most {LONGEST_WAIT:g} seconds, not {self.timeout!r}")
        for name in ("calls_per_day", "tokens_per_day"):
            most = getattr(self, name)
            if most is not None and most < 0:
                raise InvalidInput(f"{name} is 0 or more, not {most!r}")

    def __repr__(self) -> str:
        return f"LLMWriter({self.model!r})"  # the key is nobody's business


class ModelWriter:
    """Proposes with a language model. Safe to share between threads when the model is."""

    def __init__(self, settings: LLMWriter, model: LanguageModel) -> None:
        self.settings = settings
        self._model = model
        self._prompt: Prompt = prompt("extract", 1)
        self.name = f"{self._prompt} {model.name}"

    def over(self, spent: Spending) -> bool:
        """Whether what was spent today leaves nothing for another call."""
        calls, tokens = self.settings.calls_per_day, self.settings.tokens_per_day
        return (calls is not None and spent.calls >= calls) or (tokens is not None and spent.tokens >= tokens)

    def extract(self, task: Task) -> Extracted:
        """Ask for what the new messages say. A model that fails is an answer too: it says why, and proposes nothing."""
        turns = _turns(task)
        if not any(message.role is Role.USER and new for message, new in turns):
            return Extracted()
        conversation = [("system", self._prompt.text), ("user", _asked(task, turns))]
        spent = Spending()
        why = ""
        for attempt in range(ATTEMPTS):
            try:
                text, tokens = self._model.answer(conversation)
            except ProviderFailed as failure:
                return Extracted(spending=Spending(spent.calls + 1, spent.tokens), failure=str(failure))
            spent = Spending(spent.calls + 1, spent.tokens + tokens)
            try:
                reading = answers.read(text)
            except Unusable as fault:
                why = f"the model's answer is of no use: {fault}"
            else:
                if not reading.faults or attempt + 1 == ATTEMPTS:
                    return self._judged(reading, turns, task, spent)
                why = "; ".join(fault.reason for fault in reading.faults)
            conversation = [
                *conversation[:2],
                ("assistant", text[:_ECHOED]),
                ("user", _again(why)),
            ]
        return Extracted(spending=spent, failure=why)

    def _judged(
        self, reading: Reading, turns: Sequence[tuple[Message, bool]], task: Task, spent: Spending
    ) -> Extracted:
        proposals: list[Proposal] = []
        dropped = [
            Dropped(fault.text, f"the model's answer was malformed, {fault.reason}", rule="malformed")
            for fault in reading.faults
        ]
        for found in reading.found:
            judged = self._one(found, turns, task)
            if isinstance(judged, Dropped):
                dropped.append(judged)
            else:
                proposals.append(judged)
        return Extracted(tuple(proposals), tuple(dropped), spent)

    def _one(self, found: Found, turns: Sequence[tuple[Message, bool]], task: Task) -> Proposal | Dropped:
        message, new = turns[found.turn - 1] if 0 < found.turn <= len(turns) else (None, False)
        if message is None:
            return Dropped(found.value, f"the model cites turn {found.turn}, which is not there", None, "nothing-cited")
        if not new:
            return Dropped(found.value, "the model cites a turn that was read before", None, "nothing-cited")
        if not found.lasting:
            return Dropped(found.value, "by the model it would not matter in thirty days", message.id, "not-lasting")
        if not found.handover:
            what = "by the model nobody who took over would need to know it"
            return Dropped(found.value, what, message.id, "not-lasting")
        span = grounding.located(found.quote, message.content)
        if found.act == "end" and (span is None or not _is_said(found, message, span)):
            return Dropped(found.value, "an ending needs the words that say it", message.id, "quote-not-found")
        start, end = span or (0, 0)
        return Proposal(
            act=found.act,
            subject=_USER if value_key(found.subject) in _names_of_user(task) else found.subject,
            attribute=found.attribute,
            value=found.value,
            kind=found.kind,
            source="stated" if span is not None and _is_said(found, message, span) else "inferred",
            message_id=message.id,
            start=start,
            end=end,
            quote=None if span is not None else found.quote[: answers.LONGEST_VALUE],
            writer=self.name,
            valid_from=grounding.date_of(found.since, message.at) if found.act == "assert" else None,
            valid_to=message.at if found.act == "end" else None,
        )


def _is_said(found: Found, message: Message, span: tuple[int, int]) -> bool:
    """Whether the quoted words say it: the speaker's own, no question, with the value in them."""
    start, end = span
    return (
        found.stated
        and grounding.is_own(message.content, start, end)
        and not grounding.is_asked(message.content, end)
        and grounding.carries(message.content[start:end], found.value, whole=found.attribute is not None)
    )


def _names_of_user(task: Task) -> set[str]:
    return {_USER, "the user", "i", "me", *map(value_key, task.names)}


# -- what a model is asked ---------------------------------------------------------------------------------------


def _turns(task: Task) -> list[tuple[Message, bool]]:
    """The turns a model sees, and whether they are to be read: talk alone, no recalled context, no documents."""
    seen = [(message, False) for message in task.before] + [(message, True) for message in task.messages]
    return [(message, new) for message, new in seen if _is_talk(message)]


def _is_talk(message: Message) -> bool:
    if message.role not in (Role.USER, Role.ASSISTANT) or message.recalled:
        return False
    return len(message.content) <= LONGEST_MESSAGE


def _asked(task: Task, turns: Sequence[tuple[Message, bool]]) -> str:
    told = {
        "turns": [_turn(number, message, new=new) for number, (message, new) in enumerate(turns, 1)],
        "held": list(task.held),
        "attributes": dict(task.attributes),
        "never": list(task.never),
    }
    return json.dumps(told, ensure_ascii=False, indent=None)


def _turn(number: int, message: Message, *, new: bool) -> dict[str, object]:
    told: dict[str, object] = {"n": number, "role": message.role.value, "at": message.at.isoformat(timespec="minutes")}
    if message.name is not None:
        told["speaker"] = message.name
    return told | {"text": message.content} | ({"new": True} if new else {})


def _again(why: str) -> str:
    return f"That answer cannot be used: {why}. Answer again with one JSON object as described, and nothing else."
