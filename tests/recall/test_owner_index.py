"""The index: grown is built, snapshots stay, and a large index answers as a small one does."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_world import NOW, World, belief, days_ago, embedded, message

from firsthand.model import Message, Role
from firsthand.ports import SearchRow
from firsthand.recall import index as owner_index
from firsthand.recall import vectors
from firsthand.recall.index import OwnerIndex, belief_document
from firsthand.recall.question import Conditions, People, Question, ask
from firsthand.recall.scale import Scale
from firsthand.recall.signals import Signals, message_signals
from firsthand.recall.vectors import Growing
from firsthand.text import term_hash, term_hashes

WORDS = ["tea", "cat", "dog", "sun", "sea", "rain", "moon", "star"]


@st.composite
def talks(draw: st.DrawFn) -> list[Message]:
    """Messages of a few sessions, some without a session, one by one later than the last."""
    said = []
    for at in range(draw(st.integers(0, 14))):
        content = " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=5)))
        session = draw(st.sampled_from(["a", "b", None]))
        name = draw(st.sampled_from(["Ana", "Ben", None]))
        said.append(message(f"m{at}", content, at=NOW + timedelta(minutes=20 * at), session=session, name=name))
    return said


def question(text: str) -> Question:
    """A question with its vector."""
    asked = ask(text, NOW, People(), Conditions())
    return asked.with_vector(embedded(text), Scale(0.0, 0.8))


def figures(signals: Signals) -> list[list[float]]:
    """All figures, rounded to what float16 can tell."""
    return [np.round(getattr(signals, name), 4).tolist() for name in Signals.__slots__]


@given(talks(), st.integers(0, 14), st.integers(0, 14))
def test_an_index_that_grew_gives_the_signals_of_one_built_at_once(said: list[Message], one: int, two: int) -> None:
    """Design: incremental equals rebuilt."""
    facts = World(said).facts()
    first, second = sorted((one, two))
    grown = OwnerIndex.build(facts[:first]).extended(facts[first:second]).extended(facts[second:])
    asked = question("tea with the cat")
    assert figures(message_signals(asked, grown)) == figures(message_signals(asked, OwnerIndex.build(facts)))
    assert grown.columns.before.tolist() == OwnerIndex.build(facts).columns.before.tolist()


@given(talks())
def test_a_snapshot_answers_the_same_after_others_grew_from_it(said: list[Message]) -> None:
    """Ours: readers need no lock."""
    facts = World(said).facts()
    half = len(facts) // 2
    index = OwnerIndex.build(facts[:half])
    asked = question("sun and sea")
    before = figures(message_signals(asked, index))
    one, two = index.extended(facts[half:]), index.extended(facts[half : half + 1])
    assert figures(message_signals(asked, index)) == before
    assert (one.rows, two.rows) == (len(facts), min(half + 1, len(facts)))
    assert figures(message_signals(asked, one)) == figures(message_signals(asked, OwnerIndex.build(facts)))
    assert all(index.row(each.id) == -1 for each in facts[half:])


@given(talks(), st.sampled_from([1, 10**9]))
def test_windows_hold_what_a_turn_and_its_neighbours_hold(said: list[Message], common: int) -> None:
    """Ours: counted over all rows or row by row, a window is a turn with the turns just before and after it."""
    index = OwnerIndex.build(World(said).facts())
    columns = index.columns
    for word in WORDS:
        (found,) = index.postings.find(np.array([term_hash(word)], dtype=np.uint64))
        counts = [each.content.split().count(word) for each in said] + [0]
        near = zip(range(index.rows), columns.before.tolist(), columns.after.tolist(), strict=True)
        expected = {row: counts[row] + counts[before] + counts[after] for row, before, after in near}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner_index, "_COMMON", common)
            windows = columns.windows(found)
        held = dict(zip(windows.rows.tolist(), windows.counts.tolist(), strict=True))
        assert held == {row: count for row, count in expected.items() if count}


def test_halves_become_the_singles_that_they_are() -> None:
    """Ours: cosines of a large index are those of the vectors kept, to the last bit."""
    every = np.arange(65_536, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(-1, 2)
    assert (vectors._single(finite).view(np.int32) == finite.astype(np.float32).view(np.int32)).all()


def test_neighbours_are_turns_of_the_same_session_or_of_the_same_hour() -> None:
    """Ours: what was said just before and after counts, and only that."""
    said = [
        message("m0", "tea", at=NOW, session="a"),
        message("m1", "cat", at=NOW, session="b"),
        message("m2", "sun", at=NOW, session="a"),
        message("m3", "sea", at=NOW, session=None),
        message("m4", "dog", at=NOW + timedelta(minutes=59), session=None),
        message("m5", "rain", at=NOW + timedelta(hours=3), session=None),
    ]
    columns = World(said).index().columns
    assert columns.before.tolist() == [-1, -1, 0, -1, 3, -1]
    assert columns.after.tolist() == [2, -1, -1, 4, -1, -1]


def test_a_large_index_finds_what_an_exact_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: bits choose whom to look at, floats decide; the first hits do not change."""
    rng = np.random.default_rng(3)
    vocabulary = [f"word{at}" for at in range(300)]
    said = [
        message(f"m{at}", " ".join(rng.choice(vocabulary, 8)), session=f"s{at // 9}", at=days_ago(300 - at / 2))
        for at in range(600)
    ]
    world = World(said)
    exact = world.index()
    monkeypatch.setattr(vectors, "EXACT_ROWS", 100)
    estimated = world.index()
    grown = OwnerIndex.build(world.facts()[:90]).extended(world.facts()[90:300]).extended(world.facts()[300:])
    assert (exact.vectors.exact, estimated.vectors.exact, grown.vectors.exact) == (True, False, False)
    for asked in said[::40]:
        hits = world.ask(asked.content, index=exact, limit=5)
        for other in (estimated, grown):
            again = world.ask(asked.content, index=other, limit=5)
            assert [hit.id for hit in again] == [hit.id for hit in hits]
            assert np.allclose([hit.score for hit in again], [hit.score for hit in hits], atol=2e-3)


