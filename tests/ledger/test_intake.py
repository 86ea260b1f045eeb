"""Messages at the door: what is kept of them, and one clear error for what cannot be."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import Conflict, InvalidInput
from firsthand.ledger import intake, secrets
from firsthand.ledger.intake import Draft
from firsthand.model import Message, Position, Role

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def unmasked(text: str) -> tuple[str, int]:
    return text, 0


def drafts(messages: object, **options: Any) -> list[Draft]:
    return intake.drafts(messages, **{"now": NOW, "zone": UTC, "mask": unmasked, **options})


def draft(message: object, **options: Any) -> Draft:
    (one,) = drafts([message], **options)
    return one


def stored(one: Draft, number: int = 1) -> Message:
    """The message as memory would store it."""
    fields = {name: getattr(one, name) for name in ("role", "content", "at", "name", "session", "at_original", "raw")}
    beside = {name: getattr(one, name) for name in ("metadata", "recalled", "masked", "origin")}
    return Message(id=one.id or f"m{number}", position=Position(number, 0, "s"), **fields, **beside)


def said(*turns: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"role": role, "content": content} for role, content in turns]


# -- what is accepted ------------------------------------------------------------------------------------------------


def test_a_string_is_one_user_message() -> None:
    """Complaint C034: a plain string is never skipped."""
    (one,) = drafts("plain text")
    assert (one.role, one.content, one.at, one.raw) == (Role.USER, "plain text", NOW, None)


def test_one_mapping_is_one_message() -> None:
    """API: observe takes a message or a list of them."""
    (one,) = drafts({"role": "assistant", "content": "hello"})
    assert (one.role, one.content) == (Role.ASSISTANT, "hello")


def test_a_list_may_mix_strings_and_mappings_and_keeps_its_order() -> None:
    """API: strings or dicts."""
    found = drafts(["a", {"role": "assistant", "content": "b"}, "c"])
    assert [(one.role, one.content) for one in found] == [("user", "a"), ("assistant", "b"), ("user", "c")]


@pytest.mark.parametrize("kind", [tuple, iter])
def test_tuples_and_iterators_are_lists_too(kind: Any) -> None:
    """Ours: a generator of messages is what loaders have."""
    assert [one.content for one in drafts(kind(["a", "b"]))] == ["a", "b"]


def test_a_request_to_a_model_gives_its_system_prompt_and_messages() -> None:
    """Ours: Anthropic keeps `system` beside `messages`."""
    found = drafts({"model": "m", "system": "Be brief.", "messages": said(("user", "hi"))})
    assert [(one.role, one.content) for one in found] == [("system", "Be brief."), ("user", "hi")]


@pytest.mark.parametrize(
    ("word", "role"),
    [
        *(("user", "user"), ("human", "user"), ("User", "user"), ("assistant", "assistant"), ("ai", "assistant")),
        *(
            ("model", "assistant"),
            ("system", "system"),
            ("developer", "system"),
            ("tool", "tool"),
            ("function", "tool"),
        ),
    ],
)
def test_roles_of_all_ecosystems_are_known(word: str, role: str) -> None:
    """API: shapes of the OpenAI, Anthropic and LangChain ecosystems."""
    assert draft({"role": word, "content": "x"}).role == role


def test_a_message_of_ours_comes_back_as_it_was() -> None:
    """Ours: what memory gave out can be observed again."""
    given = {"role": "user", "name": "ana", "content": "hi", "id": "m1", "at": "2025-01-01T00:00:00+02:00"}
    first = draft({**given, "vendor": [1], "metadata": {"a": 1}})
    assert draft(stored(first)) == first


class Kind(StrEnum):
    """A role as some clients write it."""

    USER = "user"


def test_enumerations_are_text() -> None:
    """Ours: clients pass their own StrEnum as a role."""
    one = draft({"role": Kind.USER, "content": "x", "kind": Kind.USER})
    assert one.role is Role.USER
    assert one.raw == {"role": "user", "content": "x", "kind": "user"}


# -- nothing is changed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *(
            "後端 watchdog 誤殺",
            "שלום Ana, מה שלומך?",
            "مرحبا بالعالم",
            "👩‍👩‍👧‍👦🏳️‍🌈",
            "e\u0301 is not é",
            "\ufeffmark",
            "नमस्ते",
        ),
        *(" ", "\n  indented\r\n\ttab ", "\u2028line", "a\u0000"[:1], "\U0001d518\U0001d52b", "\ue000private"),
    ],
)
def test_any_text_survives_unchanged(text: str) -> None:
    """Issue: any Unicode survives the round trip; nothing is normalised or trimmed."""
    assert draft(text).content == text
    assert draft({"role": "user", "content": [{"type": "text", "text": text}]}).content == text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_every_text_without_a_fence_survives_unchanged(text: str) -> None:
    """Issue: verbatim."""
    assert draft({"role": "user", "content": text, "id": "a"}).content == text


@pytest.mark.parametrize("size", [1_999, 2_000, 2_001, 100_000, 10_000_000])
def test_long_messages_are_stored_whole(size: int) -> None:
    """Complaint C038: store whole or refuse; an emoji stands where others cut."""
    text = "x" * (size - 1) + "😀"
    assert draft(text).content == text


def test_a_message_over_the_limit_is_refused_with_the_limit() -> None:
    """Complaint C038: the limit is in the error."""
    with pytest.raises(InvalidInput, match=r"message 2: content has 16,777,217 characters; the limit is 16,777,216"):
        drafts(["fine", "x" * (intake.MAX_MESSAGE_CHARS + 1)])


def test_the_limit_holds_for_all_that_belongs_to_a_message() -> None:
    """Ours: a picture written into a message counts."""
    half = "x" * (intake.MAX_MESSAGE_CHARS // 2 + 1)
    with pytest.raises(InvalidInput, match=r"the limit is 16,777,216"):
        draft({"role": "user", "content": [{"type": "text", "text": half}], "extra": half})


# -- a stored message reads back equal -------------------------------------------------------------------------------

CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
GIVEN: list[dict[str, Any]] = [
    {"role": "user", "content": "hi"},
    {"role": "user", "content": "hi", "name": "ana", "id": "m1", "at": "2025-01-01"},
    {"role": "user", "content": "hi", "metadata": {"type": "x", "id": 1, "": None, "a.b": [1.5, True]}},
    {"role": "human", "content": "hi"},
    {"role": "user", "content": "hi", "name": None},
    {"role": "user", "content": "hi", "id": 7},
    {"role": "user", "content": "hi", "timestamp": 1_700_000_000},
    {"role": "user", "content": "hi", "vendor": {"nested": [{"deep": None}]}},
    {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "call_2"}], "vendor_field": 1},
    {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
    {"role": "tool", "tool_call_id": "call_1", "content": ""},
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "unknown_part", "x": [1]}]},
    {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}], "id": "a1"}},
]


@pytest.mark.parametrize("message", GIVEN)
def test_a_stored_message_reads_back_equal(message: dict[str, Any]) -> None:
    """Complaint C035: unknown fields, tool calls and shapes included."""
    back = intake.as_given(stored(draft(message)))
    if "id" not in message:
        back.pop("id", None)
    assert back == message


def test_the_caller_s_message_is_copied() -> None:
    """Ours: a message changed after it was given does not change what is stored."""
    message: dict[str, Any] = {"role": "user", "content": "hi", "x": [1], "metadata": {"tags": ["a"]}}
    one = draft(message)
    message["x"].append(2)
    message["metadata"]["tags"].append("b")
    assert one.raw == {"role": "user", "content": "hi", "x": [1], "metadata": {"tags": ["a"]}}
    assert one.metadata == {"tags": ["a"]}


def test_what_the_fields_carry_is_not_kept_twice() -> None:
    """Ours: the common message costs no second copy of its text."""
    given = {"role": "user", "content": "hi", "name": "ana", "id": "m1", "at": "2025-01-01", "session": "s"}
    assert draft({**given, "metadata": {"a": 1}, "origin": "o"}).raw is None


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc$"), inner, max_size=3),
            max_leaves=10,
        ),
        max_size=4,
    )
)
def test_any_json_metadata_is_kept_and_no_name_in_it_is_reserved(metadata: dict[str, Any]) -> None:
    """Complaint C039: keys of the caller live in their own space."""
    one = draft({"role": "user", "content": "x", "metadata": metadata})
    assert one.metadata == metadata
    assert (one.id, one.session, one.at) == (None, None, NOW)
    assert intake.metadata_of(metadata, unmasked) == metadata


# -- ids, sessions, names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["m1", "a b", "名前", "a.b", "a:b", "a/b", "-x", "NULL", "../../x", "x" * 512])
def test_any_id_on_one_line_is_kept_as_it_is(value: str) -> None:
    """Complaint C032: one rule for ids; accepted means kept."""
    one = draft({"role": "user", "content": "x", "id": value, "session": value})
    assert (one.id, one.session) == (value, value)


def test_a_number_as_id_becomes_its_digits() -> None:
    """API: the caller's id is kept; exports number their messages."""
    one = draft({"role": "user", "content": "x", "id": 42, "session_id": 7})
    assert (one.id, one.session) == ("42", "7")


