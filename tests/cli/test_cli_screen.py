"""What is printed reads the same everywhere and does nothing to the terminal."""

from __future__ import annotations

import io

import pytest

from firsthand.cli import screen, streams

CYRILLIC = "\\u041f\\u0440\\u0430\\u0433\\u0430"


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [
        ("ascii", f'"{CYRILLIC}" \\u5f20\\u4e09 \\u2713 ...'),
        ("cp1252", f"“{CYRILLIC}” \\u5f20\\u4e09 \\u2713 …"),
        ("gbk", "“Прага” 张三 \\u2713 …"),
        ("utf-8", "“Прага” 张三 ✓ …"),
    ],
)
def test_every_encoding_prints_what_it_can_and_spells_out_the_rest(
    encoding: str, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C025: a console that cannot say a check mark is no reason to die."""
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    out = io.BytesIO()
    stream = io.TextIOWrapper(out, encoding=encoding)
    streams.prepare(stream)
    stream.write("“Прага” 张三 ✓ …")
    stream.flush()
    assert out.getvalue().decode(encoding) == printed


def test_a_pipe_is_utf8_whatever_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """C025: programs that read us need not guess."""
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    streams.prepare(stream)
    assert stream.encoding == "utf-8"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("red \x1b[31malert", "red \\x1b[31malert"),
        ("over\rwritten\x07", "over written\\x07"),
        ("a\u202eb", "a\\u202eb"),
        ("two\nlines\tand tabs", "two lines and tabs"),
        ("é́ 张 🎈", "é́ 张 🎈"),
    ],
)
def test_stored_text_cannot_steer_the_terminal(said: str, shown: str) -> None:
    """Ours: what somebody said is shown, not obeyed."""
    assert screen.one_line(said) == shown


def test_widths_are_counted_in_columns() -> None:
    """Ours: a CJK character takes two columns, a combining mark none."""
    assert screen.wide("张三") == 4
    assert screen.wide("e\u0301") == 1
    assert screen.one_line("张三李四王五", 7) == "张三李…"
    assert screen.padded("张", 4) == "张  "


@pytest.mark.parametrize("text", ["short words that go on and on " * 5, "x" * 200, "张" * 90, ""])
def test_wrapped_text_keeps_every_character_within_the_page(text: str) -> None:
    """Ours: nothing that is wrapped is lost, and no line is wider than the page."""
    lines = screen.wrapped(text, 40, "    ", "- ")
    assert all(screen.wide(line) <= 40 for line in lines)
    assert "".join(lines).replace(" ", "").removeprefix("-") == text.replace(" ", "")


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_are_left_out_where_they_are_not_wanted(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: no-color.org."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert streams.wants_colour() is None
    monkeypatch.setenv(name, value)
    assert streams.wants_colour() is False
