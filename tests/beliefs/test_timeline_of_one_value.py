"""One value at a time: changes, corrections, late news, intervals that end, and what may paint over what."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest
from belief_ledgers import POLICY, Story, day, waiting

from firsthand.beliefs.view import view
from firsthand.model import Act, Source, State, Target
from firsthand.ports import Row

# -- changes over time -------------------------------------------------------------------------------------------------


def test_three_addresses_leave_one_that_holds() -> None:
    """Design, the second story: something decides which address holds, and the others are history with reasons."""
    story = Story("lives_in")
    for value, at in (("Main Street 1", 1), ("Oak Road 2", 20), ("Elm Lane 3", 40)):
        story.say(value, at)
    assert story.active() == ["Elm Lane 3"]
    old = story.one("Oak Road 2")
    assert old.state is State.SUPERSEDED
    assert old.reason == 'changed to "Elm Lane 3" on 2026-02-10'
    assert old.superseded_by == story.one("Elm Lane 3").id


def test_a_value_that_comes_back_is_a_belief_of_its_own() -> None:
    """Design: Berlin, London, Berlin are three intervals."""
    story = Story("lives_in")
    for value, at in (("Berlin", 1), ("London", 5), ("Berlin", 9)):
        story.say(value, at)
    assert story.spans() == [("Berlin", 1, 5), ("London", 5, 9), ("Berlin", 9, None)]
    assert [b.id for b in story.view().beliefs] == ["r1", "r2", "r3"]


def test_taking_back_the_last_leaves_the_first_as_it_was() -> None:
    """Design: a retraction hits the stretch it is aimed at, and what that covered holds again."""
    story = Story("lives_in")
    for value, at in (("Berlin", 1), ("London", 5), ("Berlin", 9)):
        story.say(value, at)
    story.retract("Berlin", 10, reason="joking")
    assert story.spans() == [("Berlin", 1, 5), ("London", 5, None)]
    assert story.beliefs()["r3"].state is State.WITHDRAWN
    assert story.beliefs()["r3"].reason == "retracted on 2026-01-11: joking"


def test_taking_back_the_middle_gives_the_time_back_to_the_first() -> None:
    """Ours: what never was covers nothing."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("London", 5)
    story.retract("London", 6)
    assert story.spans() == [("Berlin", 1, None)]


def test_a_repeat_is_evidence_and_no_new_belief() -> None:
    """Design: a value that already holds at its valid_from only gains evidence."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("  berlin. ", 5)
    assert story.spans() == [("Berlin", 1, None)]
    assert story.one("Berlin").support == 2
    assert story.one("Berlin").last_said == day(5)


def test_late_news_about_the_past_lands_in_the_past() -> None:
    """Design: what is told late paints from its valid_from up to the next start of another value."""
    story = Story("lives_in")
    story.say("Berlin", 10)
    story.say("Porto", 20, since=2)
    assert story.spans() == [("Porto", 2, 10), ("Berlin", 10, None)]
    assert story.active() == ["Berlin"]


def test_late_news_between_two_stretches_cuts_the_first_only() -> None:
    """Design: it ends at the next start of another value."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("London", 10)
    story.say("Porto", 20, since=5)
    assert story.spans() == [("Berlin", 1, 5), ("Porto", 5, 10), ("London", 10, None)]


def test_late_news_of_the_same_value_lengthens_its_stretch() -> None:
    """Ours: the same value next to its own later stretch is one stretch."""
    story = Story("lives_in")
    story.say("Berlin", 10)
    story.say("Berlin", 20, since=2)
    assert story.spans() == [("Berlin", 2, None)]


def test_the_same_valid_from_with_another_value_is_a_correction() -> None:
    """Design: the earlier one is withdrawn, not superseded."""
    story = Story("lives_in")
    story.say("Berlin", 1, since=1)
    story.say("Bern", 2, since=1)
    assert story.states() == [("Berlin", "withdrawn"), ("Bern", "active")]
    assert story.one("Berlin").superseded_by == "r2"
    assert story.one("Berlin").reason == 'corrected to "Bern" on 2026-01-03'