def test_one_id_for_two_contents_is_a_conflict() -> None:
    """API: same id, other content is an error that names it."""
    batch = [{"role": "user", "content": "a", "id": "m1"}, {"role": "user", "content": "b", "id": "m1"}]
    with pytest.raises(Conflict, match="message 2: its id m1 is that of message 1"):
        drafts(batch)
    assert len(drafts([batch[0], batch[0]])) == 2


# -- times -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_time", "instant"),
    [
        ("2024-05-08T13:56:00Z", "2024-05-08T13:56:00+00:00"),
        ("2024-05-08T13:56:00.123456-05:00", "2024-05-08T18:56:00.123456+00:00"),
        ("2024-05-08 13:56", "2024-05-08T11:56:00+00:00"),
        ("2024-05-08", "2024-05-07T22:00:00+00:00"),
        ("2024-05-08 13:56:00 UTC", "2024-05-08T13:56:00+00:00"),
        ("2024-05-08T13:56:00z", "2024-05-08T13:56:00+00:00"),
        (1_700_000_000, "2023-11-14T22:13:20+00:00"),
        (1_700_000_000.25, "2023-11-14T22:13:20.250000+00:00"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123000+00:00"),
        (1_700_000_000_123_456, "2023-11-14T22:13:20.123456+00:00"),
        ("1700000000", "2023-11-14T22:13:20+00:00"),
        ("1700000000.000200", "2023-11-14T22:13:20.000200+00:00"),
        (-86_400, "1969-12-31T00:00:00+00:00"),
        (datetime(2024, 5, 8, 13, 56), "2024-05-08T11:56:00+00:00"),  # noqa: DTZ001 - the zone applies
        (datetime(2024, 5, 8, 13, 56, tzinfo=UTC), "2024-05-08T13:56:00+00:00"),
        (datetime(2024, 5, 8).date(), "2024-05-07T22:00:00+00:00"),  # noqa: DTZ001 - the zone applies
    ],
)
def test_times_in_common_forms_are_read_and_naive_ones_in_the_zone(given_time: object, instant: str) -> None:
    """Complaints C011 and C014: a documented rule for times without an offset."""
    one = draft({"role": "user", "content": "x", "at": given_time}, zone=ZoneInfo("Europe/Berlin"))
    assert one.at == datetime.fromisoformat(instant)
    assert one.at.tzinfo is not None


