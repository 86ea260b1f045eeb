"""What the HTTP API turns away, and how it says so."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from doors_open import Opened, ok, opened, problem
from starlette.testclient import TestClient

import firsthand.errors
from firsthand import Caller, FirsthandError
from firsthand.server.keys import ALL, Level
from firsthand.server.limits import Limits
from firsthand.server.problems import STATUS, TITLES

JSON = {"Content-Type": "application/json"}


def test_erasing_needs_an_admin_and_the_name(server: Opened, owner: TestClient) -> None:
    """API: erasing bytes needs an administrator's or the person's own key."""
    writer = server.as_(Level.WRITE)
    name = ok(writer.post("/v1/memories", json={"text": "I like tea"}))["stored"][0]
    problem(writer.delete(f"/v1/memories/{name}"), 403, "NotAllowed")
    problem(writer.delete("/v1/memories?user=alex"), 403, "NotAllowed")
    problem(writer.post("/v1/forget-source", json={"session": "s"}), 403, "NotAllowed")
    problem(owner.delete("/v1/memories"), 400, "Malformed")
    problem(owner.delete("/v1/memories?user=alexa"), 403, "NotAllowed")
    problem(owner.delete("/v1/memories?user=alex", headers={"Firsthand-Agent": "a"}), 403, "NotAllowed")
    problem(owner.post("/v1/forget-source", json={}), 422, "InvalidInput")
    assert ok(owner.delete("/v1/memories?user=alex"))["observations"] == 1
    assert server.memory.users() == []


def test_whose_memory_it_is_comes_from_the_key(server: Opened, owner: TestClient) -> None:
    """Issue: the scope comes from the key, never from the body alone."""
    bo, reader = server.as_(Level.WRITE, user="bo"), server.as_(Level.READ, user="bo")
    ok(bo.post("/v1/memories", json={"text": "Bo's secret"}))
    assert ok(owner.get("/v1/beliefs"))["items"] == []
    problem(owner.get("/v1/beliefs", headers={"Firsthand-User": "bo"}), 403, "NotAllowed")
    problem(owner.get("/v1/beliefs", headers={"Firsthand-Tenant": "other"}), 403, "NotAllowed")
    problem(owner.post("/v1/memories", json={"text": "x", "user": "bo"}), 400, "Malformed")
    problem(reader.post("/v1/memories", json={"text": "x"}), 403, "NotAllowed")
    for address in ("/v1/users", "/v1/health", "/metrics"):
        problem(owner.get(address), 403, "NotAllowed")


def test_a_key_for_several_users_needs_the_name_of_one(server: Opened) -> None:
    """Issue: keys are scoped to tenant and user."""
    service = server.as_(Level.WRITE, user=ALL)
    problem(service.get("/v1/beliefs"), 400, "Malformed")
    problem(service.get("/v1/beliefs", headers={"Firsthand-User": "%ff"}), 422, "InvalidInput")
    for user in ("zoë", "a/b"):
        chosen = {"Firsthand-User": quote(user, safe="")}
        ok(service.post("/v1/memories", json={"text": f"{user} likes tea"}, headers=chosen))
        assert len(ok(service.get("/v1/beliefs", headers=chosen))["items"]) == 1
    server.memory.user("eve", tenant="elsewhere").remember("secret")
    assert {each["user"] for each in ok(service.get("/v1/users"))["items"]} == {"zoë", "a/b"}
    everywhere = server.as_(Level.ADMIN, user=ALL, tenant=ALL)
    assert len(ok(everywhere.get("/v1/users"))["items"]) == 3
    assert ok(everywhere.get("/v1/health"))["ok"]


def test_a_model_with_a_key_may_not_claim_what_a_person_said(server: Opened) -> None:
    """Design: model-side callers are `agent` at most."""
    model = server.as_(Level.WRITE, caller=Caller.MODEL)
    for source in ("record", "stated", "corrected"):
        ok(model.post("/v1/memories", json={"text": f"Plays the cello ({source})", "source": source}))
    assert {b["source"] for b in ok(model.get("/v1/beliefs"))["items"]} == {"agent"}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "text is missing"),
        ({"text": 3}, "text must be text, not a whole number"),
        ({"text": ""}, "text is empty"),
        ({"text": "a", "colour": 1}, "colour is not known here"),
        ({"text": "a", "confidence": 2}, "confidence is 2"),
        ({"text": "a", "confidence": True}, "confidence must be a number"),
        ({"text": "a", "source": "repeated"}, "source is one of"),
        ({"text": "a", "subject": "a\nb"}, "subject holds a character that it may not"),
        ({"text": "a", "evidence": [{"quote": "b"}]}, "evidence[0] has none of the forms"),
        ([], "the body must be an object, not a list"),
    ],
)
def test_what_is_not_as_the_document_says_is_refused_with_the_place(owner: TestClient, body: Any, where: str) -> None:
    """Issue: strict schemas; one line that says what is wrong."""
    assert where in problem(owner.post("/v1/memories", json=body), 400, "Malformed")


def test_bodies_that_are_no_json_are_refused(owner: TestClient) -> None:
    """Ours: neither other types nor what only looks like JSON."""
    problem(owner.post("/v1/memories", content=b"text=a"), 415, "Unsupported")
    for content in (b"{", b'{"text": NaN}', b"[" * 100_000, b"\xff"):
        problem(owner.post("/v1/memories", content=content, headers=JSON), 400, "Malformed")
    problem(owner.post("/v1/memories", content=b'{"text": "\\ud800"}', headers=JSON), 422, "InvalidInput")


def test_a_huge_body_is_refused_before_it_is_kept() -> None:
    """Issue: limits on body."""
    with opened(Limits(body=1_000, upload=2_000, rate=0)) as small:
        alex = small.as_(Level.ADMIN)
        problem(alex.post("/v1/memories", json={"text": "a" * 2_000}), 413, "InvalidInput")
        pieces = (b" " * 500 for _ in range(100))
        problem(alex.post("/v1/memories", content=pieces, headers=JSON), 413, "InvalidInput")
        lines = {"Content-Type": "application/x-ndjson"}
        pieces = (b" " * 500 for _ in range(100))
        problem(alex.post("/v1/import", content=pieces, headers=lines), 413, "InvalidInput")


def test_who_asks_too_often_waits() -> None:
    """Issue: limits on rate, per key, and for those who have none."""
    with opened(Limits(rate=0.001, burst=3)) as slow:
        alex, bo = slow.as_(Level.READ), slow.as_(Level.READ, user="bo")
        for _ in range(3):
            ok(alex.get("/v1/beliefs"))
        refused = alex.get("/v1/beliefs")
        problem(refused, 429, "StoreBusy")
        assert int(refused.headers["retry-after"]) >= 1
        ok(bo.get("/v1/beliefs"))
        nobody = slow.with_key("fh_guess_guess")
        assert [nobody.get("/v1/beliefs").status_code for _ in range(5)] == [401, 401, 401, 429, 429]


def test_addresses_and_methods_that_are_none_say_so(owner: TestClient) -> None:
    """Ours: every refusal is problem details."""
    problem(owner.get("/v1/nothing"), 404, "NotFound")
    problem(owner.get("/v1/beliefs/"), 404, "NotFound")
    refused = owner.put("/v1/messages")
    problem(refused, 405, "NoSuchMethod")
    assert refused.headers["allow"] == "GET, HEAD, POST"
    problem(owner.get("/v1/memories/nobody/why"), 404, "NotFound")
    problem(owner.get("/v1/memories/%ff/why"), 404, "NotFound")
    for query in ("state=odd", "limit=1&limit=2", "limit=%C2%B2", "limit=0", "colour=red"):
        problem(owner.get(f"/v1/beliefs?{query}"), 400, "Malformed")
    assert owner.head("/v1/beliefs").status_code == 200


def test_a_defect_of_ours_shows_nothing_of_what_was_said(
    owner: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: neither the answer nor the log quotes content."""

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("my allergies are none of your business")

    monkeypatch.setattr("firsthand.memory.User.beliefs", fails)
    assert problem(owner.get("/v1/beliefs"), 500, "FirsthandError") == "the server failed; its log says where"
    assert "allergies" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_foreign_pages_are_turned_away(owner: TestClient) -> None:
    """Issue: CORS shut; a Host header check against DNS rebinding."""
    for host in ("evil.example", "localhost.evil.example:80", "[::1", ""):
        problem(owner.get("/v1/beliefs", headers={"Host": host}), 421, "Misdirected")
    for host in ("localhost:8374", "127.0.0.1", "[::1]:8374", "LOCALHOST"):
        ok(owner.get("/v1/beliefs", headers={"Host": host}))
    for origin in ("http://evil.example", "null", "http://localhost:1"):
        problem(owner.post("/v1/extract", headers={"Origin": origin}), 403, "NotAllowed")
    ok(owner.post("/v1/extract", headers={"Origin": "http://localhost"}))
    asked = owner.options("/v1/beliefs", headers={"Origin": "http://evil.example"})
    assert asked.status_code == 405
    assert not [each for each in asked.headers if each.startswith("access-control")]


