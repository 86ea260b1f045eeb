"""`Client`: the same verbs and the same values as the library, from a server."""

from __future__ import annotations

import inspect
import io
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from doors_open import Opened, opened
from listening import listening

from firsthand import (
    Client,
    Conflict,
    Evidence,
    FirsthandError,
    InvalidInput,
    Memory,
    NotAllowed,
    NotFound,
    Owner,
    PolicyInvalid,
    Receipt,
    RemoteUser,
    Report,
    Stale,
    State,
    StoreBusy,
    StoreUnavailable,
    User,
    to_json,
)
from firsthand.forms import of_json
from firsthand.server.keys import ALL, Grant, Level
from firsthand.server.limits import Limits

TALK = [
    {"role": "user", "content": "I live in Berlin. I'm allergic to hazelnuts.", "id": "m/1"},
    {"role": "assistant", "content": "Nice."},
    {"role": "user", "content": "Remember that I take the train on Fridays.", "at": "2026-05-01T09:00:00+02:00"},
]


def client_of(server: Opened, url: str, grant: Grant | None = None, **options: Any) -> Client:
    """A client with a key of its own."""
    _, text = server.keys.make(grant or Grant(ALL, ALL, Level.ADMIN), server.clock())
    return Client(url, text, **options)


@pytest.fixture
def client(server: Opened) -> Iterator[Client]:
    """A client that may do everything."""
    with listening(server) as url, client_of(server, url) as found:
        yield found


@pytest.fixture
def remote(client: Client) -> RemoteUser:
    """Alex, at a server."""
    return client.user("alex")


def test_the_verbs_and_what_they_take_are_the_librarys() -> None:
    """Issue: the same verbs, so that code does not change."""
    for here, there in ((User, RemoteUser), (Memory, Client)):
        for name, verb in vars(here).items():
            if name.startswith("_") or not inspect.isfunction(verb) or name in ("vectors", "user", "maintain"):
                continue
            ours, theirs = inspect.signature(verb), inspect.signature(vars(there)[name])
            assert list(ours.parameters) == list(theirs.parameters), name
            for each in ours.parameters:
                assert ours.parameters[each].default == theirs.parameters[each].default, (name, each)


def test_everything_comes_back_as_the_same_values(server: Opened, remote: RemoteUser) -> None:
    """Issue: the same dataclasses back."""
    here = server.memory.user("alex")
    receipt = remote.observe(TALK, session="s1", metadata={"from": "test"})
    assert isinstance(receipt, Receipt)
    assert receipt.messages[0] == "m/1"
    assert receipt.pending[0].question
    assert remote.beliefs() == here.beliefs()
    assert remote.beliefs(state=None) == here.beliefs(state=None)
    assert remote.profile() == here.profile()
    assert remote.recall("where do I live?") == here.recall("where do I live?")
    assert remote.search("train", limit=2) == here.search("train", limit=2)
    assert remote.context("where do I live?", max_tokens=200) == here.context("where do I live?", max_tokens=200)
    assert remote.pending() == here.pending()
    assert list(remote.messages()) == list(here.messages())
    assert list(remote.messages(limit=1)) == list(here.messages(limit=1))
    second = next(iter(here.messages(limit=1))).position
    assert list(remote.messages(after=second)) == list(here.messages(after=second))
    assert remote.sessions() == here.sessions()
    home = remote.beliefs("user", "lives_in")[0]
    assert remote.why(home.id) == here.why(home.id)
    assert remote.why(home.id).tag == here.why(home.id).tag
    assert remote.history("user", "lives_in") == here.history("user", "lives_in")
    assert b"".join(remote.exported()) == b"".join(here.exported())


