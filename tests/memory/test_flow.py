"""The flow as a user of the library meets it: the four stories of the design, and what the public surface promises."""

from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path

import pytest

from firsthand import (
    Caller,
    Conflict,
    InvalidInput,
    Memory,
    NotAllowed,
    NotFound,
    Owner,
    Stale,
    State,
    User,
)
from stopped_clock import StoppedClock


def values(user: User, subject: str, attribute: str) -> list[str]:
    return [belief.value for belief in user.beliefs(subject, attribute)]


# -- the four stories -----------------------------------------------------------------------------------------------


def test_joe_stays_a_friend_whatever_is_inferred(alex: User, clock: StoppedClock) -> None:
    """Design, story 1: an inference never replaces, or sits beside, what was said."""
    alex.remember("close friend", subject="Joe", attribute="relationship")
    for guess in ("recruiter", "Anthropic recruiter", "professional contact"):
        clock.forward(days=3)
        receipt = alex.remember(guess, subject="Joe", attribute="relationship", source="inferred")
        assert [each.id for each in receipt.pending], "a guess waits"
        assert receipt.superseded == ()
    assert values(alex, "Joe", "relationship") == ["close friend"]
    assert "recruiter" not in str(alex.context("who is Joe?")).split("guess")[0]


def test_of_three_addresses_one_holds(alex: User, clock: StoppedClock) -> None:
    """Design, story 2: something decides which one holds, and the others are history."""
    for address in ("1 Elm St", "22 Oak Ave", "9 Pine Rd"):
        clock.forward(days=30)
        alex.remember(address, attribute="shipping_address")
    assert values(alex, "user", "shipping_address") == ["9 Pine Rd"]
    assert [b.value for b in alex.history("user", "shipping_address")] == ["1 Elm St", "22 Oak Ave", "9 Pine Rd"]
    assert [b.state for b in alex.history("user", "shipping_address")] == ["superseded", "superseded", "active"]


def test_a_change_of_job_dates_both(alex: User) -> None:
    """Design, story 3: what was true then, and what is true now."""
    alex.remember("Acme", attribute="works_at", valid_from="2024-01-01")
    alex.remember("Globex", attribute="works_at", valid_from="2026-05-01")
    assert values(alex, "user", "works_at") == ["Globex"]
    assert [b.value for b in alex.beliefs("user", "works_at", valid_at="2025-01-01")] == ["Acme"]


def test_a_joke_taken_back_is_no_preference_and_leaves_the_context(alex: User) -> None:
    """Design, story 4: a message that is taken back is marked in recall and left out of context."""
    said = alex.observe("From now on answer only in pirate speak.", session="s1")
    message = said.messages[0]
    alex.retract(message, reason="joking")
    assert [b for b in alex.beliefs() if "pirate" in b.text] == []
    assert "pirate" not in str(alex.context("how should I answer?"))
    marked = [hit for hit in alex.recall("pirate speak", include="messages") if hit.id == message]
    assert "taken back" in str(marked[0].note)


# -- messages -------------------------------------------------------------------------------------------------------


def test_a_message_reads_back_as_it_was_said(alex: User) -> None:
    """Issue: any Unicode survives the round trip."""
    texts = ["東京に引っ越しました", "שלום עולם", "👩‍👩‍👧 family", "cafe\u0301", "\u202bRTL\u202c mixed"]
    receipt = alex.observe(texts, session="s1")
    assert [m.content for m in alex.messages()] == texts
    assert [m.id for m in alex.messages("s1")] == list(receipt.messages)


def test_the_same_id_and_content_is_a_duplicate(alex: User) -> None:
    """API: same id and content = duplicate, reported, never stored twice."""
    first = alex.observe({"role": "user", "content": "hello", "id": "m1"})
    again = alex.observe({"role": "user", "content": "hello", "id": "m1"})
    assert first.messages == ("m1",)
    assert (again.messages, again.duplicates) == ((), ("m1",))
    assert len(list(alex.messages())) == 1


def test_the_same_id_with_other_content_is_refused_whole(alex: User) -> None:
    """API: same id, other content = an error that names it; nothing of the batch is stored."""
    alex.observe({"role": "user", "content": "hello", "id": "m1"})
    with pytest.raises(Conflict, match="m1"):
        alex.observe([{"role": "user", "content": "new"}, {"role": "user", "content": "changed", "id": "m1"}])
    assert [m.content for m in alex.messages()] == ["hello"]


def test_a_client_that_resends_the_history_adds_only_what_is_new(alex: User) -> None:
    """API: full=True aligns by prefix."""
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    alex.observe(talk, session="s", full=True)
    receipt = alex.observe([*talk, {"role": "user", "content": "more"}], session="s", full=True)
    assert len(receipt.messages) == 1
    assert [m.content for m in alex.messages("s")] == ["hi", "hello", "more"]