def test_rows_without_a_vector_are_found_by_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """C085: what was said is found at once, before any model has seen it."""
    said = [message(f"m{at}", f"filler number {at}", session=None, at=days_ago(400 - at)) for at in range(30)]
    world = World([*said, message("new", "smoke token ZX-14806012")])
    facts = world.facts()
    facts[-1] = facts[-1]._replace(vector=None)
    for most in (8192, 10):
        monkeypatch.setattr(vectors, "EXACT_ROWS", most)
        index = OwnerIndex.build(facts)
        assert [hit.id for hit in world.ask("ZX-14806012", index=index, limit=1)] == ["new"]


def test_a_question_in_another_space_is_answered_by_words() -> None:
    """C061: vectors of another size are not compared; keyword results still come."""
    world = World([message("m1", "the tea is green"), message("m2", "the cat sleeps")])
    asked = ask("green tea", NOW, People(), Conditions()).with_vector(np.ones(7, dtype=np.float32), Scale())
    signals = message_signals(asked, world.index())
    assert signals.words[0] > 0
    assert not signals.vector.any()


def test_belief_rows_are_replaced_and_left_out_by_id() -> None:
    """Ours: beliefs change, and their rows with them."""
    rows = [SearchRow("belief", name, term_hashes(text), None) for name, text in (("a", "tea"), ("b", "cat"))]
    index = OwnerIndex.build([], rows)
    changed = index.with_beliefs([SearchRow("belief", "a", term_hashes("dog"), None)], gone=["b", "unknown"])
    assert set(index.beliefs.number) == {"a", "b"}
    assert set(changed.beliefs.number) == {"a"}
    assert changed.beliefs.rows["a"].terms == term_hashes("dog")
    assert set(changed.only_beliefs(rows[1:]).beliefs.number) == {"b"}


def test_a_belief_is_indexed_with_whom_and_what_it_is_about_once() -> None:
    """Ours: a belief is found by its subject and attribute even where its text does not name them."""
    about_joe = belief("b", "close friend", subject="Joe", attribute="relationship")
    assert belief_document(about_joe) == "Joe. relationship. close friend"
    assert belief_document(belief("b", "lives in Lisbon", attribute="lives_in")) == "lives in Lisbon"


def test_an_index_counts_the_bytes_it_holds() -> None:
    """Ours: a cache can be bounded by it."""
    few, many = (World([message(f"m{at}", "tea and cat") for at in range(n)]).index().nbytes for n in (3, 300))
    assert few < many
    assert OwnerIndex().nbytes == 0


def test_a_growing_array_never_writes_where_somebody_reads() -> None:
    """Ours: two branches of one snapshot do not see each other."""
    base = np.arange(4).reshape(4, 1)
    grown, view = Growing(base).appended(4, np.array([[4]]))
    one, left = grown.appended(5, np.array([[5]]))
    _, right = grown.appended(5, np.array([[6]]))
    assert view[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert left[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    assert right[:, 0].tolist() == [0, 1, 2, 3, 4, 6]
    assert one is not grown or left.base is not None


def test_speakers_are_known_by_the_names_that_messages_carry() -> None:
    """Ours: names appear once, in the order they were first heard."""
    said = [message("m1", "hi", name="Ana"), message("m2", "hi", name="Ben"), message("m3", "so", name="Ana")]
    assert World([*said, message("m4", "ok", role=Role.ASSISTANT)]).index().names == ("Ana", "Ben")
