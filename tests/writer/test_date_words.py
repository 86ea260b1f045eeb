"""Date words, read against the moment at which they were said."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidInput
from firsthand.writer.dates import calendar

WEDNESDAY = datetime.fromisoformat("2023-05-24T10:00:00+00:00")

# words -> first day, first day after, granularity
READ = {
    "yesterday": ("2023-05-23", "2023-05-24", "day"),
    "today": ("2023-05-24", "2023-05-25", "day"),
    "tonight": ("2023-05-24", "2023-05-25", "day"),
    "last night": ("2023-05-23", "2023-05-24", "day"),
    "tomorrow": ("2023-05-25", "2023-05-26", "day"),
    "the day before yesterday": ("2023-05-22", "2023-05-23", "day"),
    "3 days ago": ("2023-05-21", "2023-05-22", "day"),
    "last week": ("2023-05-15", "2023-05-22", "week"),
    "this week": ("2023-05-22", "2023-05-29", "week"),
    "two weeks ago": ("2023-05-08", "2023-05-15", "week"),
    "a fortnight ago": ("2023-05-08", "2023-05-15", "week"),
    "fortnight ago": ("2023-05-08", "2023-05-15", "week"),
    "last 7 days": ("2023-05-17", "2023-05-25", "day"),
    "the past 3 months": ("2023-02-24", "2023-05-25", "month"),
    "this month": ("2023-05-01", "2023-06-01", "month"),
    "next month": ("2023-06-01", "2023-07-01", "month"),
    "last month": ("2023-04-01", "2023-05-01", "month"),
    "last year": ("2022-01-01", "2023-01-01", "year"),
    "last weekend": ("2023-05-20", "2023-05-22", "day"),
    "last March": ("2023-03-01", "2023-04-01", "month"),
    "last May": ("2022-05-01", "2022-06-01", "month"),
    "next May": ("2024-05-01", "2024-06-01", "month"),
    "last Monday": ("2023-05-22", "2023-05-23", "day"),
    "last Wednesday": ("2023-05-17", "2023-05-18", "day"),
    "next Wednesday": ("2023-05-31", "2023-06-01", "day"),
    "on Monday": ("2023-05-22", "2023-05-23", "day"),
    "in May": ("2023-05-01", "2023-06-01", "month"),
    "in June": ("2022-06-01", "2022-07-01", "month"),
    "in May 2020": ("2020-05-01", "2020-06-01", "month"),
    "in 2019": ("2019-01-01", "2020-01-01", "year"),
    "in early 2019": ("2019-01-01", "2020-01-01", "year"),
    "since 2019": ("2019-01-01", "2020-01-01", "year"),
    "since last March": ("2023-03-01", "2023-04-01", "month"),
    "for 12 years": ("2011-01-01", "2012-01-01", "year"),
    "for about three months": ("2023-02-01", "2023-03-01", "month"),
    "until June": ("2023-06-01", "2023-07-01", "month"),
    "3 May": ("2023-05-03", "2023-05-04", "day"),
    "on the 3rd of May, 2021": ("2021-05-03", "2021-05-04", "day"),
    "June 1st": ("2022-06-01", "2022-06-02", "day"),
    "the 15th of last month": ("2023-04-15", "2023-04-16", "day"),
    "2023-05-01": ("2023-05-01", "2023-05-02", "day"),
    "in 2 weeks": ("2023-06-05", "2023-06-12", "week"),
    "29 February 2024": ("2024-02-29", "2024-03-01", "day"),
}


@pytest.mark.parametrize(("words", "expected"), READ.items())
def test_words_name_a_range_of_local_days(words: str, expected: tuple[str, str, str]) -> None:
    """Complaints C011 and C015: one parser with a fixed list, against the message's own time."""
    when = calendar("en").read(words, WEDNESDAY)
    assert (f"{when.begins:%Y-%m-%d}", f"{when.ends:%Y-%m-%d}", when.granularity) == expected


@pytest.mark.parametrize(
    "words",
    ["", "soon", "may", "March", "2019", "30 February", "9999 years ago", "a few days ago", "last", "in 2019 or so"],
)
def test_words_that_name_no_date_are_refused(words: str) -> None:
    """Complaint C015: an error for unknown words, never an empty answer."""
    with pytest.raises(InvalidInput, match="no known date"):
        calendar("en").read(words, WEDNESDAY)


def test_a_sentence_gives_each_of_its_dates() -> None:
    """Complaint C011, its example."""
    found = calendar("en").find("I flew to Paris last week and called Ana yesterday", WEDNESDAY)
    assert [(w.text, f"{w.begins:%m-%d}", f"{w.ends:%m-%d}") for w in found] == [
        ("last week", "05-15", "05-22"),
        ("yesterday", "05-23", "05-24"),
    ]


def test_the_evening_belongs_to_the_speakers_day() -> None:
    """Complaint C012: calendar words are resolved in the speaker's offset."""
    (when,) = calendar("en").find("dinner with Ana tonight", datetime.fromisoformat("2026-06-01T19:00:00-05:00"))
    assert when.begins.isoformat() == "2026-06-01T00:00:00-05:00"


def test_a_zone_is_read_as_its_offset_at_that_moment() -> None:
    """Ours: reading again from the stored time, which has only an offset, gives the same range."""
    at = datetime(2025, 6, 11, 10, tzinfo=ZoneInfo("Europe/Berlin"))
    stored = datetime.fromisoformat(at.isoformat())
    assert calendar("en").read("last March", at).begins.isoformat() == "2025-03-01T00:00:00+02:00"
    assert calendar("en").read("last March", stored).begins.isoformat() == "2025-03-01T00:00:00+02:00"


def test_with_the_future_in_mind_the_next_such_day_is_meant() -> None:
    """Ours: "in March" of a plan is the March to come."""
    assert calendar("en").read("in March", WEDNESDAY, future=True).begins.isoformat() == "2024-03-01T00:00:00+00:00"
    assert calendar("en").read("on Monday", WEDNESDAY, future=True).begins.isoformat() == "2023-05-29T00:00:00+00:00"


def test_spans_are_those_of_the_words() -> None:
    """Ours: a caller can cut the date out of the sentence, with or without the word before it."""
    text = "We moved back in May 2020, I think."
    (when,) = calendar("en").find(text, WEDNESDAY)
    assert (text[when.start : when.end], text[when.core : when.end]) == ("back in May 2020", "May 2020")


@given(st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2090, 1, 1)), st.sampled_from(sorted(READ)))  # noqa: DTZ001
def test_a_range_is_never_empty_and_begins_at_midnight(at: datetime, words: str) -> None:
    """Ours: as a property over all moments."""
    for when in calendar("en").find(words, at.astimezone(WEDNESDAY.tzinfo)):
        assert when.begins < when.ends
        assert (when.begins.hour, when.begins.minute, when.begins.microsecond) == (0, 0, 0)


def test_german_words_are_another_table() -> None:
    """Ours: the vocabulary is data."""
    found = calendar("de").find("letzten März, seit drei Jahren, am 3. Mai, vor zwei Wochen, 01.02.2020", WEDNESDAY)
    assert [f"{w.begins:%Y-%m-%d}" for w in found] == [
        "2023-03-01",
        "2020-01-01",
        "2023-05-03",
        "2023-05-08",
        "2020-02-01",
    ]


def test_an_unknown_language_has_no_calendar() -> None:
    """Ours: a typo is told at once."""
    with pytest.raises(InvalidInput, match="no date words for language 'xx'"):
        calendar("xx")
