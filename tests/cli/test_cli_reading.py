"""Commands that answer and list: recall, context, messages, sessions; and what reading must never do."""

from __future__ import annotations

from pathlib import Path

import pytest
from shells import Shell

from firsthand.cli.door import COMMANDS

TALK = """\
{"id": "m1", "role": "user", "content": "I live in Lisbon.", "at": "2026-03-30T10:00:00+01:00", "session": "one"}
{"id": "m2", "role": "assistant", "content": "Lucky you.", "at": "2026-03-30T10:01:00+01:00", "session": "one"}
{"id": "m3", "role": "user", "content": "Gulliver ate a sardine.", "at": "2026-04-02T19:00:00+01:00", "session": "two"}
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, monkeypatch)


@pytest.fixture
def talked(shell: Shell) -> Shell:
    """A shell whose memory has heard three messages."""
    file = shell.folder / "talk.jsonl"
    file.write_text(TALK, encoding="utf-8")
    shell.ok("add", str(file))
    return shell


def test_a_hit_shows_rank_score_terms_date_and_evidence(talked: Shell) -> None:
    """Issue 2: every hit with its score, its terms and where it comes from."""
    first = talked.ok("recall", "Where does the user live?").splitlines()[:3]
    (hit, *_) = talked.json("recall", "Where does the user live?")
    assert first[0] == f" 1. {hit['score']:.2f}  lives in Lisbon"
    assert first[1].strip().startswith(f"since 2026-03-30 · quoted 0.70  [rel {hit['terms']['relevance']:.2f} rec ")
    assert first[2].strip() == f"{hit['id']} · from m1"


def test_explain_shows_every_term_and_the_reason(talked: Shell) -> None:
    """Issue 2: explained."""
    (hit,) = talked.json("recall", "Gulliver", "--limit", "1")
    page = talked.ok("recall", "Gulliver", "--limit", "1", "--explain")
    assert hit["why"] in page
    assert all(f"{name} {value:.3f}" in page for name, value in hit["terms"].items())


def test_narrowing_is_passed_on(talked: Shell) -> None:
    """API: limit, kinds, sessions, since, until and include."""
    assert [each["id"] for each in talked.json("recall", "sardine", "--include", "messages")] == ["m3"]
    assert talked.json("recall", "sardine", "--include", "beliefs", "--in-session", "one") == []
    assert "m3" in {each["id"] for each in talked.json("recall", "sardine", "--in-session", "two")}
    assert "m3" not in {each["id"] for each in talked.json("recall", "sardine", "--in-session", "one")}
    assert len(talked.json("recall", "Lisbon", "--limit", "1")) == 1
    assert talked.json("recall", "Lisbon", "--limit", "0") == []
    assert "m3" not in {each["id"] for each in talked.json("recall", "sardine", "--until", "2026-04-01")}
    assert "m3" in {each["id"] for each in talked.json("recall", "sardine", "--since", "2026-04-01")}


def test_nothing_found_is_said_and_is_no_failure(shell: Shell) -> None:
    """Design: expected outcomes are values."""
    shell.ok("remember", "tea", "--attribute", "likes")
    assert shell.ok("recall", "tea", "--limit", "0") == "nothing that memory holds answers this\n"
    assert shell.json("recall", "tea", "--limit", "0") == []


def test_context_prints_the_block_alone(talked: Shell) -> None:
    """Issue 2: what is printed can be given to a model as it is."""
    page = talked.ok("context", "Where does the user live?")
    assert page.startswith("<recalled-memory>\n")
    assert page.endswith("</recalled-memory>\n")
    block = talked.json("context", "Where does the user live?", "--max-tokens", "60")
    assert block["tokens"] <= 60


def test_messages_come_word_for_word_in_order(talked: Shell) -> None:
    """API: messages() and sessions(), in order."""
    assert [each["id"] for each in talked.rows("messages")] == ["m1", "m2", "m3"]
    assert [each["id"] for each in talked.rows("messages", "--session", "two")] == ["m3"]
    assert [each["id"] for each in talked.rows("messages", "--limit", "1")] == ["m1"]
    assert "2026-03-30 10:00+01:00  m1  in one\n  user: I live in Lisbon.\n" in talked.ok("messages")
    assert [each["id"] for each in talked.json("sessions")] == ["one", "two"]
    assert talked.ok("sessions").splitlines()[1].split() == ["two", "1", "message", "2026-04-02"]


READING = {
    "messages": (), "sessions": (), "correct": ("x", "y"), "end": ("x",), "retract": ("x",), "confirm": ("x",),
    "reject": ("x",), "pending": (), "recall": ("x",), "context": ("x",), "profile": (), "beliefs": (),
    "history": ("user",), "why": ("x",), "forget": ("x",), "erase": ("--yes",), "export": ("out.jsonl",),
    "rebuild": (), "maintain": (), "embed": (), "health": (), "bench": (__file__,),
    "copy": ("--to", "copy.db"),
}  # fmt: skip
MAKING = {"demo", "migrate", "doctor", "add", "remember", "import", "merge", "policy", "serve", "keys"}


def test_every_command_is_known_to_read_or_to_make() -> None:
    """Ours: a new command must be put on one of the two lists."""
    assert set(COMMANDS) == set(READING) | MAKING


@pytest.mark.parametrize("name", READING)
def test_a_command_that_reads_makes_no_file(name: str, shell: Shell) -> None:
    """Ours: a mistyped path is said, not turned into an empty memory (C059)."""
    assert f"there is no memory at {shell.db}" in shell.refused(name, *READING[name])
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize(
    "name", [each for each in READING if each not in ("rebuild", "maintain", "embed", "health", "copy")]
)
def test_an_unknown_user_is_told_apart_from_an_empty_answer(name: str, talked: Shell) -> None:
    """Issue 2, bad input; C022: nothing of another user shows."""
    line = talked.refused(name, *READING[name], "--user", "nobody")
    assert line == f"{talked.db} holds nothing of the user 'nobody'; there are 'me' (--user)"


def test_another_users_beliefs_are_not_found(talked: Shell) -> None:
    """C022: another owner's id looks exactly like one that never was."""
    (belief,) = talked.json("beliefs", "user", "lives_in")
    talked.ok("remember", "tea", "--attribute", "likes", "--user", "other")
    theirs = talked.refused("why", belief["id"], "--user", "other")
    assert theirs == talked.refused("why", "x" * len(belief["id"]), "--user", "other").replace("x" * 21, belief["id"])
    assert talked.json("beliefs", "--user", "other")[0]["value"] == "tea"
    assert "holds nothing" in talked.refused("beliefs", "--tenant", "elsewhere")


