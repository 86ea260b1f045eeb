"""Commands that make and change claims, and those that show what is believed then."""

from __future__ import annotations

from pathlib import Path

import pytest
from shells import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, monkeypatch)


def remembered(shell: Shell, text: str, *options: str) -> str:
    """The id of a claim that was stored."""
    (stored,) = shell.json("remember", text, *options)["stored"]
    return str(stored)


def states(shell: Shell, *words: str) -> dict[str, str]:
    """Value and state of the beliefs that a command lists."""
    return {each["value"]: each["state"] for each in shell.json(*words)}


def test_what_is_remembered_is_believed_and_shown(shell: Shell) -> None:
    """API: remember, beliefs, profile; who, since when, how sure."""
    remembered(shell, "Lisbon", "--attribute", "lives_in", "--valid-from", "2026-03-28")
    line, second = shell.ok("profile").splitlines()
    assert line.split() == ["lives", "in", "Lisbon", "stated", "1.00", "since", "2026-03-28"]
    assert second.split()[0] == shell.json("beliefs")[0]["id"]


def test_a_correction_withdraws_and_an_ending_supersedes(shell: Shell) -> None:
    """API: correct says that it never was, end that it no longer is."""
    wrong = remembered(shell, "Faro Charts", "--attribute", "works_at")
    right = shell.json("correct", wrong, "Farol Charts", "--reason", "a typing mistake")["stored"][0]
    assert states(shell, "history", "user", "works_at") == {"Faro Charts": "withdrawn", "Farol Charts": "active"}
    shell.ok("end", right, "--at", "2100-01-01")
    assert shell.json("beliefs", "user", "works_at")[0]["valid_to"].startswith("2100-01-01")


def test_a_retraction_leaves_nothing_to_believe(shell: Shell) -> None:
    """API: retract takes back what was never true."""
    name = remembered(shell, "Her Majesty", "--attribute", "preferred_name")
    shell.ok("retract", name, "--reason", "joking")
    assert shell.ok("beliefs") == "nothing is believed here\n"
    assert states(shell, "beliefs", "--state", "all") == {"Her Majesty": "withdrawn"}


@pytest.mark.parametrize(("answer", "state"), [("confirm", "active"), ("reject", "rejected")])
def test_what_waits_is_listed_with_what_to_type(answer: str, state: str, shell: Shell) -> None:
    """API: pending, confirm, reject; the question is the policy's."""
    message = shell.said("I'm allergic to hazelnuts.", id="m1")
    shell.ok("add", str(message))
    (waiting,) = shell.rows("pending")
    page = shell.ok("pending")
    assert waiting["question"] in page
    assert f"firsthand {answer} {waiting['id']}" in page
    shell.ok(answer, waiting["id"])
    assert states(shell, "beliefs", "user", "allergy", "--state", "all") == {"hazelnuts": state}
    assert shell.ok("pending") == "nothing waits\n"


def test_a_guess_about_what_was_said_waits_and_the_receipt_says_why(shell: Shell) -> None:
    """Design: the Joe guarantee, through the command line."""
    joe = ("--subject", "Joe", "--attribute", "relationship")
    remembered(shell, "close friend", *joe)
    page = shell.ok("remember", "recruiter", *joe, "--source", "inferred")
    assert "waits" in page
    assert "close friend" in page
    assert states(shell, "beliefs", "Joe") == {"close friend": "active"}


def test_a_dropped_claim_is_answered_with_its_reason(shell: Shell) -> None:
    """Design: expected outcomes are values: status 0, and the reason."""
    page = shell.ok("remember", "asthma", "--attribute", "health", "--source", "inferred")
    assert page == "dropped    “asthma”: health: never taken from an inference\n"
    assert shell.json("remember", "asthma", "--attribute", "health", "--source", "inferred")["dropped"]


