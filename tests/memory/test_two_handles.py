"""Several handles and processes on one file: policies, embedders and writes that others changed meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from firsthand import EmbedderMismatch, Memory, PolicyMismatch
from firsthand.policy import default_policy


def other_policy() -> str:
    """The shipped policy with `hometown` able to hold only one value by rank."""
    return default_policy().text + '\n[attributes.favourite_tree]\ncardinality = "one"\nmerge = "ranked"\n'


class Counting:
    """An embedder that points every text along one axis."""

    inline = True

    def __init__(self, name: str, dimensions: int, axis: int = 0) -> None:
        self.name, self.dimensions, self._axis = name, dimensions, axis

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, all alike."""
        out = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        out[:, self._axis] = 1
        return out


def test_a_policy_applied_by_another_handle_binds_the_next_write(tmp_path: Path) -> None:
    """Design: incremental folding and rebuilding agree, also when the policy changed under an open handle."""
    path = tmp_path / "m.db"
    with Memory(path) as one, Memory(path) as other:
        alex = one.user("alex")
        alex.remember("oak", attribute="favourite_tree")
        other.apply_policy(other_policy())
        alex.remember("elm", attribute="favourite_tree")
        assert [b.value for b in alex.beliefs(attribute="favourite_tree")] == ["elm"]
        assert other.rebuild().equal


def test_another_policy_is_refused_with_the_command_that_applies_it(tmp_path: Path) -> None:
    """Design: opening with another one is refused with `firsthand policy apply`."""
    path = tmp_path / "m.db"
    Memory(path).close()
    with pytest.raises(PolicyMismatch, match="firsthand policy apply"):
        Memory(path, policy=other_policy())


def test_an_interrupted_change_of_policy_is_finished_at_the_next_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a kill between two owners leaves no owner folded by the old policy."""
    path = tmp_path / "m.db"
    with Memory(path) as memory:
        for name in ("alex", "sam"):
            for tree in ("oak", "elm"):
                memory.user(name).remember(tree, attribute="favourite_tree")
        with monkeypatch.context() as patched:
            patched.setattr("firsthand.upkeep.rebuild", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                memory.apply_policy(other_policy())
    with Memory(path) as memory:
        for name in ("alex", "sam"):
            assert [b.value for b in memory.user(name).beliefs(attribute="favourite_tree")] == ["elm"]


def test_vectors_made_again_by_another_handle_are_not_mixed(tmp_path: Path) -> None:
    """C061: the store knows which embedder made its vectors."""
    path = tmp_path / "m.db"
    with Memory(path, embedder=Counting("one", 8)) as one:
        one.user("alex").observe("first")
        with pytest.raises(EmbedderMismatch, match="firsthand embed"):
            Memory(path, embedder=Counting("two", 8))
        with Memory(path, embedder=Counting("two", 8, axis=3), reembed=True) as two:
            assert two.embed() == 1
            one.user("alex").observe("second")
            assert two.health()["due"] == 1
            assert two.embed() == 1


def test_many_threads_on_one_handle_lose_nothing(tmp_path: Path) -> None:
    """C024: one handle, twenty threads, several owners, interleaved."""
    with Memory(tmp_path / "m.db") as memory:

        def work(n: int) -> None:
            user = memory.user(f"u{n % 4}")
            user.observe(f"message {n}", session=f"s{n}")
            user.remember(f"fact {n}")
            assert user.recall(f"fact {n}", limit=1)[0].text.endswith(f"fact {n}")

        with ThreadPoolExecutor(20) as pool:
            list(pool.map(work, range(60)))
        for owner in range(4):
            user = memory.user(f"u{owner}")
            assert {m.content for m in user.messages()} == {f"message {n}" for n in range(owner, 60, 4)}
            assert {b.value for b in user.beliefs()} == {f"fact {n}" for n in range(owner, 60, 4)}
        assert memory.rebuild().equal


def test_many_processes_on_one_file_lose_nothing(tmp_path: Path) -> None:
    """C054: processes write one user's slot at the same time; the fold equals the fold of the ledger."""
    script = """
import sys
from firsthand import Memory
with Memory(sys.argv[1]) as memory:
    alex = memory.user("alex")
    for n in range(15):
        alex.observe(f"from {sys.argv[2]}: {n}", session=sys.argv[2])
        alex.remember(f"city {sys.argv[2]}-{n}", attribute="lives_in")
        alex.recall("where do I live?")
"""
    path = tmp_path / "m.db"
    children = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(n)], stderr=subprocess.PIPE)  # noqa: S603
        for n in range(4)
    ]
    for child in children:
        _, errors = child.communicate(timeout=120)
        assert child.returncode == 0, errors.decode()
    with Memory(path) as memory:
        alex = memory.user("alex")
        assert len(list(alex.messages())) == 60
        assert len(alex.history("user", "lives_in")) == 60
        assert len(alex.beliefs("user", "lives_in")) == 1
        assert memory.health()["ok"]
        assert memory.rebuild().equal
