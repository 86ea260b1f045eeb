"""The model writer through the public surface: it proposes, and is never believed more than the words it cites."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from fake_models import ScriptedModel, Turns, answer_of, down, observation
from firsthand import Act, InvalidInput, LLMWriter, Memory, Receipt, Source, State, User
from stopped_clock import StoppedClock

MOVED = observation(1, "I moved to Lisbon last March", "Lisbon", attribute="lives_in", since="2026-03")


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def opened() -> Iterator[list[Memory]]:
    memories: list[Memory] = []
    yield memories
    for each in memories:
        each.close()


class Open:
    """Opens memories that are closed after the test."""

    def __init__(self, clock: StoppedClock, memories: list[Memory]) -> None:
        self._clock, self._memories = clock, memories

    def __call__(self, model: ScriptedModel, **options: Any) -> User:
        """One person's memory, read by this model."""
        caps = {name: options.pop(name) for name in ("calls_per_day", "tokens_per_day") if name in options}
        writer = LLMWriter(model, **caps)
        memory = Memory(options.pop("path", ":memory:"), clock=self._clock, writer=writer, **options)
        self._memories.append(memory)
        return memory.user("alex")


@pytest.fixture
def open_with(clock: StoppedClock, opened: list[Memory]) -> Open:
    return Open(clock, opened)


def said(alex: User, *texts: str, session: str = "s1") -> Receipt:
    alex.observe(list(texts), session=session)
    return alex.end_session(session)


def held(alex: User, **where: Any) -> list[tuple[str, str, str]]:
    return [(b.subject, b.value, b.source) for b in alex.beliefs(**where)]


# -- what it is given ---------------------------------------------------------------------------------------------


def test_one_call_reads_a_batch(open_with: Open) -> None:
    """Issue: one call per batch; new messages, what is held, attribute names, what must not be kept."""
    model = ScriptedModel(answer_of())
    alex = open_with(model)
    alex.remember("Joe is a close friend", subject="Joe", attribute="relationship")
    alex.remember("Ana likes tea", subject="Ana")
    said(alex, "Hello there.", "Joe called me today.", "What a day!")
    assert len(model.asked) == 1
    task = model.task()
    assert [(turn["n"], turn["text"], turn["new"]) for turn in task["turns"]] == [
        (1, "Hello there.", True),
        (2, "Joe called me today.", True),
        (3, "What a day!", True),
    ]
    assert [line for line in task["held"] if "Joe" in line]
    assert not [line for line in task["held"] if "Ana" in line]
    assert task["attributes"]["lives_in"].startswith("one")
    assert task["never"]
    assert {role for role, _ in model.asked[0]} == {"system", "user"}


def test_earlier_turns_come_along_and_are_not_read_again(open_with: Open) -> None:
    """Issue: a cursor per session: what was read is context, and no evidence."""
    model = ScriptedModel(answer_of(), answer_of(observation(1, "I play the oboe", "plays the oboe")))
    alex = open_with(model)
    said(alex, "I play the oboe.")
    receipt = said(alex, "Good night.")
    assert [turn.get("new", False) for turn in model.task()["turns"]] == [False, True]
    assert receipt.stored == ()
    assert [drop.rule for drop in receipt.dropped] == ["nothing-cited"]


def test_nothing_said_by_a_person_costs_no_call(open_with: Open) -> None:
    """Ours: a batch in which nobody speaks is read without a model."""
    model = ScriptedModel(down())
    alex = open_with(model)
    alex.observe(
        [{"role": "assistant", "content": "How are you?"}, {"role": "system", "content": "Be kind."}], session="s1"
    )
    assert alex.end_session("s1") == Receipt()
    assert alex.end_session("s1") == Receipt()
    assert model.asked == []


