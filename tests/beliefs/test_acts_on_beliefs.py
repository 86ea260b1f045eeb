"""What acts do: corrections, what is taken back and stays so, confirmation, rejection, and acts that reach too low."""

from __future__ import annotations

from dataclasses import replace

import pytest
from belief_ledgers import Story, day, target, values, waiting

from firsthand.model import Act, Source, State, Target, Verdict

BELOW_SAID = [Source.QUOTED, Source.AGENT, Source.INFERRED]


# -- Joe ---------------------------------------------------------------------------------------------------------------


def test_joe_stays_a_close_friend() -> None:
    """Design, the first story: no inference replaces what was said, or quietly sits beside it."""
    joe = Story("relationship", "Joe")
    joe.say("close friend", 1)
    for at in range(2, 9):
        joe.infer("Anthropic recruiter", at, witnesses=((f"s{at}", f"m{at}"),))
    assert joe.active() == ["close friend"]
    recruiter = joe.one("Anthropic recruiter")
    assert recruiter.state is State.PENDING
    assert recruiter.guess
    assert recruiter.reason == '"close friend" had been said: nothing of lower rank replaces that'


def test_a_guess_stands_until_something_is_said() -> None:
    """Design: in a slot that ever held something said an inference is at most pending, also one from before."""
    joe = Story("relationship", "Joe")
    joe.infer("recruiter", 1)
    assert joe.states() == [("recruiter", "active")]
    assert joe.one("recruiter").guess
    joe.say("close friend", 5)
    assert joe.states() == [("recruiter", "pending"), ("close friend", "active")]


@pytest.mark.parametrize("act", [Act.RETRACT, Act.END, Act.REJECT])
def test_removal_never_promotes_a_guess(act: Act) -> None:
    """Design: also after the said value is retracted or ends."""
    joe = Story("relationship", "Joe")
    joe.say("close friend", 1)
    joe.infer("recruiter", 2)
    joe.act(act, "close friend", 3)
    joe.infer("headhunter", 4)
    assert joe.active() == []
    assert joe.one("recruiter").state is State.PENDING
    assert joe.one("headhunter").state is State.PENDING


def test_a_said_value_taken_back_with_its_message_still_keeps_guesses_out() -> None:
    """Ours: something was said here, if only in jest."""
    joe = Story("relationship", "Joe")
    joe.say("close friend", 1, voided=3)
    joe.infer("recruiter", 2)
    assert joe.states() == [("close friend", "withdrawn"), ("recruiter", "pending")]


def test_a_guess_does_not_follow_what_was_said_to_be_over() -> None:
    """Ours: the person said that it ended; an inference that it goes on waits for them."""
    story = Story("lives_in")
    story.infer("Berlin", 1)
    story.end("Berlin", 5)
    story.infer("Berlin", 8)
    assert story.states() == [("Berlin", "superseded"), ("Berlin", "pending")]


# -- corrections -------------------------------------------------------------------------------------------------------


def test_a_correction_replaces_over_the_whole_old_interval() -> None:
    """Design: the old value never was; the new one holds since the old one's start."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.correct("Berlin", "Bern", 9)
    assert story.spans() == [("Bern", 1, None)]
    assert story.one("Berlin").state is State.WITHDRAWN
    assert story.one("Berlin").reason == 'corrected to "Bern" on 2026-01-10'
    assert story.one("Berlin").superseded_by == story.one("Bern").id
    assert story.one("Bern").source is Source.CORRECTED


def test_a_correction_of_the_past_leaves_the_present() -> None:
    """Design: `correct` replaces over the whole old interval, and no further."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("London", 5)
    story.correct(story.beliefs()["r1"], "Bern", 9)
    assert story.spans() == [("Bern", 1, 5), ("London", 5, None)]
    story.retract("London", 10)
    assert story.spans() == [("Bern", 1, None)]  # it lasts as long as what it took the place of would have


def test_a_correction_of_what_ended_ends_as_well() -> None:
    """Ours: the misheard name of a job that is over is corrected, not the fact that it is over."""
    story = Story("lives_in")
    story.say("Beta", 1)
    story.say("Acne", 5)
    story.end("Acne", 8)
    story.correct("Acne", "Acme", 9)
    assert story.spans() == [("Beta", 1, 5), ("Acme", 5, 8)]


