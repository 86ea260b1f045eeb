"""Files that people have: which format they are, what is read from them, and what is refused."""

from __future__ import annotations

import io
import json
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidInput
from firsthand.ledger import intake
from firsthand.ledger.formats import FORMATS, Conversation, archive, detect, read, read_bytes

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def as_lines(*values: Any) -> bytes:
    return b"\n".join(as_json(value) for value in values) + b"\n"


def texts(conversations: list[Conversation]) -> list[str]:
    return [one.content for one in taken(conversations)]


def taken(conversations: list[Conversation]) -> list[intake.Draft]:
    """The drafts of all messages, which is what adding a file stores."""
    return [one for each in conversations for one in intake.drafts(each.messages, now=NOW, zone=UTC, mask=unmasked)]


def unmasked(text: str) -> tuple[str, int]:
    return text, 0


def ids(conversations: list[Conversation]) -> list[str]:
    return [str(one.id) for one in taken(conversations)]


# -- JSON and JSON Lines ---------------------------------------------------------------------------------------------

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


def test_a_json_list_of_messages_is_one_conversation_named_after_its_file() -> None:
    """API: firsthand add reads messages as JSON."""
    (one,) = read_bytes(as_json(TALK), "chat.json")
    assert (one.session, one.source, texts([one])) == ("chat", "messages chat.json", ["hi", "hello"])


@pytest.mark.parametrize("key", ["session", "session_id", "conversation_id", "thread_id"])
def test_messages_are_told_apart_by_the_session_they_name(key: str) -> None:
    """Ours: logs mix conversations."""
    rows = [{"role": "user", "content": text, key: session} for text, session in (("a", "x"), ("b", "y"), ("c", "x"))]
    found = read_bytes(as_lines(*rows), "log.jsonl")
    assert [(one.session, texts([one])) for one in found] == [("x", ["a", "c"]), ("y", ["b"])]


def test_times_and_ids_of_logs_are_kept_without_a_second_copy() -> None:
    """Complaint C017: an import keeps the original times."""
    row = {"message_id": 5, "role": "user", "content": "hi", "timestamp": "2024-03-01T10:00:00Z", "session_id": "s"}
    (one,) = taken(read_bytes(as_lines(row, row | {"message_id": 6}), "log.jsonl"))[:1]
    assert (one.id, one.at, one.raw) == ("5", datetime(2024, 3, 1, 10, tzinfo=UTC), None)


def test_a_fault_in_one_line_names_it_and_nothing_is_read() -> None:
    """Issue: malformed JSON line 7 of 10 is one clear line, nothing half done."""
    lines = [json.dumps(TALK[0])] * 10
    lines[6] = '{"role": "user", '
    with pytest.raises(InvalidInput, match=r"^log\.jsonl: line 7: not JSON: .* \(column \d+\)$"):
        read_bytes("\n".join(lines).encode(), "log.jsonl")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('{"role": "wizard", "content": "x"}', "role 'wizard' is unknown"),
        ('{"role": "user"}', "it has no content"),
        ("5", "a number is no message"),
        ('{"role": "user", "content": NaN}', "NaN is no JSON number"),
        ('{"role": "user", "content": "x", "at": "soon"}', "at: 'soon' is no time"),
        ('{"role": "user", "content": "a\\u0000b"}', "content holds a NUL character"),
        ('{"role": "user", "content": "\\ud83d"}', "half of a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
        ('{"role": "user", "content": "x", "n": ' + "9" * 5000 + "}", "not JSON|more than 1024 bits"),
    ],
)
def test_a_bad_message_is_refused_with_its_line(row: str, reason: str) -> None:
    """Issue: one clear line, for what is JSON and no message too."""
    with pytest.raises(InvalidInput, match=rf"^log\.jsonl: line 3: .*({reason})"):
        read_bytes(f"{json.dumps(TALK[0])}\n\n{row}\n{json.dumps(TALK[1])}".encode(), "log.jsonl")


def test_messages_without_words_are_left_out() -> None:
    """Ours: logs hold empty turns; they say nothing. A turn without `content` is a fault."""
    rows = [*TALK, {"role": "assistant", "content": ""}, {"role": "assistant", "content": None}]
    assert texts(read_bytes(as_json(rows), "chat.json")) == ["hi", "hello"]