def test_the_offset_given_is_kept() -> None:
    """Complaint C012: an evening is not moved to the next day."""
    one = draft({"role": "user", "content": "x", "at": "2026-06-01T19:00:00-05:00"})
    assert one.at.isoformat() == "2026-06-01T19:00:00-05:00"


def test_a_naive_time_gets_the_offset_that_its_zone_had_then() -> None:
    """Complaint C014: winter and summer differ."""
    zone = ZoneInfo("Europe/Berlin")
    winter = draft({"role": "user", "content": "x", "at": "2024-01-08T13:56:00"}, zone=zone)
    summer = draft({"role": "user", "content": "x", "at": "2024-07-08T13:56:00"}, zone=zone)
    assert (winter.at.isoformat()[-6:], summer.at.isoformat()[-6:]) == ("+01:00", "+02:00")


def test_a_missing_time_is_now_and_is_told_apart_from_a_given_one() -> None:
    """Complaint C017: unknown stays known as unknown."""
    missing, given_time = drafts(["x", {"role": "user", "content": "x", "at": "2024-03-01"}])
    assert (missing.at, missing.at_original) == (NOW, None)
    assert given_time.at_original == "2024-03-01"


@pytest.mark.parametrize("key", ["at", "timestamp", "created_at", "create_time", "ts"])
def test_times_are_found_under_the_keys_of_common_exports(key: str) -> None:
    """Complaint C017: an import never takes the day of the import."""
    one = draft({"role": "user", "content": "x", key: "2024-03-01T10:00:00Z"})
    assert one.at == datetime(2024, 3, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("value", ["yesterday", "2024-13-01", "", True, [], {}, "9" * 18, 1e300, 10**18, "x" * 9999])
def test_an_unreadable_time_names_the_message(value: object) -> None:
    """Ours: no time is made up."""
    with pytest.raises(InvalidInput, match=r"^message 2: at: "):
        drafts(["x", {"role": "user", "content": "x", "at": value}])


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-01:00", -9e10, -9 * 10**13])
def test_a_time_outside_the_calendar_is_refused(value: object) -> None:
    """Ours: what cannot be compared in UTC is not stored."""
    with pytest.raises(InvalidInput, match=r"^message 1: at: .* is no time|lies outside the years 1 to 9999"):
        draft({"role": "user", "content": "x", "at": value})


@given(st.datetimes(timezones=st.none() | st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45))])))
def test_any_time_is_kept_to_the_microsecond_or_refused(when: datetime) -> None:
    """Complaint C014: a round trip changes no comparison."""
    try:
        one = draft({"role": "user", "content": "x", "at": when})
    except InvalidInput:
        assert when.year in (1, 9999)
        return
    assert one.at == (when if when.tzinfo else when.replace(tzinfo=UTC))
    assert draft({"role": "user", "content": "x", "at": one.at.isoformat()}).at == one.at


