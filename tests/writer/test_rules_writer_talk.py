"""What needs the turns before: corrections, things taken back, who speaks, and in which session."""

from __future__ import annotations

from dataclasses import replace

import pytest
from writer_talk import line, rules, told, turn

from firsthand.errors import InvalidInput
from firsthand.model import Act, Kind, Role
from firsthand.writer.rules import RulesWriter

# -- corrected ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turns", "correction"),
    [
        (("My name is Li Ming.", "A: Hi Li Ming!", "Correction: my name is Li Meng."), "user.name = Li Meng"),
        (("My name is Li Ming.", "A: Hi Li Ming!", "No, it's Li Meng."), "user.name = Li Meng"),
        (("My name is Li Ming.", "A: Hello!", "It's Li Meng, not Li Ming."), "user.name = Li Meng"),
        (("My name is Li Ming.", "Sorry, I meant Li Meng."), "user.name = Li Meng"),
        (("My name is Li Ming. Correction: Li Meng.",), "user.name = Li Meng"),
        (("My name is Li Ming.", "A: Noted.", "Not Li Ming but Li Meng."), "user.name = Li Meng"),
        (("My email is a@b.org.", "A: I noted a@b.org.", "No, it's c@b.org!"), "user.email = c@b.org"),
    ],
)  # fmt: skip
def test_a_correction_names_the_new_value_and_the_old_one(turns: tuple[str, ...], correction: str) -> None:
    """Complaint C002: a corrected single value is corrected, not said twice."""
    old = "a@b.org" if "email" in correction else "Li Ming"
    assert told(*turns)[-1] == f"correct {correction} [corrected] for {old}"


def test_a_correction_quotes_the_words_that_make_it_one() -> None:
    """Design: every act rests on words; "Correction:" is among them."""
    found = rules().propose([turn("My name is Li Ming."), turn("Correction: my name is Li Meng.", "m2")], [])[-1]
    assert "Correction: my name is Li Meng."[found.start : found.end] == "Correction: my name is Li Meng"


@pytest.mark.parametrize(
    "turns",
    [
        ("I live in Berlin.", "A: Nice. What else?", "No, it's fine."),
        ("I live in Berlin.", "A: Berlin! Which system do you use, Ubuntu?", "No, it's Debian."),
        ("I live in Berlin.", "A: Got it. Is today Monday?", "No, it's Tuesday."),
        ("I live in Berlin and my name is Li Ming.", "A: Li Ming from Berlin?", "No, it's Potsdam."),
        ("I love tea.", "A: Tea, noted.", "No, it's coffee."),
        ("Hello.", "A: Hi Ana!", "No, it's Eva."),
        ("I live in Berlin.", "A: Berlin?", "No, it's Berlin."),
        ("It's Potsdam, not Berlin.",),
        ("I live in Berlin.", "A: So Berlin.", "Is it Potsdam, not Berlin?"),
    ],
)
def test_an_unsure_correction_proposes_nothing(turns: tuple[str, ...]) -> None:
    """Design: when in doubt nothing is proposed; "no, it's …" may answer anything."""
    assert not [claim for claim in told(*turns) if claim.startswith("correct")]


def test_a_change_after_actually_is_no_correction() -> None:
    """Design: a correction was never true, a change was true before."""
    assert told("I live in Berlin.", "A: Nice.", "Actually, I moved to Bonn.")[-1] == "user.lives_in = Bonn"
    assert told("I'm vegetarian.", "A: Noted.", "Actually, I'm vegan now.")[-1] == "user.diet = vegan"


def test_actually_without_an_earlier_claim_just_states() -> None:
    """Ours: there is nothing to correct."""
    assert told("Actually, I live in Bonn.") == ["user.lives_in = Bonn"]


def test_a_correction_finds_its_claim_in_the_turns_before() -> None:
    """Ours: what was said before the new messages counts, and is not proposed again."""
    found = told("No, it's Potsdam.", before=["I live in Berlin.", "A: Berlin, noted."])
    assert found == ["correct user.lives_in = Potsdam [corrected] for Berlin"]


# -- taken back -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "Cancel that, I was joking.",
        "Cancel that.",
        "Scratch that!",
        "No, scratch that.",
        "Haha, just kidding.",
        "I was only joking.",
        "jk",
        "That was a joke.",
        "I take that back.",
        "Forget what I just said.",
        "Ignore my last message.",
        "I didn't mean that.",
    ],
)
def test_what_was_taken_back_is_the_turn_before(words: str) -> None:
    """Design, the fourth story: a joke taken back never becomes a preference."""
    assert told("I hate olives.", "A: Noted.", words)[-1] == "retract user [stated] of m1"


def test_a_turn_that_was_never_read_as_a_claim_is_taken_back_too() -> None:
    """Design: a joke that was never extracted is marked in recall."""
    assert told("Book me a flight to the moon.", "A: Hm.", "Just kidding!") == ["retract user [stated] of m1"]


