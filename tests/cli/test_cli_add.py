"""`firsthand add`: every format, from files and pipes, whole or not at all, and again without harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from shells import Shell

from firsthand.cli import messages
from firsthand.ledger.formats import FORMATS

SAYING = "I live in Lisbon."

CHATGPT = [
    {
        "title": "Moving",
        "conversation_id": "c1",
        "create_time": 1774864800,
        "current_node": "b",
        "mapping": {
            "a": {
                "id": "a",
                "parent": None,
                "children": ["b"],
                "message": {
                    "id": "a",
                    "author": {"role": "user"},
                    "create_time": 1774864800,
                    "content": {"content_type": "text", "parts": [SAYING]},
                },
            },
            "b": {
                "id": "b",
                "parent": "a",
                "children": [],
                "message": {
                    "id": "b",
                    "author": {"role": "assistant"},
                    "create_time": 1774864860,
                    "content": {"content_type": "text", "parts": ["Lucky you."]},
                },
            },
        },
    }
]
CLAUDE = [
    {
        "uuid": "c1",
        "name": "Moving",
        "created_at": "2026-03-30T10:00:00Z",
        "chat_messages": [
            {"uuid": "a", "sender": "human", "text": SAYING, "created_at": "2026-03-30T10:00:00Z"},
            {"uuid": "b", "sender": "assistant", "text": "Lucky you.", "created_at": "2026-03-30T10:01:00Z"},
        ],
    }
]
LOCOMO = {
    "session_1_date_time": "10:00 am on 30 March, 2026",
    "session_1": [
        {"speaker": "Mira", "dia_id": "D1:1", "text": SAYING},
        {"speaker": "Joe", "dia_id": "D1:2", "text": "Lucky you."},
    ],
}
LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question": "Where?",
        "answer": "Lisbon",
        "haystack_dates": ["2026/03/30 (Mon) 10:00"],
        "haystack_session_ids": ["s1"],
        "haystack_sessions": [[{"role": "user", "content": SAYING}, {"role": "assistant", "content": "Lucky you."}]],
    }
]
AGENTS = {
    "agents": [
        {
            "name": "helper",
            "llm_config": {},
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": SAYING}], "created_at": "2026-03-30T10:00:00Z"},
                {"role": "assistant", "content": [{"type": "text", "text": "Lucky you."}]},
            ],
        }
    ]
}
TURNS = [{"role": "user", "content": SAYING}, {"role": "assistant", "content": "Lucky you."}]

FILES: dict[str, tuple[str, str]] = {
    "text": ("notes.txt", f"{SAYING}\n\nGulliver came too.\n"),
    "markdown": ("notes.md", f"# Moving\n\n{SAYING}\n\n# Settled\n\nGulliver came too.\n"),
    "messages": ("talk.json", json.dumps(TURNS)),
    "jsonl": ("talk.jsonl", "".join(json.dumps(each) + "\n" for each in TURNS)),
    "chatgpt": ("conversations.json", json.dumps(CHATGPT)),
    "claude": ("conversations.json", json.dumps(CLAUDE)),
    "locomo": ("locomo.json", json.dumps(LOCOMO)),
    "longmemeval": ("longmemeval.json", json.dumps(LONGMEMEVAL)),
    "agents": ("helper.af", json.dumps(AGENTS)),
}


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, monkeypatch)


def written(shell: Shell, form: str) -> str:
    """A file of a format, with two messages."""
    name, text = FILES[form]
    path = shell.folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def turns(number: int) -> str:
    """JSON Lines of so many messages."""
    return "".join(json.dumps({"id": f"t{at}", "role": "user", "content": f"turn {at}"}) + "\n" for at in range(number))


def test_every_format_is_tried_here() -> None:
    """Ours: a new format needs a line in FILES."""
    assert set(FILES) == set(FORMATS)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_recognised_and_kept_word_for_word(form: str, shell: Shell) -> None:
    """Issue 2: `add` takes what people have; the messages are verbatim, from the file that they came in."""
    added = shell.json("add", written(shell, form), "--as", "Mira")
    assert (added["format"], added["messages"], added["duplicates"]) == (form, 2, 0)
    kept = shell.rows("messages")
    assert SAYING in kept[0]["content"]
    assert {each["origin"] for each in kept} == {FILES[form][0]}
    assert [each["value"] for each in shell.json("beliefs", "user", "lives_in")] == ["Lisbon"]


@pytest.mark.parametrize("form", FORMATS)
def test_adding_a_file_again_adds_nothing(form: str, shell: Shell) -> None:
    """Issue 2: idempotent; a repeat is reported, never stored twice."""
    file = written(shell, form)
    shell.ok("add", file, "--as", "Mira")
    before = shell.rows("messages"), shell.json("beliefs", "--state", "all")
    again = shell.json("add", file, "--as", "Mira")
    assert (again["messages"], again["duplicates"], again["stored"]) == (0, 2, 0)
    assert (shell.rows("messages"), shell.json("beliefs", "--state", "all")) == before


def test_an_interrupted_import_goes_on_where_it_stopped(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 2: long imports resume; what was stored before the interruption stays."""
    from firsthand.memory import User

    file = shell.folder / "long.jsonl"
    file.write_text(turns(25), encoding="utf-8")
    monkeypatch.setattr(messages, "AT_ONCE", 10)
    observe, calls = User.observe, iter(range(100))

    def interrupted(self: User, given: Any, **options: Any) -> Any:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return observe(self, given, **options)

    with monkeypatch.context() as patch:
        patch.setattr(User, "observe", interrupted)
        result = shell.run("add", str(file))
    assert result.exit_code == 130
    assert "stopped after 20 of 25 messages" in result.stderr
    assert len(shell.rows("messages")) == 20
    assert shell.json("add", str(file)) | {} == shell.json("add", str(file)) | {"messages": 5, "duplicates": 20}
    assert [each["id"] for each in shell.rows("messages")] == [f"t{at}" for at in range(25)]


