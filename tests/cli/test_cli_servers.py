"""Commands on a PostgreSQL server."""

from __future__ import annotations

from pathlib import Path

import pytest
from shells import Shell

from postgres_place import APPLICATION, OWNER, Place


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell whose memory is a file, unless a command says otherwise."""
    return Shell(tmp_path, monkeypatch)


def test_a_new_database_is_migrated_and_then_used_as_a_file_is(shell: Shell, postgres: Place) -> None:
    """Issue: migrate as an owner, then the application connects as an ordinary role."""
    fresh = Place(postgres.server, f"{postgres.name}_cli")
    postgres.server.execute(f"CREATE DATABASE {fresh.name} OWNER {OWNER}")
    assert "firsthand migrate" in shell.refused("remember", "likes tea", "--db", fresh.url)
    told = shell.ok("migrate", "--db", fresh.owners_url, "--grant", APPLICATION)
    assert "0001_first" in told
    assert f"may use the tables: {APPLICATION}" in told
    assert "everything was there" in shell.ok("migrate", "--db", fresh.owners_url)
    shell.ok("remember", "Lisbon", "--attribute", "lives_in", "--db", fresh.url)
    assert "Lisbon" in shell.ok("profile", "--db", fresh.url)
    assert shell.json("health", "--db", fresh.url)["ok"]
    postgres.server.execute(f"DROP DATABASE {fresh.name} WITH (FORCE)")


def test_only_a_server_is_migrated(shell: Shell) -> None:
    """Ours: a file comes to the new version when it is opened."""
    assert "only a server" in shell.refused("migrate")


def test_no_password_is_printed(shell: Shell, postgres: Place) -> None:
    """Issue: one clear line, and nothing secret in it."""
    url = postgres.url.replace("://application@", "://application:s3cret@")
    assert "s3cret" not in shell.refused("profile", "--user", "nobody", "--db", url)
    assert "s3cret" not in shell.ok("doctor", "--db", url)


def test_a_file_is_copied_to_a_server_and_back(shell: Shell, postgres: Place) -> None:
    """Issue: `firsthand copy --from agent.db --to postgresql://…` and back, verified by digest."""
    shell.ok("remember", "Lisbon", "--attribute", "lives_in")
    back = str(shell.folder / "back.db")
    with postgres.another("copy") as place:
        told = shell.ok("copy", "--to", place.url)
        assert "copied 1 user" in told
        assert "holds the same" in told
        assert shell.json("copy", "--from", place.url, "--to", back)["digest"] in told
        assert "Lisbon" in shell.ok("profile", "--db", back)
        assert "there is a memory" in shell.refused("copy", "--to", place.url)


def test_a_copy_may_have_a_key_of_its_own(shell: Shell) -> None:
    """Ours: a file that was not encrypted becomes one that is."""
    shell.ok("remember", "Lisbon", "--attribute", "lives_in")
    key = shell.folder / "key"
    key.write_text("correct horse")
    target = str(shell.folder / "locked.db")
    shell.ok("copy", "--to", target, "--to-key-file", str(key))
    assert "Lisbon" in shell.ok("profile", "--db", target, "--key-file", str(key))
    assert "key" in shell.refused("profile", "--db", target)
