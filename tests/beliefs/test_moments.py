"""Times come back in the offset in which they were said, whatever the fold does to them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from belief_ledgers import KEY, POLICY, Story, day
from hypothesis import given
from hypothesis import strategies as st

from firsthand import Memory, SchemaTooNew, User
from firsthand.beliefs.digest import digest
from firsthand.beliefs.fold import advance, fold_slot
from firsthand.beliefs.moments import Moment, later, moment, packed, stamp, unpacked, when
from firsthand.model import micros
from firsthand.ports import Cell
from stopped_clock import StoppedClock

LIMA = timezone(timedelta(hours=-5))
EVENING = datetime(2026, 6, 1, 19, tzinfo=LIMA)  # 2 June in UTC

offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=offsets)  # noqa: DTZ001 - the zone is beside


@given(times)
def test_a_moment_is_its_instant_and_keeps_its_offset(at: datetime) -> None:
    """C014: an unchanged round trip changes no comparison; C012: and keeps the offset."""
    there = unpacked(packed(moment(at)))
    assert there == micros(at)
    assert when(there) == at
    assert when(there).utcoffset() == at.utcoffset()
    assert when(later(there, 1)).utcoffset() == at.utcoffset()
    assert stamp(there) == stamp(micros(at))


def test_the_calendar_has_an_end_in_every_offset() -> None:
    """Ours: total, also for an instant that an offset puts beyond the year 9999."""
    assert when(Moment(micros(datetime.max.replace(tzinfo=UTC)), 3_600_000_000)).year == 9999
    assert when(2**62).year == 9999


def test_a_belief_holds_since_the_evening_on_which_it_was_said(alex: User, clock: StoppedClock) -> None:
    """C012: said at seven in the evening, it does not begin on the next day."""
    clock.to("2026-06-05T12:00:00+00:00")
    alex.observe({"role": "user", "content": "I live in Lisbon.", "at": "2026-06-01T19:00:00-05:00"})
    alex.observe({"role": "user", "content": "I live in Porto.", "at": "2026-06-03T20:00:00-05:00"})
    lisbon, porto = alex.history("user", "lives_in")
    assert lisbon.valid_from.isoformat() == "2026-06-01T19:00:00-05:00"
    assert lisbon.last_said.isoformat() == "2026-06-01T19:00:00-05:00"
    assert porto.valid_from == lisbon.valid_to
    assert lisbon.reason == 'changed to "Porto" on 2026-06-03'
    assert "2026-06-03" in str(alex.context("where do I live?"))
    assert "2026-06-04" not in str(alex.context("where do I live?"))


def test_given_times_keep_their_offset_through_endings_and_expiry(alex: User, clock: StoppedClock) -> None:
    """C012: valid_to, expires_at and the reasons too."""
    alex.remember("Globex", attribute="works_at", valid_from=EVENING - timedelta(days=40), valid_to=EVENING)
    alex.remember("tired", attribute="mood_today", said_at=EVENING, expires_at=EVENING + timedelta(days=1))
    clock.to("2026-06-05T12:00:00+00:00")
    work, mood = alex.history("user", "works_at")[0], alex.history("user", "mood_today")[0]
    assert (str(work.valid_to), work.reason) == ("2026-06-01 19:00:00-05:00", "ended on 2026-06-01")
    assert (str(mood.expires_at), mood.reason) == ("2026-06-02 19:00:00-05:00", "expired on 2026-06-02")
    alex.retract(mood.id, said_at=EVENING)
    assert alex.history("user", "mood_today")[0].reason == "retracted on 2026-06-01"


def test_a_boundary_is_told_in_the_offset_of_whoever_it_belongs_to() -> None:
    """Ours: one value ends in Lima at the instant at which the next begins in UTC."""
    story = Story("lives_in")
    story.say("Berlin", 1, valid_from=EVENING - timedelta(days=9), valid_to=EVENING)
    story.say("London", 2, valid_from=EVENING.astimezone(UTC))
    berlin, london = story.view(500).beliefs
    assert (str(berlin.valid_to), str(london.valid_from)) == ("2026-06-01 19:00:00-05:00", "2026-06-02 00:00:00+00:00")


@given(st.lists(st.tuples(st.sampled_from(["Berlin", "London"]), st.integers(0, 4), offsets), max_size=6))
def test_offsets_fold_the_same_step_by_step(told: list[tuple[str, int, timezone]]) -> None:
    """Design: incremental = rebuilt, by digest, also where equal instants come in different offsets."""
    story = Story("lives_in")
    for number, (value, since, zone) in enumerate(told):
        story.say(value, number, valid_from=day(since).astimezone(zone))
    cells: dict[str, Cell] = {}
    for row in story.rows:
        done = advance(list(cells.values()), [row], POLICY, KEY)
        assert done is not None
        cells |= {cell.cell: cell for cell in done.cells}
    assert digest(cells.values()) == digest(fold_slot(story.rows, POLICY, KEY).cells)


def test_what_an_older_version_folded_is_folded_again(tmp_path: Path) -> None:
    """C059: an upgrade keeps everything: cells without offsets are made anew when the file is opened."""
    with Memory(tmp_path / "m.db") as memory:
        alex = memory.user("alex")
        alex.remember("Lisbon", attribute="lives_in", said_at=EVENING)
        rows = memory.parts.store
        with rows.writing(alex.owner, EVENING) as work:
            (cell,) = work.beliefs.cells()
            old = cell.state.replace(f"[{micros(EVENING)},-18000000000]", str(micros(EVENING)))
            assert old != cell.state
            work.beliefs.save([Cell(cell.slot, cell.cell, cell.subject, cell.attribute, old)], [])
        rows.set_facts({"fold": "1"})
    with Memory(tmp_path / "m.db") as memory:
        assert str(memory.user("alex").beliefs()[0].valid_from) == "2026-06-01 19:00:00-05:00"
        assert memory.rebuild().equal


def test_what_a_newer_version_folded_is_refused_in_words(tmp_path: Path) -> None:
    """Issue 5: two versions of the program on one file: the older one says so, also when it has the file open."""
    with Memory(tmp_path / "m.db") as memory:
        memory.user("alex").remember("tea")
        memory.parts.store.set_facts({"fold": "99"})
        with pytest.raises(SchemaTooNew, match="upgrade"):
            memory.user("alex").remember("coffee")
    with pytest.raises(SchemaTooNew, match="upgrade"):
        Memory(tmp_path / "m.db")