def test_a_broken_line_stores_nothing_and_is_named(shell: Shell) -> None:
    """Issue 2, bad input: malformed JSON line 7 of 10, nothing half done."""
    lines = turns(10).splitlines()
    lines[6] = lines[6][:-1]
    file = shell.folder / "broken.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    whole = shell.folder / "whole.jsonl"
    whole.write_text(turns(3), encoding="utf-8")
    assert "broken.jsonl: line 7: not JSON" in shell.refused("add", str(whole), str(file))
    assert not shell.db.exists()


def test_another_message_under_a_known_id_is_named(shell: Shell) -> None:
    """API: same id, other content is an error that names it; what came before it stays."""
    shell.ok("add", str(shell.said("I like tea.", id="m1")))
    other = shell.folder / "other.jsonl"
    other.write_text('{"id": "m1", "role": "user", "content": "I like coffee."}\n', encoding="utf-8")
    assert "'m1'" in shell.refused("add", str(other))
    assert [each["content"] for each in shell.rows("messages")] == ["I like tea."]


def test_standard_input_is_a_file_too(shell: Shell) -> None:
    """Ours: `-`, read as bytes (C025)."""
    added = shell.json("add", "-", typed="Remember that 张三 likes шахматы.\n".encode())
    assert (added["file"], added["messages"], added["stored"]) == ("stdin", 1, 1)
    assert shell.json("beliefs")[0]["value"] == "张三 likes шахматы"


def test_the_speaker_who_is_the_user_can_be_named_at_once_or_later(shell: Shell) -> None:
    """Design, subjects: a name in the owner's alias list is the owner's person."""
    file = written(shell, "locomo")
    page = shell.ok("add", file)
    assert "speakers: Mira (1), Joe (1); if one of them is the user, add the file again with --as NAME" in page
    assert shell.json("beliefs", "user") == []
    shell.ok("add", file, "--as", "Mira")
    assert [each["value"] for each in shell.json("beliefs", "user")] == ["Lisbon"]


def test_a_dry_run_says_what_would_be_stored_and_stores_nothing(shell: Shell) -> None:
    """Ours."""
    page = shell.ok("add", written(shell, "jsonl"), "--dry-run")
    assert page.startswith("talk.jsonl (jsonl): would add 2 messages in 1 session\n  1 claim found, 0 waiting")
    assert not shell.db.exists()


def test_a_file_without_offsets_is_read_in_the_zone_that_is_named(shell: Shell) -> None:
    """C014: naive times are read by a documented rule."""
    shell.ok("add", str(shell.said("Hello.", at="2026-07-01T10:00:00")), "--zone", "Europe/Lisbon")
    assert shell.rows("messages")[0]["at"] == "2026-07-01T10:00:00+01:00"


def test_what_came_from_a_file_can_be_forgotten_by_its_name(shell: Shell) -> None:
    """C075: everything that came from one place can be rolled back."""
    shell.ok("add", str(shell.said("I live in Lisbon.", name="a.jsonl")))
    shell.ok("add", str(shell.said("I work at Meridian House.", name="b.jsonl")), "--origin", "work notes")
    shell.ok("forget", "--of-origin", "work notes", "--yes")
    assert [each["value"] for each in shell.json("beliefs")] == ["Lisbon"]


def test_files_are_stored_in_the_session_that_is_named(shell: Shell) -> None:
    """Ours: --session overrules what the file says."""
    shell.ok("add", written(shell, "jsonl"), "--session", "s9")
    assert [each["id"] for each in shell.json("sessions")] == ["s9"]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("empty.txt", "", "it is empty"),
        ("facts.json", '{"results": [{"memory": "likes tea"}]}', "firsthand reads"),
        ("one.json", '[{"role": "wizard", "content": "x"}]', "wizard"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(name: str, text: str, reason: str, shell: Shell) -> None:
    """Issue 2, bad input."""
    (shell.folder / name).write_text(text, encoding="utf-8")
    line = shell.refused("add", str(shell.folder / name))
    assert name in line
    assert reason in line
    assert not shell.db.exists()


def test_a_missing_file_and_an_unknown_format_are_refused(shell: Shell) -> None:
    """Issue 2, bad input: wrong path."""
    assert "No such file" in shell.refused("add", str(shell.folder / "none.txt"))
    assert "format 'fax' is unknown" in shell.refused("add", written(shell, "text"), "--format", "fax")
    assert "directory" in shell.refused("add", str(shell.folder)).casefold()


def test_a_name_that_nobody_has_is_said(shell: Shell) -> None:
    """Ours: `--as` with a misspelt name turned the rules off without a word."""
    page = shell.ok("add", written(shell, "locomo"), "--as", "Mara")
    assert "no message is by Mara; the speakers are Mira (1), Joe (1)" in page
    assert "with a name not known to be the user's: kept, and nothing concluded from them" in page
    assert "no message is by" not in shell.ok("add", written(shell, "locomo"), "--as", "Mira")
