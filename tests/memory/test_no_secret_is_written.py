"""Whichever way a secret comes in, its bytes are in no file of the store; what is around it stays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from firsthand import InvalidInput, Memory, User

SECRET = "sk-test-QQ17ABCDEF1234567890"
CODE = "the wifi code is 88442211"
ACCOUNT = "DE89 3704 0044 0532 0130 00"


def in_files(folder: Path, text: str) -> bool:
    """Whether any file holds a text, as it is or compared."""
    found = b"".join(file.read_bytes() for file in folder.iterdir())
    return text.encode() in found or text.casefold().encode() in found


def say(user: User, **more: object) -> None:
    """One message with something more in it."""
    user.observe({"role": "user", "content": "hello", **more})


PARTS = [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "t", "name": "n", "input": {"k": SECRET}}]

MASKED: dict[str, Callable[[User], object]] = {
    "text": lambda u: u.observe(f"my key is {SECRET}"),
    "raw": lambda u: u.observe({"role": "assistant", "content": PARTS}),
    "speaker": lambda u: say(u, name=SECRET),
    "metadata": lambda u: u.observe("x", metadata={"a": [SECRET], SECRET: 1}),
    "of the message": lambda u: say(u, metadata={"a": SECRET}),
    "remembered text": lambda u: u.remember(f"the key is {SECRET}"),
    "remembered value": lambda u: u.remember(SECRET, attribute="likes"),
    "subject": lambda u: u.remember("x", subject=SECRET, attribute="likes"),
    "metadata of a claim": lambda u: u.remember("x", metadata={"a": SECRET}),
    "corrected": lambda u: u.correct(u.beliefs("user", "lives_in")[0].id, f"at {SECRET}"),
    "reason": lambda u: u.retract(u.beliefs("user", "lives_in")[0].id, reason=f"it is {SECRET}"),
    "quote": lambda u: u.remember("x", evidence=[{"message_id": next(u.messages()).id, "quote": SECRET}]),
}
REFUSED: dict[str, Callable[[User], object]] = {
    "id": lambda u: say(u, id=SECRET),
    "session": lambda u: u.observe("x", session=SECRET),
    "session of the message": lambda u: say(u, session=SECRET),
    "origin": lambda u: u.observe("x", origin=SECRET),
    "attribute": lambda u: u.remember("x", attribute=SECRET),
    "idempotency key": lambda u: u.observe("x", idempotency_key=SECRET),
    "agent": lambda u: u.memory.user("alex", agent=SECRET).observe("x"),
    "user": lambda u: u.memory.user(SECRET).observe("x"),
    "tenant": lambda u: u.memory.user("alex", tenant=SECRET).observe("x"),
}


@pytest.mark.parametrize("way", MASKED)
def test_a_secret_is_masked_on_every_way_in(tmp_path: Path, way: str) -> None:
    """Issue 5: masked before the ledger on every path, the original never written to disk."""
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe("I live in Lisbon.")
        MASKED[way](alex)
        assert not in_files(tmp_path, SECRET)


@pytest.mark.parametrize("way", REFUSED)
def test_a_name_that_holds_a_secret_is_refused(tmp_path: Path, way: str) -> None:
    """Issue 5: two names that are masked alike would become one, so the write is refused whole."""
    with Memory(tmp_path / "m.db") as memory:
        with pytest.raises(InvalidInput, match="holds a secret") as refused:
            REFUSED[way](memory.user("alex"))
        assert SECRET not in str(refused.value)
        assert not in_files(tmp_path, SECRET)


def changed(path: Path, **words: str) -> None:
    """Put other words into an export, and its checksum right."""
    *lines, last = path.read_bytes().splitlines(keepends=True)
    body = b"".join(lines)
    for old, new in words.items():
        body = body.replace(old.encode(), new.encode())
    footer = json.loads(last)
    footer["end"]["sha256"] = hashlib.sha256(body).hexdigest()
    path.write_bytes(body + json.dumps(footer).encode() + b"\n")


def test_an_import_is_masked_and_quotes_stay_on_their_words(tmp_path: Path) -> None:
    """Issue 5: an older version masked less, and a crafted file masks nothing."""
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    with Memory(there / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe("MARKA. I live in Lisbon. MARKB", metadata={"note": "MARKC"})
        alex.remember("MARKD", attribute="likes")
        alex.export(tmp_path / "out.jsonl")
    changed(tmp_path / "out.jsonl", MARKA=CODE, MARKB=ACCOUNT, MARKC=SECRET, MARKD=SECRET)
    exported = (tmp_path / "out.jsonl").read_text()
    shift = len(CODE) - len("MARKA")
    lines = [json.loads(line) for line in exported.splitlines()]
    for line in lines:  # a program that knew no masks would have quoted in the unmasked text
        for each in line.get("observation", {}).get("evidence") or ():
            each["start"], each["end"] = each["start"] + shift, each["end"] + shift
    body = "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines[:-1]).encode()
    lines[-1]["end"]["sha256"] = hashlib.sha256(body).hexdigest()
    (tmp_path / "out.jsonl").write_bytes(body + json.dumps(lines[-1]).encode() + b"\n")
    with Memory(here / "m.db") as memory:
        memory.import_(tmp_path / "out.jsonl")
        alex = memory.user("alex")
        message = next(alex.messages())
        assert message.content == "the wifi code is [masked: code]. I live in Lisbon. [masked: account number]"
        assert message.masked == 3
        home = alex.beliefs("user", "lives_in")[0]
        (cited,) = (each for row in alex.why(home.id).observations for each in row.evidence)
        assert message.content[cited.start : cited.end] == "I live in Lisbon"
        assert memory.import_(tmp_path / "out.jsonl").messages == 0
        assert memory.health()["ok"]
        assert not any(in_files(here, each) for each in ("88442211", ACCOUNT, SECRET))
