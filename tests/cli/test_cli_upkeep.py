"""Commands for a whole store, and for the rules that decide."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from shells import Shell

RANKED = """
[attributes.lives_in]
cardinality = "one"
merge = "ranked"
phrase = "dwells in {value}"
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    found = Shell(tmp_path, monkeypatch)
    found.ok("remember", "Lisbon", "--attribute", "lives_in")
    return found


def test_rebuilding_finds_what_was_there(shell: Shell) -> None:
    """Design: the same ledger gives the same beliefs."""
    before = shell.json("beliefs", "--state", "all")
    assert shell.ok("rebuild").splitlines()[1] == "1 belief, equal to what was held"
    assert shell.json("beliefs", "--state", "all") == before


def test_maintaining_twice_does_nothing_the_second_time(shell: Shell) -> None:
    """API: safe to run at any time, twice."""
    shell.ok("maintain")
    assert shell.json("maintain")["vectors"] == 0


def test_health_counts_and_is_well(shell: Shell) -> None:
    """API: store invariants and counts."""
    found = shell.json("health")
    assert (found["ok"], found["beliefs"], found["wrong"]) == (True, 1, [])
    assert shell.ok("health").startswith("well\nowners")


def test_what_is_unwell_is_listed_and_is_a_failure(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a monitor reads the exit status."""
    from firsthand.memory import Memory

    monkeypatch.setattr(Memory, "health", lambda _: {"ok": False, "wrong": ["one thing"], "owners": 1})
    result = shell.run("health")
    assert result.exit_code == 1
    assert result.stdout == "not well\n  - one thing\nowners  1\n"
    assert result.stderr.startswith("firsthand: 1 thing that must hold")


def test_vectors_are_made_later_where_they_were_left_out(shell: Shell) -> None:
    """C061: one command makes what is due."""
    shell.ok("remember", "Porto", "--attribute", "hometown", "--embedder", "none")
    assert shell.json("health", "--embedder", "static")["due"] == 1
    assert shell.ok("embed") == "made 1 vector\n"
    assert shell.ok("embed") == "made 0 vectors\n"


def test_an_unknown_embedder_is_refused(shell: Shell) -> None:
    """Ours."""
    assert "'word2vec'" in shell.refused("recall", "x", "--embedder", "word2vec")


def test_the_policy_in_use_is_shown_and_explained(shell: Shell) -> None:
    """Issue 2: policy show and explain."""
    shipped = resources.files("firsthand").joinpath("policy_default.toml").read_text(encoding="utf-8")
    assert shell.ok("policy", "show") == shipped.rstrip("\n") + "\n"
    assert shell.ok("policy", "explain", "home city").startswith("lives_in: ")
    assert shell.json("policy", "explain", "homeCity")["attribute"] == "lives_in"
    assert shell.json("policy", "explain", "shoe lace")["known"] is False


def test_before_there_is_a_store_the_shipped_policy_is_shown(shell: Shell) -> None:
    """Ours: looking makes no file."""
    other = shell.folder / "other.db"
    result = shell.run("policy", "explain", "lives_in", "--db", str(other))
    assert result.stdout.startswith("lives_in: ")
    assert "this is the policy that a new one gets" in result.stderr
    assert not other.exists()


def test_another_policy_is_checked_and_applied(shell: Shell) -> None:
    """Design: the policy is in the store, and applying another folds again."""
    file = shell.folder / "mine.toml"
    file.write_text(RANKED, encoding="utf-8")
    assert shell.ok("policy", "check", str(file)) == f"{file} is a policy of 1 attributes\n"
    shell.ok("policy", "apply", str(file))
    assert shell.json("beliefs")[0]["text"] == "dwells in Lisbon"
    assert shell.ok("policy", "show").strip() == RANKED.strip()


def test_a_policy_with_a_fault_is_named_with_its_line_and_not_applied(shell: Shell) -> None:
    """Issue 2, bad input: a policy with a typo."""
    file = shell.folder / "mine.toml"
    file.write_text(RANKED.replace('merge = "ranked"', 'merge = "append"'), encoding="utf-8")
    line = shell.refused("policy", "check", str(file))
    assert line.startswith(f"{file}: ")
    assert "line 4" in line
    assert shell.refused("policy", "apply", str(file)) == line
    assert shell.json("beliefs")[0]["text"] == "lives in Lisbon"
    assert "No such file" in shell.refused("policy", "check", str(shell.folder / "none"))


def test_the_doctor_says_where_memory_is_and_that_it_is_well(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """C060: printed by a status command, and chosen by whom."""
    found = shell.json("doctor")
    assert (found["store"]["path"], found["store"]["state"]) == (str(shell.db), "well")
    assert found["store"]["chosen by"] == "FIRSTHAND_DB"
    monkeypatch.delenv("FIRSTHAND_DB")
    found = shell.json("doctor")
    assert found["store"]["path"] == str(shell.folder / "home" / ".local/share/firsthand/memory.db")
    assert found["store"]["state"] == "nothing is kept here yet"
    assert "numpy" in shell.ok("doctor")


def test_the_doctor_names_what_is_wrong(shell: Shell) -> None:
    """Ours: status 1, one line, and the rest of the report all the same."""
    shell.db.write_bytes(b"no database" * 500)
    result = shell.run("doctor")
    assert result.exit_code == 1
    assert "it cannot be opened" in result.stdout
    assert result.stderr.count("\n") == 1
