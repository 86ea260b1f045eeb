"""Two histories become one: exports that go round, and stores that are merged in either order."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand import Conflict, InvalidInput, Memory, Source, User
from firsthand.beliefs.digest import digest
from stopped_clock import StoppedClock

ATTRIBUTES = ("lives_in", "works_at", "likes", None)
VALUES = ("Lisbon", "Porto", "tea")

Moves = list[tuple[str, int]]

moves = st.tuples(
    st.sampled_from(["say", "say", "tell", "tell", "remember", "correct", "retract", "forget", "forget", "use", "end"]),
    st.integers(0, 7),
)


def act(user: User, move: tuple[str, int], clock: StoppedClock, number: int) -> None:
    """One of the things that happen to a memory, chosen by a number."""
    verb, which = move
    clock.forward(minutes=1)
    messages, beliefs = list(user.messages()), user.beliefs(state=None)
    if verb == "say":
        user.observe(f"I live in {VALUES[which % 3]}.", session=f"s{which % 2}")
    elif verb == "tell":  # by a client that gives ids, as two devices may both do
        text = "I live in Rome. " * (which % 2) + f"note {which}"
        user.observe({"role": "user", "content": text, "id": f"told-{which}"}, session="told")
    elif verb == "remember":
        cited = [messages[which % len(messages)].id] if messages and which % 2 else []
        user.remember(VALUES[which % 3], attribute=ATTRIBUTES[which % 4], evidence=cited, source=Source.INFERRED)
    elif verb == "use" and messages:
        user.used([messages[which % len(messages)].id])
    elif verb == "forget" and messages:
        user.forget(messages[which % len(messages)].id)
    elif beliefs and verb in ("correct", "retract", "end"):
        on = beliefs[which % len(beliefs)].id
        if verb == "correct":
            user.correct(on, f"put right {number}")
        elif verb == "retract":
            user.retract(on)
        else:
            user.end(on)


@contextmanager
def two_copies(before: Moves, one: Moves, other: Moves) -> Iterator[tuple[Path, User, User]]:
    """A memory that was copied and went on as two."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder, clock = Path(name), StoppedClock()
        with Memory(folder / "a.db", clock=clock, embedder="none") as memory:
            for number, move in enumerate(before):
                act(memory.user("alex"), move, clock, number)
        shutil.copy(folder / "a.db", folder / "b.db")
        users = []
        for path, moves_there in (("a.db", one), ("b.db", other)):
            user = stack.enter_context(Memory(folder / path, clock=clock, embedder="none")).user("alex")
            for number, move in enumerate(moves_there):
                act(user, move, clock, number)
            users.append(user)
        yield folder, users[0], users[1]


def exported(user: User, path: Path) -> bytes:
    """Everything of a user, as bytes."""
    user.export(path)
    return path.read_bytes()


def believed(user: User) -> str:
    """The digest of what is believed."""
    with user.memory.parts.store.reading(user.owner) as work:
        return digest(work.beliefs.cells())


@settings(max_examples=30, deadline=None)
@given(st.lists(moves, max_size=6), st.lists(moves, max_size=5), st.lists(moves, max_size=5))
def test_merging_commutes(before: Moves, one: Moves, other: Moves) -> None:
    """C087, issue 5: merge A into B and B into A: equal stores, the erasure wins; and once more changes nothing."""
    with two_copies(before, one, other) as (folder, a, b):
        try:
            exported(a, folder / "a.jsonl"), exported(b, folder / "b.jsonl")
            a.memory.import_(folder / "b.jsonl")
            b.memory.import_(folder / "a.jsonl")
        except Conflict:
            return
        merged = exported(a, folder / "a2.jsonl")
        assert merged == exported(b, folder / "b2.jsonl")
        assert believed(a) == believed(b)
        assert a.memory.rebuild().equal
        assert a.memory.parts.store.check() == []
        a.memory.import_(folder / "b2.jsonl")
        b.memory.merge(folder / "a.db")
        assert exported(a, folder / "a3.jsonl") == merged == exported(b, folder / "b3.jsonl")