# -- what is refused -------------------------------------------------------------------------------------------------

USER = {"role": "user", "content": "x"}
CYCLE: list[Any] = []
CYCLE.append(CYCLE)
DEEP: Any = 1
for _ in range(100):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({}, "it has no role: give user, assistant, system or tool"),
        ({"content": "x"}, "it has no role"),
        ({"role": "user"}, "it has no content and no tool calls"),
        ({"role": "user", "content": ""}, "content is empty"),
        ({"role": "user", "content": None}, "content is empty"),
        ({"role": "user", "content": []}, "content is empty"),
        ({"role": "assistant", "content": "", "tool_calls": []}, "content is empty"),
        ({"role": "user", "content": "", "id": "m1"}, "content is empty"),
        ({"role": "wizard", "content": "x"}, "role 'wizard' is unknown: use user, assistant, system or tool"),
        ({"role": 1, "content": "x"}, "role is a number, not text"),
        ({"role": ["user"], "content": "x"}, "role is a list, not text"),
        ({"role": "user", "content": 5}, "content is a number, not text or a list of parts"),
        ({"role": "user", "content": [7]}, r"content\[0\] is a number, not a content part"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, r"content\[0\]\.text is a number, not text"),
        ({"role": "assistant", "content": "x", "tool_calls": "f"}, "tool_calls is text, not a list"),
        ({"role": "assistant", "content": "x", "tool_calls": [1]}, r"tool_calls\[0\] is a number, not an object"),
        ("nul \0 here", r"content holds a NUL character \(at 4\)"),
        ({**USER, "content": "half \ud83d"}, r"content holds half of a surrogate pair \(at 5\)"),
        ({**USER, "vendor": {"a": ["\udc00"]}}, r"vendor\.a\[0\] holds half of a surrogate pair"),
        ({**USER, "\0": 1}, "a key holds a NUL character"),
        ({**USER, "name": 5}, "name is a number, not text"),
        ({**USER, "name": "x" * 257}, "name has 257 characters; the limit is 256"),
        ({**USER, "id": "x" * 513}, "id has 513 characters; the limit is 512"),
        ({**USER, "id": ""}, "id is empty"),
        ({**USER, "id": "a\nb"}, "id holds a control character"),
        ({**USER, "id": True}, "id is true or false, not text"),
        ({**USER, "id": 1.5}, "id is a number, not text"),
        ({**USER, "session": "x" * 513}, "session has 513 characters; the limit is 512"),
        ({**USER, "session": ["s"]}, "session is a list, not text"),
        ({**USER, "metadata": "x"}, "metadata is text, not an object"),
        ({**USER, "metadata": {"a": float("nan")}}, "metadata.a is nan, which has no JSON form"),
        ({**USER, "metadata": {"a": [float("inf")]}}, r"metadata\.a\[0\] is inf"),
        ({**USER, "metadata": {1: "a"}}, "metadata has a key that is a number, not text"),
        ({**USER, "metadata": {"a": NOW}}, "metadata.a is a datetime, which has no JSON form"),
        ({**USER, "metadata": {"a": {1, 2}}}, "metadata.a is a set, which has no JSON form"),
        ({**USER, "metadata": {"a": 10**5000}}, "metadata.a is a number of more than 1024 bits"),
        ({**USER, "vendor": DEEP}, "is nested deeper than 64 levels"),
        ({**USER, "vendor": CYCLE}, "is nested deeper than 64 levels"),
        ({**USER, "vendor": object()}, "vendor is a object, which has no JSON form"),
        (5, "a number is no message"),
        (None, "null is no message"),
        (["nested"], "a list is no message"),
        (b"bytes", "a bytes is no message"),
    ],
)
def test_a_fault_names_the_message_and_what_is_wrong(message: object, reason: str) -> None:
    """Issue: NUL, lone surrogates, unknown roles and wrong types get one clear error each."""
    with pytest.raises(InvalidInput, match=rf"^message 3: .*{reason}") as caught:
        drafts(["fine", USER, message, "fine"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("messages", [[], (), iter([]), {"messages": []}])
def test_an_empty_list_is_refused(messages: object) -> None:
    """Complaint C034: success always names what was stored."""
    with pytest.raises(InvalidInput, match=r"no messages|no role"):
        drafts(messages)


@pytest.mark.parametrize("messages", [123, None, 1.5, {1, 2}, b"x", True, object()])
def test_what_is_no_message_is_refused(messages: object) -> None:
    """Complaint C034: a wrong type is an error, never a silent success."""
    with pytest.raises(InvalidInput, match="no message"):
        drafts(messages)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "type",
                    "text",
                    "data",
                    "kwargs",
                    "lc",
                    "id",
                    "tool_calls",
                    "function",
                    "name",
                    "at",
                ]
            )
            | st.text(max_size=4),
            inner
            | st.sampled_from(["user", "assistant", "tool", "text", "tool_use", "tool_result", "human", "x_call"]),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_becomes_drafts_or_one_invalid_input(value: object) -> None:
    """Ours: never another error, never half a batch."""
    try:
        found = drafts(value)
    except InvalidInput:
        return
    assert found
    assert all(isinstance(one.content, str) and one.content and one.at.tzinfo for one in found)


