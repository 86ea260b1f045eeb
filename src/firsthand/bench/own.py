"""A person's own questions, put to their own memory.

JSON Lines: {"question": "Where did we hike?", "expected": ["m17", "up to the lake"]}. Each thing expected is the id of
a message or a belief, or words that some message or belief has in it. Nothing expected: the question should find
nothing. Optional: `id`, and `kind` to see figures by kind. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firsthand.bench.corpus import ANSWERED, UNANSWERED, Asked, Suite
from firsthand.bench.reading import rows_of
from firsthand.errors import InvalidInput
from firsthand.memory import User
from firsthand.text import value_key

_KNOWN = frozenset(("id", "kind", "question", "expected"))


def suite(path: Path) -> Suite:
    """How a file of own questions is measured."""
    return Suite(path.name, list, listens=True, notes=("your questions, your memory, as it is now",))


def questions(path: Path, user: User) -> list[Asked]:
    """The questions of a file, with what they expect looked up. Raises InvalidInput, naming the question."""
    rows = rows_of(path)
    if not rows:
        raise InvalidInput(f"{path}: no questions in it; give one JSON object a line")
    held = _Held.of(user)
    return [_asked(row, f"{path}: question {number}", number, held) for number, row in enumerate(rows, 1)]


@dataclass(frozen=True, slots=True)
class _Held:
    """Everything that something expected may name."""

    texts: Mapping[str, str]  # the key of each message's and belief's text, by id

    @classmethod
    def of(cls, user: User) -> _Held:
        said = {message.id: value_key(message.content) for message in user.messages()}
        return cls(said | {belief.id: value_key(belief.text) for belief in user.beliefs(state=None)})

    def named(self, expected: str) -> frozenset[str]:
        """The ids that something expected stands for."""
        if expected in self.texts:
            return frozenset((expected,))
        key = value_key(expected)
        return frozenset(name for name, text in self.texts.items() if key and key in text)


def _asked(row: Any, where: str, number: int, held: _Held) -> Asked:
    if not isinstance(row, dict) or not isinstance(row.get("question"), str) or not row["question"].strip():
        raise InvalidInput(f'{where}: expected {{"question": "…", "expected": [ids or words]}}')
    if odd := sorted(set(row) - _KNOWN):
        raise InvalidInput(f"{where}: {odd[0]!r} is not known; known are {', '.join(sorted(_KNOWN))}")
    given = row.get("expected", [])
    expected = [given] if isinstance(given, str) else given
    if not isinstance(expected, list) or not all(isinstance(each, str) and each.strip() for each in expected):
        raise InvalidInput(f"{where}: expected is a list of ids or words")
    found = [held.named(each) for each in expected]
    for each, ids in zip(expected, found, strict=True):
        if not ids:
            raise InvalidInput(f"{where}: nothing in this memory has the id or the words {each[:60]!r}")
    standing = ANSWERED if expected else UNANSWERED
    return Asked(_label(row, "id", str(number)), row["question"], _label(row, "kind", "own"), tuple(found), standing)


def _label(row: Mapping[str, Any], name: str, otherwise: str) -> str:
    given: Sequence[str] | int = row.get(name, otherwise)
    return str(given)