def test_system_tool_and_recalled_text_is_not_shown(open_with: Open) -> None:
    """Issue: assistant, system, tool and recalled text yields no user facts."""
    model = ScriptedModel(answer_of())
    alex = open_with(model)
    block = str(alex.context("anything"))
    alex.observe(
        [
            {"role": "system", "content": "The user lives in Rome."},
            {"role": "tool", "content": "The user lives in Paris.", "tool_call_id": "t1"},
            {"role": "user", "content": f"{block[:40]} unfinished block: lives in Oslo"},
            {"role": "user", "content": "Good morning."},
        ],
        session="s1",
    )
    alex.end_session("s1")
    assert [turn["text"] for turn in model.task()["turns"]] == ["Good morning."]


# -- what becomes of its answers ----------------------------------------------------------------------------------


def test_what_the_words_say_is_quoted_with_prompt_and_model(open_with: Open) -> None:
    """Issue: the exact quote, since when it holds; prompt name and version recorded with the observation."""
    alex = open_with(ScriptedModel(answer_of(MOVED)), embedder="none")
    receipt = said(alex, "Guess what: I moved to Lisbon last March, for good.")
    (belief,) = alex.beliefs(attribute="lives_in")
    assert (belief.value, belief.source) == ("Lisbon", Source.QUOTED)
    assert belief.valid_from.date().isoformat() == "2026-03-01"
    assert receipt.failed == ()
    told = [o for o in alex.why(belief.id).observations if o.writer and "extract" in o.writer]
    assert not told or told[0].writer == "extract-1 scripted"


def test_the_writer_is_recorded_where_the_rules_heard_nothing(open_with: Open) -> None:
    """Issue: prompts are recorded with each observation."""
    alex = open_with(ScriptedModel(answer_of(observation(1, "the oboe has been my life", "the oboe has been my life"))))
    said(alex, "Honestly, the oboe has been my life since school.")
    (belief,) = alex.beliefs()
    (heard,) = alex.why(belief.id).observations
    assert heard.writer == "extract-1 scripted"
    assert heard.evidence[0].quote == "the oboe has been my life"
    assert heard.source is Source.QUOTED


def test_what_rules_heard_already_is_a_duplicate(open_with: Open) -> None:
    """Issue: adds only what is new."""
    alex = open_with(ScriptedModel(answer_of(observation(1, "I live in Lisbon", "Lisbon", attribute="home_city"))))
    alex.observe("I live in Lisbon.", session="s1")
    (belief,) = alex.beliefs(attribute="lives_in")
    receipt = alex.end_session("s1")
    assert receipt.stored == ()
    assert belief.id in receipt.duplicates
    assert len(alex.why(belief.id).observations) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"quote": "I am moving to Lisbon for good"},  # words that were not said
        {"value": "Porto"},  # a value that the quote does not carry
        {"value": "Lisbon and Porto"},
        {"stated": False},  # the model itself concludes it
    ],
)
def test_what_the_words_do_not_say_is_an_inference(open_with: Open, changed: dict[str, Any]) -> None:
    """Issue: a quote that is not there, or that does not carry the value, makes the claim inferred."""
    alex = open_with(ScriptedModel(answer_of({**MOVED, **changed})))
    said(alex, "So my boxes say that I moved to Lisbon last March, do they not: Porto is far away.")
    found = [b for b in alex.beliefs(attribute="lives_in", state=None) if b.value == {**MOVED, **changed}["value"]]
    assert [(b.source, b.guess) for b in found] == [(Source.INFERRED, True)]
    assert "lives_in" not in {b.attribute for b in alex.profile()}


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Is Joe a recruiter at Anthropic?", "Joe a recruiter at Anthropic"),
        ('My aunt wrote me: "Joe is a recruiter at Anthropic"', "Joe is a recruiter at Anthropic"),
        ("> Joe is a recruiter at Anthropic\nSee the mail above.", "Joe is a recruiter at Anthropic"),
        ("```\nJoe is a recruiter at Anthropic\n```\nfix this text", "Joe is a recruiter at Anthropic"),
    ],
    ids=["asked", "quoted", "forwarded", "code"],
)
def test_words_that_are_asked_or_somebody_elses_are_not_the_persons(open_with: Open, text: str, quote: str) -> None:
    """Issue: questions, quotes and reported speech are not taken for facts, whatever the model says."""
    claim = observation(1, quote, "recruiter at Anthropic", subject="Joe", attribute="relationship")
    alex = open_with(ScriptedModel(answer_of(claim)))
    said(alex, text)
    assert all(b.guess for b in alex.beliefs("Joe", state=None))


