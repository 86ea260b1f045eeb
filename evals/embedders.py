"""How well each embedder finds a LoCoMo turn by its vector alone.

    python -m evals.embedders --data locomo10.json

Recall@1, 5 and 10 at turn level, categories 1 to 4, each conversation its own scope, one vector for each turn (its
text and its image's caption), cosine and nothing else. The two speakers' names are taken out of turns and questions:
who is asked about is a matter for recall, and drowns the rest of the words here. The full data is at
https://github.com/snap-research/locomo (CC BY-NC 4.0). How embedders serve in recall is measured in its own evals.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import ProviderFailed
from firsthand.ports import Embedder
from firsthand.providers import resolve

DEPTHS = (1, 5, 10)
ASKED = (1, 2, 3, 4)  # category 5 has no answer in the conversation
_SESSION = re.compile(r"session_\d+")
_TURN = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns to be found, questions, and which turns answer each."""

    turns: list[str]
    questions: list[str]
    evidence: list[frozenset[int]]


def conversations(path: Path) -> list[Conversation]:
    """The conversations of a LoCoMo file."""
    return [_conversation(sample) for sample in json.loads(path.read_text("utf-8"))]


def recall(embedder: Embedder, talks: list[Conversation]) -> tuple[NDArray[np.float64], float]:
    """Recall at each depth, averaged over all questions, and CPU milliseconds for a text."""
    embedder.embed(["loading is not counted"])
    found: list[list[float]] = []
    texts = 0
    started = time.process_time()
    for talk in talks:
        cosines = embedder.embed(talk.questions) @ embedder.embed(talk.turns).T
        texts += len(talk.questions) + len(talk.turns)
        best = np.argsort(-cosines, axis=1, kind="stable")[:, : DEPTHS[-1]]
        found += [_shares(row.tolist(), evidence) for row, evidence in zip(best, talk.evidence, strict=True)]
    return np.mean(found, axis=0), 1000 * (time.process_time() - started) / texts


def main() -> None:
    """Print one line for each embedder that is installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a LoCoMo file")
    talks = conversations(parser.parse_args().data)
    print(f"{sum(len(talk.questions) for talk in talks)} questions, {sum(len(talk.turns) for talk in talks)} turns")
    print(f"{'embedder':<24}{''.join(f'     R@{depth}'[-8:] for depth in DEPTHS)}{'ms CPU':>10}")
    for spec in ("static", "onnx"):
        try:
            embedder = resolve(spec)
        except ProviderFailed as missing:
            print(f"{spec:<24}{missing}")
            continue
        if embedder is not None:
            shares, milliseconds = recall(embedder, talks)
            print(f"{embedder.name:<24}{''.join(f'{100 * share:8.1f}' for share in shares)}{milliseconds:10.3f}")


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    talk = sample["conversation"]
    names = re.compile(rf"\b(?:{re.escape(talk['speaker_a'])}|{re.escape(talk['speaker_b'])})(?:'s)?\b", re.IGNORECASE)
    places: dict[str, int] = {}
    turns: list[str] = []
    for turn in _turns(talk):
        places[turn["dia_id"]] = len(turns)
        turns.append(names.sub(" ", f"{turn['text']} {turn.get('blip_caption', '')}"))
    questions: list[str] = []
    evidence: list[frozenset[int]] = []
    for asked in sample["qa"]:
        named = _TURN.findall(" ".join(asked["evidence"]))
        answering = frozenset(places[each] for each in named if each in places)
        if asked["category"] in ASKED and answering:
            questions.append(names.sub(" ", asked["question"]))
            evidence.append(answering)
    return Conversation(turns, questions, evidence)


def _turns(talk: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key, value in talk.items():
        if _SESSION.fullmatch(key):
            yield from value


def _shares(ranked: list[int], evidence: frozenset[int]) -> list[float]:
    return [len(evidence.intersection(ranked[:depth])) / len(evidence) for depth in DEPTHS]


if __name__ == "__main__":
    main()