@pytest.mark.parametrize(
    ("value", "session", "expected"),
    [
        ({"messages": TALK}, "f", ["hi", "hello"]),
        ({"id": "c1", "messages": TALK}, "c1", ["hi", "hello"]),
        ([{"id": "c1", "title": "T", "messages": TALK}], "c1", ["hi", "hello"]),
        ({"conversations": [{"session_id": "c1", "turns": TALK}]}, "c1", ["hi", "hello"]),
        ({"values": {"messages": TALK}, "config": {"configurable": {"thread_id": "t1"}}}, "t1", ["hi", "hello"]),
        ({"id": "c1", "user_query": "hi", "assistant_response": "hello"}, "c1", ["hi", "hello"]),
        ([{"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "x"}]}], "f", None),
        ([{"conversations": [{"from": "human", "value": "hi"}, {"from": "ai", "value": "x"}]}], "f", ["hi", "x"]),
        (TALK[0], "f", ["hi"]),
        (["hi", "there"], "f", ["hi", "there"]),
        ([{"type": "human", "data": {"content": "hi"}}], "f", ["hi"]),
        ([{"lc": 1, "id": ["m", "HumanMessage"], "kwargs": {"content": "hi"}}], "f", ["hi"]),
        (json.dumps({"messages": TALK}), "f", ["hi", "hello"]),
    ],
)
def test_frames_around_messages_are_opened(value: Any, session: str, expected: list[str] | None) -> None:
    """API: messages as JSON, in the frames that tools write."""
    if expected is None:
        with pytest.raises(InvalidInput, match="role 'gpt' is unknown"):
            read_bytes(as_json(value), "f.json")
        return
    found = read_bytes(as_json(value), "f.json")
    assert (found[0].session, texts(found)) == (session, expected)


def test_the_time_of_a_conversation_holds_for_messages_without_one() -> None:
    """Complaint C017: as near as is known, never the day of the import."""
    state = {"values": {"messages": [{"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": "hi"}}]}}
    (one,) = taken(read_bytes(as_json({**state, "created_at": "2024-03-01T10:00:00+00:00"}), "f.json"))
    assert one.at == datetime(2024, 3, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        {"results": [{"id": "m", "memory": "Prefers tea.", "user_id": "ana"}]},
        [{"id": "m", "memory": "Prefers tea."}],
        {"episodes": [], "entities": [], "facts": [{"fact": "Ana knows Bo"}]},
    ],
)
def test_dumps_of_conclusions_are_refused_with_what_is_supported(value: Any) -> None:
    """Design: what another memory concluded was not said; nothing in it is first-hand."""
    with pytest.raises(
        InvalidInput, match=r"facts that another memory extracted.* firsthand reads plain text"
    ) as caught:
        read_bytes(as_json(value), "dump.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [{}, [], 5, None, {"a": 1}, [[]], [5], {"messages": []}, {"agents": []}])
def test_json_without_messages_is_refused_with_what_is_supported(value: Any) -> None:
    """Ours: success always names what was read (C034)."""
    with pytest.raises(InvalidInput, match=r"^f\.json: this JSON holds no messages in a known shape"):
        read_bytes(as_json(value), "f.json")


# -- ids: adding a file again ----------------------------------------------------------------------------------------


def test_adding_a_file_again_gives_the_same_ids() -> None:
    """Issue: long imports resume where they stopped; every message is then a duplicate."""
    assert ids(read_bytes(as_json(TALK), "c.json")) == ids(read_bytes(as_json(TALK), "c.json"))


def test_a_file_that_grew_keeps_the_ids_of_what_was_there() -> None:
    """Ours: at its end and at its beginning."""
    before = ids(read_bytes(as_json(TALK), "c.json"))
    new = {"role": "user", "content": "new"}
    assert ids(read_bytes(as_json([*TALK, new]), "c.json"))[:2] == before
    assert ids(read_bytes(as_json([new, *TALK]), "c.json"))[1:] == before


def test_the_same_words_said_twice_are_two_messages() -> None:
    """Ours: "ok" is said often."""
    found = ids(read_bytes(as_json([TALK[0], TALK[0], TALK[0]]), "c.json"))
    assert len(set(found)) == 3


def test_the_same_words_in_two_conversations_are_two_messages() -> None:
    """Ours: a conversation is part of the id."""
    rows = [{"id": "a", "messages": TALK}, {"id": "b", "messages": TALK}]
    assert len(set(ids(read_bytes(as_json(rows), "c.json")))) == 4


def test_given_ids_are_kept_and_told_apart_where_sessions_reuse_them() -> None:
    """API: the caller's id is what hits name; numbers that begin anew in each session do not clash."""
    rows = [{"role": "user", "content": text, "id": "1", "session": text} for text in ("a", "b")]
    assert ids(read_bytes(as_json(rows), "c.json")) == ["1", "b/1"]


# -- ChatGPT ---------------------------------------------------------------------------------------------------------


def node(key: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    parts = content if isinstance(content, dict) else {"content_type": "text", "parts": [content]}
    message = {"id": f"id-{key}", "author": {"role": role}, "content": parts, "create_time": None, **more}
    return {"id": key, "parent": parent, "children": [], "message": message}


def chatgpt(*nodes: dict[str, Any], current: str | None, **more: Any) -> dict[str, Any]:
    root: dict[str, Any] = {"id": "root", "parent": None, "children": [], "message": None}
    mapping = {each["id"]: each for each in (root, *nodes)}
    for each in nodes:
        mapping[each["parent"]]["children"].append(each["id"])
    return {
        "title": "A trip",
        "create_time": 1_700_000_000.0,
        "conversation_id": "c-1",
        "mapping": mapping,
        "current_node": current,
        **more,
    }


TREE = chatgpt(
    node("sys", "root", "system", ""),
    node("q", "sys", "user", "Where shall I go?", create_time=1_700_000_001.5),
    node("a1", "q", "assistant", "To Rome."),
    node("a2", "q", "assistant", "To Lisbon.", create_time=1_700_000_009),
    node("thought", "a2", "assistant", {"content_type": "thoughts", "thoughts": []}),
    node("call", "thought", "assistant", {"content_type": "code", "language": "python", "text": "print(1)"}),
    node("out", "call", "tool", {"content_type": "execution_output", "text": "1"}),
    node("hidden", "out", "system", "be nice", metadata={"is_visually_hidden_from_conversation": True}),
    node(
        "pic",
        "hidden",
        "user",
        {
            "content_type": "multimodal_text",
            "parts": [
                {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
                {"content_type": "audio_transcription", "text": "and this?"},
                "See the picture.",
            ],
        },
    ),
    current="pic",
)


def test_a_chatgpt_export_gives_the_branch_that_was_shown() -> None:
    """API: firsthand add reads ChatGPT exports."""
    (one,) = read_bytes(as_json([TREE]), "conversations.json")
    assert (one.session, one.title, one.source) == ("c-1", "A trip", "chatgpt conversations.json")
    assert [(each.role, each.content) for each in taken([one])] == [
        ("user", "Where shall I go?"),
        ("assistant", "To Lisbon."),
        ("assistant", "print(1)"),
        ("tool", "1"),
        ("user", "[image]\nand this?\nSee the picture."),
    ]


def test_chatgpt_messages_keep_ids_and_times_and_borrow_missing_times() -> None:
    """Complaint C017: a message without a time was said after the one before it."""
    found = taken(read_bytes(as_json([TREE]), "conversations.json"))
    assert [one.id for one in found] == ["id-q", "id-a2", "id-call", "id-out", "id-pic"]
    assert found[0].at == datetime(2023, 11, 14, 22, 13, 21, 500_000, tzinfo=UTC)
    assert found[2].at == found[1].at == datetime(2023, 11, 14, 22, 13, 29, tzinfo=UTC)
    assert all(one.raw is None for one in found)


def test_a_broken_chatgpt_tree_ends() -> None:
    """Ours: cycles and missing nodes do not hang or fail."""
    tree = chatgpt(node("a", "root", "user", "one"), node("b", "a", "user", "two"), current="gone")
    tree["mapping"]["root"]["parent"] = "b"
    tree["mapping"]["a"]["children"] = ["b", "missing"]
    assert texts(read_bytes(as_json(tree), "c.json")) == ["one", "two"]


def test_a_bad_chatgpt_message_names_its_place() -> None:
    """Ours: the place in the file, not in a batch."""
    tree = chatgpt(node("a", "root", "user", "one"), node("b", "a", "wizard", "two"), current="b")
    with pytest.raises(InvalidInput, match=r"^c\.json: conversation 2, message 2: role 'wizard' is unknown"):
        read_bytes(as_json([TREE, tree]), "c.json")


def test_a_chatgpt_conversation_without_a_current_node_shows_its_latest_branch() -> None:
    """Ours: older exports do not say which branch was shown."""
    old = node("a", "root", "assistant", "old", create_time=1_700_000_001)
    new = node("b", "root", "assistant", "new", create_time=1_700_000_002)
    for nodes in ((old, new), (new, old)):
        assert texts(read_bytes(as_json(chatgpt(*nodes, current=None)), "c.json")) == ["new"]


def test_parts_of_a_chatgpt_message_that_are_no_text_are_named() -> None:
    """Issue: images and files as a marker with their caption."""
    parts = [
        {"content_type": "image_asset_pointer", "metadata": {"dalle": {"prompt": "a red kite"}}},
        {"content_type": "audio_asset_pointer"},
        {"text": "words"},
        7,
    ]
    shown = node("a", "root", "user", {"content_type": "multimodal_text", "parts": parts})
    quote = node("b", "a", "tool", {"content_type": "tether_quote", "result": "a page"})
    empty = node("c", "b", "tool", {"content_type": "system_error"})
    found = read_bytes(as_json(chatgpt(shown, quote, empty, current="c")), "c.json")
    assert texts(found) == ["[image: a red kite]\n[audio]\nwords", "a page"]


def test_a_bad_chatgpt_conversation_or_time_names_its_place() -> None:
    """Ours: one clear line."""
    with pytest.raises(InvalidInput, match=r"^c\.json: conversation 2: it has no mapping"):
        read_bytes(as_json([TREE, {"title": "x"}]), "c.json")
    late = chatgpt(node("a", "root", "user", "hi", create_time=1e300), current="a")
    with pytest.raises(InvalidInput, match=r"^c\.json: conversation 1, message 1: at: this number is no time"):
        read_bytes(as_json(late), "c.json")


# -- Claude ----------------------------------------------------------------------------------------------------------

CLAUDE = {
    "uuid": "u-1",
    "name": "A trip",
    "created_at": "2024-05-01T10:00:00Z",
    "chat_messages": [
        {
            "uuid": "m-1",
            "sender": "human",
            "text": "Summarise this",
            "content": [{"type": "text", "text": "Summarise this", "citations": []}],
            "created_at": "2024-05-01T10:00:01.123456Z",
            "attachments": [{"file_name": "notes.txt", "extracted_content": "I live in Oslo."}],
            "files": [{"file_name": "photo.png"}],
        },
        {
            "uuid": "m-2",
            "sender": "assistant",
            "text": "",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Sure."},
                {"type": "tool_use", "name": "search", "input": {"q": "x"}},
                {"type": "tool_result", "content": [{"type": "text", "text": "found"}]},
            ],
            "created_at": "2024-05-01T10:00:05Z",
        },
        {"uuid": "m-3", "sender": "human", "text": "", "content": [], "created_at": "2024-05-01T10:00:06Z"},
        {
            "uuid": "m-4",
            "sender": "human",
            "text": "Old exports have text alone.",
            "created_at": "2024-05-01T10:00:07Z",
        },
    ],
}


def test_a_claude_export_gives_its_messages() -> None:
    """API: firsthand add reads Claude exports. Pasted files are searchable and nobody's own words."""
    (one,) = read_bytes(as_json([CLAUDE]), "conversations.json")
    assert (one.session, one.title, one.source) == ("u-1", "A trip", "claude conversations.json")
    assert [(each.id, each.role, each.name, each.content) for each in taken([one])] == [
        ("m-1-file-1", "tool", "notes.txt", "I live in Oslo."),
        ("m-1", "user", None, "Summarise this\n[file: notes.txt]\n[file: photo.png]"),
        ("m-2", "assistant", None, 'Sure.\n[calls search: {"q":"x"}]\nfound'),
        ("m-4", "user", None, "Old exports have text alone."),
    ]
    assert taken([one])[1].at == datetime(2024, 5, 1, 10, 0, 1, 123456, tzinfo=UTC)


@pytest.mark.parametrize("row", [5, {"uuid": "u"}, {"chat_messages": [5]}])
def test_a_bad_claude_conversation_names_its_place(row: Any) -> None:
    """Ours: one clear line."""
    with pytest.raises(InvalidInput, match=r"^c\.json: conversation 2"):
        read_bytes(as_json([CLAUDE, row]), "c.json")


# -- archives --------------------------------------------------------------------------------------------------------


def archived(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return packed.getvalue()


@pytest.mark.parametrize(
    "name", ["conversations.json", "export/conversations.json", "../../conversations.json", "conversations-000.json"]
)
def test_an_export_is_read_inside_its_archive_and_nothing_is_unpacked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: exports come as ZIP files. Complaint C076: names in an archive are no paths."""
    monkeypatch.chdir(tmp_path)
    data = archived(**{"chat.html": b"<html>", name: as_json([TREE])})
    assert len(texts(read_bytes(data, "export.zip"))) == 5
    assert list(tmp_path.rglob("*")) == []


def test_an_export_in_several_files_is_read_whole() -> None:
    """Ours: large exports are split."""
    other = {**TREE, "conversation_id": "c-2"}
    data = archived(**{"conversations-001.json": as_json([other]), "conversations-000.json": as_json([TREE])})
    found = read_bytes(data, "export.zip")
    assert [one.session for one in found] == ["c-1", "c-2"]


def test_an_archive_without_conversations_is_refused() -> None:
    """Ours: says what was looked for."""
    with pytest.raises(InvalidInput, match=r"^x\.zip: the archive holds no conversations\.json"):
        read_bytes(archived(**{"a.txt": b"x"}), "x.zip")


def test_a_damaged_archive_is_refused() -> None:
    """Ours: one clear line."""
    data = archived(**{"conversations.json": as_json([TREE])})
    for broken in (data[:100], data[:-30], data[:60] + b"\xff" * 40 + data[100:]):
        with pytest.raises(InvalidInput, match=r"^x\.zip: "):
            read_bytes(broken, "x.zip")


def test_an_archive_that_expands_without_measure_is_refused() -> None:
    """Complaint C076 and ours: a bomb is not unpacked."""
    data = archived(**{"conversations.json": b" " * 20_000_000})
    with pytest.raises(InvalidInput, match="expands more than 500 times"):
        read_bytes(data, "x.zip")


def test_an_archive_over_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: limits hold inside an archive too."""
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 100)
    with pytest.raises(InvalidInput, match="larger than 100 bytes"):
        read_bytes(archived(**{"conversations.json": as_json([TREE])}), "x.zip")


def test_an_encrypted_archive_is_refused_with_what_to_do() -> None:
    """Ours: says what to do."""
    data = bytearray(archived(**{"conversations.json": as_json([TREE])}))
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(header) + flags] |= 1
    with pytest.raises(InvalidInput, match="the archive is encrypted: unpack it first"):
        read_bytes(bytes(data), "x.zip")


def test_an_archive_of_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: limits on count."""
    monkeypatch.setattr(archive, "_MAX_MEMBERS", 1)
    with pytest.raises(InvalidInput, match="holds more than 1 files"):
        read_bytes(archived(**{"a": b"", "conversations.json": as_json([TREE])}), "x.zip")


# -- LoCoMo and LongMemEval ------------------------------------------------------------------------------------------

SAMPLE = {
    "sample_id": "conv-1",
    "qa": [{"question": "Where?", "answer": "Lisbon", "evidence": ["D1:1"]}],
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Bo",
        "session_10_date_time": "9:05 am on 2 June, 2023",
        "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Back again."}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I moved to Lisbon."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice!", "blip_caption": "a photo of a dog", "img_url": ["x"]},
        ],
        "session_11_date_time": "9:05 am on 3 June, 2023",
    },
}


@pytest.mark.parametrize("value", [SAMPLE, [SAMPLE], SAMPLE["conversation"]])
def test_a_locomo_conversation_is_two_people_over_dated_sessions(value: Any) -> None:
    """API: LoCoMo conversations. Both speakers are people, ids are those that its questions cite."""
    found = read_bytes(as_json(value), "locomo.json")
    assert [each.session for each in found] in (
        ["conv-1/session_1", "conv-1/session_10"],
        ["locomo/session_1", "locomo/session_10"],
    )
    assert [(one.id, one.role, one.name, one.content) for one in taken(found)] == [
        ("D1:1", "user", "Ana", "I moved to Lisbon."),
        ("D1:2", "user", "Bo", "Nice!\n[image: a photo of a dog]"),
        ("D10:1", "user", "Bo", "Back again."),
    ]
    assert [one.at.isoformat()[:16] for one in taken(found)] == ["2023-05-08T13:56"] * 2 + ["2023-06-02T09:05"]


def test_samples_in_one_file_do_not_share_ids() -> None:
    """Ours: dia_ids begin anew in each sample."""
    found = ids(read_bytes(as_json([SAMPLE, {**SAMPLE, "sample_id": "conv-2"}]), "locomo.json"))
    assert (found[0], found[3], len(set(found))) == ("conv-1/D1:1", "conv-2/D1:1", 6)


HAYSTACK = {
    "question_id": "q1",
    "question": "Where do I live?",
    "answer": "Lisbon",
    "haystack_dates": ["2023/04/10 (Mon) 14:47", "2023/04/11 (Tue) 09:00"],
    "haystack_session_ids": ["answer_1", "s2"],
    "haystack_sessions": [[{"role": "user", "content": "I moved to Lisbon.", "has_answer": True}], TALK],
}


@pytest.mark.parametrize(
    "data",
    [
        as_json([HAYSTACK]),
        as_lines(HAYSTACK, HAYSTACK),
        as_lines(
            {"date": "2023/04/10 (Mon) 14:47", "turns": [{"role": "user", "content": "I moved to Lisbon."}]},
            {"date": "2023/04/11 (Tue) 09:00", "turns": TALK},
        ),
    ],
)
def test_longmemeval_sessions_are_read_once_and_hide_the_answer(data: bytes) -> None:
    """Data notes: ids and marks that give the answer away stay out; shared sessions are read once."""
    found = read_bytes(data, "lme.jsonl" if b"\n" in data else "lme.json")
    assert texts(found) == ["I moved to Lisbon.", "hi", "hello"]
    assert taken(found)[0].at == datetime(2023, 4, 10, 14, 47, tzinfo=UTC)
    assert "answer" not in repr(found)


def test_evidence_of_a_question_is_read_too() -> None:
    """Ours: reduced sets keep only the turns that answer."""
    row = {"question": "Where?", "evidence": [{"date": "2023/04/10 (Mon) 14:47", "turns": TALK}]}
    assert texts(read_bytes(as_lines(row, row), "e.jsonl")) == ["hi", "hello"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([HAYSTACK, 5], "row 2: it is no object"),
        ({"haystack_sessions": [5]}, "row 1: a session is no list of turns"),
        ({"haystack_sessions": [[5]]}, "row 1: turn 1 is no object"),
        ([SAMPLE, 5], "sample 2: it is no object"),
        (
            {"session_1": [{"speaker": "Ana", "text": "x" * 2, "dia_id": "y" * 600}]},
            "sample 1, session_1, turn 1: id has",
        ),
    ],
)
def test_a_bad_row_of_a_data_set_names_its_place(value: Any, reason: str) -> None:
    """Ours: one clear line."""
    with pytest.raises(InvalidInput, match=rf"^d\.json: {reason}"):
        read_bytes(as_json(value), "d.json")


# -- agent files -----------------------------------------------------------------------------------------------------

AGENTS = {
    "agents": [
        {
            "id": "agent-0",
            "name": "helper",
            "llm_config": {},
            "core_memory": [{"label": "human", "value": "Likes tea."}],
            "messages": [
                {"id": "message-0", "role": "system", "content": [{"type": "text", "text": "Be brief."}]},
                {
                    "id": "message-1",
                    "role": "user",
                    "content": [{"type": "text", "text": '{"type": "user_message", "message": "hi", "time": "x"}'}],
                    "created_at": "2025-10-31T22:56:56.879513+00:00",
                },
                {"id": "message-2", "role": "user", "content": [{"type": "text", "text": '{"type": "heartbeat"}'}]},
                {
                    "id": "message-8ae0c5f7-0000-4000-8000-000000000001",
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"id": "message-4", "role": "user", "content": []},
                {"id": "message-5", "role": "approval", "content": "{not json"},
                {"id": "message-6", "role": "user", "content": "{not json"},
                {"id": "message-7", "role": "user", "content": '{"a": 1}'},
            ],
        }
    ]
}


@pytest.mark.parametrize("data", [as_json(AGENTS), as_json(json.dumps(AGENTS))])
def test_an_agent_file_gives_its_messages_and_not_its_conclusions(data: bytes) -> None:
    """Ours: Letta's files, also where they are encoded twice."""
    (one,) = read_bytes(data, "helper.af")
    assert (one.session, one.source) == ("helper", "agents helper.af")
    found = taken([one])
    assert [(each.role, each.content) for each in found] == [
        ("system", "Be brief."),
        ("user", "hi"),
        ("system", '{"type": "heartbeat"}'),
        ("assistant", "[calls f: {}]"),
        ("assistant", "{not json"),
        ("user", "{not json"),
        ("user", '{"a": 1}'),
    ]
    assert found[3].id == "message-8ae0c5f7-0000-4000-8000-000000000001"
    assert found[0].id != "message-0"
    assert "tea" not in repr(one)


def test_an_agent_file_without_messages_is_refused() -> None:
    """Ours: success names what was read."""
    with pytest.raises(InvalidInput, match="it holds no messages"):
        read_bytes(as_json({"agents": [{"name": "a", "llm_config": {}}]}), "a.af")


# -- opening files ---------------------------------------------------------------------------------------------------


def test_a_path_is_read_and_its_folder_is_not_told(tmp_path: Path) -> None:
    """API: firsthand add FILE."""
    path = tmp_path / "日記 Ana.json"
    path.write_bytes(as_json(TALK))
    (one,) = read(path)
    assert (one.session, one.source) == ("日記 Ana", "messages 日記 Ana.json")
    assert detect(path) == "messages"


def test_what_cannot_be_opened_is_refused_in_one_line(tmp_path: Path) -> None:
    """Issue: wrong path, a directory. A pipe does not block."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "pipe", Path("a\0b"), tmp_path / ("x" * 300)):
        with pytest.raises(InvalidInput, match="cannot be read") as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_a_file_over_the_limit_is_refused_with_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Complaint C038: the limit is in the error."""
    monkeypatch.setattr("firsthand.ledger.formats.reading.MAX_FILE_BYTES", 10)
    path = tmp_path / "a.txt"
    path.write_text("x" * 11)
    with pytest.raises(InvalidInput, match=r"it has 11 bytes; the limit is 10"):
        read(path)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b" \n\n", "it is empty"),
        (b"one\ntwo \xff\xfe", "line 2: it is not UTF-8 text"),
        (b"one\n\0\0", "line 2: it holds a NUL character"),
    ],
)
def test_what_is_no_text_is_refused_with_its_line(data: bytes, reason: str) -> None:
    """Issue: one clear line."""
    with pytest.raises(InvalidInput, match=rf"^a\.txt: {reason}"):
        read_bytes(data, "a.txt")


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_decoded_whatever_the_locale(coding: str) -> None:
    """Complaint C025: bytes are UTF-8, or UTF-16 with a mark."""
    assert texts(read_bytes("Olá 東京 👩‍👩‍👧".encode(coding), "a.txt")) == ["Olá 東京 👩‍👩‍👧"]