@pytest.mark.parametrize("key", ["a\nb", "x" * 5000, "\u202e"])
def test_an_error_stays_on_one_short_line(key: str) -> None:
    """Issue: one clear line, whatever the caller's keys are."""
    with pytest.raises(InvalidInput) as caught:
        draft({**USER, key: {"a": float("nan")}})
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200


@given(st.lists(st.sampled_from(GIVEN) | JSON.map(lambda value: {"role": "user", "content": value}), min_size=1))
def test_what_comes_back_can_be_observed_again(messages: list[Any]) -> None:
    """Complaint C035: reading back and observing again is the same message."""
    try:
        found = drafts(messages)
    except InvalidInput:
        return
    again = drafts([intake.as_given(one) for one in found])
    assert [(one.role, one.content) for one in again] == [(one.role, one.content) for one in found]


# -- masking ---------------------------------------------------------------------------------------------------------


def starred(text: str) -> tuple[str, int]:
    return text.replace("hunter2", "***"), text.count("hunter2")


def test_secrets_are_masked_in_every_part_of_a_message() -> None:
    """Complaint C077: content, tool arguments, metadata and names."""
    one = draft(
        {
            "role": "assistant",
            "content": "it is hunter2",
            "name": "hunter2",
            "tool_calls": [{"id": "c", "function": {"name": "login", "arguments": '{"word": "hunter2"}'}}],
            "metadata": {"hunter2": ["hunter2"]},
            "vendor": {"a": "hunter2"},
        },
        mask=starred,
    )
    assert "hunter2" not in repr(one)
    assert one.masked > 0
    assert one.content == 'it is ***\n[calls login: {"word":"***"}]'


