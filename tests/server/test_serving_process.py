"""`firsthand serve` as a process: started, spoken to over a socket, stopped and killed."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from shells import Shell

import firsthand
from firsthand import Memory

CODE = str(Path(firsthand.__file__).resolve().parents[1])


class Served:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, bytes]:
        """Status and body of one answer."""
        with self.connection() as line:
            sent = None if body is None else json.dumps(body)
            line.request(method, path, sent, {"Content-Type": "application/json", **headers})
            answer = line.getresponse()
            return answer.status, answer.read()

    @contextmanager
    def connection(self) -> Iterator[http.client.HTTPConnection]:
        """A connection of one's own."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            yield line
        finally:
            line.close()


@contextmanager
def serving(db: Path, *words: str) -> Iterator[Served]:
    """`firsthand serve` on a free port."""
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "firsthand", "serve", "--db", str(db), "--port", "0", *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": CODE},
    )
    try:
        assert process.stderr is not None
        said = ""
        while not (found := re.search(r"at http://127\.0\.0\.1:(\d+)", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        yield Served(process, int(found[1]))
    finally:
        process.kill()
        process.wait(30)
        if process.stderr is not None:
            process.stderr.close()


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell with a memory of its own."""
    return Shell(tmp_path, monkeypatch)


def test_it_serves_with_keys_that_are_made_while_it_runs(shell: Shell) -> None:
    """Issue: `firsthand serve` starts one process; keys are made and revoked by CLI."""
    with serving(shell.db) as served:
        assert served.ask("GET", "/readyz")[0] == 200
        assert served.ask("GET", "/v1/beliefs")[0] == 401
        key = shell.json("keys", "add", "--user", "alex")
        bearer = {"Authorization": f"Bearer {key['key']}"}
        assert served.ask("POST", "/v1/memories", {"text": "I like tea"}, **bearer)[0] == 200
        assert b"I like tea" in served.ask("GET", "/v1/beliefs", **bearer)[1]
        shell.ok("keys", "revoke", key["id"])
        assert served.ask("GET", "/v1/beliefs", **bearer)[0] == 401


def test_told_to_stop_it_finishes_what_it_was_asked(shell: Shell) -> None:
    """Issue: graceful stop that loses nothing."""
    body = json.dumps({"messages": [{"role": "user", "content": f"Turn {n}"} for n in range(500)]}).encode()
    with serving(shell.db, "--no-keys", "--user", "alex") as served:
        line = socket.create_connection(("127.0.0.1", served.port), timeout=30)
        with line, line.makefile("rb") as answer:
            line.sendall(
                b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
            )
            assert b"100" in answer.readline()  # it waits for the body
            assert answer.readline() == b"\r\n"
            served.process.send_signal(signal.SIGTERM)
            line.sendall(body)
            assert b"200" in answer.readline()
            acknowledged = json.loads(answer.read().partition(b"\r\n\r\n")[2])["messages"]
        assert served.process.wait(30) in (0, -signal.SIGTERM)
    with Memory(shell.db) as mem:
        assert [m.id for m in mem.user("alex").messages()] == acknowledged


def test_killed_it_loses_nothing_that_was_acknowledged(shell: Shell) -> None:
    """Issue: kill -9 under load loses no acknowledged write."""
    acknowledged: list[str] = []
    with serving(shell.db, "--no-keys", "--user", "alex", "--rate", "0") as served:
        enough = threading.Event()

        def write() -> None:
            with suppress(OSError, http.client.HTTPException), served.connection() as line:
                for number in range(10_000):
                    sent = json.dumps({"text": f"Fact {threading.get_ident()} {number}"})
                    line.request("POST", "/v1/memories", sent, {"Content-Type": "application/json"})
                    acknowledged.extend(json.loads(line.getresponse().read())["stored"])
                    if len(acknowledged) > 60:
                        enough.set()

        writers = [threading.Thread(target=write) for _ in range(4)]
        for each in writers:
            each.start()
        assert enough.wait(60)
        served.process.kill()
        for each in writers:
            each.join(30)
    with Memory(shell.db) as mem:
        assert set(acknowledged) <= {b.id for b in mem.user("alex").beliefs()}


def test_half_open_connections_and_bad_requests_leave_it_serving(shell: Shell) -> None:
    """Issue: a half-open connection, a slow client, rubbish."""
    with serving(shell.db, "--no-keys") as served:
        lines = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(50)]
        for number, each in enumerate(lines):
            each.sendall((b"", b"GET /v1/bel", b"\x16\x03\x01 rubbish\r\n\r\n")[number % 3])
        assert served.ask("GET", "/v1/profile")[0] == 200
        for each in lines:
            each.close()
        assert served.ask("GET", "/livez")[0] == 200


def test_without_keys_it_listens_to_this_machine_only(shell: Shell) -> None:
    """Issue: off only on loopback and only when said so."""
    refused = shell.refused("serve", "--no-keys", "--host", "0.0.0.0")  # noqa: S104 - it is refused
    assert "127.0.0.1 only" in refused
    assert "--allow-host" in shell.refused("serve", "--host", "0.0.0.0")  # noqa: S104 - it is refused
    with serving(shell.db, "--no-keys") as served:
        assert served.ask("GET", "/v1/profile", Host="evil.example")[0] == 421
        taken = shell.refused("serve", "--no-keys", "--port", str(served.port))
        assert "choose another --port" in taken


@pytest.mark.parametrize(("host", "loopback"), [("127.0.0.1", True), ("::1", True), ("localhost", True)])
def test_what_is_this_machine(host: str, *, loopback: bool) -> None:
    """Ours: by every name that a loopback address has."""
    from firsthand.server.serve import Address

    assert Address(host).loopback is loopback
    assert not Address("192.0.2.1").loopback
    assert not Address("example.org").loopback
