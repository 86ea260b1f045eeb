"""What the rules writer proposes of a body of talk: a list to read for precision, and counts.

    python -m evals.rules_writer --data FILE [--format cri|locomo|longmemeval] [--rule NAME] [--counts]

Every proposal is printed with the words it rests on, so that a person can judge it; nothing here knows what is right
but for one check (`--noise ground_truth.json`): the noise examples of CRI must yield nothing, and of its signal
examples it is counted how many yield anything. CRI is published as
cri-benchmark, LoCoMo at snap-research/locomo, LongMemEval at xiaowu0162/LongMemEval; none of them is part of this
repository.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firsthand.model import Message, Position, Role
from firsthand.ports import Proposal
from firsthand.writer.rules import RulesWriter

Talk = list[Message]


def main() -> None:
    """Read the talk, print the proposals and the counts."""
    options = _options()
    writer = RulesWriter()
    counts: Counter[str] = Counter()
    for talk in _READERS[options.format](options.data):
        contents = {m.id: m.content for m in talk}
        counts["messages of the person"] += sum(m.role is Role.USER for m in talk)
        for proposal in writer.propose(talk, []):
            rule = proposal.writer.rpartition("/")[2]
            counts[f"proposals, {rule}"] += 1
            counts["proposals"] += 1
            if not options.counts and options.rule in ("", rule):
                print(_line(proposal, contents))
    if options.noise:
        for kind in ("noise", "signal"):
            counts[f"{kind} examples with a proposal"] = len(_answered(writer, options.noise, f"{kind}_examples"))
    for name, number in sorted(counts.items()):
        print(f"{number:7d}  {name}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, required=True, help="conversations.jsonl, locomo*.json or longmemeval*.jsonl"
    )
    parser.add_argument("--format", choices=sorted(_READERS), default="cri")
    parser.add_argument("--rule", default="", help="print the proposals of one rule only")
    parser.add_argument("--noise", type=Path, help="CRI's ground_truth.json")
    parser.add_argument("--counts", action="store_true", help="print counts only")
    return parser.parse_args()


def _line(p: Proposal, contents: dict[str, str]) -> str:
    dates = "".join(f" {name} {at:%Y-%m-%d}" for name, at in (("from", p.valid_from), ("to", p.valid_to)) if at)
    target = "".join(f" {name} {what!r}" for name, what in (("replaces", p.replaces), ("retracts", p.retracts)) if what)
    content = contents[p.message_id]
    before, after = content[max(0, p.start - 40) : p.start], content[p.end : p.end + 60]
    words = re.sub(r"\s+", " ", f"{before}[{content[p.start : p.end]}]{after}")
    return f"{p.message_id}\t{p.act} {p.subject}.{p.attribute} = {p.value!r}{dates}{target} ({p.source})\n\t\t{words}"


def _answered(writer: RulesWriter, truth: Path, kind: str) -> list[str]:
    examples = json.loads(truth.read_text(encoding="utf-8"))[kind]
    return [e["text"] for e in examples if writer.propose([_message("n", "user", e["text"], datetime.now(UTC))], [])]


def _message(name: str, role: str, content: str, at: datetime) -> Message:
    return Message(id=name, role=Role(role), content=content, at=at, position=Position(0, 0, "eval"))


def _cri(path: Path) -> Iterator[Talk]:
    sessions: dict[str, Talk] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        at = datetime.fromisoformat(row["timestamp"]).replace(tzinfo=UTC)
        sessions.setdefault(row["session_id"], []).append(
            _message(str(row["message_id"]), row["role"], row["content"], at)
        )
    yield from sessions.values()


def _locomo(path: Path) -> Iterator[Talk]:
    """Each speaker in turn is the person, the other the assistant."""
    for sample in json.loads(path.read_text(encoding="utf-8")):
        conversation: dict[str, Any] = sample["conversation"]
        for person in (conversation["speaker_a"], conversation["speaker_b"]):
            for name in (each for each in conversation if re.fullmatch(r"session_\d+", each)):
                at = datetime.strptime(conversation[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
                yield [
                    _message(
                        f"{turn['dia_id']}", "user" if turn["speaker"] == person else "assistant", turn["text"], at
                    )
                    for turn in conversation[name]
                ]


def _longmemeval(path: Path) -> Iterator[Talk]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        for session in row.get("evidence", [row]):
            at = datetime.strptime(session["date"], "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
            yield _turns(f"{number}", session["turns"], at)


def _turns(name: str, turns: Sequence[dict[str, str]], at: datetime) -> Talk:
    return [_message(f"{name}.{i}", turn["role"], turn["content"], at) for i, turn in enumerate(turns)]


_READERS = {"cri": _cri, "locomo": _locomo, "longmemeval": _longmemeval}


if __name__ == "__main__":
    main()