def test_metrics_count_and_hold_no_content(server: Opened) -> None:
    """Issue: Prometheus metrics, content never in them."""
    alex = server.as_(Level.WRITE)
    ok(alex.post("/v1/messages", json={"messages": "I'm allergic to hazelnuts.", "session": "clinic"}))
    alex.get("/v1/memories/nobody/why")
    text = server.as_(Level.ADMIN, user=ALL, tenant=ALL).get("/metrics").text
    assert 'firsthand_requests_total{route="observe",status="200"} 1' in text
    assert 'firsthand_requests_total{route="why",status="404"} 1' in text
    assert 'firsthand_written_total{outcome="pending"} 1' in text
    assert "firsthand_pending 1" in text
    assert 'firsthand_request_seconds_count{route="observe"} 1' in text
    for word in ("hazelnuts", "clinic", "alex", "nobody"):
        assert word not in text


def _tree(kind: type[FirsthandError]) -> list[type[FirsthandError]]:
    return [kind, *(each for below in kind.__subclasses__() for each in _tree(below))]


@pytest.mark.parametrize("kind", _tree(FirsthandError))
def test_every_error_of_the_library_has_a_status(kind: type[FirsthandError]) -> None:
    """Style: a test lists every error and fails on an unmapped one."""
    if kind.__module__ == firsthand.errors.__name__:
        assert STATUS[kind] in TITLES
