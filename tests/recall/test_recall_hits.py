"""What recall answers with: its contract over any memory, and what outranks what."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_world import NOW, World, belief, days_ago, message, taken_back, told_at

from firsthand.model import Belief, Hit, Kind, Message, Role, State
from firsthand.recall.asked import People
from firsthand.recall.candidates import Asking, Beside, Candidate
from firsthand.recall.question import Conditions, ask
from firsthand.recall.standing import Held
from firsthand.recall.walk import Walk

WORDS = ["tea", "cat", "dog", "sun", "sea", "rain", "moon", "star", "move", "berlin", "lisbon", "job"]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)


@pytest.fixture
def three_weeks() -> World:
    """Some weeks of talk about a move, a dog and a job."""
    return World(
        messages=[
            message("m1", "I live in Berlin, near the river.", at=days_ago(40), session="a"),
            message("m2", "Our dog Rex loves the park.", at=days_ago(39), session="a"),
            message("m3", "I moved to Lisbon last week.", at=days_ago(10), session="b"),
            message("m4", "Lisbon is a fine place for walks.", at=days_ago(10), session="b", role=Role.ASSISTANT),
            message("m5", "My new job is at a bakery.", at=days_ago(2), session="c"),
        ]
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A small memory of anything."""
    said: list[Message] = []
    for at, content in enumerate(draw(st.lists(SENTENCES, max_size=10))):
        said.append(
            message(
                f"m{at}",
                content,
                at=days_ago(draw(st.integers(-2, 400))),
                session=draw(st.sampled_from(["a", "b", None])),
                role=draw(st.sampled_from(list(Role))),
                name=draw(st.sampled_from([None, "Ana"])),
                recalled=draw(st.booleans()),
            )
        )
    held: list[Belief] = []
    for at, text in enumerate(draw(st.lists(SENTENCES.filter(bool), max_size=6))):
        state = draw(st.sampled_from(list(State)))
        evidence = tuple(draw(st.lists(st.sampled_from([each.id for each in said]), max_size=2)) if said else ())
        later = f"b{at + 1}" if state is State.SUPERSEDED else None
        confidence = draw(st.sampled_from([0.4, 0.7, 1.0]))
        held.append(belief(f"b{at}", text, state=state, evidence=evidence, superseded_by=later, confidence=confidence))
    uses = {each.id: (draw(st.integers(0, 99)), 0) for each in said[:2]}
    joking, vectors = draw(st.tuples(st.booleans(), st.booleans()))
    gone = taken_back(said[0].id) if said and joking else {}
    return World(said, held, vectors=vectors, uses=uses, taken=gone)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), SENTENCES | st.text(max_size=20), st.integers(0, 8), st.sampled_from(["all", "beliefs", "messages"]))
def test_hits_keep_the_written_contract(world: World, text: str, limit: int, include: str) -> None:
    """Issue: at most limit, one hit one id, terms and scores in [0, 1], higher is better, the same every time."""
    hits = world.ask(text, limit=limit, include=include)
    assert len(hits) <= limit
    assert len({(hit.type, hit.id) for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert {"relevance", "recency", "confidence", "use"} <= hit.terms.keys()
        assert all(0 <= figure <= 1 for figure in (*hit.terms.values(), hit.score))
        assert include in ("all", f"{hit.type}s")
        assert hit.why
        assert hit.state not in (State.WITHDRAWN, State.REJECTED)
    assert world.ask(text, limit=limit, include=include) == hits


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), SENTENCES)
def test_a_smaller_limit_gives_the_first_of_the_hits(world: World, text: str) -> None:
    """Ours: asking for fewer never shows others, for hits that stand on their own score."""
    said = replace(world, beliefs=(), taken={})
    ids = [hit.id for hit in said.ask(text, limit=8)]
    assert [hit.id for hit in said.ask(text, limit=3)] == ids[:3]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), SENTENCES)
def test_pending_comes_after_the_rest_and_taken_back_last(world: World, text: str) -> None:
    """Issue: pending only marked, after the rest; what was taken back ranks last."""

    def lateness(hit: Hit) -> int:
        if (hit.note or "").startswith("taken back"):
            return 2
        return int(hit.state is State.PENDING or hit.note == "carries recalled memory")

    order = [lateness(hit) for hit in world.ask(text, limit=20)]
    assert order == sorted(order)


# -- finding ------------------------------------------------------------------------------------------------------


def test_a_token_just_stored_is_found_at_once_without_an_embedder() -> None:
    """C046: read your writes, before any model work."""
    world = World(
        [message("m1", "smoke token ZX-14806012"), message("m2", "something else", session="t")], vectors=False
    )
    assert [hit.id for hit in world.ask("ZX-14806012")] == ["m1"]


