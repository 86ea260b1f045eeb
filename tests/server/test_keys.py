"""API keys: what is kept of them, whom they let in, and how they end."""

from __future__ import annotations

import sqlite3
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from doors_open import Opened, ok, problem
from shells import Shell

from firsthand import InvalidInput, NotFound, StoreUnavailable
from firsthand.server.keys import ALL, Grant, Keys, Level
from stopped_clock import StoppedClock

ALEX = Grant("default", "alex", Level.WRITE)


def test_only_a_digest_is_kept(tmp_path: Path, clock: StoppedClock) -> None:
    """Issue: API keys hashed at rest."""
    path = tmp_path / "m.db.keys"
    keys = Keys(path)
    key, text = keys.make(ALEX, clock())
    secret = text.split("_", 2)[2]
    keys.close()
    assert key.id in text
    assert secret.encode() not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_opens_until_it_expires(clock: StoppedClock) -> None:
    """Ours: a key with an end ends."""
    keys = Keys(":memory:")
    _, text = keys.make(ALEX, clock(), expires=clock() + timedelta(days=1))
    found = keys.opened_by(text, clock())
    assert found is not None
    assert (found.grant.user, found.grant.level) == ("alex", Level.WRITE)
    clock.forward(days=1)
    assert keys.opened_by(text, clock()) is None


@pytest.mark.parametrize("text", ["", "fh", "fh_", "fh__", "fh_x_y", "xx_{id}_{secret}", "fh_{id}_", "fh_{id}_\udc80"])
def test_what_is_no_key_opens_nothing(clock: StoppedClock, text: str) -> None:
    """Issue: a bad token."""
    keys = Keys(":memory:")
    key, whole = keys.make(ALEX, clock())
    assert keys.opened_by(text.format(id=key.id, secret=whole.split("_", 2)[2]), clock()) is None


def test_rotation_gives_another_secret_and_time_to_change_over(server: Opened) -> None:
    """Issue: keys are rotated and revoked; a running server sees it at once."""
    key, old = server.keys.make(ALEX, server.clock())
    new = server.keys.rotate(key.id, server.clock(), keep=60)
    for text in (old, new):
        ok(server.with_key(text).get("/v1/beliefs"))
    server.clock.forward(seconds=61)
    refused = server.with_key(old).get("/v1/beliefs")
    problem(refused, 401, "Unauthorized")
    assert refused.headers["www-authenticate"].startswith("Bearer")
    ok(server.with_key(new).get("/v1/beliefs"))
    server.keys.revoke(key.id, server.clock())
    problem(server.with_key(new).get("/v1/beliefs"), 401, "Unauthorized")
    with pytest.raises(NotFound):
        server.keys.rotate(key.id, server.clock())
    with pytest.raises(NotFound):
        server.keys.revoke(key.id, server.clock())


def test_rotating_without_keeping_ends_the_old_secret_at_once(clock: StoppedClock) -> None:
    """Ours: a leaked key is of no use from then on."""
    keys = Keys(":memory:")
    key, old = keys.make(ALEX, clock())
    keys.rotate(key.id, clock())
    assert keys.opened_by(old, clock()) is None


def test_a_key_for_every_tenant_but_one_user_is_refused(clock: StoppedClock) -> None:
    """Ours: the same name in two tenants is two people."""
    with pytest.raises(InvalidInput, match="every tenant"):
        Keys(":memory:").make(Grant(ALL, "alex", Level.READ), clock())


def test_many_keys_cost_no_more_than_one(clock: StoppedClock) -> None:
    """Issue: 10k keys. Finding one reads one row, by its primary key."""
    keys = Keys(":memory:")
    texts = [keys.make(ALEX, clock())[1] for _ in range(10_000)]
    assert keys.opened_by(texts[5_000], clock()) is not None
    plan = keys._db.execute("EXPLAIN QUERY PLAN " + keys._queries["find"], {"id": "x"}).fetchall()
    assert "SEARCH api_key USING INDEX" in plan[0]["detail"]


def test_a_file_of_keys_that_is_none_says_so(tmp_path: Path) -> None:
    """Ours: one line, not a driver's error."""
    path = tmp_path / "keys"
    path.write_bytes(b"this is no database, whatever it is called" * 100)
    with pytest.raises(StoreUnavailable, match="cannot open the file of keys"):
        Keys(path)


def test_no_plain_key_is_in_the_schema() -> None:
    """Ours: there is no column that a secret could be in."""
    keys = Keys(":memory:")
    columns = {row["name"] for row in keys._db.execute("SELECT name FROM pragma_table_info('api_key')")}
    assert not columns & {"key", "secret", "token"}
    assert keys._db.row_factory is sqlite3.Row


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell with a memory of its own."""
    return Shell(tmp_path, monkeypatch)


def test_keys_are_made_listed_rotated_and_revoked_by_command(shell: Shell, clock: StoppedClock) -> None:
    """Issue: rotated and revoked by CLI."""
    made = shell.json("keys", "add", "--user", "alex", "--role", "admin", "--label", "laptop")
    path = Path(f"{shell.db}.keys")
    found = Keys(path).opened_by(made["key"], clock())
    assert found is not None
    assert (found.user, found.role, found.label) == ("alex", "admin", "laptop")
    assert made["key"] not in shell.ok("keys", "list")
    assert "admin key for alex in default" in shell.ok("keys", "list")
    again = shell.ok("keys", "rotate", made["id"]).strip()
    assert Keys(path).opened_by(made["key"], clock()) is None
    assert Keys(path).opened_by(again, clock()) is not None
    shell.ok("keys", "revoke", made["id"])
    assert Keys(path).opened_by(again, clock()) is None
    assert shell.json("keys", "list")[0]["revoked"]
    assert "no key that holds" in shell.refused("keys", "revoke", made["id"])


def test_the_scope_of_a_key_is_said_when_it_is_made(shell: Shell) -> None:
    """Ours: every option of `keys add` shows in what the key may."""
    shell.ok("keys", "add", "--all-users", "--for-model", "--days", "3")
    shell.ok("keys", "add", "--whole-store", "--role", "read")
    first, second = shell.json("keys", "list")
    assert (first["tenant"], first["user"], first["role"], first["caller"]) == ("default", "*", "write", "model")
    assert first["expires"]
    assert (second["tenant"], second["user"], second["role"]) == ("*", "*", "read")
    assert "read, write or admin" in shell.refused("keys", "add", "--role", "owner")
    told = shell.ok("keys", "list")
    assert "write key for every user in default (a model)  until" in told
    assert "read key for every user of every tenant" in told


def test_a_memory_that_is_no_file_needs_a_place_for_keys(shell: Shell) -> None:
    """Ours: keys of an address are kept where the user says."""
    address = ("--db", "postgresql://localhost/x")
    assert "--keys PATH" in shell.refused("keys", "list", *address)
    shell.ok("keys", "add", *address, "--keys", str(shell.folder / "k"))
    assert len(shell.json("keys", "list", *address, "--keys", str(shell.folder / "k"))) == 1