def test_a_correction_of_a_resumed_stretch_reaches_no_further_back() -> None:
    """Ours: the new value paints from there; what held before the visit is untouched."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Rome", 5, until=8)
    story.correct(story.view(9).beliefs[-1], "Bern", 9)
    assert story.spans() == [("Berlin", 1, 5), ("Rome", 5, 8), ("Bern", 8, None)]


def test_correcting_the_spelling_is_evidence_and_changes_the_spelling() -> None:
    """Ours: the same value key is the same value; it is shown as the person writes it now."""
    story = Story("lives_in")
    story.say("berlin", 1)
    story.correct("berlin", "Berlin", 5)
    assert story.spans() == [("Berlin", 1, None)]
    assert story.one("Berlin").support == 2


def test_a_correction_by_the_agent_touches_nothing_that_was_said() -> None:
    """Design: an act touches only observations of no higher rank than its own source."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.correct("Berlin", "Bern", 5, source=Source.AGENT)
    assert story.states() == [("Berlin", "active"), ("Bern", "pending")]
    story.confirm("Bern", 6)
    assert story.states() == [("Berlin", "withdrawn"), ("Bern", "active")]


def test_an_act_takes_only_the_support_it_may_touch() -> None:
    """Design: of a claim with support of several ranks, what is of higher rank stays."""
    story = Story("lives_in")
    story.quote("Berlin", 1)
    story.say("Berlin", 5)
    story.retract("Berlin", 6, source=Source.AGENT)
    berlin = next(b for b in story.view().beliefs if b.state is State.ACTIVE)
    assert (berlin.support, berlin.source) == (1, Source.STATED)


def test_a_correction_that_waits_changes_nothing_yet() -> None:
    """Ours: admission asks first; the person's confirmation does it."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.correct("Berlin", "Bern", 5, **waiting())
    assert story.states() == [("Berlin", "active"), ("Bern", "pending")]
    story.confirm("Bern", 6)
    assert story.states() == [("Berlin", "withdrawn"), ("Bern", "active")]


def test_extracting_the_old_words_again_does_not_undo_a_correction() -> None:
    """Ours: words said before the correction are hit by it, whenever they are read."""
    story = Story("relationship", "Joe")
    story.say("recruiter", 1)
    story.correct("recruiter", "close friend", 5)
    story.quote("recruiter", 2)
    story.quote("recruiter", 6)
    assert story.active() == ["close friend"]


# -- what is taken back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", BELOW_SAID)
@pytest.mark.parametrize("said", [0.5, 1, 9, 20])
@pytest.mark.parametrize("since", [None, 0, 1, 15])
def test_extracting_again_does_not_raise_from_the_dead(source: Source, said: float, since: float | None) -> None:
    """Design: a veto for every rank below said, and for any evidence said before the act."""
    story = Story("lives_in")
    story.quote("Mars", 1)
    story.retract("Mars", 5)
    story.say("mars!", said, source, since=since)
    assert story.active() == []
    assert {b.state for b in story.view().beliefs} == {State.WITHDRAWN}


def test_saying_it_again_reopens() -> None:
    """Design: a later said assertion reopens."""
    story = Story("lives_in")
    story.say("Mars", 1)
    story.retract("Mars", 5)
    story.say("Mars", 9)
    assert story.spans() == [("Mars", 9, None)]
    story.end("Mars", 10)
    story.quote("Mars", 12)
    assert story.spans() == [("Mars", 9, 10), ("Mars", 12, None)]


def test_said_before_it_was_taken_back_stays_taken_back_at_any_rank() -> None:
    """Design: evidence said before the act is hit by it, also when it is recorded later."""
    story = Story("lives_in")
    story.say("Mars", 2)
    story.retract("Mars", 5)
    story.say("Mars", 1)
    assert story.active() == []


def test_a_vetoed_value_may_still_support_another_stretch_of_it() -> None:
    """Ours: the stretch that was not taken back gains evidence."""
    story = Story("lives_in")
    for value, at in (("Berlin", 1), ("London", 5), ("Berlin", 9)):
        story.say(value, at)
    story.retract("Berlin", 10)
    story.quote("Berlin", 12, since=2)
    assert story.beliefs()["r1"].support == 2
    assert story.spans() == [("Berlin", 1, 5), ("London", 5, None)]


def test_a_veto_of_a_guess_by_a_guess_binds_guesses_only() -> None:
    """Design: an act reaches no higher than its own source."""
    story = Story("lives_in")
    story.infer("Mars", 1)
    story.retract("Mars", 5, source=Source.INFERRED)
    story.infer("Mars", 6)
    assert story.active() == []
    story.quote("Mars", 7)
    assert story.active() == ["Mars"]


def test_taking_back_a_resumed_stretch_leaves_what_held_before() -> None:
    """Ours: it is shown as taken back under the id it had."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Rome", 5, until=8)
    resumed = story.view(9).beliefs[-1]
    story.retract(resumed, 9)
    assert story.spans() == [("Berlin", 1, 5), ("Rome", 5, 8)]
    assert story.beliefs()[resumed.id].state is State.WITHDRAWN
    assert story.beliefs()["r1"].state is State.SUPERSEDED