@pytest.mark.parametrize("text", ["watchdog", "误杀", "健康服务", "后端"])
def test_words_glued_to_chinese_and_pairs_of_characters_are_found(text: str) -> None:
    """C028: Latin runs inside Chinese, and two characters, are words."""
    world = World(
        [message("m1", "后端进程watchdog误杀健康服务"), message("m2", "別の話です", session="t")], vectors=False
    )
    assert [hit.id for hit in world.ask(text)] == ["m1"]


def test_pairs_of_characters_do_not_cross_a_blank() -> None:
    """C028: '東京 大阪' does not hold '京大'."""
    assert World([message("m1", "東京 大阪")], vectors=False).ask("京大") == []


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Мама мыла раму", "раму"),
        ("Το σπίτι είναι μπλε", "σπίτι"),  # noqa: RUF001 - Greek on purpose
        ("أحب القهوة مع Marta", "Marta"),
        ("אני גר בירושלים", "בירושלים"),
        ("나는 서울에 살아요", "서울"),
        ("ฉันชอบชา", "ชา"),
        ("मुझे चाय पसंद है", "चाय"),
        ("We met in a café", "cafe"),
        ("We met in a cafe\u0301", "café"),
        ("We met in a cafe", "cafe\u0301"),
    ],
)
def test_a_word_of_any_script_is_found(content: str, text: str) -> None:
    """C029: the question goes through the same terms as the text; accents match by one rule."""
    world = World([message("m1", content), message("m2", "nothing of that kind", session="t")], vectors=False)
    assert [hit.id for hit in world.ask(text)] == ["m1"]


@pytest.mark.parametrize("vectors", [True, False])
def test_the_very_text_scores_highest_and_a_strange_question_finds_nothing(vectors: bool) -> None:
    """C064: one direction, one range; below the floor nothing is returned, and how many fell below is said."""
    texts = ["my sister plays the violin", "the violin is in its case", "we had soup for dinner"]
    world = World([message(f"m{at}", text, session=f"s{at}") for at, text in enumerate(texts)], vectors=vectors)
    for at, text in enumerate(texts):
        assert world.ask(text)[0].id == f"m{at}"
    found = world.search("xylophone quarks")
    assert found.hits == ()
    assert found.trace.below_floor == 3


def test_what_was_said_around_a_turn_speaks_for_it() -> None:
    """Issue: neighbouring turns count as a second signal."""
    said = [
        message("m1", "Did you adopt the puppy in the end?", session="a", name="Ben"),
        message("m2", "Yes, on Friday!", session="a", name="Ana"),
        message("m3", "Yes, at once!", session="b", name="Ana"),
    ]
    ids = [hit.id for hit in World(said).ask("When was the puppy adopted?")]
    assert ids[:2] == ["m1", "m2"]
    assert "m3" not in ids


def test_the_speaker_asked_about_comes_first() -> None:
    """Issue: the entity or speaker asked about counts."""
    said = [
        message("m1", "I like green tea", name="Ben", session="a"),
        message("m2", "I like green tea too", name="Ana", session="b"),
    ]
    assert World(said).ask("What tea does Ana like?")[0].id == "m2"


def test_the_person_comes_before_the_assistant_unless_the_assistant_is_asked_about() -> None:
    """C007: recall ranks first-hand above second-hand."""
    said = [
        message("m1", "jasmine tea is a fine thing", role=Role.ASSISTANT, session="a"),
        message("m2", "jasmine tea is a fine thing", session="b"),
    ]
    assert World(said).ask("Which tea do I find fine?")[0].id == "m2"
    assert World(said).ask("Which tea did you recommend as a fine thing?")[0].id == "m1"


# -- conditions ---------------------------------------------------------------------------------------------------


def test_sessions_times_and_what_was_known_narrow_exactly(three_weeks: World) -> None:
    """Ours: conditions apply to every row, before anything is cut."""

    def ids(**conditions: Any) -> set[str]:
        asked = ("Lisbon", "Berlin", "dog", "job at a bakery", "a fine place")
        return {hit.id for each in asked for hit in three_weeks.ask(each, limit=20, **conditions)}

    assert ids() == {"m1", "m2", "m3", "m4", "m5"}
    assert ids(sessions=["a", "nowhere"]) == {"m1", "m2"}
    assert ids(sessions=[]) == set()
    assert ids(since=days_ago(10)) == {"m3", "m4", "m5"}
    assert ids(until=days_ago(10)) == {"m1", "m2"}
    assert ids(kinds=["semantic"]) == set()
    late = replace(three_weeks, messages=[*three_weeks.messages[:4], told_at(three_weeks.messages[4], NOW)])
    assert "m5" not in {hit.id for hit in late.ask("job at a bakery", known_at=days_ago(1))}