@settings(max_examples=30, deadline=None)
@given(st.lists(moves, max_size=10))
def test_an_export_goes_round(before: Moves) -> None:
    """C088, issue 5: export | import | export is byte-identical, and beliefs are too."""
    with two_copies(before, [], []) as (folder, a, _), Memory(folder / "c.db", embedder="none") as fresh:
        whole = exported(a, folder / "one.jsonl")
        fresh.import_(folder / "one.jsonl")
        assert exported(fresh.user("alex"), folder / "two.jsonl") == whole
        assert believed(fresh.user("alex")) == believed(a)


def test_an_erasure_on_one_side_wins(tmp_path: Path) -> None:
    """C087: also over what the other side has learned from it since."""
    with Memory(tmp_path / "a.db") as memory:
        heard = memory.user("alex").observe("I live in Lisbon.", session="s").messages[0]
    shutil.copy(tmp_path / "a.db", tmp_path / "b.db")
    with Memory(tmp_path / "a.db") as a, Memory(tmp_path / "b.db") as b:
        b.user("alex").remember("by the sea", attribute="likes", evidence=[heard], source="inferred")
        a.user("alex").forget(heard)
        a.merge(tmp_path / "b.db")
        b.merge(tmp_path / "a.db")
        for memory in (a, b):
            assert list(memory.user("alex").messages()) == []
            assert memory.user("alex").beliefs(state=None) == []
        assert b.user("alex").memory.health()["ok"]


def test_an_owner_erased_on_one_side_is_erased_on_both(tmp_path: Path) -> None:
    """Issue 5: erasure of a whole person travels with a merge, though nothing names that person any more."""
    with Memory(tmp_path / "a.db") as memory:
        memory.user("alex").observe("I live in Lisbon.", session="s")
        memory.user("sam").observe("I live in Porto.")
    shutil.copy(tmp_path / "a.db", tmp_path / "b.db")
    with Memory(tmp_path / "a.db") as a, Memory(tmp_path / "b.db") as b:
        a.user("alex").erase()
        b.merge(tmp_path / "a.db")
        assert list(b.user("alex").messages()) == []
        assert [x.value for x in b.user("sam").beliefs()] == ["Porto"]


def test_the_same_id_with_other_words_is_a_conflict_and_nothing_is_taken_in(tmp_path: Path) -> None:
    """API: same id, other content is an error that names it."""
    with Memory(tmp_path / "a.db") as a, Memory(tmp_path / "b.db") as b:
        a.user("alex").observe({"role": "user", "content": "one", "id": "m1"})
        b.user("alex").observe([{"role": "user", "content": "new"}, {"role": "user", "content": "two", "id": "m1"}])
        with pytest.raises(Conflict, match="'m1'"):
            a.merge(tmp_path / "b.db")
        assert [m.content for m in a.user("alex").messages()] == ["one"]


def test_a_row_from_the_future_is_refused(tmp_path: Path) -> None:
    """Issue 5: a crafted file does not push an owner's clock to the year 9999."""
    clock = StoppedClock("2090-01-01T00:00:00+00:00")
    with Memory(tmp_path / "a.db", clock=clock) as a, Memory(tmp_path / "b.db") as b:
        a.user("alex").observe("hello")
        a.user("alex").export(tmp_path / "out.jsonl")
        with pytest.raises(InvalidInput, match="future"):
            b.import_(tmp_path / "out.jsonl")
        assert b.users() == []


def test_an_export_of_the_first_version_is_still_read(tmp_path: Path) -> None:
    """Issue 5: exports outlive the program that wrote them."""
    import hashlib

    with Memory(tmp_path / "a.db") as a, Memory(tmp_path / "b.db") as b:
        a.user("alex").observe("I live in Lisbon.")
        a.user("alex").export(tmp_path / "out.jsonl")
        first, *rest, last = (tmp_path / "out.jsonl").read_bytes().splitlines(keepends=True)
        old = [first.replace(b'"version":2', b'"version":1'), *rest]
        footer = json.loads(last)
        footer["end"]["sha256"] = hashlib.sha256(b"".join(old)).hexdigest()
        (tmp_path / "old.jsonl").write_bytes(b"".join(old) + json.dumps(footer).encode() + b"\n")
        assert b.import_(tmp_path / "old.jsonl").messages == 1


def test_there_must_be_another_store(tmp_path: Path) -> None:
    """Ours: merging with a mistyped path makes no empty memory there."""
    with Memory(tmp_path / "a.db") as a, pytest.raises(Exception, match="no memory at"):
        a.merge(tmp_path / "b.db")
    assert not (tmp_path / "b.db").exists()