@pytest.mark.parametrize(
    ("data", "name", "form"),
    [
        (b"Some words.", "a.txt", "text"),
        (b"Some words.", "", "text"),
        (b"# Title\n\nwords", "a.md", "markdown"),
        (b'{"not": "json', "a.md", "markdown"),
        (b"[2024-05-12 10:11] Ana: hi", "a.log", "text"),
        (as_json(TALK), "a.txt", "messages"),
        (as_lines(*TALK), "a", "jsonl"),
        (as_json([TREE]), "a.json", "chatgpt"),
        (as_json([CLAUDE]), "a.json", "claude"),
        (as_json(SAMPLE), "a.json", "locomo"),
        (as_json([HAYSTACK]), "a.json", "longmemeval"),
        (as_json(AGENTS), "a.af", "agents"),
        (archived(**{"conversations.json": as_json([CLAUDE])}), "a.zip", "claude"),
    ],
)
def test_a_format_is_told_by_what_is_in_it(data: bytes, name: str, form: str) -> None:
    """API: firsthand add reads what people have without being told what it is."""
    assert detect(data, name) == form
    assert form in FORMATS


def test_a_format_can_be_said() -> None:
    """Ours: a list of JSON objects may be meant as text."""
    assert texts(read_bytes(as_json(TALK), "a.json", "text")) == [as_json(TALK).decode()]
    with pytest.raises(InvalidInput, match="format 'pdf' is unknown: use one of text, markdown"):
        read_bytes(b"x", "a", "pdf")