def test_an_agent_sees_its_own_messages() -> None:
    """Ours: agent is a read filter."""
    world = World([message("m1", "green tea", agent="helper"), message("m2", "green tea please")])
    assert [hit.id for hit in world.ask("tea", agent="helper")] == ["m1"]
    assert world.ask("tea", agent="nobody") == []


def test_a_filter_is_applied_to_all_that_is_found_before_the_limit() -> None:
    """C065: what passes is found however far down it stands."""
    said = [message(f"m{at}", f"green tea number {at}", metadata={"n": at}, session=None) for at in range(60)]
    world = World(said, [belief("b1", "likes green tea")], metadata={"b1": {"n": 99}})
    hits = world.ask("green tea", limit=2, filters={"n": {"gte": 57, "lt": 59}})
    assert {hit.id for hit in hits} == {"m57", "m58"}
    assert [hit.id for hit in world.ask("green tea", filters={"n": 99})] == ["b1"]


def test_a_limit_of_nothing_gives_nothing(three_weeks: World) -> None:
    """Ours: limit 0 is an empty list, not an error."""
    assert three_weeks.ask("Lisbon", limit=0) == []


def test_what_is_not_there_any_more_is_left_out(three_weeks: World) -> None:
    """Ours: a row whose message was erased meanwhile is no hit."""
    index = three_weeks.index()
    fewer = replace(three_weeks, messages=three_weeks.messages[:2])
    found = fewer.search("Lisbon walks", index=index)
    assert not {"m3", "m4"} & {hit.id for hit in found.hits}
    assert "is not there any more" in {cut.reason for cut in found.trace.cuts}


# -- standing -----------------------------------------------------------------------------------------------------


def moved() -> World:
    """A person who moved, in what they said and in what is believed."""
    start, change = days_ago(40), days_ago(10)
    old = belief(
        "b1", "lives in Berlin", attribute="lives_in", value="Berlin", state=State.SUPERSEDED, valid_from=start,
        valid_to=change, superseded_by="b2", evidence=("m1",), last_said=start,
    )  # fmt: skip
    new = belief(
        "b2", "lives in Lisbon", attribute="lives_in", value="Lisbon", valid_from=change, evidence=("m2",),
        last_said=change,
    )  # fmt: skip
    said = [
        message("m1", "I live in Berlin, where my street and my house are, and I live well", at=start, session="a"),
        message("m2", "We finally found the house of our dreams down in Lisbon by the sea", at=change, session="b"),
    ]
    return World(said, [old, new])


@pytest.mark.parametrize("include", ["all", "beliefs", "messages"])
def test_what_holds_stands_above_what_it_superseded(include: str) -> None:
    """Issue: current beliefs outrank what they superseded, and a message that says so ranks below its successor."""
    hits = {hit.id: hit for hit in moved().ask("In which house and street do I live?", include=include)}
    order = list(hits)
    if include != "messages":
        assert order.index("b2") < order.index("b1")
        assert hits["b1"].note == f"no longer holds since {days_ago(10):%Y-%m-%d}; now: lives in Lisbon"
    if include != "beliefs":
        assert order.index("m2") < order.index("m1")
        assert hits["m1"].note == "says what no longer holds: lives in Berlin; now: lives in Lisbon"


@pytest.mark.parametrize("include", ["all", "beliefs", "messages"])
def test_asked_about_the_past_the_older_stands_above(include: str) -> None:
    """Issue: unless the question is about the past; the mirror of the rule above."""
    order = [hit.id for hit in moved().ask("In which house did I use to live?", include=include)]
    if include != "messages":
        assert order.index("b1") < order.index("b2")
    if include != "beliefs":
        assert order.index("m1") < order.index("m2")


def test_a_chain_of_changes_stands_in_order_of_time() -> None:
    """Ours: the latest first; of the past, the earliest last only where nothing else speaks for it."""
    texts = ["Oslo", "Rome", "Kyiv", "Cork"]
    held = [
        belief(
            f"b{at}",
            f"lives in {text}",
            attribute="lives_in",
            value=text,
            state=State.ACTIVE if text == "Cork" else State.SUPERSEDED,
            valid_from=days_ago(400 - 100 * at),
            superseded_by=None if text == "Cork" else f"b{at + 1}",
        )
        for at, text in enumerate(texts)
    ]
    assert [hit.id for hit in World(beliefs=held).ask("Where do I live: Oslo?")] == ["b3", "b2", "b1", "b0"]
    assert [hit.id for hit in World(beliefs=held).ask("Where did I use to live?")][-1] == "b3"


