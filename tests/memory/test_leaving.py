"""What leaves: forgetting, erasing, exporting and importing, rebuilding."""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand import InvalidInput, Memory, NotFound, User
from stopped_clock import StoppedClock

CANARY = "Zanzibar"


def grep(folder: Path, words: str) -> list[Path]:
    """Files that hold the words, in any of the encodings a store might use."""
    forms = [words.encode(), words.encode("utf-16-le"), words.upper().encode()]
    return [file for file in folder.rglob("*") if file.is_file() and any(f in file.read_bytes() for f in forms)]


def test_forgetting_a_belief_takes_the_words_it_rests_on(tmp_path: Path) -> None:
    """C051: forget leaves no complete original behind."""
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe(f"I moved to {CANARY}.", session="s1")
        alex.observe("I work at Globex.", session="s1")
        assert grep(tmp_path, CANARY)
        receipt = alex.forget(alex.beliefs("user", "lives_in")[0].id)
        assert (receipt.messages, receipt.observations) == (1, 1)
        assert grep(tmp_path, CANARY) == []
        assert [b.value for b in alex.beliefs()] == ["Globex"]
        assert CANARY not in receipt.digests


def test_a_belief_with_two_evidences_keeps_standing_on_the_other(alex: User) -> None:
    """Issue 5: a fact with two evidences keeps standing on the other."""
    first = alex.observe("I live in Lisbon.", session="s1").messages[0]
    second = alex.observe("I live in Lisbon.", session="s2").messages[0]
    alex.forget(first)
    held = alex.beliefs("user", "lives_in")[0]
    assert held.evidence == (second,)
    assert [m.id for m in alex.messages()] == [second]


def test_the_founders_id_passes_on(alex: User) -> None:
    """Design: if the founder is erased, the next supporter's id takes over."""
    first = alex.remember("Lisbon", attribute="lives_in").stored[0]
    second = alex.remember("Lisbon", attribute="lives_in").stored[0]
    alex.observe("unrelated")
    assert alex.beliefs("user", "lives_in")[0].id == first
    with pytest.raises(NotFound):
        alex.forget("nothing")
    alex.forget_source(origin="nowhere")
    assert alex.why(second).belief.id == first


def test_a_source_is_undone(alex: User) -> None:
    """API: undo everything learned from one place."""
    alex.observe("I live in Rome.", session="bad", origin="web")
    alex.observe("I live in Lisbon.", session="good")
    alex.forget_source(session="bad")
    assert [b.value for b in alex.beliefs(state=None)] == ["Lisbon"]
    assert [s.id for s in alex.sessions()] == ["good"]


def test_erasing_an_owner_leaves_no_byte_and_no_other_owner_changed(tmp_path: Path) -> None:
    """Design: erasure removes bytes, not rows; the other owner's shared words stay whole."""
    with Memory(tmp_path / "m.db") as memory:
        alex, sam = memory.user("alex-the-first"), memory.user("sam")
        for n in range(60):
            alex.observe(f"{CANARY} number {n}. I live in {CANARY}.", session=f"s{n}")
        alex.recall(CANARY)
        sam.observe("I live in Lisbon.")
        receipt = alex.erase()
        assert receipt.messages == 60
        assert grep(tmp_path, CANARY) == []
        assert grep(tmp_path, "alex-the-first") == []
        assert list(alex.messages()) == []
        assert alex.beliefs(state=None) == []
        assert alex.recall(CANARY) == []
        assert [b.value for b in sam.beliefs()] == ["Lisbon"]


def test_an_erased_owner_starts_anew(tmp_path: Path) -> None:
    """C050: the same user can start anew after erasure; nothing old returns."""
    path = tmp_path / "m.db"
    with Memory(path) as memory:
        alex = memory.user("alex")
        alex.observe("I live in Rome.")
        alex.erase()
        alex.observe("I live in Lisbon.")
        assert [b.value for b in alex.beliefs(state=None)] == ["Lisbon"]
    with Memory(path) as memory:
        assert [b.value for b in memory.user("alex").beliefs(state=None)] == ["Lisbon"]


def test_another_handle_sees_the_erasure(tmp_path: Path) -> None:
    """Design: caches in other processes drop on the epoch."""
    path = tmp_path / "m.db"
    with Memory(path) as one, Memory(path) as other:
        for n in range(3):
            one.user("alex").observe(f"{CANARY} {n}")
        assert len(other.user("alex").recall(CANARY)) == 3
        one.user("alex").erase()
        for n in range(3):
            one.user("alex").observe(f"about tea {n}")
        assert other.user("alex").recall(CANARY) == []
        assert len(other.user("alex").recall("tea")) == 3