def test_a_plain_message_counts_what_was_masked() -> None:
    """Design: a record that masking took place."""
    assert draft("hunter2 and hunter2", mask=starred).masked == 2
    assert draft({**USER, "metadata": {"a": "hunter2"}}, mask=starred).masked == 1


def test_two_secrets_as_keys_do_not_overwrite_each_other() -> None:
    """Ours: masking loses secrets, not data."""
    one = draft({**USER, "metadata": {"a hunter2": 1, "a ***": 2}}, mask=starred)
    assert sorted(one.metadata.values()) == [1, 2]


def test_keys_tell_the_shipped_mask_what_a_word_is() -> None:
    """Complaint C077: a token in tool arguments."""
    one = draft({**USER, "vendor": {"password": "hunter2-example"}}, mask=secrets.mask)
    assert "hunter2" not in repr(one)
    assert "hunter2" not in repr(intake.metadata_of({"password": "hunter2-example"}, secrets.mask))


# -- recalled context ------------------------------------------------------------------------------------------------

BLOCK = "<recalled-memory>\nLives in Lisbon (m1)\n</recalled-memory>"


def test_a_user_s_own_words_stay_evidence_beside_a_recalled_block() -> None:
    """Design: recalled context fed back is not evidence; a message keeps its own text."""
    one = draft(f"{BLOCK}\n\nI moved to Porto.")
    assert (one.content, one.recalled, one.raw) == ("I moved to Porto.", False, None)


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_recalled_context_in_other_roles_taints_the_message(role: str) -> None:
    """Design: never evidence; and no second copy, which would outlive an erasure."""
    one = draft({"role": role, "content": f"You help Ana.\n{BLOCK}", "tool_call_id": "c"})
    assert one.recalled
    assert "Lisbon" not in repr(one)
    assert "You help Ana." in one.content


def test_a_message_that_is_nothing_but_recalled_says_so() -> None:
    """Ours: content is never empty."""
    one = draft(BLOCK)
    assert (one.content, one.recalled) == ("[recalled memory]", True)


@pytest.mark.parametrize(
    "text",
    [
        "see <recalled-memory> no end",
        "<recalled-memory> </recalled-memory",
        "I said </recalled-memory> first",
        BLOCK + BLOCK[:20],
    ],
)
def test_half_a_block_keeps_the_text_and_rules_it_out_as_evidence(text: str) -> None:
    """Ours: where the speaker's own words end cannot be told."""
    one = draft(text)
    assert (one.content, one.recalled) == (text, True)


def test_a_block_in_a_content_part_is_seen() -> None:
    """Ours: structured messages are no way around the fence."""
    one = draft({"role": "user", "content": [{"type": "text", "text": BLOCK}, {"type": "text", "text": "I moved."}]})
    assert (one.content, one.recalled) == ("I moved.", False)
    assert "Lisbon" not in repr(one)


def test_a_long_hostile_text_is_read_once() -> None:
    """Ours: no text makes reading it quadratic."""
    text = "<recalled-memory>" * 50_000 + "<" + " " * 500_000
    assert draft(text).recalled


