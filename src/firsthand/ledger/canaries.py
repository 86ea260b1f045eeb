"""Pieces of what is about to be erased, chosen so that they can be looked for in raw bytes afterwards.

Long texts lie in pieces on the pages of a file, so that short pieces are what proves something: some words, some
windows over words, ids, the hashes that words are searched by, and the beginnings of vectors. Pieces are kept in
memory for as long as the search takes, and nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from firsthand.model import Message, Observation
from firsthand.text import term_hashes, value_key

MOST = 64  # pieces of each sort: a search reads every file once for each
Thing = TypeVar("Thing")

_WORD = re.compile(r"\w{5,40}")
_WINDOW = 24  # characters
_SHORTEST = 6  # bytes: shorter ones are found anywhere
_HASH = 8  # bytes of a term hash
_VECTOR = 24  # bytes of a vector that are looked for


@dataclass(frozen=True, slots=True)
class Going:
    """What goes: rows, the vectors kept of them, and names that must not stay either."""

    messages: Sequence[Message]
    observations: Sequence[Observation]
    vectors: Sequence[bytes] = ()
    names: Sequence[str] = ()


def canaries(going: Going, words: Iterable[str] = ()) -> list[bytes]:
    """The pieces to look for; `words` are further ones that the caller knows."""
    texts = [text for text in _texts(going) if text]
    ids = [*(m.id for m in going.messages), *(o.id for o in going.observations), *going.names]
    hashes = [packed[at : at + _HASH] for packed in map(term_hashes, texts) for at in range(0, len(packed), _HASH)]
    sorts: tuple[Iterable[bytes], ...] = (
        _forms(word for text in texts for word in _WORD.findall(text)),
        _forms(window for text in texts for window in _windows(text)),
        _forms(ids),
        hashes,
        (vector[:_VECTOR] for vector in going.vectors),
    )
    chosen = [piece for sort in sorts for piece in spread(list(dict.fromkeys(sort)))]
    return list(dict.fromkeys([*_forms(words, shortest=1), *(c for c in chosen if len(c) >= _SHORTEST)]))


def _texts(going: Going) -> Iterator[str]:
    for message in going.messages:
        yield message.content
    for observation in going.observations:
        yield observation.value or ""
        yield observation.reason or ""
        yield from (evidence.quote or "" for evidence in observation.evidence)
        if observation.target is not None:
            yield observation.target.value or ""


def _windows(text: str) -> Iterator[str]:
    """A piece from the start, the middle and the end."""
    for start in (0, (len(text) - _WINDOW) // 2, len(text) - _WINDOW):
        yield text[max(start, 0) : max(start, 0) + _WINDOW]


def _forms(pieces: Iterable[str], shortest: int = _SHORTEST) -> Iterator[bytes]:
    """A piece as it is stored: as it was said, as values are compared, and escaped as in JSON."""
    for piece in pieces:
        for form in dict.fromkeys((piece, value_key(piece), json.dumps(piece)[1:-1])):
            encoded = form.encode("utf-8", "surrogatepass")
            if len(encoded) >= shortest:
                yield encoded


def spread(things: Sequence[Thing]) -> Sequence[Thing]:
    """At most so many of them, taken from all over."""
    return things[:: max(1, -(-len(things) // MOST))]