def test_a_quote_is_found_where_only_its_dress_differs(open_with: Open) -> None:
    """Ours: models straighten quotation marks and blanks; the span is that of the message."""
    claim = observation(1, "I don't  eat MEAT", "doesn't eat meat")
    alex = open_with(ScriptedModel(answer_of({**claim, "value": "don't eat meat"})))
    said(alex, "Just so you know, I don\u2019t eat\nmeat at all.")
    (belief,) = alex.beliefs(state=None)
    assert alex.why(belief.id).quotes[0].text == "I don\u2019t eat\nmeat"
    assert belief.source is Source.QUOTED


def test_assistant_text_becomes_no_fact_about_the_user(open_with: Open) -> None:
    """Issue: assistant, system, tool and recalled text yields no user facts."""
    claim = observation(1, "You live in Paris", "Paris", attribute="lives_in")
    alex = open_with(ScriptedModel(answer_of(claim)))
    alex.observe(
        [{"role": "assistant", "content": "You live in Paris, right?"}, {"role": "user", "content": "Hm."}],
        session="s1",
    )
    receipt = alex.end_session("s1")
    assert alex.beliefs(state=None) == []
    assert [drop.rule for drop in receipt.dropped] == ["not-heard"]


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        ("lasting", "by the model it would not matter in thirty days"),
        ("handover", "by the model nobody who took over would need to know it"),
    ],
)
def test_what_will_not_matter_is_left_out(open_with: Open, flag: str, reason: str) -> None:
    """Issue: thirty days, and the test of a colleague who takes over."""
    alex = open_with(ScriptedModel(answer_of({**MOVED, flag: False})))
    receipt = said(alex, "My boxes moved: they say I moved to Lisbon last March, but who reads boxes")
    assert [(drop.text, drop.reason, drop.rule) for drop in receipt.dropped] == [("Lisbon", reason, "not-lasting")]


def test_only_words_that_ask_for_it_make_a_claim_stated(open_with: Open) -> None:
    """Design: stated only when the cited user message itself asks to remember it."""
    asked = observation(1, "the spare key is under the blue pot", "the spare key is under the blue pot")
    alex = open_with(ScriptedModel(answer_of(asked), answer_of({**asked, "turn": 2})), embedder="none")
    said(alex, "By the way, the spare key is under the blue pot.")
    assert {source for *_, source in held(alex)} == {Source.QUOTED}


def test_an_ending_needs_its_words(open_with: Open) -> None:
    """Issue: negation of a held value is an end, when somebody said so."""
    over = observation(1, "the chess club and I are history", "chess club", attribute="hobbies", act="end")
    made_up = {**over, "quote": "I stopped playing chess"}
    alex = open_with(ScriptedModel(answer_of(made_up), answer_of(over)))
    alex.remember("chess club", attribute="hobbies", source="inferred")
    receipt = said(alex, "Well, the chess club and I are history.")
    assert [drop.rule for drop in receipt.dropped] == ["quote-not-found"]
    said(alex, "Well, the chess club and I are history.", session="s2")
    assert alex.beliefs(attribute="hobbies") == []


def test_a_secret_does_not_enter(open_with: Open) -> None:
    """Design: credentials never enter, whoever proposes them."""
    claim = observation(1, "the wifi password is hunter2-xkcd-99", "wifi password: hunter2-xkcd-99")
    alex = open_with(ScriptedModel(answer_of(claim)))
    said(alex, "the wifi password is hunter2-xkcd-99")
    assert alex.beliefs(state=None) == []


