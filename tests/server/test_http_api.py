"""The HTTP API: verbs, pages, repeats, tags, and what comes in and goes out."""

from __future__ import annotations

import json
from pathlib import Path

from doors_open import Opened, ok, opened, problem
from starlette.testclient import TestClient

from firsthand import Memory, to_json
from firsthand.server.keys import ALL, Level

TALK = [
    {"role": "user", "content": "I live in Berlin.", "id": "m/1"},
    {"role": "assistant", "content": "Nice."},
    {"role": "user", "content": "Remember that I take the train on Fridays."},
]
LINES = {"Content-Type": "application/x-ndjson"}


def test_the_verbs_answer_what_the_library_answers(server: Opened, owner: TestClient) -> None:
    """API: over HTTP the same verbs, with the JSON forms of the library."""
    receipt = ok(owner.post("/v1/messages", json={"messages": TALK, "session": "s1"}))
    assert receipt["messages"][0] == "m/1"
    here = server.memory.user("alex")
    assert ok(owner.get("/v1/beliefs"))["items"] == to_json(here.beliefs())
    assert ok(owner.get("/v1/profile")) == to_json(here.profile())
    asked = {"question": "where do I live?"}
    assert ok(owner.post("/v1/recall", json=asked)) == to_json(here.recall("where do I live?"))
    block = ok(owner.post("/v1/context", json={**asked, "max_tokens": 200}))
    assert block["text"] == str(here.context("where do I live?", max_tokens=200))
    found = ok(owner.post("/v1/search", json={"question": "trains", "limit": 1}))
    assert found == to_json(here.search("trains", limit=1))
    assert ok(owner.get("/v1/messages"))["items"] == to_json(list(here.messages()))
    assert ok(owner.get("/v1/sessions"))["items"] == to_json(here.sessions())
    home = here.beliefs("user", "lives_in")[0]
    assert ok(owner.get(f"/v1/memories/{home.id}/why")) == to_json(here.why(home.id))
    ok(owner.post(f"/v1/memories/{home.id}/correct", json={"value": "Porto"}))
    held = ok(owner.get("/v1/history?subject=user&attribute=lives_in"))["items"]
    assert held == to_json(here.history("user", "lives_in"))
    assert {b["value"]: b["state"] for b in held} == {"Berlin": "withdrawn", "Porto": "active"}


def test_what_waits_is_confirmed_and_what_holds_is_ended_and_taken_back(server: Opened, owner: TestClient) -> None:
    """API: confirm, reject, end and retract, each answered by a receipt."""
    ok(owner.post("/v1/messages", json={"messages": "I'm allergic to hazelnuts."}))
    waiting = ok(owner.get("/v1/pending"))["items"]
    assert waiting[0]["question"]
    ok(owner.post(f"/v1/memories/{waiting[0]['id']}/confirm"))
    assert ok(owner.get("/v1/pending"))["items"] == []
    ok(owner.post("/v1/messages", json={"messages": "I'm allergic to peanuts."}))
    waiting = ok(owner.get("/v1/pending"))["items"]
    ok(owner.post(f"/v1/memories/{waiting[0]['id']}/reject", json={"reason": "misheard"}))
    ok(owner.post("/v1/messages", json={"messages": TALK}))
    home = server.memory.user("alex").beliefs("user", "lives_in")[0].id
    ok(owner.post(f"/v1/memories/{home}/end", json={"reason": "moved out"}))
    assert ok(owner.get("/v1/beliefs?attribute=lives_in"))["items"] == []
    ok(owner.post("/v1/memories/m%2F1/retract", json={"reason": "joking"}))
    states = {b["value"]: b["state"] for b in ok(owner.get("/v1/beliefs?state=all"))["items"]}
    assert states["Berlin"] == "withdrawn"
    assert (states["hazelnuts"], states["peanuts"]) == ("active", "rejected")
    assert owner.post("/v1/used", json={"ids": ["m/1", "nobody's"]}).status_code == 204


def test_the_writer_runs_when_asked(server: Opened, owner: TestClient) -> None:
    """API: end_session and extract find what was not looked at, and are safe to repeat."""
    ok(owner.post("/v1/messages", json={"messages": TALK, "session": "s1"}))
    for verb, body in (("end-session", {"session": "s1"}), ("extract", {"since": "2026-01-01"}), ("extract", {})):
        receipt = ok(owner.post(f"/v1/{verb}", json=body))
        assert receipt["stored"] == []
        assert receipt["duplicates"]
    assert len(server.memory.user("alex").beliefs()) == 2


def test_pages_walk_everything_once(owner: TestClient) -> None:
    """Issue: cursor paging."""
    for number in range(7):
        ok(owner.post("/v1/memories", json={"text": f"Fact number {number}"}))
        ok(owner.post("/v1/messages", json={"messages": f"Turn {number}", "session": f"s{number}"}))
    for address in ("/v1/beliefs", "/v1/messages", "/v1/sessions"):
        seen: list[str] = []
        page = ok(owner.get(address, params={"limit": "3"}))
        while True:
            assert len(page["items"]) <= 3
            seen += [each["id"] for each in page["items"]]
            if page["next"] is None:
                break
            page = ok(owner.get(address, params={"limit": "3", "cursor": page["next"]}))
        assert len(seen) == len(set(seen)) == 7, address
    for cursor in ("bm9uc2Vuc2U", "!", "WzEsMiwzXQ"):
        problem(owner.get("/v1/messages", params={"cursor": cursor}), 400, "Malformed")


