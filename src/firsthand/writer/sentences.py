"""Sentences of a message that may be the speaker's own words.

Holds the splitting into sentences and the blanking of what somebody else wrote: code, quoted mail, quotations. Every
character keeps its place, so that spans found here are spans of the message. What a sentence means is left to
`rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

FILLER = "\ufffc"  # stands for each character that is not the speaker's own
LONGEST_MESSAGE = 20_000  # characters; what is longer is a document, not talk, and is not read
_LONGEST_SENTENCE = 600

_UNPLAIN = re.compile("[\u2019\u2018\u02bc\u00a0\u202f\t]")
_TO_PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " ", "\t": " "})

# What somebody else wrote, each with words one of which is in it: most messages have none, and that is soon seen.
_OTHERS = (
    (("```",), re.compile(r"```.*?(?:```|\Z)", re.DOTALL)),
    (("~~~",), re.compile(r"^~~~.*?(?:^~~~|\Z)", re.DOTALL | re.MULTILINE)),
    (("`",), re.compile(r"`[^`\n]{1,300}`")),
    ((">",), re.compile(r"^[ \t]*>.*$", re.MULTILINE)),
    (
        ("---", " wrote:", " schrieb "),
        re.compile(
            r"^[ \t]*(?:-{3,} ?(?:Original|Forwarded)|On .{5,120} wrote:|Am .{5,120} schrieb ).*",
            re.DOTALL | re.MULTILINE,
        ),
    ),
    (
        ("From: ", "Von: "),
        re.compile(
            r"^(?:From|Von): .*\n(?:(?:To|An|Sent|Gesendet|Date|Datum|Subject|Betreff|Cc): .*\n?)+.*",
            re.DOTALL | re.MULTILINE,
        ),
    ),
    (("http",), re.compile(r"https?://\S{1,2000}")),
)
_SIGNS = tuple(word for words, _ in _OTHERS for word in words)
_APOSTROPHE_OPENS = re.compile(r"'(?<![\w']')")
_QUOTED = re.compile(
    r"\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”|„[^“”\n]{1,600}[“”]|«[^»\n]{1,600}»|\u201a[^'\n]{1,600}'"
    r"|(?<![\w'])'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){2,600}'(?!\w)"
)
_NAMED_IN_QUOTES = re.compile(r"\w[\w.-]*(?: \w[\w.-]*){0,2}")
_LABELLED = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{1,30}\][ \t]*)?(?:[A-Z][\w.-]{0,20}(?: [A-Z][\w.-]{0,20}){0,2}|[a-z]{2,12})[ \t]?:[ \t].*$",
    re.MULTILINE,
)
_GAP = re.compile(r"\s{0,200}")
_BEGINS = re.compile(r"\s*(?:(?:[-*•\u2013]|\d{1,2}[.)])\s+)?")  # blanks and a bullet
_WORD = re.compile(r"[^\W\d_]+")
_CAPITAL_ANYWAY = frozenset({"I", "m", "ve", "d", "ll"})
_STOP = re.compile(r"[.!?…]+[\"')\]]*(?=\s|$)")


class Sentence(NamedTuple):
    """One sentence: its text with what is not the speaker's own blanked, and its place in the message."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends in the message."""
        return self.start + len(self.text)

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.rstrip("\"')] ").endswith("?")

    @property
    def is_low(self) -> bool:
        """Whether it is written without capitals, so that their absence says nothing of a word."""
        words = [word for word in _WORD.findall(self.text[1:]) if word not in _CAPITAL_ANYWAY]
        return not any(word[0].isupper() for word in words)

    @property
    def is_loud(self) -> bool:
        """Whether it is written in capitals, so that they say nothing of a word."""
        return self.text.isupper() and sum(map(str.isalpha, self.text)) > 6  # noqa: PLR2004 - "I, U.S." is not loud


def own_words(content: str) -> str:
    """Give the content, same length, with code, quoted mail, quotations and speaker-labelled lines blanked."""
    text = content.translate(_TO_PLAIN) if _UNPLAIN.search(content) else content
    for words, others in _OTHERS if any(map(text.__contains__, _SIGNS)) else ():
        if any(map(text.__contains__, words)):
            text = others.sub(_blank, text)
    if text.count(":") > 1 and "\n" in text and len(_LABELLED.findall(text)) > 1:
        text = _LABELLED.sub(_blank, text)
    return _QUOTED.sub(_unquote, text) if _may_quote(text) else text


def _may_quote(text: str) -> bool:
    return '"' in text or _APOSTROPHE_OPENS.search(text) is not None or not text.isascii()


def sentences(text: str, abbreviations: frozenset[str]) -> Iterator[Sentence]:
    """Walk the sentences of a text, in order; a line's end is a sentence's end. Overlong ones are passed over."""
    start = 0
    for line in text.splitlines(keepends=True):
        for first, last in _split(line, abbreviations):
            if 1 < last - first <= _LONGEST_SENTENCE:
                yield Sentence(line[first:last], start + first)
        start += len(line)


def _split(line: str, abbreviations: frozenset[str]) -> Iterator[tuple[int, int]]:
    start = _BEGINS.match(line).end()  # type: ignore[union-attr] # it fits everywhere
    for stop in _STOP.finditer(line, start):
        end = stop.end()
        if stop[0] == "." and _is_abbreviation(line, start, end - 1, abbreviations):
            continue
        yield start, end
        start = _GAP.match(line, end).end()  # type: ignore[union-attr] # it fits everywhere
    if start < (end := len(line.rstrip())):
        yield start, end


def _is_abbreviation(line: str, start: int, dot: int, abbreviations: frozenset[str]) -> bool:
    before, _, word = line[max(start, dot - 20) : dot].casefold().rpartition(" ")
    if word.isdecimal():  # "am 3. Mai" is no end in German
        return f"{before.rpartition(' ')[2]} #" in abbreviations
    word = word.lstrip("(\"'")
    return word in abbreviations or (len(word) == 1 and line[dot - 1].isupper() and word != "i")


def _blank(match: re.Match[str]) -> str:
    return "".join(c if c == "\n" else FILLER for c in match[0])


def _unquote(match: re.Match[str]) -> str:
    """Blank a quotation; a bare name in quotes ("Al") keeps its letters."""
    inner = match[0][1:-1]
    if _NAMED_IN_QUOTES.fullmatch(inner) and all(word[0].isupper() for word in inner.split()) and inner != "I":
        return f" {inner} "
    return _blank(match)