def test_instants_are_compared_and_not_their_spelling() -> None:
    """Complaint: naive and aware, or one UTC spelling and another, changed an exact boundary."""
    story = Story("lives_in")
    story.say("Berlin", 1, since=1)
    there = timezone(timedelta(hours=2))
    story.say("Bern", 2, valid_from=day(1).astimezone(there))
    assert story.states() == [("Berlin", "withdrawn"), ("Bern", "active")]


def test_times_beyond_the_calendar_do_not_break_the_view() -> None:
    """Ours: the fold is total, also for the first hours of the year 1 east of Greenwich."""
    story = Story("lives_in")
    early = day(0).replace(year=1, tzinfo=timezone(timedelta(hours=14)))
    late = day(0).replace(year=9999, month=12, day=31, hour=23, tzinfo=timezone(timedelta(hours=-12)))
    story.say("Eden", 1, valid_from=early, valid_to=late, expires_at=late)
    story.say("Nod", 1, valid_from=late)
    assert story.active() == ["Eden"]


# -- intervals that end ------------------------------------------------------------------------------------------------


def test_what_was_covered_resumes_after_an_explicit_valid_to() -> None:
    """Design: and the resumed stretch is the id with its start."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Rome", 5, until=8)
    assert story.spans() == [("Berlin", 1, 5), ("Rome", 5, 8), ("Berlin", 8, None)]
    assert [b.id for b in story.view().beliefs] == ["r1", "r2", "r1@2026-01-09T00:00:00Z"]
    assert story.one("Rome").reason == "ended on 2026-01-09"


def test_supporters_lead_to_the_stretch_that_holds() -> None:
    """Design: any supporter's id resolves to the belief it supports now."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Rome", 5, until=8)
    placed = next(p for p in story.fold().placements if p.observation_id == "r1")
    claim = (placed.slot, placed.cell, placed.claim)
    assert story.view(6).resolve(*claim) == "r1"
    assert story.view(9).resolve(*claim) == "r1@2026-01-09T00:00:00Z"
    assert story.view(9).claims["r1@2026-01-09T00:00:00Z"] == (claim,)


def test_what_ends_leaves_nothing_behind_it() -> None:
    """Ours: who quits a job is not back in the one before, unlike who comes home from a visit."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("London", 5)
    story.end("London", 8)
    assert story.spans() == [("Berlin", 1, 5), ("London", 5, 8)]
    assert story.active() == []
    assert story.one("London").reason == "ended on 2026-01-09"


def test_a_visit_that_ends_early_gives_way_early() -> None:
    """Ours: an end before an explicit valid_to brings the return forward."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Rome", 5, until=20)
    story.end("Rome", 8)
    assert story.spans() == [("Berlin", 1, 5), ("Rome", 5, 8), ("Berlin", 8, None)]


def test_an_end_of_whatever_holds_ends_what_holds() -> None:
    """Design: an end without a value is about what holds then."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.end(None, 8)
    assert story.spans() == [("Berlin", 1, 8)]


def test_an_end_of_whatever_holds_spares_what_begins_then() -> None:
    """Ours: left one job on the day the next one began."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("London", 5)
    story.end(None, 6, since=5)
    assert story.spans() == [("Berlin", 1, 5), ("London", 5, None)]