def test_export_and_import_are_lossless(tmp_path: Path, clock: StoppedClock) -> None:
    """C088: export, import into an empty store, export: byte-equal; importing twice changes nothing."""
    with Memory(tmp_path / "a.db", clock=clock) as a, Memory(tmp_path / "b.db", clock=clock) as b:
        alex = a.user("alex")
        alex.observe([{"role": "user", "content": "I live in Lisbon.", "at": "2026-01-02T03:04:05+09:00"}], session="s")
        clock.forward(days=1)
        alex.remember("Globex", attribute="works_at", expires_at="2027-01-01", metadata={"nested": {"a": [1, 2]}})
        alex.correct(alex.beliefs("user", "lives_in")[0].id, "Porto")
        alex.used([alex.recall("Lisbon")[0].id])
        alex.export(tmp_path / "one.jsonl")
        b.import_(tmp_path / "one.jsonl")
        b.user("alex").export(tmp_path / "two.jsonl")
        assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
        assert b.user("alex").beliefs(state=None) == alex.beliefs(state=None)
        again = b.import_(tmp_path / "one.jsonl")
        assert (again.messages, again.observations) == (0, 0)
        assert again.duplicates > 0


def test_an_older_export_does_not_bring_back_what_was_erased(tmp_path: Path) -> None:
    """Design: tombstones bind import and merge."""
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.observe(f"I live in {CANARY}.")
        alex.observe("I work at Globex.")
        alex.export(tmp_path / "old.jsonl")
        alex.forget(alex.beliefs("user", "lives_in")[0].id)
        report = memory.import_(tmp_path / "old.jsonl")
        assert report.refused == 2
        assert [b.value for b in alex.beliefs(state=None)] == ["Globex"]


@pytest.mark.parametrize("damage", ["cut", "changed", "not json", "empty", "another format", "more"])
def test_a_damaged_export_is_refused_whole(tmp_path: Path, damage: str) -> None:
    """Ours: refuse bad input whole, naming the line where one is to blame."""
    with Memory(tmp_path / "m.db") as memory, Memory(tmp_path / "n.db") as other:
        memory.user("alex").observe(["one", "two", "three"])
        path = tmp_path / "out.jsonl"
        memory.user("alex").export(path)
        whole = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(
            {
                "cut": b"".join(whole[:-1]),
                "changed": b"".join(whole).replace(b"two", b"2wo"),
                "not json": b"".join([*whole[:2], b"{oops\n", *whole[2:]]),
                "empty": b"",
                "another format": b'{"role":"user","content":"x"}\n',
                "more": b"".join([*whole, whole[1]]),
            }[damage]
        )
        with pytest.raises(InvalidInput, match=r"out\.jsonl"):
            other.import_(path)
        assert other.users() == []


def test_rebuilding_gives_the_same_beliefs(tmp_path: Path, clock: StoppedClock) -> None:
    """Design: beliefs are derived; rebuild gives byte-identical ones."""
    with Memory(tmp_path / "m.db", clock=clock) as memory:
        alex = memory.user("alex")
        alex.observe(["I live in Rome.", "I moved to Lisbon.", "I'm allergic to nuts."], session="s")
        alex.remember("close friend", subject="Joe", attribute="relationship")
        alex.remember("recruiter", subject="Joe", attribute="relationship", source="inferred")
        before = alex.beliefs(state=None)
        hits = [(h.id, h.score) for h in alex.recall("Where do I live?")]
        report = memory.rebuild()
        assert report.equal
        assert alex.beliefs(state=None) == before
        assert [(h.id, h.score) for h in alex.recall("Where do I live?")] == hits


def test_health_says_what_there_is(alex: User, mem: Memory) -> None:
    """API: health() holds the store's invariants and counts."""
    alex.observe("I live in Lisbon.")
    alex.remember("x", attribute="password")
    told = mem.health()
    assert told["ok"]
    assert (told["messages"], told["active"]) == (1, 1)
    assert told["dropped"] == 1


def test_an_erasure_while_another_reads_says_that_bytes_are_left_and_maintain_takes_them(tmp_path: Path) -> None:
    """Ours: an expected outcome is a value, and the promise is kept as soon as it can be."""
    with Memory(tmp_path / "m.db") as memory, Memory(tmp_path / "m.db") as other:
        memory.user("alex").observe(f"I live in {CANARY}.")
        with other.parts.store.reading(memory.user("alex").owner) as work:
            work.head()
            receipt = memory.user("alex").erase()
        assert not receipt.complete
        assert memory.user("alex").beliefs(state=None) == []
        memory.maintain()
        assert grep(tmp_path, CANARY) == []
