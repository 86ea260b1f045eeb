"""Slots, equality and many values; opposites, free text; confidence, repetition and who founded what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from belief_ledgers import KEY, POLICY, START, Story, by_slot, day, folded

from firsthand.beliefs.digest import digest
from firsthand.beliefs.fold import advance, fold_slot
from firsthand.beliefs.slots import cells_of, owner_key, slot_of
from firsthand.beliefs.view import view
from firsthand.model import Act, Kind, Owner, Source, State, Target

# -- slots and equality ------------------------------------------------------------------------------------------------


def test_attributes_fold_by_name_and_alias() -> None:
    """Design: snake case and the policy's alias list, nothing else."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    story.say("Berlin", 2, attribute="Resides In")
    story.say("Berlin", 3, attribute="livesIn", subject="  USER ")
    assert list(by_slot(story.rows)) == ["user\x1flives_in"]
    assert story.one("Berlin").support == 3


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Berlin", "berlin", True),
        ("Berlin", " Berlin. ", True),
        ("New  York", "new york!", True),
        ("Cafe\u0301", "CAFÉ", True),
        ("Straße", "STRASSE", True),
        ("Berlin", "Berlins", False),
        ("cafe", "café", False),
        ("C", "C++", False),
        ("1.5", "15", False),
    ],
)
def test_values_are_equal_by_their_key_alone(one: str, other: str, same: bool) -> None:
    """Design: NFC, casefolded, blanks collapsed, trailing punctuation removed; nothing else."""
    story = Story("lives_in")
    story.say(one, 1)
    story.say(other, 2)
    assert (len(story.spans()) == 1) is same


def test_owners_do_not_share_free_text_slots() -> None:
    """Design: a keyed digest, so that slots of two owners cannot be compared."""
    story = Story(None)
    story.say("The key is under the mat", 1)
    [row] = story.rows
    other = owner_key(Owner("", "sam"))
    assert slot_of(row.observation, POLICY, KEY) != slot_of(row.observation, POLICY, other)
    assert owner_key(Owner("a", "b")) != owner_key(Owner("", "ab"))
    assert "mat" not in slot_of(row.observation, POLICY, KEY)


def test_free_text_is_its_own_slot_by_subject_kind_and_words() -> None:
    """Design: a keyed digest of (subject, kind, normalised text)."""
    story = Story(None)
    story.say("Prefers tea", 1)
    story.say("prefers  tea.", 2)
    story.say("Prefers tea", 3, kind=Kind.PROCEDURAL)
    story.say("Prefers tea", 4, subject="Joe")
    assert len(by_slot(story.rows)) == 3
    assert story.one("Prefers tea").attribute is None


def test_a_correction_of_free_text_stays_in_its_slot() -> None:
    """Design: and what was extracted again from the old words does not undo it."""
    story = Story(None)
    story.say("Prefers tea", 1)
    story.correct("Prefers tea", "Prefers green tea", 5)
    story.quote("Prefers tea", 9)
    assert len(by_slot(story.rows)) == 1
    assert story.active() == ["Prefers green tea"]
    story.correct("Prefers green tea", "Prefers white tea", 10)
    assert len(by_slot(story.rows)) == 1
    assert story.active() == ["Prefers white tea"]
    story.retract("Prefers white tea", 11)
    assert story.active() == []


def test_a_free_text_can_end() -> None:
    """Ours: episodes and habits are over as facts are."""
    story = Story(None)
    story.say("Is on parental leave", 1)
    story.act(Act.END, "Is on parental leave", 5)
    assert story.spans() == [("Is on parental leave", 1, 5)]


def test_a_target_cannot_smuggle_an_act_into_a_keyed_slot() -> None:
    """Ours: only free-text slots are named by targets."""
    story = Story(None)
    aim = Target(observation_id="x", value="Berlin", slot="user\x1flives_in")
    story.say("Bern", 1, act=Act.CORRECT, target=aim)
    assert "user\x1flives_in" not in by_slot(story.rows)


# -- many values -------------------------------------------------------------------------------------------------------


def test_many_values_stand_side_by_side() -> None:
    """Design: every value folds alone."""
    story = Story("tag")
    for value in ("red", "green", "Red"):
        story.say(value, 1)
    assert story.active() == ["red", "green"]
    assert [cell.cell for cell in story.fold().cells] == ["", "green", "red"]


def test_acts_on_one_of_many_values_hit_that_value_only() -> None:
    """Design: `end`, `retract` and `correct` hit that value only."""
    story = Story("tag")
    for value in ("red", "green", "blue", "grey"):
        story.say(value, 1)
    story.end("red", 5)
    story.retract("green", 5)
    story.correct("blue", "navy", 5)
    assert sorted(story.active()) == ["grey", "navy"]
    assert story.one("blue").superseded_by == story.one("navy").id
    assert story.one("navy").valid_from == day(1)