def test_an_end_at_the_very_start_still_ends() -> None:
    """Ours: with a clock that stands still, what was said and ended does not hold."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.end("Berlin", 1)
    assert story.states() == [("Berlin", "superseded")]
    story.say("London", 1)
    assert story.active() == ["London"]
    assert story.one("Berlin").state is State.SUPERSEDED


def test_an_end_is_kept_before_anything_was_held() -> None:
    """Design: it dates the ending of what is told of later."""
    story = Story("lives_in")
    story.end("Berlin", 8)
    assert story.states() == []
    story.say("Berlin", 10, since=2)
    assert story.spans() == [("Berlin", 2, 8)]
    story.say("Berlin", 12)
    assert story.spans() == [("Berlin", 2, 8), ("Berlin", 12, None)]


def test_an_end_of_whatever_held_is_kept_as_well() -> None:
    """Design: the same, where no value was named."""
    story = Story("lives_in")
    story.end(None, 8)
    story.say("Berlin", 10, since=2)
    assert story.spans() == [("Berlin", 2, 8)]


def test_a_kept_end_of_lower_rank_binds_no_higher_claim() -> None:
    """Design: an act touches only observations of no higher rank than its own source."""
    story = Story("lives_in")
    story.end("Berlin", 8, Source.QUOTED)
    story.say("Berlin", 10, since=2)
    assert story.spans() == [("Berlin", 2, None)]
    quoted = Story("lives_in")
    quoted.end("Berlin", 8, Source.QUOTED)
    quoted.quote("Berlin", 10, since=2)
    assert quoted.spans() == [("Berlin", 2, 8)]


def test_an_end_can_be_taken_back() -> None:
    """Ours: retracting the end, by its id and without a value, lets what it ended go on."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    ended = story.end("Berlin", 8)
    story.say(None, 9, act=Act.RETRACT, target=Target(observation_id=ended, subject="user", attribute="lives_in"))
    assert story.spans() == [("Berlin", 1, None)]


def test_taking_back_an_act_that_was_erased_takes_back_nothing_else() -> None:
    """Design: the fold never needs an erased row."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    ended = story.end("Berlin", 8)
    story.say(None, 9, act=Act.RETRACT, target=Target(observation_id=ended, subject="user", attribute="lives_in"))
    del story.rows[1]
    assert story.spans() == [("Berlin", 1, None)]


def test_a_repeat_with_a_valid_to_dates_the_ending() -> None:
    """Ours: the repeat says until when, so what it covered resumes, as if that had been said at once."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Rome", 5)
    story.say("Rome", 6, until=8)
    assert story.spans() == [("Berlin", 1, 5), ("Rome", 5, 8), ("Berlin", 8, None)]
    assert story.one("Rome").support == 2


def test_a_repeat_with_a_later_valid_to_prolongs() -> None:
    """Ours: a stay that is extended is extended."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Rome", 5, until=8)
    story.say("Rome", 6, until=12)
    assert story.spans() == [("Berlin", 1, 5), ("Rome", 5, 12), ("Berlin", 12, None)]


def test_an_interval_that_ends_before_it_starts_never_held() -> None:
    """Ours: nonsense is kept and shown, and holds nowhere."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Rome", 5, until=3)
    assert story.spans() == [("Berlin", 1, None)]
    assert story.one("Rome").state is State.WITHDRAWN


# -- what may paint over what ------------------------------------------------------------------------------------------

RANKED = [
    # attribute, holds, comes, what holds then
    ("lives_in", Source.STATED, Source.QUOTED, ["new"]),
    ("lives_in", Source.STATED, Source.AGENT, ["old"]),
    ("lives_in", Source.STATED, Source.INFERRED, ["old"]),
    ("lives_in", Source.QUOTED, Source.AGENT, ["new"]),
    ("lives_in", Source.QUOTED, Source.INFERRED, ["old"]),
    ("lives_in", Source.AGENT, Source.QUOTED, ["new"]),
    ("lives_in", Source.INFERRED, Source.INFERRED, ["new"]),
    ("lives_in", Source.INFERRED, Source.QUOTED, ["new"]),
    ("lives_in", Source.CORRECTED, Source.STATED, ["new"]),
    ("relationship", Source.STATED, Source.RECORD, ["new"]),
    ("relationship", Source.STATED, Source.QUOTED, ["old"]),
    ("relationship", Source.STATED, Source.AGENT, ["old"]),
    ("relationship", Source.STATED, Source.INFERRED, ["old"]),
    ("relationship", Source.QUOTED, Source.STATED, ["new"]),
    ("relationship", Source.QUOTED, Source.AGENT, ["new"]),
    ("employer", Source.STATED, Source.STATED, ["old", "new"]),
    ("employer", Source.QUOTED, Source.AGENT, ["old", "new"]),
    ("employer", Source.QUOTED, Source.STATED, ["new"]),
    ("employer", Source.STATED, Source.QUOTED, ["old"]),
    ("employer", Source.STATED, Source.INFERRED, ["old"]),
    ("diet", Source.STATED, Source.RECORD, ["new"]),
    ("diet", Source.STATED, Source.QUOTED, ["old"]),
]