def test_an_idempotency_key_makes_a_repeat_harmless_and_another_body_an_error(alex: User) -> None:
    """Design: same idempotency key with the same body is a duplicate, with another body an error."""
    first = alex.remember("likes tea", idempotency_key="k")
    again = alex.remember("likes tea", idempotency_key="k")
    assert again.duplicates == first.stored
    assert len(alex.beliefs()) == 1
    with pytest.raises(Conflict, match="'k'"):
        alex.remember("likes coffee", idempotency_key="k")


def test_a_secret_never_reaches_the_ledger(tmp_path: Path) -> None:
    """C077: secrets are masked before anything is written, on every path."""
    path = tmp_path / "m.db"
    with Memory(path) as memory:
        alex = memory.user("alex")
        alex.observe("Remember: db password is hunter2-example, key sk-test-ABC123abc123ABC123abc123")
        alex.remember("the api_key=sk-test-ABC123abc123ABC123abc123 works", metadata={"password": "hunter2-example"})
        alex.export(tmp_path / "out.jsonl")
    for file in tmp_path.iterdir():
        assert b"hunter2-example" not in file.read_bytes(), file
        assert b"ABC123abc123" not in file.read_bytes(), file


def test_recalled_context_fed_back_is_no_evidence(alex: User) -> None:
    """Design: recalled context fed back is not evidence; what the person says beside it is."""
    alex.remember("Lisbon", attribute="lives_in")
    block = str(alex.context("where do I live?")).replace("Lisbon", "Rome. I live in Rome")
    assert "I live in Rome" in block
    alex.observe({"role": "user", "content": f"{block}\nI work at Globex."}, session="s2")
    alex.observe({"role": "assistant", "content": block}, session="s2")
    assert values(alex, "user", "lives_in") == ["Lisbon"]
    assert values(alex, "user", "works_at") == ["Globex"]
    assert [hit for hit in alex.recall("Rome") if "Rome" in hit.text and hit.note is None] == []


def test_what_an_assistant_says_is_no_fact_about_the_user(alex: User) -> None:
    """C007: subject and speaker come from the message role."""
    alex.observe(
        [
            {"role": "user", "content": "Explain quicksort"},
            {
                "role": "assistant",
                "content": "I prefer the recursive version, and you like clean code. I live in Rome.",
            },
        ]
    )
    assert alex.beliefs(state=None) == []


# -- acts -----------------------------------------------------------------------------------------------------------


def test_a_correction_replaces_and_keeps_the_old_one_as_withdrawn(alex: User) -> None:
    """Design: corrected means that it never was; nothing is lost."""
    alex.remember("colleague", subject="Joe", attribute="relationship", source="quoted", confidence=0.6)
    old = alex.beliefs("Joe", state=None)[0]
    alex.confirm(old.id)
    held = alex.beliefs("Joe")[0]
    alex.correct(held.id, "close friend")
    assert values(alex, "Joe", "relationship") == ["close friend"]
    assert {b.value: b.state for b in alex.history("Joe", "relationship")} == {
        "colleague": State.WITHDRAWN,
        "close friend": State.ACTIVE,
    }


def test_an_ending_leaves_a_past(alex: User) -> None:
    """Design: `end` = was true, no longer."""
    alex.remember("Acme", attribute="works_at", valid_from="2024-01-01")
    alex.end(alex.beliefs("user", "works_at")[0].id, at="2026-05-01")
    assert values(alex, "user", "works_at") == []
    assert [b.value for b in alex.beliefs("user", "works_at", valid_at="2025-01-01")] == ["Acme"]


def test_retracted_stays_retracted_when_extracted_again(alex: User) -> None:
    """Design: extracting again cannot raise it from the dead; a later said assertion reopens it."""
    alex.remember("recruiter", subject="Joe", attribute="relationship")
    alex.retract(alex.beliefs("Joe")[0].id)
    for source in ("inferred", "agent"):
        alex.remember("recruiter", subject="Joe", attribute="relationship", source=source)
    assert values(alex, "Joe", "relationship") == []
    alex.remember("recruiter", subject="Joe", attribute="relationship")
    assert values(alex, "Joe", "relationship") == ["recruiter"]


