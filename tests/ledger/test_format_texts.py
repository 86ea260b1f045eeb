"""Plain text and Markdown: what is one message, who said it, and when."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidInput
from firsthand.ledger.formats import read_bytes
from firsthand.ledger.formats.dated import date_in


def messages(text: str, name: str) -> list[dict[str, Any]]:
    """The messages of a file, without their ids."""
    (one,) = read_bytes(text.encode(), name)
    return [{key: value for key, value in message.items() if key != "id"} for message in one.messages]


def contents(text: str, name: str) -> list[str]:
    return [message["content"] for message in messages(text, name)]


# -- plain text ------------------------------------------------------------------------------------------------------


def test_paragraphs_of_a_text_are_messages_of_its_owner() -> None:
    """API: firsthand add reads plain text."""
    text = "I live in Lisbon.\nSince May.\n\n  \n  Second one.\r\n\r\nThird.\n"
    assert messages(text, "notes.txt") == [
        {"role": "user", "content": "I live in Lisbon.\nSince May."},
        {"role": "user", "content": "  Second one."},
        {"role": "user", "content": "Third."},
    ]


def test_a_transcript_gives_its_speakers() -> None:
    """Ours: people keep chats as text."""
    text = "Me: hi\nAssistant: hello\nhow are you?\n\nAna: me too\nJosé María: olá\nAna: bye"
    assert messages(text, "chat.txt") == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello\nhow are you?"},
        {"role": "user", "name": "Ana", "content": "me too"},
        {"role": "user", "name": "José María", "content": "olá"},
        {"role": "user", "name": "Ana", "content": "bye"},
    ]


def test_times_in_a_transcript_are_kept() -> None:
    """Complaint C017: an import keeps the times it is given."""
    text = "[2024-05-12 10:11] Ana: hi\n[2024-05-12 10:12:30] Bo: hello\n[2024-05-13] Ana: bye"
    assert [message["at"] for message in messages(text, "c.txt")] == [
        "2024-05-12T10:11:00",
        "2024-05-12T10:12:00",
        "2024-05-13",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Tip: buy milk\nNote: call Bo",
        "Groceries: milk\nMood: good\nPlace: home",
        "Ana: hi\nBo: hello\nAna: bye\n\nA paragraph that nobody says.",
        "Ana: a monologue\nAna: goes on\nAna: and on",
        "See https://example.org\nhttp://x.org: y\nhttp://x.org: z",
    ],
)
def test_a_note_with_colons_is_no_transcript(text: str) -> None:
    """Ours: a label is no speaker."""
    assert all("name" not in message for message in messages(text, "n.txt"))


# -- Markdown --------------------------------------------------------------------------------------------------------

DIARY = """---
title: Diary
date: 2024-01-02
---
Before any heading.

# Travel

Lonely words.

## 8 May 2024

Arrived in Lisbon.

- unpacked
- slept

### Evening

Dinner with Ana.

## Packing