@pytest.mark.parametrize(("attribute", "holds", "comes", "then"), RANKED)
def test_rank_and_merge_rule_decide_who_paints(attribute: str, holds: Source, comes: Source, then: list[str]) -> None:
    """Design: what may paint over what."""
    story = Story(attribute)
    story.say("old", 1, holds, confidence=0.1)
    story.say("new", 5, comes, confidence=1.0)
    assert story.active() == then
    if "new" not in then:
        assert story.one("new").state is State.PENDING
        assert story.one("new").reason.startswith('"old" had been ')


@pytest.mark.parametrize("comes", [Source.QUOTED, Source.AGENT, Source.INFERRED])
def test_where_confirmation_is_asked_all_but_the_persons_word_waits(comes: Source) -> None:
    """Design: `confirm`, only the person's acts paint, also where nothing holds."""
    story = Story("diet")
    story.say("vegan", 1, comes)
    assert story.states() == [("vegan", "pending")]
    story.confirm("vegan", 2)
    assert story.states() == [("vegan", "active")]
    assert story.one("vegan").source is Source.STATED


def test_quoted_words_said_before_do_not_replace_what_was_stated_later() -> None:
    """Design: `latest`, quoted paints over said when it was said later."""
    story = Story("lives_in")
    story.say("Berlin", 10)
    story.quote("Porto", 5)  # an old message, extracted late
    assert story.spans() == [("Porto", 5, 10), ("Berlin", 10, None)]
    assert story.active() == ["Berlin"]


def test_lower_rank_may_not_show_beyond_what_it_may_paint() -> None:
    """Ours: a gap is no way around what was said, which would resume after it."""
    story = Story("relationship")
    story.say("friend", 1)
    story.note("colleague", 2)
    assert story.one("colleague").state is State.PENDING
    story = Story("relationship")
    story.note("neighbour", 1, until=7)
    story.say("friend", 3, since=0)
    story.say("guest", 3, since=5, until=6)
    before = story.spans()
    story.note("colleague", 4, since=2)
    assert [span for span in story.spans() if span[0] != "colleague"] == before


def test_equal_alternatives_stand_and_are_disputed() -> None:
    """Design: both stand and are shown as disputed."""
    story = Story("employer")
    story.say("Acme", 1)
    story.say("Beta", 5)
    assert story.one("Acme").disputed_with == ("r2",)
    assert story.one("Beta").disputed_with == ("r1",)
    story.end("Acme", 8)
    assert story.active() == ["Beta"]


def test_equal_alternatives_stand_also_from_the_same_day() -> None:
    """Ours: where equals stand side by side, the same valid_from corrects nothing."""
    story = Story("employer")
    story.quote("Acme", 1, since=1)
    story.quote("Beta", 2, since=1)
    assert sorted(story.active()) == ["Acme", "Beta"]
    story.say("Gamma", 3, since=1)
    assert story.active() == ["Gamma"]
    assert story.one("Acme").state is State.WITHDRAWN


def test_confirming_one_of_two_alternatives_settles_it() -> None:
    """Ours: the person's word ends the dispute, whichever of the two began first."""
    for chosen, other in (("Acme", "Beta"), ("Beta", "Acme")):
        story = Story("employer")
        story.quote("Acme", 1)
        story.quote("Beta", 5)
        story.confirm(chosen, 8)
        assert chosen in story.active()
        assert other not in story.active()


# -- as of a time ------------------------------------------------------------------------------------------------------