# -- repeats and whole histories -------------------------------------------------------------------------------------


def test_the_same_words_are_the_same_message_whatever_the_time() -> None:
    """API: same id and content is a duplicate; the stored time stays (C017)."""
    first = draft({"role": "user", "content": "hi", "id": "m1", "at": "2024-01-01"})
    assert intake.same(draft({"role": "user", "content": "hi", "id": "m1"}), stored(first))


@pytest.mark.parametrize(
    "other",
    [
        {"role": "user", "content": "hi!"},
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "hi", "name": "ana"},
        {"role": "user", "content": "hi", "tool_call_id": "c2"},
    ],
)
def test_other_words_role_speaker_or_call_is_another_message(other: dict[str, Any]) -> None:
    """API: same id, other content is an error."""
    assert not intake.same(draft(other), stored(draft({"role": "user", "content": "hi"})))


def history(*messages: object) -> list[Message]:
    return [stored(one, number) for number, one in enumerate(drafts(list(messages)), 1)]


TALK = said(("user", "a"), ("assistant", "b"), ("user", "c"))


def test_a_resent_history_adds_only_its_end() -> None:
    """API: full=True aligns by prefix."""
    new = intake.aligned(history(*TALK), drafts([*TALK, *said(("assistant", "d"), ("user", "e"))]))
    assert [one.content for one in new] == ["d", "e"]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_history_that_is_known_adds_nothing(length: int) -> None:
    """API: a repeat is never stored twice; a client may resend an earlier state."""
    assert intake.aligned(history(*TALK), drafts(TALK[:length])) == []


def test_a_first_history_is_all_new() -> None:
    """Ours: an empty session takes everything, system messages too."""
    resent = drafts([*said(("system", "s")), *TALK])
    assert intake.aligned([], resent) == resent


def test_equal_turns_are_told_apart_by_their_place() -> None:
    """Ours: "ok" said twice is said twice."""
    talk = said(("user", "ok"), ("assistant", "ok"))
    assert len(intake.aligned(history(*talk), drafts([*talk, *talk]))) == 2


def test_a_changed_system_message_is_no_conflict_and_is_not_stored_again() -> None:
    """Ours: clients put the date and recalled context into it each time (C010: restated prompts are junk)."""
    known = history(*said(("system", "Today is Monday.")), *TALK)
    new = intake.aligned(known, drafts([*said(("system", "Today is Tuesday.")), *TALK, *said(("user", "d"))]))
    assert [one.content for one in new] == ["d"]


def test_a_turn_that_differs_is_a_conflict_that_names_both() -> None:
    """API: never guess which history is right."""
    with pytest.raises(Conflict, match="message 2: it differs from message m2"):
        intake.aligned(history(*TALK), drafts(said(("user", "a"), ("assistant", "other"), ("user", "c"))))


def test_recalled_context_around_a_user_s_turn_does_not_break_alignment() -> None:
    """Ours: clients inject it into the newest turn only."""
    known = history({"role": "user", "content": f"{BLOCK}\n\na"})
    assert intake.aligned(known, drafts(said(("user", "a")))) == []


# -- objects ---------------------------------------------------------------------------------------------------------


@dataclass
class Spoken:
    """A message as LangChain has it: a type and attributes."""

    content: Any
    type: str = "human"
    name: str | None = None
    id: str | None = None
    tool_calls: list[Any] = field(default_factory=list)
    additional_kwargs: dict[str, Any] = field(default_factory=dict)


class Dumped:
    """A message as pydantic has it."""

    role = "assistant"
    content = "hello"

    def model_dump(self) -> dict[str, Any]:
        """All its fields."""
        return {"role": self.role, "content": self.content, "refusal": None, "tool_calls": None, "annotations": []}


def test_objects_with_a_type_and_content_are_messages() -> None:
    """API: LangChain's ecosystem, without importing it."""
    human, ai = drafts(
        [Spoken("hi", id="h1", name="ana"), Spoken("", "ai", tool_calls=[{"name": "f", "args": {"a": 1}}])]
    )
    assert (human.role, human.content, human.id, human.name) == (Role.USER, "hi", "h1", "ana")
    assert (ai.role, ai.content) == (Role.ASSISTANT, '[calls f: {"a":1}]')