def test_an_end_of_whatever_holds_ends_every_value() -> None:
    """Ours: also those told of later that began before."""
    story = Story("tag")
    story.say("red", 1)
    story.say("green", 2)
    story.end(None, 5)
    story.say("blue", 9, since=3)
    story.say("grey", 9)
    assert story.active() == ["grey"]
    assert ("blue", 3, 5) in story.spans()


def test_guesses_wait_in_a_slot_of_many_values_once_one_was_said() -> None:
    """Design: a slot that ever held something said; the slot, not the value."""
    story = Story("tag")
    story.infer("red", 1)
    assert story.active() == ["red"]
    story.say("green", 2)
    story.infer("blue", 3)
    assert story.active() == ["green"]
    assert story.one("red").state is State.PENDING
    assert story.one("blue").state is State.PENDING


def test_the_first_word_of_the_person_asks_for_a_full_fold() -> None:
    """Ours: it changes cells of other values, so that folding one cell on would be wrong."""
    story = Story("tag")
    story.infer("red", 1)
    cells = story.fold().cells
    story.say("green", 2)
    named = cells_of(story.rows[1].observation, POLICY)
    assert advance([c for c in cells if c.cell in named], story.rows[1:], POLICY, KEY) is None


def test_long_values_have_short_cells() -> None:
    """Ours: a cell's name does not grow with the value, and odd ones do not meet the slot's own cell."""
    story = Story("tag")
    for value in ("x" * 10_000, "...", "#red", "\ud800"):
        story.say(value, 1)
    cells = [cell.cell for cell in story.fold().cells]
    assert len(cells) == 5
    assert max(map(len, cells)) < 80
    assert len(story.active()) == 4


def test_in_a_slot_of_many_values_confirmation_may_be_asked() -> None:
    """Design: `many` takes confirm."""
    story = Story("allergy")
    story.quote("nuts", 1)
    story.say("pollen", 2)
    assert sorted(story.states()) == [("nuts", "pending"), ("pollen", "active")]
    assert story.one("pollen").sensitivity == "health"
    story.confirm("nuts", 3)
    assert sorted(story.active()) == ["nuts", "pollen"]


# -- opposites ---------------------------------------------------------------------------------------------------------


def test_opposites_of_a_value_are_a_change() -> None:
    """Design: the policy declares opposites."""
    story = Story("likes")
    story.say("Coffee", 1)
    story.say("tea", 1)
    story.say("coffee", 5, attribute="dislikes")
    held = [(b.attribute, b.value) for b in story.view().beliefs if b.state is State.ACTIVE]
    assert held == [("dislikes", "coffee"), ("likes", "tea")]
    old = story.one("Coffee")
    assert (old.attribute, old.state, old.valid_to) == ("likes", State.SUPERSEDED, day(5))
    assert old.reason == 'changed to "dislikes coffee" on 2026-01-06'


def test_opposites_share_one_slot_named_by_the_first() -> None:
    """Design: so that a guess about the one waits once the other was said."""
    story = Story("likes")
    story.say("coffee", 1)
    story.infer("coffee", 5, attribute="dislikes")
    story.infer("tea", 5, attribute="dislikes")
    assert list(by_slot(story.rows)) == ["user\x1fdislikes"]
    assert story.active() == ["coffee"]


def test_ending_a_liking_is_no_dislike() -> None:
    """Ours: who no longer likes it need not dislike it; ending what is not held moves nothing."""
    story = Story("likes")
    story.say("coffee", 1)
    story.end("coffee", 3, attribute="dislikes")
    assert story.active() == ["coffee"]
    story.end("coffee", 5)
    assert story.active() == []


def test_correcting_one_of_opposites() -> None:
    """Ours: the old value's cell and the new value's both hear of it."""
    story = Story("likes")
    story.say("coffee", 1)
    story.correct("coffee", "cocoa", 5)
    assert [(b.attribute, b.value, b.valid_from) for b in story.view().beliefs if b.state is State.ACTIVE] == [
        ("likes", "cocoa", day(1))
    ]


# -- confidence and repetition -----------------------------------------------------------------------------------------


def _heard(source: Source, *witnesses: tuple[str, str]) -> Story:
    story = Story("lives_in")
    for number, witness in enumerate(witnesses):
        story.say("Berlin", 1 + number, source, witnesses=(witness,))
    return story


@pytest.mark.parametrize("source", [Source.QUOTED, Source.AGENT])
def test_heard_in_two_sessions_noted_weighs_more(source: Source) -> None:
    """Design: noted rises to 0.8; rank never moves."""
    once = _heard(source, ("a", "m1"), ("a", "m2")).one("Berlin")
    assert (once.confidence, once.source) == (0.7, source)
    twice = _heard(source, ("a", "m1"), ("b", "m2"), ("c", "m3")).one("Berlin")
    assert (twice.confidence, twice.source) == (0.8, Source.REPEATED)
    story = _heard(source, ("a", "m1"), ("b", "m2"))
    story.say("Bern", 0.5)
    story.rows = [*story.rows[2:], *story.rows[:2]]
    assert story.active() == ["Berlin" if source is Source.QUOTED else "Bern"]


