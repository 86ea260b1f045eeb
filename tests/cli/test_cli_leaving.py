"""Commands by which things leave: forget, erase, export, and import as the way back."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from shells import Shell

from firsthand.cli.options import agreed
from firsthand.errors import NotAllowed


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell whose memory knows two users."""
    found = Shell(tmp_path, monkeypatch)
    found.ok("add", str(found.said("I live in Lisbon.", id="m1", session="one", canary="zx-14806012")))
    found.ok("remember", "tea", "--attribute", "likes", "--user", "other")
    return found


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def test_what_is_forgotten_is_gone_from_the_file(shell: Shell) -> None:
    """C052: by exact id, and an unknown id is said; design: erasure removes bytes."""
    assert shell.ok("forget", "m1").startswith("erased 1 message, 1 observation, 1 belief")
    assert "'m1'" in shell.refused("forget", "m1")
    files = [each for each in shell.folder.iterdir() if each.name.startswith(shell.db.name)]
    assert not any(b"Lisbon" in each.read_bytes() for each in files)


def test_a_session_is_forgotten_whole_after_a_yes(shell: Shell) -> None:
    """API: forget_source; several things at once are asked about."""
    assert "--yes" in shell.refused("forget", "--of-session", "one")
    shell.ok("forget", "--of-session", "one", "--yes")
    assert shell.run("beliefs").exit_code == 1 or shell.json("beliefs") == []


def test_erasing_takes_the_user_and_nobody_else(shell: Shell) -> None:
    """C047, C050: everything of one user, and the same user may start anew."""
    receipt = shell.json("erase", "--yes")
    assert (receipt["messages"], receipt["observations"], receipt["complete"]) == (1, 1, True)
    assert "holds nothing" in shell.refused("beliefs")
    assert shell.json("beliefs", "--user", "other")[0]["value"] == "tea"
    shell.ok("remember", "Porto", "--attribute", "lives_in")
    assert [each["value"] for each in shell.json("beliefs")] == ["Porto"]


def test_erasing_a_narrower_scope_is_refused(shell: Shell) -> None:
    """API: refused on a narrower scope."""
    shell.refused("erase", "--yes", "--session", "one")
    assert shell.json("beliefs") != []


def test_without_a_terminal_nothing_is_erased_unasked(shell: Shell) -> None:
    """Ours: a script must say --yes."""
    assert "--yes" in shell.refused("erase", typed="me\n")
    assert shell.json("beliefs") != []


def test_on_a_terminal_the_users_name_is_what_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a yes is typed too easily."""
    monkeypatch.setattr("sys.stdin", Terminal("mira\n"))
    agreed("Sure?", "mira", yes=False)
    monkeypatch.setattr("sys.stdin", Terminal("yes\n"))
    with pytest.raises(NotAllowed, match="nothing was erased"):
        agreed("Sure?", "mira", yes=False)


def test_an_export_comes_back_as_it_was(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """C088: lossless, and importing twice changes nothing."""
    out = shell.folder / "me.jsonl"
    assert shell.ok("export", str(out)) == f"wrote 1 message, 1 observation to {out}\n"
    before = shell.rows("messages"), shell.json("beliefs", "--state", "all")
    monkeypatch.setenv("FIRSTHAND_DB", str(shell.folder / "new.db"))
    assert shell.ok("import", str(out)).startswith("took in 1 message, 1 observation")
    assert (shell.rows("messages"), shell.json("beliefs", "--state", "all")) == before
    assert "2 were here before" in shell.ok("import", str(out))
    again = shell.folder / "again.jsonl"
    shell.ok("export", str(again))
    assert again.read_bytes() == out.read_bytes()


def test_what_is_no_export_is_refused(shell: Shell) -> None:
    """Issue 2, bad input: nothing half done."""
    assert "firsthand add" in shell.refused("import", str(shell.said("x")))
    assert "No such file" in shell.refused("import", str(shell.folder / "none"))
    assert "cannot write" in shell.refused("export", str(shell.folder / "none" / "out.jsonl"))
    cut = shell.folder / "cut.jsonl"
    shell.ok("export", str(cut))
    cut.write_bytes(cut.read_bytes()[:-40])
    before = shell.json("beliefs", "--state", "all")
    shell.refused("import", str(cut))
    assert shell.json("beliefs", "--state", "all") == before


def test_an_erasure_is_verified_in_the_files_bytes(shell: Shell) -> None:
    """Issue 5: `firsthand erase --verify` scans the raw bytes and says what it found."""
    told = shell.ok("erase", "--yes", "--verify", "--canary", "zx-14806012")
    assert "memory.db (" in told
    assert told.rstrip().endswith("found: nothing")


def test_a_trace_of_what_was_erased_is_an_error(shell: Shell) -> None:
    """Issue 5: a copy beside the file still holds the words: said, and not with exit status 0."""
    (shell.folder / "memory.db.old").write_bytes(b"I live in Lisbon.")
    assert "can still be found" in shell.refused("forget", "m1", "--verify")


def test_two_memories_are_merged(shell: Shell) -> None:
    """C087: a merge command; what is here already is here once."""
    other = shell.folder / "other.db"
    shell.ok("remember", "Porto", "--attribute", "works_at", "--db", str(other))
    shell.ok("merge", str(other))
    assert "1 were here before" in shell.ok("merge", str(shell.db), "--db", str(other))
    values = {each["value"] for each in shell.json("beliefs")}
    assert values == {"Lisbon", "Porto"} == {each["value"] for each in shell.json("beliefs", "--db", str(other))}


def test_what_was_erased_is_restored_only_when_asked(shell: Shell) -> None:
    """Issue 5: unless asked."""
    shell.ok("export", str(shell.folder / "out.jsonl"))
    shell.ok("erase", "--yes")
    assert "2 were erased here and stay so" in shell.ok("import", str(shell.folder / "out.jsonl"))
    shell.ok("import", str(shell.folder / "out.jsonl"), "--restore-erased")
    assert shell.json("beliefs")[0]["value"] == "Lisbon"