def test_a_page_goes_on_where_its_last_item_has_gone(owner: TestClient) -> None:
    """Ours: erasing between two pages neither repeats nor hides what is left."""
    ids = [ok(owner.post("/v1/memories", json={"text": f"Fact {n}"}))["stored"][0] for n in range(4)]
    first = ok(owner.get("/v1/beliefs?limit=2"))
    ok(owner.delete(f"/v1/memories/{first['items'][0]['id']}"))
    second = ok(owner.get("/v1/beliefs", params={"cursor": first["next"]}))
    assert [b["id"] for b in first["items"] + second["items"]] == ids


def test_a_repeat_with_the_same_key_writes_once(owner: TestClient) -> None:
    """Issue: idempotency keys."""
    headers = {"Idempotency-Key": "one"}
    first = ok(owner.post("/v1/memories", json={"text": "I like tea"}, headers=headers))
    again = ok(owner.post("/v1/memories", json={"text": "I like tea"}, headers=headers))
    assert again["duplicates"] == first["stored"]
    assert len(ok(owner.get("/v1/beliefs"))["items"]) == 1
    problem(owner.post("/v1/memories", json={"text": "I like milk"}, headers=headers), 409, "Conflict")


def test_an_edit_of_something_that_changed_is_refused(owner: TestClient) -> None:
    """Issue: ETags where state is edited."""
    claim = {"text": "Berlin", "attribute": "lives_in"}
    name = ok(owner.post("/v1/memories", json=claim))["stored"][0]
    tag = owner.get(f"/v1/memories/{name}/why").headers["etag"]
    assert owner.get(f"/v1/memories/{name}/why", headers={"If-None-Match": tag}).status_code == 304
    ok(owner.post("/v1/memories", json={**claim, "session": "another"}))
    address, value = f"/v1/memories/{name}/correct", {"value": "Porto"}
    problem(owner.post(address, json=value, headers={"If-Match": tag}), 412, "Stale")
    fresh = owner.get(f"/v1/memories/{name}/why").headers["etag"]
    ok(owner.post(address, json=value, headers={"If-Match": fresh}))


def test_export_and_import_stream_and_lose_nothing(server: Opened, owner: TestClient) -> None:
    """Issue: streaming import and export."""
    ok(owner.post("/v1/messages", json={"messages": [{"role": "user", "content": "x" * 1000}] * 200}))
    lines = owner.get("/v1/export")
    assert lines.headers["content-type"] == LINES["Content-Type"]
    assert b"".join(server.memory.user("alex").exported()) == lines.content
    with opened() as other:
        there, bo = other.as_(Level.ADMIN), other.as_(Level.ADMIN, user="bo")
        detail = problem(bo.post("/v1/import", content=lines.content, headers=LINES), 403, "NotAllowed")
        assert "another user" in detail
        problem(there.post("/v1/import", content=lines.content[:-20], headers=LINES), 422, "InvalidInput")
        problem(there.post("/v1/import", content=lines.content), 415, "Unsupported")
        assert other.memory.users() == []
        assert ok(there.post("/v1/import", content=lines.content, headers=LINES))["messages"] == 200
        assert there.get("/v1/export").content == lines.content


def test_the_policy_is_shown_and_changed(server: Opened, owner: TestClient) -> None:
    """Ours: the rules can be read by whoever has a key, and changed by whoever has the store."""
    operator = server.as_(Level.ADMIN, user=ALL, tenant=ALL)
    held = ok(owner.get("/v1/policy"))
    problem(owner.put("/v1/policy", json={"text": held["text"]}), 403, "NotAllowed")
    assert ok(operator.put("/v1/policy", json={"text": held["text"]}))["equal"]
    problem(operator.put("/v1/policy", json={"text": "attribute"}), 422, "PolicyInvalid")
    for verb in ("rebuild", "maintain", "embed"):
        ok(operator.post(f"/v1/{verb}"))


def test_it_is_alive_and_ready_until_the_store_fails(server: Opened) -> None:
    """Issue: health and readiness, which need no key."""
    nobody = server.with_key(None)
    assert ok(nobody.get("/livez")) == {"status": "ok"}
    assert ok(nobody.get("/readyz")) == {"status": "ok"}
    server.memory.close()
    assert ok(nobody.get("/livez")) == {"status": "ok"}
    assert nobody.get("/readyz").status_code >= 500


def test_a_write_is_kept_when_the_answer_has_come(tmp_path: Path) -> None:
    """Design: receipts come after the commit."""
    with opened(memory=Memory(tmp_path / "m.db")) as server:
        ok(server.as_(Level.WRITE).post("/v1/memories", json={"text": "I like tea"}))
        with Memory(tmp_path / "m.db") as other:
            assert [b.text for b in other.user("alex").beliefs()] == ["I like tea"]


def test_text_comes_back_as_it_went_in(owner: TestClient) -> None:
    """Ours: JSON is UTF-8, whatever is in it."""
    said = "Ich wohne in Köln 🏠 \u2028 и всё"
    ok(owner.post("/v1/messages", json={"messages": said}))
    found = owner.get("/v1/messages")
    assert json.loads(found.content.decode("utf-8"))["items"][0]["content"] == said