def test_one_message_in_two_sessions_is_one_witness() -> None:
    """Design: distinct user messages."""
    assert _heard(Source.QUOTED, ("a", "m1"), ("b", "m1")).one("Berlin").confidence == 0.7


def test_guesses_rise_by_a_tenth_a_session_up_to_six() -> None:
    """Design: inferred by 0.1 a session up to 0.6, and stay guesses."""
    sessions = [(f"s{n}", f"m{n}") for n in range(9)]
    heard = [_heard(Source.INFERRED, *sessions[:n]).one("Berlin") for n in (1, 2, 3, 9)]
    assert [belief.confidence for belief in heard] == [0.4, 0.5, 0.6, 0.6]
    assert {(belief.source, belief.guess) for belief in heard} == {(Source.INFERRED, True)}


def test_what_was_said_stays_as_sure_as_it_was() -> None:
    """Design: said stays."""
    sessions = [(f"s{n}", f"m{n}") for n in range(3)]
    assert _heard(Source.CORRECTED, *sessions).one("Berlin").confidence == 0.9


def test_support_of_another_rank_does_not_repeat() -> None:
    """Ours: a guess in another session makes no quote more certain."""
    story = _heard(Source.QUOTED, ("a", "m1"))
    story.infer("Berlin", 5, witnesses=(("b", "m2"),))
    belief = story.one("Berlin")
    assert (belief.confidence, belief.source, belief.support) == (0.7, Source.QUOTED, 2)
    assert belief.last_said == day(1)


def test_source_and_confidence_are_the_best_of_the_highest_rank() -> None:
    """Design: stored confidence is fixed; a belief has the best of its highest rank."""
    story = Story("lives_in")
    story.say("berlin", 1, Source.QUOTED)
    story.say("Berlin", 2, Source.CORRECTED, confidence=0.5)
    story.say("BERLIN", 3, Source.RECORD, confidence=0.8)
    belief = story.one("Berlin")
    assert (belief.id, belief.source, belief.confidence) == ("r1", Source.RECORD, 0.8)
    assert (belief.value, belief.support, belief.valid_from) == ("Berlin", 3, day(1))


@pytest.mark.parametrize(("given", "kept"), [(float("nan"), 0.0), (-1.0, 0.0), (7.0, 1.0)])
def test_confidence_stays_within_bounds(given: float, kept: float) -> None:
    """Ours: whatever an import brings, and never a NaN, which no two digests would agree on."""
    story = Story("lives_in")
    story.say("Berlin", 1, confidence=given)
    assert story.one("Berlin").confidence == kept


# -- folding -----------------------------------------------------------------------------------------------------------


def test_nothing_folds_to_nothing() -> None:
    """Ours: no rows, no cells."""
    assert fold_slot([], POLICY, KEY).cells == ()
    done = advance([], [], POLICY, KEY)
    assert done is not None
    assert done.cells == ()
    assert view([], POLICY, START).beliefs == ()
    assert view([], POLICY, START).next_change is None


def test_what_changes_no_cell_returns_none() -> None:
    """Ours: a row without effect writes nothing, and is placed all the same."""
    story = Story("tag")
    story.say("red", 1)
    cells = story.fold().cells
    story.end("red", 5, voided=3)
    done = advance(cells, story.rows[1:], POLICY, KEY)
    assert done is not None
    assert done.cells == ()
    assert [placement.observation_id for placement in done.placements] == ["r2"]


def test_what_was_said_before_asks_for_a_full_fold() -> None:
    """Ours: rows are folded in the order in which things were said."""
    story = Story("lives_in")
    story.say("Berlin", 5)
    cells = story.fold().cells
    story.say("London", 1)
    assert advance(cells, story.rows[1:], POLICY, KEY) is None
    story.say("Porto", 9)
    assert advance(cells, story.rows[2:], POLICY, KEY) is not None


def test_digest_tells_beliefs_apart_and_nothing_else() -> None:
    """Design: rebuild is compared without what the store adds."""
    story = Story("lives_in")
    story.say("Berlin", 1)
    cells = story.fold().cells
    assert digest(cells) == digest([replace(cell, version=9) for cell in cells])
    assert digest(cells) == digest([*cells, replace(cells[0], slot="gone", state="")])
    story.say("Berlin", 2)
    assert digest(folded(story.rows).cells) != digest(cells)


def test_an_unknown_attribute_is_many() -> None:
    """Design: unknown attributes are many, append."""
    story = Story("hobby")
    story.say("chess", 1)
    story.say("go", 2)
    assert sorted(story.active()) == ["chess", "go"]
    assert story.one("go").text == "hobby: go"