def test_one_object_needs_no_list() -> None:
    """API: a message or a list."""
    assert drafts(Spoken("hi"))[0].content == "hi"


def test_objects_with_a_dump_keep_what_it_gives_but_for_empty_fields() -> None:
    """Ours: an answer of a client library can be passed as it is, and costs no second copy."""
    one = draft(Dumped())
    assert (one.role, one.content, one.raw) == (Role.ASSISTANT, "hello", None)


def test_objects_inside_a_mapping_are_dumped() -> None:
    """Ours: clients put the library's tool call objects into a dict."""

    class Call:
        def model_dump(self) -> dict[str, Any]:
            return CALL

    one = draft({"role": "assistant", "content": None, "tool_calls": [Call()]})
    assert one.raw == {"role": "assistant", "content": None, "tool_calls": [CALL]}


# -- no network ------------------------------------------------------------------------------------------------------


def test_addresses_in_a_message_are_never_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Complaint C033: add downloads nothing and fails on nothing."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    parts = [
        {"type": "text", "text": "my receipt"},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:9/x.jpg"}},
        {"type": "file", "file": {"filename": "/etc/passwd", "url": "file:///etc/passwd"}},
        {"type": "unknown_part"},
    ]
    one = draft({"role": "user", "content": parts})
    assert one.content == "my receipt\n[image: x.jpg]\n[file: /etc/passwd]\n[unknown_part]"
    assert one.raw == {"role": "user", "content": parts}


# -- single values ---------------------------------------------------------------------------------------------------


def test_names_are_kept_as_they_are() -> None:
    """Complaint C032: one id rule."""
    assert intake.name_of("  Ana/..", "user") == "  Ana/.."


@pytest.mark.parametrize("value", ["", "a\nb", "x" * 513, 5, None, "\ud800"])
def test_bad_names_say_whose_they_are(value: object) -> None:
    """Complaint C032: refused at the door."""
    with pytest.raises(InvalidInput, match=r"^tenant "):
        intake.name_of(value, "tenant")


@pytest.mark.parametrize("value", ["", "  \n", "x" * 11, 5, None, "a\0"])
def test_bad_values_are_refused(value: object) -> None:
    """Complaint C038: the limit is in the error."""
    with pytest.raises(InvalidInput, match=r"^the text "):
        intake.value_of(value, 10, unmasked)


@pytest.mark.parametrize("text", ["who is Joe?", "", "NEAR(", '"'])
def test_any_text_is_a_question(text: str) -> None:
    """Complaint C031: user text is never query syntax."""
    assert intake.question_of(text) == text


@pytest.mark.parametrize("value", [5, None, "a\0", "\ud800"])
def test_what_no_message_may_hold_is_no_question(value: object) -> None:
    """Ours: one rule for text, in and out."""
    with pytest.raises(InvalidInput, match=r"^the question "):
        intake.question_of(value)


def test_a_value_is_masked() -> None:
    """Complaint C077: one path is all paths."""
    assert intake.value_of("hunter2", 10, starred) == "***"


@pytest.mark.parametrize("value", [-1, "10", True, 1.0, None])
def test_bad_limits_are_refused(value: object) -> None:
    """Complaint C068: 0, negative and text limits are defined."""
    with pytest.raises(InvalidInput, match=r"^limit is "):
        intake.limit_of(value)


def test_limits_from_nought_up_are_taken() -> None:
    """Complaint C068: 0 and huge limits are fine."""
    assert (intake.limit_of(0), intake.limit_of(10**9)) == (0, 10**9)


def test_a_time_argument_is_named_in_its_error() -> None:
    """Complaint C015: unknown words are an error, not an empty list."""
    with pytest.raises(InvalidInput, match=r"^since: 'soon' is no time"):
        intake.time_of("soon", "since", UTC)


def test_metadata_may_be_missing() -> None:
    """API: every writing verb takes metadata."""
    assert intake.metadata_of(None, unmasked) == {}