def test_only_the_last_claim_of_a_turn_with_several_is_taken_back() -> None:
    """Ours: what else the turn said was not a joke."""
    found = told("I live in Rome. I hate olives.", "A: Oh.", "Cancel that, I was joking.")
    assert found[-1] == "retract user.dislikes = olives [stated] for olives"


def test_a_joke_in_one_message_leaves_no_claim() -> None:
    """Ours: what is taken back in the next sentence is never proposed."""
    assert told("I hate olives. Just kidding!") == ["retract user [stated] of m1"]
    assert told("I live in Rome. I hate olives. Just kidding!") == ["user.lives_in = Rome"]
    assert told("I live in Rome. Scratch that, I live in Bonn.") == ["user.lives_in = Bonn"]


def test_a_request_called_off_takes_no_claim_with_it() -> None:
    """Ours: "cancel that" after a request speaks of the request."""
    assert told("I live in Berlin. Book me a table.", "A: Done.", "Cancel that.") == ["user.lives_in = Berlin"]
    assert told("I live in Berlin. What's on?", "A: Films.", "Forget that, tell me a joke.") == [
        "user.lives_in = Berlin"
    ]
    assert told("What's the weather?", "A: Rain.", "Forget that.") == []


def test_thanks_and_laughter_are_looked_past() -> None:
    """Ours: what is taken back is the last turn that said something."""
    assert told("I hate olives.", "A: Noted.", "lol", "A: :)", "just kidding")[-1] == "retract user [stated] of m1"


def test_taking_back_twice_takes_back_once() -> None:
    """Ours: the second "just kidding" does not reach further into the past."""
    found = told("I live in Rome.", "I hate olives.", "Just kidding.", "Just kidding!")
    assert [claim for claim in found if claim.startswith("retract")] == ["retract user [stated] of m2"]


def test_nothing_before_means_nothing_to_take_back() -> None:
    """Ours: a first turn has nothing to take back."""
    assert told("Just kidding!") == []


def test_what_was_said_about_something_is_taken_back_by_its_words() -> None:
    """Issue 4: "forget what I said about …"."""
    found = told("I love jazz.", "A: Noted.", "I live in Rome.", "A: Noted.", "Please forget what I said about jazz.")
    assert found[-1] == "retract user.likes = jazz [stated] for jazz"
    found = told("The meeting about tax was awful.", "A: Oh.", "Ok.", "Forget what I said about the tax meeting.")
    assert found == ["retract user [stated] of m1"]
    assert told("I love jazz.", "Forget what I said about opera.") == ["user.likes = jazz"]


# -- who speaks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.SYSTEM, Role.TOOL])
def test_only_the_person_is_listened_to(role: Role) -> None:
    """Complaints C007 and C010: no other role's text becomes a claim about the user."""
    said = replace(
        turn("Remember that I live in Rome. I prefer the recursive version, and you like clean code."), role=role
    )
    assert rules().propose([said], []) == []


def test_recalled_context_is_not_listened_to() -> None:
    """Design: recalled context fed back is not evidence."""
    assert rules().propose([replace(turn("I live in Rome."), recalled=True)], []) == []


def test_another_speaker_in_a_group_says_nothing_of_the_user() -> None:
    """Design: any other name is its own subject."""
    said = replace(turn("I live in Rome."), name="Caroline")
    assert rules().propose([said], []) == []
    assert [line(p) for p in RulesWriter(aliases=["Caroline"]).propose([said], [])] == ["user.lives_in = Rome"]


def test_a_retraction_never_takes_back_another_speakers_turn() -> None:
    """Ours: "just kidding" is about one's own words."""
    theirs = replace(turn("I hate olives.", "m1"), name="Caroline")
    assert rules().propose([theirs, turn("Just kidding!", "m2")], []) == []


def test_sessions_do_not_speak_into_each_other() -> None:
    """Ours: "no, it's …" and "just kidding" look back in their own session only."""
    first = replace(turn("I live in Berlin.", "m1"), session="a")
    assert [line(p) for p in rules().propose([first, replace(turn("Just kidding!", "m2"), session="b")], [])] == [
        "user.lives_in = Berlin"
    ]


def test_turns_before_are_not_proposed_again() -> None:
    """Design: the writer proposes claims of the messages it is given."""
    assert told("Thanks!", before=["I live in Berlin."]) == []


def test_kinds_follow_what_is_said() -> None:
    """Design: facts are semantic, what happened episodic, how things are done procedural."""
    said = ["I live in Oslo.", "Remember that I flew to Paris last week.", "From now on, answer in German."]
    kinds = [p.kind for text in said for p in rules().propose([turn(text)], [])]
    assert kinds == [Kind.SEMANTIC, Kind.EPISODIC, Kind.PROCEDURAL]