def test_a_sensitive_conclusion_does_not_enter(open_with: Open) -> None:
    """Issue 2: sensitive classes never enter from inference."""
    claim = observation(1, "I went to the clinic again", "has diabetes", stated=False)
    alex = open_with(ScriptedModel(answer_of(claim)))
    receipt = said(alex, "I went to the clinic again today.")
    assert alex.beliefs(state=None) == []
    assert [drop.rule for drop in receipt.dropped] == ["sensitive-health"]


# -- Joe ----------------------------------------------------------------------------------------------------------

RECRUITER = (
    "I sent Joe my résumé on Monday.",
    "Joe forwarded my application to his team.",
    "Joe asked about my salary expectations!",
    "Is Joe a recruiter now?",
    'Maria says "Joe is a recruiter".',
    "Joe knows everybody who hires at Anthropic.",
    "Sometimes Joe sounds like a recruiter to me",
    "Joe sent me three open positions.",
    "If Joe were a recruiter he would have called.",
    "Joe put me in touch with the hiring manager.",
)


def test_the_friend_stays_through_ten_recruiters(open_with: Open) -> None:
    """Issue: the Joe story through a model writer that insists, ten times, in ten phrasings: the friend stays."""

    def insists(turns: Turns) -> str:
        text = next(t["text"] for t in json.loads(turns[1][1])["turns"] if t.get("new"))
        number = next(t["n"] for t in json.loads(turns[1][1])["turns"] if t.get("new"))
        return answer_of(
            observation(number, text, "recruiter", subject="Joe", attribute="relationship"),
            observation(number, text, "Joe is an Anthropic recruiter", subject="Joe"),
            observation(number, "Joe is my recruiter", "Anthropic recruiter", subject="Joe", attribute="occupation"),
        )

    alex = open_with(ScriptedModel(insists))
    alex.remember("close friend", subject="Joe", attribute="relationship")
    for number, text in enumerate(RECRUITER):
        said(alex, text, session=f"s{number}")
        assert [(b.value, b.source) for b in alex.beliefs("Joe", "relationship")] == [("close friend", Source.STATED)]
    assert "recruiter" not in " ".join(b.text for b in alex.profile())
    assert str(alex.context("Who is Joe?")).index("close friend") >= 0


# -- useless answers, failures, cost ------------------------------------------------------------------------------


def test_a_useless_answer_is_asked_for_once_more(open_with: Open) -> None:
    """Issue: repaired or retried; the model is told why."""
    model = ScriptedModel("I found nothing, sorry.", answer_of(MOVED))
    alex = open_with(model)
    receipt = said(alex, "My boxes say I moved to Lisbon last March")
    assert receipt.failed == ()
    assert [b.value for b in alex.beliefs(attribute="lives_in")] == ["Lisbon"]
    assert "no JSON object" in model.asked[1][-1][1]


def test_useless_answers_are_a_failure_and_never_nothing_found(open_with: Open, clock: StoppedClock) -> None:
    """Issue: then reported as failed: never as "nothing found"; the talk waits and is read later."""
    model = ScriptedModel("No.", '{"observations": [', answer_of(MOVED))
    alex = open_with(model)
    receipt = said(alex, "My boxes say I moved to Lisbon last March")
    (failed,) = receipt.failed
    assert (failed.session, failed.messages) == ("s1", 1)
    assert "of no use" in failed.reason
    assert alex.memory.health()["unread"]["failing"] == 1
    assert alex.memory.work() == Receipt()  # not yet
    clock.forward(minutes=1)
    assert alex.memory.work().failed == ()
    assert [b.value for b in alex.beliefs(attribute="lives_in")] == ["Lisbon"]
    assert alex.memory.health()["unread"] == {"due": 0, "failing": 0, "calls_today": 3, "tokens_today": 30}


def test_malformed_observations_are_dropped_by_name_and_the_others_count(open_with: Open) -> None:
    """Ours: after a second try one bad line does not cost the good ones."""
    bad = {**MOVED, "turn": "somewhere"}
    alex = open_with(ScriptedModel(answer_of(bad, MOVED)))
    receipt = said(alex, "My boxes say I moved to Lisbon last March")
    assert [(drop.text, drop.rule) for drop in receipt.dropped] == [("Lisbon", "malformed")]
    assert [b.value for b in alex.beliefs(attribute="lives_in")] == ["Lisbon"]