def test_a_joke_is_withdrawn_with_its_message() -> None:
    """Design: what rests on messages that were taken back never was."""
    story = Story("lives_in")
    story.quote("Mars", 1, voided=3)
    story.quote("Mars", 2, voided=3)
    assert story.states() == [("Mars", "withdrawn")]
    assert story.one("Mars").reason == "the message was taken back"
    assert story.one("Mars").support == 2


def test_a_message_taken_back_by_the_agent_leaves_what_was_stated() -> None:
    """Design: an act touches only observations of no higher rank than its own source."""
    story = Story("lives_in")
    story.say("Mars", 1, voided=2)
    assert story.states() == [("Mars", "active")]


def test_acts_in_a_message_that_was_taken_back_do_nothing() -> None:
    """Ours: "I left", said in jest, ends nothing."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.end("Berlin", 5, voided=3)
    story.retract("Berlin", 6, voided=3)
    story.correct("Berlin", "Bern", 7, voided=3)
    assert story.spans() == [("Berlin", 1, None)]


def test_an_act_on_a_message_belongs_to_no_slot() -> None:
    """Ours: the fold leaves it alone; its effect comes in through the rows that cite the message."""
    story = Story(None)
    story.say(None, 1, act=Act.RETRACT, target=Target(message_id="m1"))
    assert story.fold().cells == ()
    assert [(p.slot, p.claim) for p in story.fold().placements] == [("", "")]


# -- confirm and reject ------------------------------------------------------------------------------------------------


def test_confirming_brings_a_pending_guess_in() -> None:
    """Design: the person asserts the same value, over the interval that was asked about."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.infer("London", 5)
    story.confirm("London", 9)
    assert story.spans() == [("Berlin", 1, 5), ("London", 5, None)]
    london = story.one("London")
    assert (london.id, london.source, london.guess, london.support) == ("r2", Source.STATED, False, 2)


def test_confirming_what_was_superseded_moves_nothing() -> None:
    """Ours: that it ended when the next began is no ending to date."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("London", 5)
    story.confirm(story.beliefs()["r1"], 9)
    story.retract("London", 10)
    assert story.spans() == [("Berlin", 1, None)]


def test_confirming_a_visit_keeps_its_end() -> None:
    """Ours: an explicit valid_to is part of what is confirmed."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.infer("Rome", 5, until=8)
    story.confirm("Rome", 6)
    assert story.spans() == [("Berlin", 1, 5), ("Rome", 5, 8), ("Berlin", 8, None)]


def test_confirming_what_was_taken_back_reopens_it() -> None:
    """Design: a later said assertion reopens, and a confirmation is one."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.retract("Berlin", 5)
    story.confirm("Berlin", 6)
    assert story.spans() == [("Berlin", 1, None)]


def test_rejecting_what_waits_settles_it() -> None:
    """Design: rejected, and not asked again."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.infer("London", 5)
    story.reject("London", 6)
    story.infer("London", 7)
    story.quote("London", 8, **waiting())
    assert story.states() == [("Berlin", "active"), ("London", "rejected")]
    assert story.one("London").reason == "rejected on 2026-01-07"