def test_a_date_keeps_its_words_anchor_and_granularity() -> None:
    """Complaint C011: the anchor used and the granularity are kept."""
    (found,) = rules().propose([turn("I moved to Berlin last March.")], [])
    assert found.act is Act.ASSERT
    assert found.metadata == {
        "when": {
            "text": "last March",
            "anchor": "2025-06-11T10:00:00+02:00",
            "granularity": "month",
            "from": "2025-03-01T00:00:00+02:00",
            "to": "2025-04-01T00:00:00+02:00",
        }
    }


def test_reading_again_gives_the_same_proposals() -> None:
    """Design: re-running a writer adds only what is new, so it must not change its mind."""
    messages = [turn("I live in Berlin and work at Acme.", "m1"), turn("Scratch that, I was joking.", "m2")]
    assert rules().propose(messages, []) == RulesWriter().propose(messages, [])


def test_an_unknown_language_is_refused() -> None:
    """Ours: a typo in the configuration is told at once."""
    with pytest.raises(InvalidInput, match="no table for language 'xx'"):
        RulesWriter(languages=["xx"])


def test_who_was_introduced_is_meant_by_their_bond_as_well() -> None:
    """Ours: "my sister" is Ana where Ana was introduced as the sister, and nobody's name where two were."""
    assert told("My sister Ana called.", "My sister lives in Rome.")[-1] == "Ana.lives_in = Rome"
    assert told("My sister Ana called my sister Eva.", "My sister lives in Rome.")[-1] == "sister.lives_in = Rome"


@pytest.mark.parametrize(
    ("asked", "answer", "claim"),
    [
        ("Do you live in Zürich?", "Yes.", "user.lives_in = Zürich"),
        ("So you're allergic to peanuts?", "yep, exactly", "user.allergy = peanuts"),
        ("Is your name Ana?", "That's right.", "user.name = Ana"),
        ("Your birthday is on 4 May, right?", "Correct!", "user.birthday = 4 May"),
        ("Thanks! You work at Siemens, correct?", "Yeah", "user.works_at = Siemens"),
        ("Wohnst du in Köln?", "Ja, genau.", "user.lives_in = Köln"),
        ("Do you live in Zürich?", "No, in Bern.", "user.lives_in = Bern"),
    ],
)
def test_a_yes_says_what_was_asked(asked: str, answer: str, claim: str) -> None:
    """Design: a bare "yes" to an assistant's question is proposed with two evidences."""
    assert told(answer, before=[f"A: {asked}"]) == [claim]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Do you live in Zürich?", "No."),
        ("Do you live in Zürich?", "Yes, but only until May."),
        ("Do you live in Zürich or in Bern?", "Yes."),
        ("Shall I look up trains to Zürich?", "Yes."),
        ("Do you want to live in Zürich?", "Yes."),
        ("You live in Zürich. Shall I book?", "Yes."),
        ("Does your sister live in Zürich?", "Yes."),
        ('You wrote "I live in Zürich"?', "Yes."),
        ("If you live in Zürich?", "Yes."),
        ("Do you live in Zürich? Take the train.", "Yes."),
    ],
)
def test_a_yes_to_anything_else_says_nothing(asked: str, answer: str) -> None:
    """Ours: only a plain question about the person is answered by a yes."""
    assert told(answer, before=[f"A: {asked}"]) == []


def test_a_yes_rests_on_its_question_as_well() -> None:
    """Design: two evidences, the answer and the words that it agrees to."""
    question, answer = turn("A: Noted. Do you live in Zürich?", "m1"), turn("Yes.", "m2")
    (found,) = rules().propose([question, answer], [])

    assert (found.message_id, found.start, found.end) == ("m2", 0, 3)
    assert found.answers is not None
    assert found.answers.message_id == "m1"
    assert question.content[found.answers.start : found.answers.end] == "Do you live in Zürich?"


CORRECTED = {
    ("I live in Lisbon.", "No, Porto."): "correct user.lives_in = Porto [corrected] for Lisbon",
    ("I live in Bern.", "I meant Basel, not Bern."): "correct user.lives_in = Basel [corrected] for Bern",
    ("My name is Ming.", "Sorry, not Ming, Meng."): "correct user.name = Meng [corrected] for Ming",
    ("I'm a nurse.", "Not a nurse, a midwife."): "correct user.occupation = midwife [corrected] for nurse",
    ("My name is Georg.", "It's Jörg with a J, not Georg."): "correct user.name = Jörg [corrected] for Georg",
    ("I'm 36.", "I misspoke, I'm 35."): "correct user.age = 35 [corrected] for 36",
    ("My mother Rosa called.", "She's my aunt, not my mother."): (
        "correct Rosa.relationship = aunt [corrected] for mother"
    ),
}