def test_an_outage_leaves_the_messages_and_the_batch(open_with: Open, clock: StoppedClock) -> None:
    """Issue: time-outs, rate limits and outages leave the messages stored and the batch waiting."""
    model = ScriptedModel(down(), down(), answer_of(MOVED))
    alex = open_with(model)
    receipt = said(alex, "My boxes say I moved to Lisbon last March")
    assert receipt.failed[0].reason == "the model is down"
    assert [m.content for m in alex.messages()] == ["My boxes say I moved to Lisbon last March"]
    assert alex.recall("boxes")
    for minutes, calls in ((0.4, 1), (0.2, 2), (0.9, 2), (0.2, 3)):
        clock.forward(minutes=minutes)
        alex.memory.work()
        assert len(model.asked) == calls
    assert [b.value for b in alex.beliefs(attribute="lives_in")] == ["Lisbon"]


def test_another_process_takes_over_what_waits(open_with: Open, clock: StoppedClock, tmp_path: Any) -> None:
    """Issue: picked up later, once, by whichever process comes first."""
    path = tmp_path / "m.db"
    first = open_with(ScriptedModel(down()), path=path)
    said(first, "My boxes say I moved to Lisbon last March")
    second, third = ScriptedModel(answer_of(MOVED)), ScriptedModel(answer_of(MOVED))
    clock.forward(minutes=5)
    open_with(second, path=path).memory.work()
    open_with(third, path=path).memory.work()
    assert (len(second.asked), len(third.asked)) == (1, 0)
    assert [b.value for b in first.beliefs(attribute="lives_in")] == ["Lisbon"]


def test_a_batch_is_lent_to_one_reader_at_a_time(open_with: Open, clock: StoppedClock, tmp_path: Any) -> None:
    """Issue: two workers never write one batch twice; one that is too late adds nothing."""
    path = tmp_path / "m.db"
    others: list[Receipt] = []

    def meanwhile(_: Turns) -> str:
        others.append(other.memory.work())
        clock.forward(minutes=16)  # the loan has run out: the first reader counts as dead
        others.append(other.memory.work())
        return answer_of({**MOVED, "value": "Porto"})

    slow = open_with(ScriptedModel(meanwhile), path=path)
    other = open_with(ScriptedModel(answer_of(MOVED)), path=path)
    receipt = said(slow, "My boxes say I moved to Lisbon last March")
    assert others[0] == Receipt()
    assert len(others[1].stored) == 1
    assert [failed.reason for failed in receipt.failed] == ["another reader has it"]
    assert [b.value for b in slow.beliefs(attribute="lives_in", state=None)] == ["Lisbon"]


def test_past_the_cap_storing_goes_on_and_reading_waits(open_with: Open, clock: StoppedClock) -> None:
    """Issue: cost is counted and can be capped: past the cap storage goes on, extraction waits."""
    model = ScriptedModel(answer_of())
    alex = open_with(model, calls_per_day=1)
    said(alex, "First.")
    receipt = said(alex, "My name is Alexandra.", session="s2")
    assert receipt.failed[0].reason == "what models may cost today is spent"
    assert [b.value for b in alex.beliefs(attribute="name")] == ["Alexandra"]  # the rules cost nothing
    assert alex.memory.work().failed
    assert len(model.asked) == 1
    clock.forward(days=1)
    assert alex.memory.work().failed == ()
    assert len(model.asked) == 2


def test_tokens_can_be_capped_too(open_with: Open) -> None:
    """Issue: calls, tokens."""
    model = ScriptedModel(answer_of())
    alex = open_with(model, tokens_per_day=10)
    said(alex, "First.")
    assert said(alex, "Second.", session="s2").failed
    assert alex.memory.health()["unread"]["tokens_today"] == 10


