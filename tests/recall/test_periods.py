"""Periods that a question names, relative to now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.model import micros
from firsthand.recall.periods import Period, named

NOW = datetime(2026, 6, 10, 15, 30, tzinfo=UTC)  # a Wednesday


def days(text: str) -> tuple[str, str] | None:
    """First day and the day after the last, of the period named."""
    period = named(text, NOW)
    return None if period is None else (f"{period.since:%Y-%m-%d}", f"{period.until:%Y-%m-%d}")


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What did I say yesterday?", "2026-06-09", "2026-06-10"),
        ("the day before yesterday", "2026-06-08", "2026-06-09"),
        ("3 days ago", "2026-06-07", "2026-06-08"),
        ("three days ago", "2026-06-07", "2026-06-08"),
        ("two weeks ago", "2026-05-26", "2026-05-29"),
        ("a fortnight ago", "2026-05-24", "2026-05-31"),
        ("last week", "2026-06-01", "2026-06-08"),
        ("last weekend", "2026-06-06", "2026-06-08"),
        ("last month", "2026-05-01", "2026-06-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last night", "2026-06-09", "2026-06-11"),
        ("this month", "2026-06-01", "2026-06-10"),
        ("in the last 7 days", "2026-06-03", "2026-06-10"),
        ("over the past month", "2026-05-11", "2026-06-10"),
        ("the past two weeks", "2026-05-27", "2026-06-10"),
        ("last Monday", "2026-06-08", "2026-06-09"),
        ("last Wednesday", "2026-06-03", "2026-06-04"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("during July, 2023", "2023-07-01", "2023-08-01"),
        ("July 2023", "2023-07-01", "2023-08-01"),
        ("on 3 May 2023", "2023-05-03", "2023-05-04"),
        ("on May 3rd, 2023", "2023-05-03", "2023-05-04"),
        ("on the 7th of May", "2026-05-07", "2026-05-08"),
        ("2023-05-07", "2023-05-07", "2023-05-08"),
        ("in 2022", "2022-01-01", "2023-01-01"),
    ],
)
def test_words_for_a_time_are_read_relative_to_now(text: str, since: str, until: str) -> None:
    """C015: one parser for time words with a fixed list."""
    assert days(text) == (since, until)


@pytest.mark.parametrize(
    "text", ["May I come in?", "31 February", "2023-13-40", "march on", "for a while", "一昨日", ""]
)
def test_other_words_name_no_time(text: str) -> None:
    """Ours: degrade to nothing rather than to wrong."""
    assert days(text) is None


def test_calendar_days_are_those_of_the_offset_of_now() -> None:
    """C012: an evening does not slip into the next day."""
    evening = datetime(2026, 6, 1, 19, tzinfo=timezone(timedelta(hours=-5)))
    period = named("yesterday", evening)
    assert period is not None
    assert period.since == datetime(2026, 5, 31, tzinfo=timezone(timedelta(hours=-5)))


def test_the_fit_is_one_within_and_falls_to_nothing_at_the_slack() -> None:
    """Ours: a period adds to what was said in it and takes nothing from the rest."""
    period = Period(NOW, NOW + timedelta(days=2), timedelta(days=1), "")
    at = [NOW + timedelta(days=each) for each in (-1, -0.5, 0, 1, 2, 2.5, 9)]
    fit = period.fit(np.array([micros(each) for each in at], dtype=np.int64))
    assert fit.tolist() == [0, 0.5, 1, 1, 1, 0.5, 0]


@given(st.text(alphabet="0123456789 ago lastweekmonthyearinMayof-,", max_size=30))
def test_no_words_raise_and_a_period_is_never_turned_round(text: str) -> None:
    """Ours: any text may be asked."""
    period = named(text, NOW)
    assert period is None or (period.since <= period.until and period.slack >= timedelta(days=1))
