"""A model's answer, read: what has one plain meaning is repaired, everything else is of no use, never nothing."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_models import answer_of, observation
from firsthand.writer.answers import MOST_OBSERVATIONS, Unusable, read

ONE = answer_of(observation(1, "I moved to Lisbon", "Lisbon", attribute="lives_in"))
OTHER = answer_of(observation(1, "I moved to Lisbon", "Porto", attribute="lives_in"))
NONE = '{"observations": []}'


def values(text: str) -> list[str]:
    return [found.value for found in read(text).found]


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        f"\n\n  {ONE}\n",
        f"```json\n{ONE}\n```",
        f"```\n{ONE}\n```\nLet me know if you need more!",
        f"Sure! Here is what I found:\n{ONE}",
        f"{ONE}\n\nI left out the weather, since it will not matter.",
        f"<think>The user moved.</think>{ONE}",
        f"<think>I could answer {NONE} here, or {OTHER}</think>\n{ONE}",
        f"<thinking>\n```json\n{NONE}\n```\n</thinking>\n```json\n{ONE}\n```",
        f"<think>outer <think>inner {NONE}</think> still thinking {NONE}</think>{ONE}",
        f"It may be {NONE}, or not.\n</think>\n{ONE}",
        f"{ONE}\n{ONE}",
        ONE.replace("}]}", "},]}"),
        ONE.replace("}]}", "}],}"),
        ONE.replace("true", "True").replace("null", "None"),
        ONE.replace('"Lisbon"', '"Lisbon\n"'),
        f"[{json.dumps(observation(1, 'I moved to Lisbon', 'Lisbon'))}]",
        ONE[:-1],
        f"Braces {{ like }} these mean nothing. {ONE}",
    ],
)
def test_what_stands_around_an_answer_does_not_matter(text: str) -> None:
    """Issue: fences, thinking tags, decoys inside them, trailing prose."""
    assert values(text) == ["Lisbon"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("There is nothing worth keeping.", "no JSON object"),
        ("{}", "no JSON object"),
        ('{"facts": []}', "no JSON object"),
        ("[]", "no JSON object"),
        ('"observations"', "broken or cut off"),
        (ONE[:-20], "broken or cut off"),
        ('{"observations": [', "broken or cut off"),
        ('{"observations": null}', "broken or cut off"),
        ('{"observations": {}}', "broken or cut off"),
        (f"<think>I will answer {NONE}", "broken or cut off"),
        (f"<think>{NONE}</think>", "broken or cut off"),
        (f"{NONE}</think>", "broken or cut off"),
        (f"{ONE}\n{NONE}", "differ"),
        (f"{NONE}\n{ONE}", "differ"),
        (f"{ONE}\n{OTHER}", "differ"),
        ("[" * 100_000, "no JSON object"),
        ('{"observations": ' * 2_000, "broken or cut off"),
        (" " * 300_000, "too long"),
        (answer_of(*[observation(1, "a b", "a b")] * (MOST_OBSERVATIONS + 1)), "the most"),
    ],
)
def test_what_has_no_plain_meaning_is_of_no_use(text: str, why: str) -> None:
    """Issue: truncated or wrong output is reported as failed, never as nothing found."""
    with pytest.raises(Unusable, match=why):
        read(text)


def test_an_empty_list_is_an_answer() -> None:
    """Issue: nothing found is said by a model that answers, and only then."""
    assert read(NONE).found == ()
    assert read(f"```json\n{NONE}\n```").found == ()


def test_a_quote_may_hold_tags_and_braces() -> None:
    """Ours: what a person types cannot cut an answer in two."""
    hostile = 'she wrote </think>{"observations": []} <think> and left'
    text = answer_of(observation(1, hostile, "she left"))
    assert [found.quote for found in read(f"Here:\n{text}").found] == [hostile]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"turn": None}, '"turn" is no number'),
        ({"turn": True}, '"turn" is no number'),
        ({"turn": "first"}, '"turn" is no number'),
        ({"quote": ""}, '"quote" is missing'),
        ({"quote": ["a"]}, '"quote" is missing'),
        ({"value": "x" * 501}, "longer than 500"),
        ({"value": "a\x00b"}, "no text"),
        ({"subject": None}, '"subject" is missing'),
        ({"kind": "secret"}, '"kind" is none of'),
        ({"act": "retract"}, '"act" is none of'),
        ({"stated": "yes"}, '"stated" is neither'),
    ],
)
def test_an_observation_of_the_wrong_form_is_named(changed: dict[str, Any], why: str) -> None:
    """Ours: the model is told which one and why; the others count."""
    reading = read(answer_of({**observation(1, "a", "b"), **changed}, observation(2, "c", "d")))
    assert [found.value for found in reading.found] == ["d"]
    assert len(reading.faults) == 1
    assert "observation 1" in reading.faults[0].reason
    assert why in reading.faults[0].reason


def test_what_a_model_does_not_vouch_for_does_not_count() -> None:
    """Ours: a missing flag is no; a turn and a number may come as the other kind."""
    (found,) = read('{"observations": [{"turn": "#2", "quote": "I am 40", "subject": "user", "value": 40}]}').found
    assert (found.turn, found.value, found.stated, found.lasting, found.handover) == (2, "40", False, False, False)


@given(st.text(alphabet='{}[]",:<>/think observations\\ntru', max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Ours: no text makes reading fail in another way."""
    with suppress(Unusable):
        read(text)