def test_a_circle_of_successions_does_not_hang() -> None:
    """Ours: total, whatever it is given."""
    held = [belief(f"b{at}", "lives in Oslo", superseded_by=f"b{1 - at}", value=str(at)) for at in range(2)]
    assert World(beliefs=held).ask("Oslo")


def test_a_corrected_message_is_marked_so() -> None:
    """Design: withdrawn means it never was."""
    wrong = belief("b1", "is a recruiter", subject="Joe", state=State.WITHDRAWN, evidence=("m1",), superseded_by="b2")
    right = belief("b2", "is a close friend", subject="Joe")
    hits = World([message("m1", "Joe is a recruiter of theirs, I think")], [wrong, right]).ask("Who is Joe?")
    notes = {hit.id: hit.note for hit in hits}
    assert notes["m1"] == "says what was corrected: is a recruiter; now: is a close friend"
    assert "b1" not in notes
    assert hits[0].id == "b2"


def test_a_message_taken_back_is_marked_and_last(three_weeks: World) -> None:
    """Design: a joke that was never extracted is marked in recall."""
    world = replace(three_weeks, taken=taken_back("m3", "joking"))
    hits = world.ask("I moved to Lisbon last week, a fine place", limit=20)
    assert hits[-1].id == "m3"
    assert hits[-1].note == "taken back on 2026-06-01: joking"


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ({"state": State.PENDING, "reason": "an inference"}, "awaits confirmation: an inference"),
        ({"state": State.EXPIRED}, "expired"),
        ({"state": State.SCHEDULED, "valid_from": datetime(2026, 9, 1, tzinfo=UTC)}, "holds from 2026-09-01"),
        ({"disputed_with": ("b2",)}, "disputed with drinks coffee"),
        ({"disputed_with": ("gone",)}, "disputed"),
        ({}, None),
    ],
)
def test_a_belief_says_in_what_state_it_is(given: dict[str, Any], note: str | None) -> None:
    """Issue: what is disputed, waits or is over is marked."""
    world = World(beliefs=[belief("b1", "drinks tea", **given), belief("b2", "drinks coffee")])
    assert {hit.id: hit.note for hit in world.ask("drinks")}["b1"] == note


def test_a_guess_stands_below_what_was_said_of_the_same_subject() -> None:
    """Design: an inference never sits above, or quietly beside, what a person stated."""
    world = World(
        [message("m1", "I sent Joe my papers")],
        [
            belief("b1", "Joe works as a recruiter", subject="Joe", guess=True, confidence=0.4, last_said=NOW),
            belief("b2", "Joe works at a bank", subject="Joe"),
            belief("b3", "works as a baker"),
        ],
        uses={"b1": (99, 0)},
    )
    hits = world.ask("Does Joe work as a recruiter?", limit=20)
    order = [hit.id for hit in hits]
    assert order.index("b2") < order.index("b1")
    assert [hit.guess for hit in hits if hit.id == "b1"] == [True]


def test_a_guess_about_somebody_else_keeps_its_place() -> None:
    """Ours: what is known of one person does not press down what is guessed of another."""
    held = [
        belief("b1", "Joe works as a recruiter", subject="Joe", guess=True, confidence=0.4),
        belief("b2", "Ben works at a bank", subject="Ben"),
    ]
    asked = "Does Joe work as a recruiter, as Ben works?"
    assert [hit.id for hit in World(beliefs=held).ask(asked)] == ["b1", "b2"]


def test_a_guess_is_marked_as_one() -> None:
    """Design: guesses stay guesses."""
    world = World(beliefs=[belief("b1", "is a recruiter", subject="Joe", guess=True, confidence=0.4)])
    assert [hit.guess for hit in world.ask("Is Joe a recruiter?")] == [True]


# -- the same thing once ------------------------------------------------------------------------------------------


def test_a_fact_is_returned_once_with_all_its_evidence() -> None:
    """C004: recall prints a fact once; exact equality comes before any vector."""
    said = [message(f"m{at}", text, session=f"s{at}") for at, text in enumerate(["QXRT", "qxrt", "QXRT.", "the QXRT"])]
    hits = World(said).ask("QXRT")
    assert len(hits) == 1
    assert set(hits[0].evidence) == {"m0", "m1", "m2", "m3"}


def test_the_same_words_of_two_speakers_are_two_things() -> None:
    """C008: what one person says is not what another says."""
    said = [message("m1", "I hate football", name="Ana"), message("m2", "I hate football", name="Ben")]
    assert len(World(said).ask("football")) == 2