def test_rejecting_what_holds_withdraws_it() -> None:
    """Design: on a standing claim it means that it never was."""
    story = Story("lives_in")
    story.infer("London", 5)
    story.reject("London", 6)
    assert story.states() == [("London", "withdrawn")]


# -- acts that reach too low -------------------------------------------------------------------------------------------


def _answer(story: Story, act: Act, proposal: str, at: float) -> None:
    aim = Target(observation_id=proposal, subject="user", attribute=story.attribute)
    story.say(None, at, act=act, target=aim)


def test_an_end_by_the_agent_of_what_was_said_is_a_proposal() -> None:
    """Design: an act touches no higher rank; it waits for the person."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    asked = story.end("Berlin", 5, Source.AGENT)
    assert story.states() == [("Berlin", "active"), ("Berlin", "pending")]
    proposal = story.beliefs()[asked]
    assert proposal.reason == 'asks to end "Berlin" on 2026-01-06'
    assert proposal.text == "no longer: lives in Berlin"
    assert story.view().proposals == {asked: Act.END}
    _answer(story, Act.CONFIRM, asked, 6)
    assert story.spans() == [("Berlin", 1, 5)]
    assert story.view().proposals == {}


@pytest.mark.parametrize("act", [Act.RETRACT, Act.REJECT])
def test_taking_back_what_was_said_is_a_proposal_for_the_agent(act: Act) -> None:
    """Design: the same, for what would be withdrawn."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    asked = story.act(act, "Berlin", 5, source=Source.AGENT)
    assert story.view().proposals == {asked: act}
    assert story.active() == ["Berlin"]
    _answer(story, Act.CONFIRM, asked, 6)
    assert story.states() == [("Berlin", "withdrawn")]
    story.quote("Berlin", 9)
    assert story.active() == []


@pytest.mark.parametrize("attribute", ["tag", "employer"])
def test_one_end_of_all_values_is_a_proposal_for_each(attribute: str) -> None:
    """Ours: each has an id of its own, and one answer answers them all."""
    story = Story(attribute)
    story.say("red", 1)
    story.say("green", 1)
    asked = story.end(None, 5, Source.AGENT)
    proposals = story.view().proposals
    assert len(proposals) == 2
    assert {name.partition("@")[0] for name in proposals} == {asked}
    _answer(story, Act.CONFIRM, asked, 6)
    assert story.active() == []


def test_a_proposal_that_is_turned_down_is_not_put_again() -> None:
    """Ours: and what it was about stays as it was, without a veto."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    asked = story.end("Berlin", 5, Source.AGENT)
    _answer(story, Act.REJECT, asked, 6)
    story.end("Berlin", 7, Source.AGENT)
    assert story.states() == [("Berlin", "active"), ("Berlin", "rejected")]
    story.end("Berlin", 8)
    story.quote("Berlin", 9)
    assert story.spans() == [("Berlin", 1, 8), ("Berlin", 9, None)]


def test_answering_a_proposal_that_was_erased_does_nothing() -> None:
    """Design: the fold never needs an erased row, and a missing one is not misread."""
    for answer in (Act.CONFIRM, Act.REJECT):
        story = Story("lives_in")
        story.say("Berlin", 1)
        asked = story.retract("Berlin", 5, source=Source.AGENT)
        _answer(story, answer, asked, 6)
        story.rows = [row for row in story.rows if row.observation.id != asked]
        assert story.states() == [("Berlin", "active")]


def test_a_proposal_is_answered_when_it_happens_anyway() -> None:
    """Ours: nobody is asked about what is done."""
    for done in ("end", "retract", "move"):
        story = Story("lives_in")
        story.say("Berlin", 1)
        asked = story.end("Berlin", 5, Source.AGENT)
        assert asked in story.beliefs()
        if done == "end":
            story.end("Berlin", 4)
        elif done == "retract":
            story.retract(story.beliefs()["r1"], 6)
        else:
            story.say("London", 3, until=8)
            story.end("Berlin", 6, since=5)
        assert asked not in story.beliefs()


def test_an_act_that_waits_is_a_proposal_too() -> None:
    """Ours: admission wants to hear it from the person."""
    story = Story("lives_in")
    story.quote("Berlin", 1)
    asked = story.end("Berlin", 5, verdict=Verdict.NEEDS_CONFIRM)
    assert story.active() == ["Berlin"]
    _answer(story, Act.CONFIRM, asked, 6)
    assert story.active() == []


def test_a_repeat_of_lower_rank_may_only_propose_an_ending() -> None:
    """Ours: a quote that says until when does not shorten what was stated."""
    story = Story("lives_in")
    story.say("Rome", 1)
    asked = story.quote("Rome", 2, until=8)
    assert story.spans() == [("Rome", 1, None)]
    assert story.view().proposals == {asked: Act.END}


def test_what_admission_dropped_has_no_effect() -> None:
    """Ours: a dropped row in the ledger is nothing to the fold."""
    story = Story("lives_in")
    story.say("Berlin", 1, verdict=Verdict.DROP)
    assert story.fold().cells == ()


# -- ids and erasure ---------------------------------------------------------------------------------------------------


def test_erasing_the_founder_passes_the_id_on() -> None:
    """Design: the next supporter's id takes over."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.quote("Berlin", 2)
    story.say("Berlin", 3)
    assert story.one("Berlin").id == "r1"
    del story.rows[0]
    assert story.one("Berlin").id == "r2"
    assert story.one("Berlin").valid_from == day(2)