```sh
# not a heading
pack
```
"""


def test_sections_of_markdown_are_messages_with_their_headings_and_dates() -> None:
    """API: firsthand add reads Markdown; a date in a heading holds below it."""
    found = messages(DIARY, "diary.md")
    assert [(each["at"], each.get("metadata", {}).get("heading")) for each in found] == [
        ("2024-01-02", None),
        ("2024-01-02", "Travel"),
        ("2024-05-08", "Travel > 8 May 2024"),
        ("2024-05-08", "Travel > 8 May 2024 > Evening"),
        ("2024-01-02", "Travel > Packing"),
    ]
    assert found[2]["content"] == "## 8 May 2024\n\nArrived in Lisbon.\n\n- unpacked\n- slept"
    assert found[4]["content"] == "## Packing\n\n```sh\n# not a heading\npack\n```"


def test_a_long_section_is_cut_between_paragraphs_and_never_in_code() -> None:
    """Ours: a message is what can be quoted; code stays whole."""
    code = "```\n" + "\n\n".join(["line"] * 400) + "\n```"
    paragraphs = [f"Paragraph {number}. " + "word " * 150 for number in range(6)]
    text = "\n\n".join(["# Long", *paragraphs[:3], code, *paragraphs[3:]])
    found = contents(text, "long.md")
    assert len(found) == 7
    assert found[0].startswith("# Long\n\nParagraph 0.")
    assert code in found
    assert "\n\n".join(found).split() == text.split()


def test_the_first_heading_is_the_title() -> None:
    """Ours: shown while adding."""
    (one,) = read_bytes(DIARY.encode(), "diary.md")
    assert (one.session, one.title) == ("diary", "Travel")


@pytest.mark.parametrize("text", ["# Only\n\n## headings\n", "---\ndate: 2024-01-01\n---\n"])
def test_markdown_without_words_is_refused(text: str) -> None:
    """Complaint C034: success names what was read."""
    with pytest.raises(InvalidInput, match="it holds no messages"):
        messages(text, "empty.md")


@given(st.text(st.sampled_from("ab #`-\n~:12"), max_size=120), st.sampled_from(["a.md", "a.txt"]))
def test_no_word_of_a_text_is_lost_or_moved(text: str, name: str) -> None:
    """Design: verbatim, whatever the layout; headings without text below them are frames."""
    try:
        found = contents("x\n\n" + text, name)
    except InvalidInput:
        return
    words = iter(("x\n\n" + text).split())
    assert all(word in words for content in found for word in content.split())


def test_a_rule_at_the_top_is_no_front_matter_without_its_end() -> None:
    """Ours: nothing is swallowed."""
    assert contents("---\nwords", "a.md") == ["---\nwords"]


# -- dates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00"),
        ("12:30 pm on 1 Sept 2023", "2023-09-01T12:30:00"),
        ("2023/04/10 (Mon) 14:47", "2023-04-10T14:47:00"),
        ("2023-04-10", "2023-04-10"),
        ("2023.4.1 notes", "2023-04-01"),
        ("Monday, 8th of May 2024", "2024-05-08"),
        ("May 8, 2024", "2024-05-08"),
        ("Sept. 3rd 2024 - trip", "2024-09-03"),
        ("03/04/2024", None),
        ("2023-13-40", None),
        ("31 February 2024", None),
        ("maybe 8 2024", None),
        ("version 12024-05-081", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_dates_are_read_only_where_they_cannot_be_misread(text: str, date: str | None) -> None:
    """Complaint C017: a date is read as written or not at all."""
    assert date_in(text) == date


@given(st.text(max_size=400))
def test_any_line_has_a_date_or_none(text: str) -> None:
    """Ours: no line makes it fail."""
    assert date_in(text) is None or date_in(text)[:1].isdigit()  # type: ignore[index]


# -- chats -----------------------------------------------------------------------------------------------------------

THEIRS = "I live in Paris. I love opera."


@pytest.mark.parametrize(
    "text",
    [
        f"**Dana:** hi\n\n**Assistant:** {THEIRS}\n\n**Dana:** bye\n",
        f"**Dana** (09:00): hi\n**Assistant** (09:01): {THEIRS}\n**Dana** (09:02): bye\n",
        f"**Dana** \u00b7 09:00\nhi\n\n**Assistant** \u00b7 09:01\n{THEIRS}\n\n**Dana** \u00b7 09:02\nbye\n",
        f"**Dana [09:00]**: hi\n**Assistant [09:01]**: {THEIRS}\n**Dana [09:02]**: bye\n",
        f"### Dana\nhi\n\n### Assistant\n{THEIRS}\n\n### Dana\nbye\n",
        f"- Dana: hi\n- Assistant: {THEIRS}\n- Dana: bye\n",
        f"> **Dana**: hi\n> **Assistant**: {THEIRS}\n> **Dana**: bye\n",
        f"05/01/2026, 09:00 - Dana: hi\n05/01/2026, 09:01 - Assistant: {THEIRS}\n05/01/2026, 09:02 - Dana: bye\n",
        f"Dana:\nhi\nAssistant:\n{THEIRS}\nDana:\nbye\n",
    ],
)
@pytest.mark.parametrize("name", ["chat.md", "chat.txt"])
def test_a_chat_written_as_text_keeps_its_speakers_apart(text: str, name: str) -> None:
    """C007: assistant text never becomes the user's, however the chat is written down."""
    heard = messages(text, name)
    assert [(each["role"], each.get("name"), each["content"]) for each in heard] == [
        ("user", "Dana", "hi"),
        ("assistant", None, THEIRS),
        ("user", "Dana", "bye"),
    ]


def test_a_chat_of_one_exchange_between_roles_is_a_chat() -> None:
    """Ours: a first question and its answer."""
    heard = messages(f"**You said:**\nhi\n\n**ChatGPT said:**\n{THEIRS}\n", "chat.md")
    assert [(each["role"], each["content"]) for each in heard] == [("user", "hi"), ("assistant", THEIRS)]


def test_a_chat_takes_its_days_from_headings_and_loses_nothing_before_its_first_turn() -> None:
    """C017: import keeps the original times; Ours: nothing is concluded from a title."""
    text = "# Chat\n## 2026-01-05\n**Dana** (09:00): hi\n**Bo** (9:01 pm): yo\n## 6 January 2026\n**Dana** (08:00): x\n"
    heard = messages(text, "chat.md")
    assert [each.get("at") for each in heard] == [
        None,
        "2026-01-05T09:00:00",
        "2026-01-05T21:01:00",
        "2026-01-06T08:00:00",
    ]
    assert (heard[0]["role"], heard[0]["content"]) == ("system", "# Chat\n## 2026-01-05")


@pytest.mark.parametrize(
    "text",
    [
        "# Notes\n**Tip:** do it\n\n**Warning:** do not\n",
        "- Milk: 2 l\n- Eggs: 6\n- Bread: one\n",
        "## Monday\nswim\n## Tuesday\nrun\n## Monday\nswim again\n",
        "**Dana** went home.\n\n**Bo** stayed.\n\n**Dana** came back.\n",
    ],
)
def test_notes_with_bold_words_lists_and_headings_are_no_chat(text: str) -> None:
    """Ours: a note of one person stays that person's."""
    assert {(each["role"], each.get("name")) for each in messages(text, "notes.md")} == {("user", None)}


def test_our_own_export_is_sent_to_import() -> None:
    """Ours: the error says what to do."""
    line = '{"format": "firsthand-export", "version": 1}\n{"x": 1}\n'
    with pytest.raises(InvalidInput, match="firsthand import"):
        read_bytes(line.encode(), "out.jsonl")
