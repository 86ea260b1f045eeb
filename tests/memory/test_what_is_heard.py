"""What becomes of what the rules writer hears: from words to beliefs, pending claims and acts."""

from __future__ import annotations

from firsthand import Memory, User
from stopped_clock import StoppedClock


def test_a_bare_yes_waits_with_both_turns_as_evidence(alex: User) -> None:
    """Design: a bare "yes" to an assistant's question is needs_confirm with two evidences."""
    alex.observe([{"role": "assistant", "content": "Do you live in Zürich?", "id": "q"}], session="s1")
    receipt = alex.observe([{"role": "user", "content": "Yes.", "id": "a"}], session="s1")

    assert [(each.reason, each.question) for each in receipt.pending] == [
        ("the words are another's, the person only agreed to them", "Do you live in Zürich?")
    ]
    assert alex.beliefs() == []
    (waiting,) = alex.pending()
    assert alex.beliefs(state="pending")[0].evidence == ("a", "q")

    alex.confirm(waiting.id)

    assert [(b.attribute, b.value) for b in alex.beliefs()] == [("lives_in", "Zürich")]


def test_a_partial_correction_leaves_one_belief(alex: User, clock: StoppedClock) -> None:
    """C002: one value holds, and what was corrected never was."""
    alex.observe([{"role": "user", "content": "I live in Lisbon."}], session="s1")
    alex.observe([{"role": "assistant", "content": "Lisbon, lovely."}], session="s1")
    clock.forward(minutes=1)
    alex.observe([{"role": "user", "content": "No, Porto."}], session="s1")

    assert [(b.value, b.state) for b in alex.history("user", "lives_in")] == [
        ("Lisbon", "withdrawn"),
        ("Porto", "active"),
    ]


def test_a_relative_without_a_name_is_somebody_else(alex: User) -> None:
    """C008: what is said of a third person is never the speaker's."""
    alex.observe([{"role": "user", "content": "My sister lives in Rome and I live in Oslo."}], session="s1")

    assert {(b.subject, b.value) for b in alex.beliefs()} == {("sister", "Rome"), ("user", "Oslo")}


def test_an_ending_in_the_past_ends_what_was_told_since(alex: User, clock: StoppedClock) -> None:
    """Ours: "I left Nokia last week", of a job first heard of yesterday, leaves no job."""
    alex.observe([{"role": "user", "content": "I work at Nokia."}], session="s1")
    clock.forward(days=1)
    alex.observe([{"role": "user", "content": "I left Nokia last week."}], session="s2")

    assert alex.beliefs() == []
    (job,) = alex.history("user", "works_at")
    assert (job.state, job.valid_to) == ("superseded", clock())


def test_an_ending_of_another_value_leaves_its_date(alex: User, clock: StoppedClock) -> None:
    """Ours: only what ended is looked at for when it began."""
    alex.observe([{"role": "user", "content": "I live in Rome and I work at Nokia."}], session="s1")
    clock.forward(days=30)
    alex.observe([{"role": "user", "content": "I left Nokia last week."}], session="s2")

    (job,) = alex.history("user", "works_at")
    assert job.valid_to is not None
    assert job.valid_to < clock()
    assert [b.value for b in alex.beliefs("user", "lives_in")] == ["Rome"]


def test_what_would_change_a_taste_reads_as_a_sentence(alex: User) -> None:
    """Ours: an explanation is for people."""
    alex.observe("I love jazz.", session="s1")
    (taste,) = alex.beliefs("user", "likes")

    assert (
        alex.why(taste.id).changes_if == 'the person saying the opposite ("dislikes jazz"), ending it or taking it back'
    )


def test_turns_with_another_name_are_said_to_be_unheard(mem: Memory) -> None:
    """Ours: a `name` on the messages of a user must not turn the rules off without a word."""
    said = [{"role": "user", "name": "Mira", "content": "I live in Oslo."}] * 2
    told = mem.user("u1").observe(said, session="s1")

    assert [(each.speaker, each.messages) for each in told.unheard] == [("Mira", 2)]
    assert 'aliases=["Mira"]' in told.unheard[0].reason
    assert mem.user("u2", aliases=["Mira"]).observe(said, session="s1").unheard == ()
    assert (
        mem.user("u3").observe([{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hi!"}]).unheard
        == ()
    )


def test_how_things_are_to_be_done_is_in_the_profile_in_free_words_too(alex: User) -> None:
    """Ours: "always answer in short paragraphs" is worth knowing whatever is asked."""
    alex.remember("Answer in short paragraphs.", kind="procedural")
    alex.remember("The spare key is with Ana.")
    alex.remember("Seems to like tables", kind="procedural", source="inferred")

    assert [b.value for b in alex.profile()] == ["Answer in short paragraphs."]
