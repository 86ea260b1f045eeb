"""Erasure, proved: what is searched afterwards, what a kill or a full disk leaves, and what comes back when asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand import Memory, StoreFull, User
from firsthand.ledger.canaries import MOST, Going, canaries
from firsthand.stores.sqlite.connection import Connection
from postgres_place import Place

CANARY = "Zanzibar"
TALK = f"I moved to {CANARY} in May. Remember that my boat is called Swallowtail Ünïcødé 東京タワー."


def raw(folder: Path, *words: str) -> list[str]:
    """Files of a folder that hold one of the words as they were said, compared or escaped."""
    forms = {form.encode() for w in words for form in (w, w.casefold(), json.dumps(w)[1:-1])}
    return [file.name for file in sorted(folder.iterdir()) if any(form in file.read_bytes() for form in forms)]


@pytest.mark.parametrize("key", [None, "correct horse"])
def test_an_erasure_is_searched_for_and_nothing_is_found(tmp_path: Path, key: str | None) -> None:
    """Issue 5: the receipt says what went in counts, and what a search of the bytes found."""
    with Memory(tmp_path / "m.db", key=key) as memory:
        alex, sam = memory.user("alexandra"), memory.user("samantha")
        for n in range(8):
            alex.observe(TALK, session=f"conversation-{n}")
        sam.observe(TALK)
        receipt = alex.erase(verify=True, canaries=["Swallowtail"])
        assert receipt.complete
        assert receipt.proof is not None
        assert receipt.proof.traces == ()
        assert receipt.proof.pieces > 20
        assert receipt.proof.said_elsewhere > 0  # sam said the same words, and keeps them whole
        assert [m.content for m in sam.messages()] == [TALK]
        receipt = sam.erase(verify=True)
        assert receipt.proof is not None
        assert receipt.proof.traces == ()
    assert raw(tmp_path, CANARY, "Swallowtail", "Ünïcødé", "東京タワー", "alexandra", "conversation-") == []


@pytest.mark.parametrize("left_in", ["row", "log", "copy"])
def test_the_search_finds_what_an_erasure_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_in: str) -> None:
    """Issue 5: shown to fail when the protection is taken out: no scrub, or a copy beside the file."""
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe(TALK)
        if left_in == "copy":
            (tmp_path / "m.db.copy").write_bytes((tmp_path / "m.db").read_bytes() + TALK.encode())
        else:
            monkeypatch.setattr(memory.parts.store, "scrub", lambda: None)
        receipt = alex.forget(alex.beliefs("user", "lives_in")[0].id, verify=True)
        assert receipt.proof is not None
        assert receipt.proof.traces != ()
        assert CANARY not in str(receipt)


def test_one_of_two_sources_leaves_and_is_searched_for(alex: User) -> None:
    """Issue 5: forget_source with everything learned from it alone."""
    alex.observe(TALK, origin="web")
    alex.observe("I live in Lisbon.", origin="chat")
    receipt = alex.forget_source(origin="web", verify=True)
    assert receipt.proof is not None
    assert receipt.proof.traces == ()
    assert [b.value for b in alex.beliefs()] == ["Lisbon"]


DIE = """
import os, signal, sys
from firsthand import Memory, leaving
from firsthand.stores.sqlite.connection import Connection
stage, path = sys.argv[1:]
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
script = Connection.script
def killing(self, text):
    if stage == "before " + text.split()[0]: die()
    answer = script(self, text)
    if stage == "after " + text.split()[0]: die()
    return answer
with Memory(path) as memory:
    alex = memory.user("alex")
    if stage == "uncommitted":
        Connection.commit = die
    elif stage == "committed":
        leaving.finish = die
    elif stage == "checkpointed":
        before = Connection.script
        Connection.script = lambda self, text: (before(self, text), die() if "TRUNCATE" in text else None)[0]
    else:
        Connection.script = killing
    alex.erase()