def test_what_is_erased_while_a_model_reads_leaves_nothing(open_with: Open) -> None:
    """Design: erasure binds what is under way."""

    def erases(_: Turns) -> str:
        alex.forget(next(alex.messages()).id)
        return answer_of(MOVED)

    alex = open_with(ScriptedModel(erases))
    receipt = said(alex, "My boxes say I moved to Lisbon last March")
    assert receipt.stored == ()
    assert alex.beliefs(state=None) == []
    assert list(alex.messages()) == []


def test_a_model_may_call_memory_while_it_reads(open_with: Open) -> None:
    """Issue: never inside a transaction: whoever reads holds no lock."""

    def writes(_: Turns) -> str:
        alex.observe("Meanwhile.", session="s9")
        return answer_of(MOVED)

    alex = open_with(ScriptedModel(writes))
    assert said(alex, "My boxes say I moved to Lisbon last March").failed == ()
    assert len(list(alex.messages())) == 2


# -- triggers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trigger", "calls"),
    [
        ("manual", [0, 0, 0, 0]),
        ("session_end", [0, 0, 0, 0]),
        ("every_turn", [1, 2, 3, 4]),
        (("every", 2), [0, 1, 1, 2]),
        (("idle", 90), [0, 0, 0, 0]),
    ],
    ids=str,
)
def test_a_trigger_says_when_talk_is_due(open_with: Open, clock: StoppedClock, trigger: Any, calls: list[int]) -> None:
    """Issue: every turn, every N turns, idle time, by hand; observing never asks a model."""
    model = ScriptedModel(answer_of())
    alex = open_with(model, trigger=trigger)
    for number, expected in enumerate(calls):
        before = len(model.asked)
        alex.observe([f"Turn {number}.", {"role": "assistant", "content": "Yes."}], session="s1")
        assert len(model.asked) == before
        alex.memory.work()
        assert len(model.asked) == expected
        clock.forward(minutes=1)
    alex.memory.work()
    clock.forward(minutes=1)
    alex.memory.work()
    assert len(model.asked) == calls[-1] + (isinstance(trigger, tuple) and trigger[0] == "idle")
    alex.extract()
    turns = {turn["text"] for asked in model.asked for turn in json.loads(asked[1][1])["turns"] if turn.get("new")}
    assert turns == {"Yes.", *(f"Turn {number}." for number in range(4))}


@pytest.mark.parametrize("trigger", ["often", ("every", 0), ("every", 1.5), ("idle", 0), ("idle", "x"), ("every",), 3])
def test_a_trigger_that_is_none_is_refused(trigger: Any) -> None:
    """Ours: one clear line."""
    with pytest.raises(InvalidInput, match="trigger"):
        Memory(":memory:", trigger=trigger)


def test_rules_alone_can_leave_work_for_a_model_elsewhere(clock: StoppedClock, open_with: Open, tmp_path: Any) -> None:
    """Ours: a web process observes and marks, a worker with a model reads."""
    path = tmp_path / "m.db"
    model = ScriptedModel(answer_of())
    with Memory(path, clock=clock, trigger="every_turn") as web:
        web.user("sam").observe("Hello.", session="s1")
        with pytest.raises(InvalidInput, match="no model is configured"):
            web.work()
    open_with(model, path=path).memory.work()
    assert len(model.asked) == 1


def test_a_long_session_is_read_in_batches(open_with: Open) -> None:
    """Issue: one call per batch; nothing is left out and nothing is read twice."""
    model = ScriptedModel(answer_of())
    alex = open_with(model)
    said(alex, *(f"Line {number}." for number in range(95)))
    read = [[t["text"] for t in json.loads(asked[1][1])["turns"] if t.get("new")] for asked in model.asked]
    assert [len(batch) for batch in read] == [40, 40, 15]
    assert [line for batch in read for line in batch] == [f"Line {number}." for number in range(95)]


