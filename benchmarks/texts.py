"""Messages and questions to measure with: made from a seed, as much like talk as speed needs.

Words are drawn by a chain that saw which word follows which, either in a file of the user's (`--data`: any text or
JSON, such as LoCoMo's) or, without one, in frequencies that fall as 1 / rank over the shipped vocabulary. Lengths are
those of talk: a median of 19 words, now and then a hundred. Meaning there is none, and no figure of quality is taken
from these texts.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

from firsthand.text import STOP_WORDS

START = datetime(2025, 1, 1, tzinfo=UTC)
PER_SESSION = 40
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_LEADS = ("What did I say about", "When did we talk about", "Who told me of", "How was it with", "Where were")


@dataclass(frozen=True, slots=True)
class Source:
    """Draws the words of one text."""

    draw: Callable[[random.Random, int], list[str]]

    def texts(self, count: int, seed: int) -> list[str]:
        """So many texts. The same seed gives the same texts, and a longer list begins with a shorter one."""
        chance = random.Random(seed)  # noqa: S311 - figures must repeat
        return [self._text(chance) for _ in range(count)]

    def _text(self, chance: random.Random) -> str:
        words = self.draw(chance, min(200, max(3, round(chance.lognormvariate(2.95, 0.6)))))
        for at in range(11, len(words) - 3, 12):
            words[at] += "."
        return " ".join(words).capitalize() + "."


def from_file(path: Path) -> Source:
    """Words as they follow each other in a file."""
    heard = [_WORD.findall(text.lower()) for text in _strings(path.read_text("utf-8"))]
    follows: dict[str, list[str]] = {}
    for words in heard:
        for word, after in pairwise(words):
            follows.setdefault(word, []).append(after)
    starts = [words[0] for words in heard if words]
    if not starts:
        raise SystemExit(f"{path}: no words in it")

    def draw(chance: random.Random, length: int) -> list[str]:
        words = [chance.choice(starts)]
        while len(words) < length:
            words.append(chance.choice(follows.get(words[-1]) or starts))
        return words

    return Source(draw)


def from_vocabulary() -> Source:
    """Words of the shipped vocabulary: half of them function words, the rest as often as 1 / rank."""
    shipped = files("firsthand.providers").joinpath("wordpiece_uncased.txt").read_text("utf-8").split()
    rare = [word for word in shipped if word.isascii() and word.isalpha() and len(word) > 2 and word not in STOP_WORDS]
    random.Random(0).shuffle(rare)  # noqa: S311 - figures must repeat
    common = sorted(word for word in STOP_WORDS if len(word) > 1)
    reached = 0.0
    bounds = [reached := reached + 1 / (rank + 3) for rank in range(len(rare))]

    def draw(chance: random.Random, length: int) -> list[str]:
        words = chance.choices(rare, cum_weights=bounds, k=length)
        return [chance.choice(common) if chance.random() < 0.5 else word for word in words]

    return Source(draw)


def source(path: Path | None) -> Source:
    """From a file of the user's, or from the vocabulary."""
    return from_vocabulary() if path is None else from_file(path)


def messages(texts: Sequence[str], prefix: str = "m") -> list[dict[str, Any]]:
    """The texts as messages of person and assistant in turn, a session every 40, some minutes apart."""
    return [
        {
            "id": f"{prefix}{at}",
            "role": "assistant" if at % 2 else "user",
            "content": text,
            "at": START + timedelta(minutes=3 * at),
        }
        for at, text in enumerate(texts)
    ]


def questions(texts: Sequence[str], count: int, seed: int) -> list[str]:
    """Questions about three to six of the less common words of some text."""
    chance = random.Random(seed)  # noqa: S311 - figures must repeat
    return [_question(chance.choice(texts), chance) for _ in range(count)]


def _question(text: str, chance: random.Random) -> str:
    words = [word for word in dict.fromkeys(_WORD.findall(text.lower())) if word not in STOP_WORDS] or ["it"]
    asked = chance.sample(words, min(len(words), chance.randint(3, 6)))
    return f"{chance.choice(_LEADS)} {' '.join(asked)}?"


def _strings(text: str) -> list[str]:
    """Every string of a JSON or JSON Lines file; the lines of any other."""
    try:
        return list(_leaves(json.loads(text)))
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
    try:
        return list(_leaves([json.loads(line) for line in lines]))
    except ValueError:
        return lines


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str) and " " in value:
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