def test_words_that_differ_in_a_number_or_a_not_are_two_things() -> None:
    """Ours: an update is no duplicate."""
    texts = ["the meeting is at 3", "the meeting is at 4", "the meeting is not at 4"]
    said = [message(f"m{at}", text, session=f"s{at}") for at, text in enumerate(texts)]
    assert len(World(said).ask("When is the meeting?")) == 3


def test_a_belief_stands_for_the_message_that_says_no_more() -> None:
    """Issue: a belief and the message it rests on collapse when they say the same; the evidence names the message."""
    said = [
        message("m1", "I live in Lisbon", session="a"),
        message(
            "m2",
            "I live in Lisbon and work there with eleven friends who all like long walks by the river on Sundays",
            session="b",
        ),
    ]
    held = belief("b1", "lives in Lisbon", attribute="lives_in", value="Lisbon", evidence=("m1", "m2"))
    world = World(said, [held])
    hits = world.ask("Where in Lisbon do I live?")
    assert {hit.id for hit in hits} == {"b1", "m2"}
    assert next(hit for hit in hits if hit.id == "b1").evidence == ("m1", "m2")
    assert {hit.id for hit in world.ask("Where in Lisbon do I live?", include="messages")} == {"m1", "m2"}


# -- the score ----------------------------------------------------------------------------------------------------


def test_the_newer_of_two_like_statements_comes_first_and_the_used_one_gains() -> None:
    """Design: recency and use count, each in [0, 1]."""
    said = [
        message("m1", "green tea with mint", at=days_ago(60), session="a"),
        message("m2", "green tea with milk", at=days_ago(1), session="b"),
    ]
    hits = World(said).ask("green tea")
    assert [hit.id for hit in hits] == ["m2", "m1"]
    assert [round(hit.terms["recency"], 2) for hit in hits] == [0.98, 0.25]
    used = World(said, uses={"m1": (1000, 0)}).ask("green tea")
    assert {hit.id: hit.terms["use"] for hit in used} == {"m1": 1.0, "m2": 0.0}


def test_a_question_about_the_past_does_not_punish_age() -> None:
    """Design: weights follow what is asked."""
    said = [message(f"m{at}", "green tea with mint", at=days_ago(10 * at), session=f"s{at}") for at in range(2)]
    apart = [replace(said[0], name="Ana"), replace(said[1], name="Ben")]
    scores = [hit.score for hit in World(apart).ask("Which green tea was it in the past?")]
    assert scores[0] == pytest.approx(scores[1])


def test_a_how_to_prefers_procedural_memory() -> None:
    """Design: the type filter follows what is asked."""
    held = [
        belief("b1", "reports go out as a table", kind=Kind.SEMANTIC),
        belief("b2", "reports go out as a table on Monday", kind=Kind.PROCEDURAL),
    ]
    assert World(beliefs=held).ask("How should I format reports as a table?")[0].id == "b2"


def test_why_names_what_spoke_for_a_hit(three_weeks: World) -> None:
    """C090: why something was recalled can be seen."""
    hit = three_weeks.ask("Which park does our dog love?")[0]
    assert hit.id == "m2"
    assert "dog" in hit.why
    assert "park" in hit.why


def test_the_account_of_a_search_says_what_was_asked_and_cut(three_weeks: World) -> None:
    """C090: what was returned and what was not, with reasons."""
    twice = [*three_weeks.messages, message("m6", "our dog Rex loves the park", at=NOW + timedelta(hours=1))]
    found = replace(three_weeks, messages=twice).search("Where did our dog Rex use to run, in which park?")
    assert "is about the past" in found.trace.asked
    assert [step.id for step in found.trace.hits] == [hit.id for hit in found.hits]
    assert any(cut.reason.startswith("says the same as") for cut in found.trace.cuts)


def test_what_comes_last_stays_last_whatever_its_score() -> None:
    """Issue: pending after the rest. Scores lowered one under another may fall below those of pending things."""

    def candidate(name: str, score: float, last: int) -> Candidate:
        return Candidate(type="belief", id=name, at=0, terms={}, score=score, last=last, belief=belief(name, name))

    waiting, low = candidate("waiting", 0.3, 1), candidate("low", 0.2, 0)
    question = ask("x", NOW, People((), (), ()), Conditions())
    asking = Asking(question, World().index(), Held(), Beside(lambda _: {}))
    walked = Walk(asking).over(sorted([waiting, low], key=lambda each: each.place))
    assert [(each.id, each.score) for each in walked] == [("low", 0.2), ("waiting", 0.2)]