def test_a_failure_midway_goes_on_where_it_stopped(open_with: Open, clock: StoppedClock) -> None:
    """Issue: crash-safe, resumable."""
    model = ScriptedModel(answer_of(), down(), answer_of())
    alex = open_with(model)
    receipt = said(alex, *(f"Line {number}." for number in range(60)))
    assert receipt.failed[0].messages == 20
    clock.forward(minutes=5)
    alex.memory.work()
    assert next(t["text"] for t in model.task()["turns"] if t.get("new")) == "Line 40."


def test_another_model_reads_old_talk_again_and_adds_what_is_new(open_with: Open, tmp_path: Any) -> None:
    """Issue: changing the model can re-run on old messages and adds only what is new."""
    path = tmp_path / "m.db"
    first = open_with(ScriptedModel(answer_of(MOVED)), path=path)
    said(first, "My boxes say I moved to Lisbon last March, near the river Tagus")
    river = observation(1, "near the river Tagus", "near the river Tagus")
    again = open_with(ScriptedModel(answer_of(MOVED, river)), path=path)
    receipt = again.extract(since=datetime.fromisoformat("2026-01-01T00:00:00+00:00"))
    assert len(receipt.stored) == 1
    assert receipt.duplicates
    assert {b.value for b in again.beliefs()} == {"Lisbon", "near the river Tagus"}
    assert again.extract(since="2026-01-01").stored == ()


def test_a_claim_taken_back_is_not_raised_by_reading_again(open_with: Open) -> None:
    """Design: extracting again cannot raise it from the dead."""
    alex = open_with(ScriptedModel(answer_of(MOVED)))
    said(alex, "My boxes say I moved to Lisbon last March")
    alex.retract(alex.beliefs(attribute="lives_in")[0].id)
    alex.extract(since="2026-01-01")
    assert alex.beliefs(attribute="lives_in") == []


def test_talk_of_no_session_is_read_too(open_with: Open) -> None:
    """Ours: a session is optional."""
    alex = open_with(ScriptedModel(answer_of(MOVED)), trigger="every_turn")
    alex.observe("My boxes say I moved to Lisbon last March")
    alex.memory.work()
    assert [b.value for b in alex.beliefs(attribute="lives_in")] == ["Lisbon"]


def test_a_worker_in_the_background_reads_what_is_due(clock: StoppedClock) -> None:
    """Issue: a worker thread; closing ends it."""
    from threading import Event

    read = Event()

    class Telling(ScriptedModel):
        def answer(self, turns: Turns) -> Any:
            try:
                return super().answer(turns)
            finally:
                read.set()

    model = Telling(answer_of())
    with Memory(":memory:", clock=clock, writer=LLMWriter(model), trigger="every_turn", background=True) as memory:
        memory.user("alex").observe("Hello.", session="s1")
        assert read.wait(30)
    assert len(model.asked) == 1


def test_the_talk_of_named_people_is_theirs(open_with: Open) -> None:
    """Design: any other name in a group chat is its own subject, and speaks for itself alone."""
    own = observation(1, "I moved to Oslo", "Oslo", subject="Ana", attribute="lives_in")
    of_user = observation(1, "I moved to Oslo", "Oslo", subject="user", attribute="lives_in")
    alex = open_with(ScriptedModel(answer_of(own, of_user)))
    alex.observe([{"role": "user", "name": "Ana", "content": "I moved to Oslo!"}], session="s1")
    alex.end_session("s1")
    assert [(b.value, b.source) for b in alex.beliefs("Ana", "lives_in")] == [("Oslo", Source.QUOTED)]
    assert [b for b in alex.beliefs("user", state=None) if b.state is State.ACTIVE and not b.guess] == []


def test_an_observation_of_the_model_is_an_assertion_like_any_other(open_with: Open) -> None:
    """Ours: nothing in the ledger is special about it but who wrote it."""
    alex = open_with(ScriptedModel(answer_of(MOVED)))
    said(alex, "My boxes say I moved to Lisbon last March")
    (belief,) = alex.beliefs(attribute="lives_in")
    (heard,) = alex.why(belief.id).observations
    assert (heard.act, heard.session) == (Act.ASSERT, "s1")
    assert alex.memory.rebuild().equal