"""


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
@pytest.mark.parametrize("stage", ["uncommitted", "committed", "before VACUUM", "after VACUUM", "checkpointed"])
def test_an_erasure_that_was_killed_is_resumed(tmp_path: Path, stage: str) -> None:
    """Issue 5: a kill in the middle: nothing is half done, and what was begun is finished by the next to open it."""
    path = tmp_path / "m.db"
    with Memory(path) as memory:
        memory.user("alex").observe([TALK] * 40, session="s")
        memory.user("sam").observe("I live in Lisbon.")
    command = [sys.executable, "-c", DIE, stage, str(path)]
    died = subprocess.run(command, check=False, env=dict(os.environ), timeout=60)  # noqa: S603 - our own words
    assert died.returncode == -signal.SIGKILL
    with Memory(path) as memory:
        left = len(list(memory.user("alex").messages()))
        assert left == (40 if stage == "uncommitted" else 0)
        assert memory.health()["ok"]
        assert not memory.health()["erasure_unfinished"]
        assert (raw(tmp_path, CANARY) == []) is (stage != "uncommitted")
        assert [b.value for b in memory.user("sam").beliefs()] == ["Lisbon"]


def test_a_full_disk_leaves_an_erasure_unfinished_not_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 5: the rows are gone; that the bytes are not yet is a value and not an error, and is finished later."""
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe(TALK)
        script = Connection.script

        def full(self: Connection, text: str) -> list[tuple[object, ...]]:
            if text == "VACUUM":
                raise StoreFull("m.db: no room left on the device")
            return script(self, text)

        monkeypatch.setattr(Connection, "script", full)
        receipt = alex.erase(verify=True)
        assert (receipt.complete, receipt.left) == (False, "m.db: no room left on the device")
        assert list(alex.messages()) == []
        assert memory.health()["erasure_unfinished"]
        monkeypatch.undo()
        memory.maintain()
        assert not memory.health()["erasure_unfinished"]
    assert raw(tmp_path, CANARY) == []


def test_erasure_survives_a_rebuild(tmp_path: Path) -> None:
    """Issue 5: nothing is derived again from what is gone."""
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe([TALK, "I work at Globex."], session="s")
        alex.forget(alex.beliefs("user", "lives_in")[0].id)
        held = alex.beliefs(state=None)
        assert memory.rebuild().equal
        assert alex.beliefs(state=None) == held
    assert raw(tmp_path, CANARY) == []


def test_what_was_erased_comes_back_only_when_asked(tmp_path: Path) -> None:
    """Issue 5: a content-free tombstone refuses an older export unless asked."""
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe(TALK)
        alex.export(tmp_path / "old.jsonl")
        alex.erase()
        assert memory.import_(tmp_path / "old.jsonl").refused == 3
        assert alex.beliefs(state=None) == []
        assert memory.import_(tmp_path / "old.jsonl", restore_erased=True).messages == 1
        assert [b.value for b in alex.beliefs("user", "lives_in")] == [CANARY]
        assert memory.import_(tmp_path / "old.jsonl").refused == 0


def test_an_export_that_was_cut_short_leaves_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 5: temporary files: what a killed export left is gone with the next one."""
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe(TALK)
        monkeypatch.setattr(Path, "replace", lambda *_: os._exit(0))
        child = os.fork()
        if child == 0:
            alex.export(tmp_path / "out.jsonl")
            os._exit(1)
        os.waitpid(child, 0)
        monkeypatch.undo()
        assert len(list(tmp_path.glob(".out.jsonl.*"))) == 1
        alex.erase()
        alex.export(tmp_path / "out.jsonl")
        assert list(tmp_path.glob(".out.jsonl.*")) == []
    assert raw(tmp_path, CANARY) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=5), st.lists(st.text(min_size=1, max_size=8), max_size=3))
def test_pieces_are_few_and_the_callers_words_are_among_them(names: list[str], words: list[str]) -> None:
    """Ours: a search reads every file once for each piece; what a caller names is always looked for."""
    pieces = canaries(Going((), (), [b"v" * 40] * 500, names), words)
    assert len(pieces) <= 5 * MOST + 3 * len(words)
    assert all(word.encode("utf-8", "surrogatepass") in pieces for word in words)


def test_a_server_says_that_its_bytes_are_out_of_reach(postgres: Place, tmp_path: Path) -> None:
    """Issue 5: rows go, marks refuse an older export, and what cannot be searched is not called clean."""
    postgres.empty()
    with Memory(postgres.url, embedder="none") as memory:
        alex = memory.user("alex")
        alex.observe(TALK)
        alex.export(tmp_path / "old.jsonl")
        receipt = alex.erase(verify=True)
        assert not receipt.complete
        assert receipt.left
        assert receipt.proof is not None
        assert receipt.proof.places == ()
        assert receipt.proof.unreached
        assert memory.import_(tmp_path / "old.jsonl").refused == 3
        assert memory.health()["erasure_unfinished"]
    with Memory(postgres.url, embedder="none") as again, Memory(tmp_path / "b.db", embedder="none") as other:
        other.import_(tmp_path / "old.jsonl")
        other.merge(postgres.url)
        assert list(other.user("alex").messages()) == []
        assert list(again.user("alex").messages()) == []