def test_everything_that_can_be_written_can_be_written(server: Opened, remote: RemoteUser) -> None:
    """API: every writing verb."""
    here = server.memory.user("alex")
    remote.observe(list(server.memory.user("bo").messages()) or "Hello", full=False)
    message = remote.observe(iter([{"role": "user", "content": "Joe is a close friend."}])).messages[0]
    told = remote.remember(
        "close friend",
        subject="Joe",
        attribute="relationship",
        source="quoted",
        confidence=0.5,
        kind="semantic",
        valid_from=datetime(2020, 1, 1, tzinfo=UTC),
        expires_at=4102444800.0,
        evidence=[Evidence(message, 9, 21), message, {"message_id": message}],
        origin="test",
    ).stored[0]
    held = next(each for each in here.why(told).observations if each.id == told)
    assert (held.valid_from, held.expires_at) == (datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
    assert held.origin == "test"
    with pytest.raises(Stale):
        remote.correct(told, "best friend", expected="0" * 24)
    new = remote.correct(told, "best friend", reason="misheard", expected=remote.why(told).tag).stored[0]
    remote.end(new, at="2026-05-01", reason="moved away")
    assert remote.beliefs("Joe") == []
    remote.observe("I'm allergic to hazelnuts.")
    remote.observe("I'm allergic to peanuts.")
    first, second = (each.id for each in remote.pending())
    remote.confirm(first)
    remote.reject(second)
    assert {b.state for b in remote.beliefs(attribute="allergy", state="all")} >= {State.ACTIVE, State.REJECTED}
    remote.retract(message, reason="joking")
    assert remote.extract("2020-01-01", background=True).stored == ()
    assert remote.end_session("s1") == Receipt()
    remote.used(here.beliefs()[0:1][0].id for _ in range(1))
    remote.used([])


def test_handles_are_narrowed_and_aliases_heard(server: Opened, client: Client) -> None:
    """API: agent= and session= are provenance and read filters."""
    narrow = client.user("zoë/1", tenant="t 2", agent="planner", session="s1", aliases=["Zoë", "Z, the first"])
    narrow.observe([{"role": "user", "name": "Zoë", "content": "I live in Berlin."}])
    here = server.memory.user("zoë/1", tenant="t 2")
    message = next(iter(here.messages()))
    assert (message.agent, message.session) == ("planner", "s1")
    assert [b.value for b in here.beliefs("user", "lives_in")] == ["Berlin"]
    assert narrow.beliefs() == here.beliefs()
    assert client.user("zoë/1", tenant="t 2", agent="other").beliefs() == []
    assert client.users() == [Owner("t 2", "zoë/1")]


def test_long_lists_come_whole(server: Opened, remote: RemoteUser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: cursor paging, unseen by whoever uses the client."""
    monkeypatch.setattr("firsthand.client.PAGE", 3)
    remote.observe([f"Turn {n}" for n in range(10)])
    assert [m.content for m in remote.messages()] == [f"Turn {n}" for n in range(10)]
    for n in range(7):
        remote.remember(f"Fact {n}")
    assert remote.beliefs() == server.memory.user("alex").beliefs()


def test_export_import_and_erasing(tmp_path: Path, server: Opened, client: Client, remote: RemoteUser) -> None:
    """API: export(path), import_(path), forget, forget_source, erase."""
    remote.observe(TALK, session="s1")
    path = tmp_path / "alex.jsonl"
    report = remote.export(path)
    assert (report.messages, report.beliefs) == (3, len(remote.beliefs(state="all")))
    here = tmp_path / "here.jsonl"
    server.memory.user("alex").export(here)
    assert path.read_bytes() == here.read_bytes()
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    assert remote.forget("m/1").messages == 1
    assert remote.forget_source(session="s1").messages == 2
    assert remote.erase().messages == 0
    with opened() as other, listening(other) as url, client_of(other, url) as there:
        assert there.import_(path).messages == 3
        assert there.import_(io.BytesIO(path.read_bytes())).duplicates > 0
        with pytest.raises(NotAllowed, match="another user"):
            there.import_(path, owner=Owner("default", "bo"))
    with pytest.raises(InvalidInput, match="cannot read"):
        client.import_(tmp_path / "nothing")
    with pytest.raises(InvalidInput, match="names no owner"):
        client.import_(io.BytesIO(b"nothing\n"))
    with pytest.raises(InvalidInput, match="cannot write"):
        remote.export(tmp_path / "no" / "folder")


def test_what_concerns_the_store(server: Opened, client: Client) -> None:
    """API: health, rebuild, maintain, embed, work and policies, of a whole store."""
    client.user("alex").remember("I like tea")
    assert client.health()["ok"]
    assert client.rebuild() == Report(equal=True, owners=1, messages=0, observations=1, beliefs=1)
    assert client.maintain() == {"vectors": 0, "expired": 0}
    assert client.embed() == 0
    with pytest.raises(InvalidInput, match="no model is configured"):
        client.work()
    assert client.apply_policy(server.memory.policy).equal
    with pytest.raises(PolicyInvalid):
        client.apply_policy("attribute")


def test_refusals_are_the_librarys_errors(server: Opened, client: Client, remote: RemoteUser) -> None:
    """Issue: problem details that map the error tree, there and back."""
    with pytest.raises(NotFound, match="nothing here has the id"):
        remote.why("nobody")
    with pytest.raises(NotFound):
        remote.why("..")
    with pytest.raises(InvalidInput, match="the id is empty"):
        remote.forget("")
    with pytest.raises(InvalidInput, match="valid_to must be later"):
        remote.remember("x", attribute="lives_in", valid_from="2026-01-01", valid_to="2025-01-01")
    with pytest.raises(InvalidInput, match="source is one of"):
        remote.remember("x", source="hearsay")
    remote.remember("x", idempotency_key="k")
    with pytest.raises(Conflict, match="idempotency key"):
        remote.remember("y", idempotency_key="k")
    with pytest.raises(NotAllowed, match="by name"):
        client.user().erase()
    with Client(client.line.url, "fh_no_key") as nobody, pytest.raises(NotAllowed, match="needs a key that holds"):
        nobody.user("alex").profile()
    with pytest.raises(InvalidInput, match="several users"):
        client.user().profile()
    with client_of(server, client.line.url, Grant("default", "alex", Level.READ)) as reader:
        assert [b.text for b in reader.user().beliefs()] == ["x"]
        with pytest.raises(NotAllowed, match="role write"):
            reader.user().remember("z")


@pytest.mark.parametrize("url", ["agent.db", "ftp://host", "http://", "http://host:port", "//host"])
def test_what_is_no_address_is_refused(url: str) -> None:
    """Ours: a path given to the wrong class is told so."""
    with pytest.raises(InvalidInput, match="no address"):
        Client(url)


def test_a_server_that_is_not_there_is_told(server: Opened) -> None:
    """Ours: one clear line, of the error that the library has for a store that cannot be opened."""
    with listening(server) as url:
        pass
    with pytest.raises(StoreUnavailable, match="does not answer"):
        Client(url).user("alex").profile()
    with pytest.raises(StoreUnavailable, match="does not answer"):
        list(Client(url).user("alex").exported())


def answering(*answers: bytes) -> tuple[str, threading.Thread]:
    """A server that gives these answers, a connection each, whatever it is asked."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener:
            for each in answers:
                line, _ = listener.accept()
                with line:
                    line.recv(65_536)
                    line.sendall(each)

    thread = threading.Thread(target=serve)
    thread.start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}", thread


def http(status: str, body: bytes, *headers: str) -> bytes:
    """An answer as it is sent."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


BUSY = http("503 Busy", json.dumps({"type": "urn:firsthand:StoreBusy", "detail": "busy"}).encode(), "Retry-After: 0")
DONE = http("200 OK", json.dumps(to_json(Receipt(stored=("o1",)))).encode())


def test_what_was_put_off_is_sent_again_and_what_broke_is_repeated_safely() -> None:
    """Ours: a write carries an idempotency key, so that sending it again cannot write twice."""
    url, thread = answering(BUSY, b"", DONE)
    assert Client(url).user("alex").remember("x").stored == ("o1",)
    thread.join()
    url, thread = answering(BUSY, BUSY)
    with pytest.raises(StoreBusy, match="busy"):
        Client(url, retries=1).user("alex").remember("x")
    thread.join()
    url, thread = answering(b"")
    with pytest.raises(StoreUnavailable):
        Client(url, retries=3).user("alex").forget("x")  # not safe to repeat: sent once
    thread.join()


@pytest.mark.parametrize(
    "answer", [http("200 OK", b"<html>"), http("502 Bad", b"<html>"), http("200 OK", b'{"stored": 3}')]
)
def test_an_answer_that_is_none_of_firsthands_is_an_error(answer: bytes) -> None:
    """Ours: a proxy's page, or another program, is told as such."""
    url, thread = answering(answer)
    with pytest.raises(FirsthandError):
        Client(url).user("alex").remember("x")
    thread.join()


def test_an_export_that_was_cut_short_leaves_no_file(tmp_path: Path) -> None:
    """Ours: whole or not at all."""
    url, thread = answering(http("200 OK", b'{"format": "firsthand-export"}\n'))
    with pytest.raises(StoreUnavailable, match="cut short"):
        Client(url).user("alex").export(tmp_path / "x")
    thread.join()
    assert list(tmp_path.iterdir()) == []


def test_connections_are_used_again_and_several_threads_may_speak(server: Opened, client: Client) -> None:
    """Ours: one client for a whole program."""
    alex = client.user("alex")

    def speak(number: int) -> None:
        for turn in range(5):
            alex.remember(f"Fact {number} {turn}")

    threads = [threading.Thread(target=speak, args=(n,)) for n in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(server.memory.user("alex").beliefs()) == 20
    assert 1 <= len(client.line._idle) <= 4
    client.close()
    client.close()
    assert alex.beliefs() == server.memory.user("alex").beliefs()


def test_the_client_needs_neither_numpy_nor_the_server() -> None:
    """Ours: a program that speaks to a server loads no store."""
    heavy = "{'numpy', 'apsw', 'starlette'}"
    script = f"import sys; from firsthand import Client; Client('http://x'); print({heavy} & {{*sys.modules}})"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    assert told.stdout.strip() == "set()"


def test_a_form_of_a_newer_server_is_read_for_what_it_has() -> None:
    """Ours: fields that are not known here are passed over; what is missing takes its default."""
    assert of_json(Receipt, {"stored": ["a"], "later": 1}) == Receipt(stored=("a",))
    with pytest.raises(InvalidInput, match="no Receipt in JSON"):
        of_json(Receipt, {"stored": 3})
    with pytest.raises(InvalidInput, match="no Owner in JSON"):
        of_json(Owner, {"tenant": "x"})


def test_a_server_under_limits_puts_off_and_the_client_waits() -> None:
    """Ours: a rate limit is not an error to whoever can wait a second."""
    with opened(Limits(rate=50, burst=2)) as server, listening(server) as url, client_of(server, url) as client:
        for _ in range(4):
            assert client.user("alex").profile() == []


def test_what_tells_of_others_or_names_the_servers_files_is_refused(client: Client, remote: RemoteUser) -> None:
    """Issue 5: whether bytes hold a word tells of other users, and no path from a request is opened."""
    remote.observe(TALK)
    with pytest.raises(NotAllowed, match="on its machine"):
        remote.erase(verify=True)
    with pytest.raises(NotAllowed, match="on its machine"):
        remote.forget("m/1", canaries=["Berlin"])
    with pytest.raises(NotAllowed, match="on its machine"):
        client.merge("other.db")
    assert len(list(remote.messages())) == len(TALK)


def test_what_was_erased_comes_back_only_when_asked(tmp_path: Path, client: Client, remote: RemoteUser) -> None:
    """Issue 5: marks of erasures bind over HTTP too, and are lifted by whoever may import."""
    remote.observe(TALK)
    remote.export(tmp_path / "old.jsonl")
    remote.erase()
    alex = Owner("default", "alex")
    assert client.import_(tmp_path / "old.jsonl", owner=alex).messages == 0
    assert client.import_(tmp_path / "old.jsonl", owner=alex, restore_erased=True).messages == len(TALK)
