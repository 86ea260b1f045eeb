"""CRI: one person's talk with an assistant over months, and what questions about them should bring and should not.

The data says in words of its own which facts a question needs and which have nothing to do with it. A fact counts as
told when the first ten hits have two thirds of its terms between them, so that "developmental mismatch" is told only
where somebody said so: the figures compare ways of recall, and none can reach 100. The data: cri-benchmark (MIT).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from firsthand.bench.corpus import Asked, Suite, Talk
from firsthand.bench.reading import json_of, need, rows_of


def suite(path: Path) -> Suite:
    """The questions of a CRI folder, or of either file in it. Raises InvalidInput when it is no such folder."""
    folder = path if path.is_dir() else path.parent
    rows, truth = rows_of(folder / "conversations.jsonl"), json_of(folder / "ground_truth.json")
    need(isinstance(truth, dict) and "query_relevance_pairs" in truth, folder / "ground_truth.json", "CRI")
    name = str(truth.get("final_profile", {}).get("name", {}).get("value", ""))
    sessions: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        sessions.setdefault(row["session_id"], []).append(_message(row))
    last = max(each["at"] for messages in sessions.values() for each in messages) + timedelta(hours=1)
    asked = [_asked(pair) for pair in truth["query_relevance_pairs"]]
    aliases = tuple(dict.fromkeys((name, *name.split()[:1]))) if name else ()
    return Suite(
        "CRI",
        lambda: [Talk("cri", sessions, asked, last, aliases)],
        listens=True,
        headline=("facts in", "irrelevant out"),
        notes=(
            f"{len(rows)} messages, {len(asked)} questions",
            "facts in: of whose terms the first ten hits have two thirds",
            "irrelevant out: hits that tell no fact of another topic, or a wanted one with it",
            "the rules writer listens, and beliefs are hits of their own",
        ),
    )


def _message(row: dict[str, Any]) -> dict[str, Any]:
    at = datetime.fromisoformat(row["timestamp"])
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return {"id": str(row["message_id"]), "role": row["role"], "content": row["content"], "at": at}


def _asked(pair: dict[str, Any]) -> Asked:
    return Asked(
        str(pair["query_id"]),
        str(pair["query"]),
        "query relevance",
        facts=tuple(pair["expected_relevant_facts"]),
        beside=tuple(pair["expected_irrelevant_facts"]),
    )