KEYS = (
    *("role", "content", "messages", "mapping", "chat_messages", "conversation", "session_1", "speaker", "turns"),
    *("date", "evidence", "haystack_sessions", "agents", "values", "memory", "message", "author", "parts", "from"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(JSON, st.sampled_from([None, *FORMATS]))
def test_any_json_file_is_read_or_refused(value: Any, form: str | None) -> None:
    """Ours: never another error, whatever format it is said to be."""
    for data in (as_json(value), archived(**{"conversations.json": as_json(value)})):
        try:
            found = read_bytes(data, "f.json", form)
        except InvalidInput:
            continue
        assert taken(found)


@given(st.binary(max_size=60), st.sampled_from(["a.json", "a.md", "a.txt", "a.jsonl", "a.zip"]))
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    """Ours: no file makes anything else happen."""
    for prefix in (b"", b"PK\x03\x04"):
        try:
            found = read_bytes(prefix + data, name)
        except InvalidInput:
            continue
        assert taken(found)


def test_deeply_nested_json_is_refused() -> None:
    """Ours: no recursion error leaves the room."""
    for depth in (500, 990, 100_000):
        with pytest.raises(InvalidInput):
            read_bytes(b"[" * depth + b"]" * depth, "a.json")
        with pytest.raises(InvalidInput):
            read_bytes(b'{"messages":[' * depth + b"]}" * depth, "a.json")


def test_odd_file_names_are_no_trouble(tmp_path: Path) -> None:
    """Complaint C060: errors stay on one line, sessions stay usable."""
    for name in (b"a\nb.json", b"\xff\xfe.json", b"x" * 250 + b".json"):
        path = os.fsencode(tmp_path) + b"/" + name
        Path(os.fsdecode(path)).write_bytes(as_json(TALK))
        (one,) = read(os.fsdecode(path))
        assert one.session is not None
        assert one.session.isprintable()
        assert intake.name_of(one.session, "session")
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path / "no\nfile")
    assert "\n" not in str(caught.value)


def test_a_session_that_cannot_be_kept_is_refused_with_its_place() -> None:
    """Complaint C032: refused at the door, before anything is stored."""
    row = {"role": "user", "content": "x", "session": "s" * 513}
    with pytest.raises(InvalidInput, match=r"^c\.jsonl: line 1: session has 513 characters; the limit is 512"):
        read_bytes(as_lines(row), "c.jsonl")


def test_a_format_that_does_not_fit_is_refused() -> None:
    """Ours: said or found, a format is checked."""
    with pytest.raises(InvalidInput, match=r"^a\.json: it does not look like chatgpt"):
        read_bytes(as_json(TALK), "a.json", "chatgpt")
    with pytest.raises(InvalidInput, match=r"^a\.zip: an archive is not read as text"):
        read_bytes(archived(**{"conversations.json": b"[]"}), "a.zip", "text")