def test_what_begins_later_is_scheduled() -> None:
    """Design: scheduled, active and superseded are computed at the time of the view."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Porto", 2, since=20)
    assert story.states(5) == [("Berlin", "active"), ("Porto", "scheduled")]
    assert story.states(20) == [("Berlin", "superseded"), ("Porto", "active")]
    assert story.states(0) == [("Berlin", "scheduled"), ("Porto", "scheduled")]
    assert story.view(5).next_change == day(20)
    assert story.view(20).next_change is None


def test_what_was_said_to_expire_expires() -> None:
    """Design: expired, as the latest support that says so has it."""
    story = Story("lives_in")
    story.say("Berlin", 1, expires=5)
    assert story.states(4) == [("Berlin", "active")]
    assert story.view(4).next_change == day(5)
    assert story.states(5) == [("Berlin", "expired")]
    story.say("Berlin", 3, expires=9)
    assert story.states(5) == [("Berlin", "active")]


def test_a_lifetime_runs_from_the_last_time_it_was_said() -> None:
    """Design: lifetime = stops being active."""
    story = Story("mood")
    story.say("calm", 1)
    assert story.states(10.9) == [("calm", "active")]
    assert story.states(11) == [("calm", "expired")]
    assert story.one("calm", 11).expires_at == day(11)
    story.quote("calm", 5)
    assert story.states(11) == [("calm", "active")]
    story.infer("calm", 9)
    assert story.states(15) == [("calm", "expired")]


def test_a_plan_does_not_expire_before_it_begins() -> None:
    """Ours: a lifetime runs from the start of what was said ahead of time."""
    story = Story("mood")
    story.say("festive", 1, since=50)
    assert story.states(51) == [("festive", "active")]


def test_a_view_may_be_taken_of_cells_of_many_slots() -> None:
    """Ours: sorted by subject and attribute, whatever order the cells come in."""
    rows = [*_told("lives_in", "user", "Berlin"), *_told("relationship", "Joe", "friend"), *_told(None, "user", "Hi")]
    story = Story(rows=rows)
    cells = story.fold().cells
    seen = view(reversed(cells), POLICY, day(9)).beliefs
    assert [(b.subject, b.attribute) for b in seen] == [("Joe", "relationship"), ("user", None), ("user", "lives_in")]
    assert [b.text for b in seen] == ["Joe, relationship: friend", "Hi", "lives in Berlin"]


def _told(attribute: str | None, subject: str, value: str) -> list[Row]:
    story = Story(attribute, subject)
    story.say(value, 1, id=f"{attribute}-{value}")
    return story.rows


# -- claims that wait --------------------------------------------------------------------------------------------------


def test_what_waits_is_brought_in_by_the_same_value_said() -> None:
    """Design: a said assertion of the same value answers the question."""
    story = Story("lives_in")
    story.quote("Berlin", 1, **waiting())
    assert story.states() == [("Berlin", "pending")]
    assert story.one("Berlin").reason == "health waits"
    story.say("berlin", 5)
    assert story.states() == [("berlin", "active")]
    assert story.one("berlin").support == 2
    assert story.one("berlin").id == "r1"


def test_what_waits_is_not_brought_in_by_a_quote() -> None:
    """Ours: admission asked for the person, and a quote is not them confirming."""
    story = Story("lives_in")
    story.quote("Berlin", 1, **waiting())
    story.quote("Berlin", 5)
    assert story.states() == [("Berlin", "pending"), ("Berlin", "active")]


def test_what_was_confirmed_is_not_asked_again() -> None:
    """Ours: one question is enough."""
    story = Story("lives_in")
    story.quote("Berlin", 1, **waiting())
    story.confirm("Berlin", 2)
    story.quote("Berlin", 5, **waiting())
    assert story.states() == [("Berlin", "active")]
    assert story.one("Berlin").support == 3


def test_a_pending_claim_becomes_evidence_when_its_value_holds() -> None:
    """Design: kept at its own rank, it moves nothing."""
    story = Story("relationship")
    story.say("friend", 1)
    story.note("colleague", 3)
    assert story.one("colleague").state is State.PENDING
    story.say("colleague", 5, since=2)
    assert story.spans() == [("friend", 1, 2), ("colleague", 2, None)]
    assert story.one("colleague").support == 2