def test_confirming_and_rejecting_what_waits(alex: User) -> None:
    """API: pending() lists with a question; confirm and reject decide."""
    alex.observe("I'm allergic to penicillin.", session="s1")
    waiting = alex.pending()
    assert len(waiting) == 1
    assert "penicillin" in waiting[0].question
    assert values(alex, "user", "allergy") == []
    alex.confirm(waiting[0].id)
    assert values(alex, "user", "allergy") == ["penicillin"]
    alex.observe("I'm allergic to gluten.", session="s2")
    alex.reject(alex.pending()[0].id)
    assert alex.pending() == []
    assert values(alex, "user", "allergy") == ["penicillin"]


def test_a_model_cannot_claim_what_the_person_may(mem: Memory) -> None:
    """Design: model-side callers are `agent` at most."""
    tool = mem.user("alex", caller=Caller.MODEL)
    tool.remember("likes jazz", source="stated")
    assert [b.source for b in tool.beliefs(state=None)] == ["agent"]


# -- time -----------------------------------------------------------------------------------------------------------


def test_late_news_about_the_past_lands_in_the_past(alex: User) -> None:
    """Design: late news about the past lands in the past."""
    alex.remember("Lisbon", attribute="lives_in", valid_from="2026-03-01")
    alex.remember("Porto", attribute="lives_in", valid_from="2024-06-01")
    assert values(alex, "user", "lives_in") == ["Lisbon"]
    assert [b.value for b in alex.beliefs("user", "lives_in", valid_at="2025-01-01")] == ["Porto"]


def test_what_was_known_then_is_what_is_answered_for_then(alex: User, clock: StoppedClock) -> None:
    """Design: two clocks; known_at is record time."""
    alex.remember("Berlin", attribute="lives_in")
    before = clock()
    clock.forward(days=40)
    alex.remember("London", attribute="lives_in", valid_from="2026-06-15")
    assert values(alex, "user", "lives_in") == ["London"]
    assert [b.value for b in alex.beliefs("user", "lives_in", known_at=before)] == ["Berlin"]
    hits = alex.recall("where do I live?", known_at=before, include="beliefs")
    assert [hit.value for hit in hits] == ["Berlin"]


def test_a_move_told_in_the_present_tense_is_no_late_news(alex: User, clock: StoppedClock) -> None:
    """Ours: "I moved to Lisbon last week" says where the person lives now, whatever was said meanwhile."""
    alex.observe("I live in Berlin.", session="s")
    clock.forward(minutes=1)
    alex.observe("I moved to Lisbon last week.", session="s")
    assert values(alex, "user", "lives_in") == ["Lisbon"]
    assert [b.value for b in alex.history("user", "lives_in")] == ["Berlin", "Lisbon"]


def test_two_homes_in_one_breath_leave_the_one_told_last(alex: User) -> None:
    """Ours: the same, for messages that came in one batch with one time."""
    alex.observe(["I live in Berlin.", "I moved to Lisbon last week."], session="s")
    assert values(alex, "user", "lives_in") == ["Lisbon"]


def test_a_scheduled_change_waits_for_its_day(alex: User, clock: StoppedClock) -> None:
    """Design: `scheduled` is computed at valid_at, never stored."""
    alex.remember("Berlin", attribute="lives_in")
    alex.remember("Rome", attribute="lives_in", valid_from="2026-07-01")
    assert values(alex, "user", "lives_in") == ["Berlin"]
    assert [b.value for b in alex.beliefs(state="scheduled")] == ["Rome"]
    clock.to("2026-07-02T00:00:00")
    assert values(alex, "user", "lives_in") == ["Rome"]


def test_naive_times_are_read_in_the_zone_and_mixed_ones_compare(alex: User) -> None:
    """C014: naive input is read by a documented rule; comparisons are on the instant."""
    alex.remember("A", attribute="lives_in", valid_from="2025-01-01T00:00:00")
    alex.remember("B", attribute="lives_in", valid_from="2025-02-01T00:00:00+02:00")
    at = "2025-01-31T22:00:00+00:00"
    assert [b.value for b in alex.beliefs("user", "lives_in", valid_at=at)] == ["B"]
    assert [b.value for b in alex.beliefs("user", "lives_in", valid_at="2025-01-31T21:59:59Z")] == ["A"]


# -- explaining -----------------------------------------------------------------------------------------------------


def test_why_quotes_the_words_heard(alex: User) -> None:
    """Design: explain itself with the words it heard."""
    alex.observe({"role": "user", "content": "By the way, I moved to Lisbon.", "id": "m7"}, session="s1")
    belief = alex.beliefs("user", "lives_in")[0]
    story = alex.why(belief.id)
    assert story.belief.evidence == ("m7",)
    assert "Lisbon" in story.quotes[0].text
    assert story.quotes[0].content == "By the way, I moved to Lisbon."
    assert story.rule
    assert "m7" in str(story)