def test_erasing_what_a_correction_corrected_keeps_the_correction() -> None:
    """Design: acts copy in what they need."""
    story = Story("lives_in")
    story.say("Berlin", 3)
    story.correct("Berlin", "Bern", 9)
    del story.rows[0]
    assert story.spans() == [("Bern", 3, None)]


def test_erasing_what_was_taken_back_keeps_it_from_coming_back() -> None:
    """Design: the veto rests on the act alone."""
    story = Story("lives_in")
    story.quote("Mars", 1)
    story.retract("Mars", 5)
    del story.rows[0]
    story.quote("Mars", 9)
    assert story.states() == [("Mars", "withdrawn")]


def test_the_lowest_position_founds_whatever_was_said_first() -> None:
    """Design: a belief's id is that of its founding observation, the lowest position of the run."""
    story = Story("lives_in")
    story.say("Berlin", 5)
    story.say("Berlin", 2)
    assert story.one("Berlin").id == "r1"
    assert story.one("Berlin").valid_from == day(2)
    assert story.one("Berlin").recorded_at == day(101)


def test_a_row_is_replayed_where_its_words_stand() -> None:
    """Design: said_at, then the evidence message's position, then the span, then the row's own."""
    story = Story("lives_in")
    story.say("London", 1)
    story.say("Berlin", 1)
    first, second = story.rows
    assert story.active() == ["Berlin"]
    before = first.observation.position._replace(counter=0)
    story.rows = [first, replace(second, evidence_position=before)]
    assert story.active() == ["London"]


def test_targets_are_whole_without_their_rows() -> None:
    """Ours: what the tests copy into a target is what the fold may count on."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    aimed = target(story.one("Berlin"))
    assert (aimed.observation_id, aimed.value, aimed.valid_from, aimed.valid_to) == ("r1", "Berlin", day(1), None)


def test_a_reason_stays_true_when_what_it_names_holds_no_longer() -> None:
    """Ours: a claim that waits says what had been said, not what is."""
    story = Story("relationship", subject="Joe")
    story.say("close friend", 1)
    story.infer("recruiter", 2)
    story.retract("close friend", 3)
    waiting_one = story.one("recruiter")
    assert waiting_one.state is State.PENDING
    assert waiting_one.reason == '"close friend" had been said: nothing of lower rank replaces that'


def test_beliefs_that_begin_together_are_in_ledger_order() -> None:
    """Ours: ids are random, so that they order nothing; the founder's position does."""
    story = Story("tag")
    for value in ("zebra", "ant", "mole"):
        story.say(value, 1, id=f"{value}-id")
    assert values(story.view().beliefs) == ["zebra", "ant", "mole"]