def test_agents_and_sessions_narrow_what_is_read(shell: Shell) -> None:
    """API: agent and session are provenance and read filters."""
    shell.ok("remember", "tea", "--attribute", "likes", "--agent", "bot", "--session", "s1")
    shell.ok("remember", "milk", "--attribute", "likes")
    assert [each["value"] for each in shell.json("beliefs", "--agent", "bot")] == ["tea"]
    assert [each["value"] for each in shell.json("beliefs", "--session", "s1")] == ["tea"]


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.mkdir(),
        lambda path: path.write_bytes(b"this is no database, " * 1000),
    ],
    ids=["a folder", "another file"],
)
def test_what_is_no_memory_is_refused_and_left_alone(make: object, shell: Shell) -> None:
    """Issue 2, bad input: a directory, not a database."""
    assert callable(make)
    make(shell.db)
    assert str(shell.db) in shell.refused("profile")
    assert str(shell.db) in shell.refused("remember", "tea")


def test_a_key_opens_and_a_wrong_one_does_not(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """C089: an encrypted file, its key from a file or the environment, a wrong key fails clearly."""
    key = shell.folder / "key"
    key.write_text("correct horse\n", encoding="utf-8")
    shell.ok("remember", "tea", "--attribute", "likes", "--key-file", str(key))
    assert "key" in shell.refused("profile")
    monkeypatch.setenv("FIRSTHAND_KEY", "wrong horse")
    assert "wrong key" in shell.refused("beliefs")
    monkeypatch.setenv("FIRSTHAND_KEY", "correct horse")
    assert shell.json("beliefs")[0]["value"] == "tea"
    key.write_text("\n", encoding="utf-8")
    assert "is empty" in shell.refused("beliefs", "--key-file", str(key))
    assert "cannot read the key file" in shell.refused("beliefs", "--key-file", str(shell.folder / "none"))
    assert b"tea" not in shell.db.read_bytes()