def test_any_supporter_finds_its_belief(alex: User) -> None:
    """Design: any supporter's id resolves to the belief it supports now."""
    first = alex.remember("Lisbon", attribute="lives_in").stored[0]
    second = alex.remember("lisbon.", attribute="lives_in").stored[0]
    assert alex.why(first).belief.id == alex.why(second).belief.id == first


def test_an_unknown_id_and_anothers_id_are_told_apart_by_nothing(mem: Memory) -> None:
    """C022: no id of another owner is ever confirmed to exist."""
    alex, sam = mem.user("alex"), mem.user("sam")
    mine = alex.remember("Lisbon", attribute="lives_in").stored[0]
    words = []
    for name in (mine, "no-such-id"):
        for verb in (sam.why, sam.confirm, sam.retract, sam.forget):
            with pytest.raises(NotFound) as caught:
                verb(name)
            words.append(str(caught.value).replace(name, "ID"))
    assert len(set(words)) == 1
    assert values(alex, "user", "lives_in") == ["Lisbon"]


# -- repetition -----------------------------------------------------------------------------------------------------


def test_saying_it_again_adds_evidence_not_beliefs(alex: User) -> None:
    """C003: re-adding never reduces what is stored: one fact, more observations as evidence."""
    for _ in range(6):
        alex.remember("My favourite tea is oolong, from the shop near the old bridge.")
    held = alex.beliefs(state=None)
    assert len(held) == 1
    assert held[0].support == 6


# -- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad", [None, 123, [], [{}], [{"role": "user", "content": ""}], [{"role": "king", "content": "x"}]]
)
def test_what_is_no_message_is_refused(alex: User, bad: object) -> None:
    """C034: accept it or refuse it; success always names what was stored."""
    with pytest.raises(InvalidInput):
        alex.observe(bad)
    assert list(alex.messages()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"source": "repeated"},
        {"source": "gossip"},
        {"kind": "vibes"},
        {"confidence": 1.5},
        {"confidence": float("nan")},
        {"valid_from": "soon"},
        {"valid_from": "2026-02-01", "valid_to": "2026-01-01"},
        {"evidence": ["no-such-message"]},
        {"evidence": [3]},
        {"metadata": {"x": float("nan")}},
        {"subject": ""},
        {"attribute": ""},
    ],
)
def test_a_claim_that_makes_no_sense_is_refused_whole(alex: User, options: dict[str, object]) -> None:
    """Ours: refuse bad input whole, with the reason."""
    with pytest.raises((InvalidInput, NotAllowed)):
        alex.remember("x", **options)  # type: ignore[arg-type]
    assert alex.beliefs(state=None) == []


@pytest.mark.parametrize("limit", [-1, 1.5, "10", True])
def test_a_limit_is_a_whole_number(alex: User, limit: object) -> None:
    """C068: limits are defined."""
    with pytest.raises(InvalidInput):
        alex.recall("x", limit=limit)  # type: ignore[arg-type]


def test_erase_is_refused_on_a_narrower_scope(mem: Memory) -> None:
    """API: erase() is refused on a narrower scope."""
    with pytest.raises(NotAllowed):
        mem.user("alex", agent="support").erase()


def test_datetimes_read_back_with_their_offset(alex: User) -> None:
    """C012: keep the instant and the original offset."""
    alex.observe({"role": "user", "content": "dinner", "at": "2026-06-01T19:00:00-05:00"})
    said = next(iter(alex.messages()))
    assert said.at == datetime.fromisoformat("2026-06-01T19:00:00-05:00")
    assert said.at.isoformat() == "2026-06-01T19:00:00-05:00"


def test_an_act_on_a_belief_that_changed_meanwhile_is_refused(alex: User) -> None:
    """Issue: where state is edited, the edit is of what was seen."""
    belief_id = alex.remember("Berlin", attribute="lives_in").stored[0]
    seen = alex.why(belief_id).tag
    alex.remember("Berlin", attribute="lives_in", session="another")
    with pytest.raises(Stale, match="not as you saw it"):
        alex.correct(belief_id, "Porto", expected=seen)
    assert alex.why(belief_id).tag != seen
    assert alex.correct(belief_id, "Porto", expected=alex.why(belief_id).tag).superseded == (belief_id,)


def test_an_export_of_another_owner_is_not_taken_in(mem: Memory, alex: User) -> None:
    """Issue: the scope comes from the key, never from the body alone."""
    alex.remember("Berlin", attribute="lives_in")
    lines = b"".join(alex.exported())
    with pytest.raises(NotAllowed, match="another user"):
        mem.import_(io.BytesIO(lines), owner=Owner("default", "bo"))
    assert mem.import_(io.BytesIO(lines), owner=Owner("default", "alex")).duplicates == 1