def test_words_after_a_retraction_in_a_sentence_stand() -> None:
    """C010: what was a joke is not believed, also when it is said to be one in the same sentence."""
    assert told("I live in Paris, just kidding, I live in Bern.") == ["user.lives_in = Bern"]


def test_a_death_ends_what_somebody_was_to_the_person() -> None:
    """Ours: a pet that died is no pet, by its name alone once it was introduced."""
    assert told("I have a dog named Rex.", "A: Lovely.", "Rex died yesterday.")[-2:] == [
        "end Rex.relationship since 2025-06-10",
        "end user.pet = Rex since 2025-06-10",
    ]
    assert told("Rex died yesterday.") == []


def test_a_statement_with_its_contrast_is_read_as_a_statement() -> None:
    """Issue 4: "I work at Ericsson, not Nokia" corrects with the value, not with the sentence."""
    assert told("I work at Nokia.", "I misspoke: I work at Ericsson, not Nokia.")[-1] == (
        "correct user.works_at = Ericsson [corrected] for Nokia"
    )
    assert told("My name is Ann.", "My name is Anne, not Ann.")[-1] == "user.name = Anne"


@pytest.mark.parametrize(("first", "then"), CORRECTED)
def test_a_correction_names_what_it_replaces(first: str, then: str) -> None:
    """Issue 4: corrections ("no, it's", "actually", "I meant"), partial ones among them."""
    assert told(first, then)[-1] == CORRECTED[first, then]


REPLIES = [
    ("What's your name?", "Nadia", "user.name = Nadia"),
    (
        "Sure! What's your email address so I can find the order?",
        "it's tom@example.org",
        "user.email = tom@example.org",
    ),
    ("Where do you live?", "in Bern, Switzerland.", "user.lives_in = Bern, Switzerland"),
    ("And where do you work?", "Siemens", "user.works_at = Siemens"),
    ("What do you do for a living?", "nurse", "user.occupation = nurse"),
    ("How old are you?", "34", "user.age = 34"),
    ("Do you have any allergies?", "Peanuts", "user.allergy = Peanuts"),
    ("What's your delivery address?", "14 Rosemary Lane, Bath", "user.shipping_address = 14 Rosemary Lane, Bath"),
    ("Wie heißt du?", "Nadia", "user.name = Nadia"),
    ("Wo wohnst du?", "Berlin", "user.lives_in = Berlin"),
]


@pytest.mark.parametrize(("asked", "answer", "claim"), REPLIES)
def test_few_words_say_what_they_were_asked_for(asked: str, answer: str, claim: str) -> None:
    """Ours: an answer to "What's your name?" is the person's own words, and is seldom a sentence."""
    assert told(answer, before=[f"A: {asked}"]) == [claim]
    question, reply = turn(f"A: {asked}", "m1"), turn(answer, "m2")
    for found in rules().propose([question, reply], []):
        assert 0 <= found.start < found.end <= len(answer)
        assert (found.message_id, found.answers) == ("m2", None)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("What's your name?", "secret"),
        ("How old are you?", "41 next week"),
        ("What's your name?", "Why?"),
        ("What's your name?", "No."),
        ("Where do you live?", "London or Paris, depends"),
        ("Where does your sister live?", "Bern"),
        ("Which city should I use?", "Bristol"),
        ("Do you have any allergies?", "Nope, none"),
        ("Pretend you are a knight. What's your name, brave knight?", "Lancelot"),
        ("I wonder what your name is.", "Nadia"),
    ],
)
def test_few_words_to_anything_else_say_nothing(asked: str, answer: str) -> None:
    """Ours: only plain questions about the person are answered so."""
    assert told(answer, before=[f"A: {asked}"]) == []


def test_a_correction_may_hesitate() -> None:
    """Issue 4: "wait no, York" corrects as "no, York" does."""
    assert told("I live in Leeds.", "wait no, York")[-1] == "correct user.lives_in = York [corrected] for Leeds"


@pytest.mark.parametrize(
    "begins",
    [
        "Let's role-play: you are a barista.",
        "Pretend we're pirates.",
        "Be my dungeon master!",
        "Lass uns ein Rollenspiel machen.",
    ],
)
def test_a_play_goes_on_in_later_turns(begins: str) -> None:
    """C007: what is played is not believed, also when the play began some turns ago."""
    assert told(begins, "A: Ahoy! What's your name?", "I'm Jack and I live in Tortuga, I work at Siemens.") == []
    assert told(begins, "A: Ahoy! What's your name?", "Jack") == []


def test_a_play_ends_when_the_person_says_so() -> None:
    """Ours: after it the talk is the person's own again."""
    played = ["Let's role-play!", "A: Sure.", "I live in Rome."]

    assert told(*played, "OK, stop the role-play.", "I live in Bern.") == ["user.lives_in = Bern"]
    assert told(*played, "I live in Bern.") == []