def test_why_tells_the_words_heard_and_the_rule(shell: Shell) -> None:
    """API: why, in the words it heard."""
    shell.ok("add", str(shell.said("I work at Meridian House, a small map publisher.", id="m1", at="2026-03-02")))
    (belief,) = shell.json("beliefs", "user", "works_at")
    page = shell.ok("why", belief["id"])
    assert page.startswith("works at Meridian House\n  active, quoted 0.70, since 2026-03-02")
    assert "2026-03-02 user: “I work at Meridian House” (m1)" in page
    assert "works_at holds one value" in page
    told = shell.json("why", belief["id"])
    assert told["quotes"][0]["message_id"] == "m1"
    assert told["belief"]["id"] == belief["id"]


def test_as_of_another_time_another_belief_holds(shell: Shell) -> None:
    """API: valid_at and known_at."""
    remembered(shell, "Edinburgh", "--attribute", "lives_in", "--valid-from", "2020-01-01")
    remembered(shell, "Lisbon", "--attribute", "lives_in", "--valid-from", "2026-03-28")
    assert states(shell, "beliefs", "--valid-at", "2021-06-01") == {"Edinburgh": "active"}
    assert shell.json("beliefs", "--known-at", "2021-06-01") == []
    assert [each["value"] for each in shell.json("history", "user", "lives_in")] == ["Edinburgh", "Lisbon"]


def test_a_repeated_command_with_a_key_is_a_repeat(shell: Shell) -> None:
    """API: idempotency_key makes it safe to repeat."""
    words = ("remember", "tea", "--attribute", "likes", "--idempotency-key", "k1")
    first = shell.json(*words)
    assert shell.json(*words)["duplicates"] == first["stored"]
    assert "idempotency key" in shell.refused("remember", "coffee", "--attribute", "likes", "--idempotency-key", "k1")


def test_text_comes_in_through_a_pipe(shell: Shell) -> None:
    """Ours: `-` is standard input, as UTF-8 whatever the locale (C025)."""
    shell.ok("remember", "-", typed="\ufeffPrefers tea, 张三 says\n".encode())
    assert shell.json("beliefs")[0]["value"] == "Prefers tea, 张三 says"
    assert "not UTF-8" in shell.refused("remember", "-", typed=b"caf\xe9")


def test_metadata_and_evidence_are_kept(shell: Shell) -> None:
    """API: every writing verb takes metadata, and evidence names messages."""
    shell.ok("add", str(shell.said("Chess on Fridays.", id="m1")))
    name = remembered(shell, "chess", "--attribute", "hobbies", "--evidence", "m1", "--metadata", '{"by": "hand"}')
    (observation,) = shell.json("why", name)["observations"]
    assert observation["metadata"] == {"by": "hand"}
    assert observation["evidence"][0]["message_id"] == "m1"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("remember", ""), "the text is empty"),
        (("remember", "x", "--source", "gossip"), "source"),
        (("remember", "x", "--valid-from", "next tuesday or so"), "valid_from"),
        (("remember", "x", "--metadata", "{"), "--metadata is not JSON"),
        (("remember", "x", "--evidence", "nobody"), "evidence names the message 'nobody'"),
        (("remember", "x", "--confidence", "7"), "confidence"),
        (("correct", "nobody", "x"), "'nobody'"),
        (("end", "nobody"), "'nobody'"),
        (("retract", "nobody"), "'nobody'"),
        (("confirm", "nobody"), "'nobody'"),
        (("reject", "nobody"), "'nobody'"),
        (("why", "nobody"), "'nobody'"),
        (("beliefs", "--state", "lost"), "state"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(words: tuple[str, ...], reason: str, shell: Shell) -> None:
    """API: exit status 1, refused with the reason; nothing is half done."""
    remembered(shell, "tea", "--attribute", "likes")
    before = shell.json("beliefs", "--state", "all")
    assert reason in shell.refused(*words)
    assert shell.json("beliefs", "--state", "all") == before
