"""How much of a labelled body of talk the rules writer finds, and how much of what it finds is right.

    python -m evals.labelled_talk [--part held_out|tuned|everyday|all] [--kind NAME] [--show misses|wrong|dates|all]

The utterances are ours (`evals/data/rules_writer_*.jsonl`), each with the turns before it and what a careful listener
would note. `held_out` was labelled before anybody looked at what the rules do with it and is not tuned on; `tuned` is
what the rules were grown on; `everyday` (support, assistants, coding) was labelled before the rules first read it, and
then mended for. A row:

    id, kind, at       when it was said
    before, text       the turns before it, and the utterance that is judged
    expect             claims that are there to be found: each a list of ways to put it, one of which is enough
    allow              claims that are neither asked for nor wrong

A claim is an act, a subject, an attribute (null for free text) and the values that count as right; `from` is the day
since when it holds; `message` (for `retract`) tells which turn of the person's is taken back, -1 the last one;
`confirm` asks for two evidences. Precision is right proposals among all that are not merely allowed; recall is
expected claims found among all. Dates are judged apart, on the claims found.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from firsthand.model import Message, Position, Role
from firsthand.ports import Proposal
from firsthand.text import value_key
from firsthand.writer.rules import RulesWriter

_DATA = Path(__file__).parent / "data"
_PARTS = ("held_out", "tuned", "everyday")
_ARTICLES = ("a ", "an ", "the ", "my ", "our ")
Claim = Mapping[str, Any]


def main() -> None:
    """Print the counts by kind, and what went wrong when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=(*_PARTS, "all"), default="all")
    parser.add_argument("--kind", default="", help="only utterances of this kind")
    parser.add_argument("--show", choices=("misses", "wrong", "dates", "all"), help="print those utterances")
    given = parser.parse_args()
    parts = _PARTS if given.part == "all" else (given.part,)
    for part in parts:
        rows = [row for row in _rows(_DATA / f"rules_writer_{part}.jsonl") if given.kind in ("", row["kind"])]
        judged = [(row, _judged(row)) for row in rows]
        if given.show:
            _show(judged, given.show)
        print(f"{part}: {len(rows)} utterances")
        print("\n".join(_table(judged)), end="\n\n")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def _judged(row: Mapping[str, Any]) -> dict[str, list[str]]:
    """What was found of a row: `right`, `wrong`, `missed`, `dates` that are wrong and `dated` that are right."""
    turns = [*row["before"], {"role": "user", "text": row["text"]}]
    at = datetime.fromisoformat(row["at"])
    talk = [
        Message(
            id=f"m{n}", role=Role(turn["role"]), content=turn["text"], at=at, position=Position(0, n, "e"), session="s"
        )
        for n, turn in enumerate(turns)
    ]
    proposals = RulesWriter().propose(talk[-1:], talk[:-1])
    persons = [message.id for message in talk if message.role is Role.USER][:-1]
    found: dict[str, list[str]] = defaultdict(list)
    open_claims = list(row["expect"])
    for proposal in proposals:
        way, ways = _matching(open_claims, proposal, persons)
        if way is None or ways is None:
            allowed = any(_fits(claim, proposal, persons) for claim in _allowed(row))
            found["allowed" if allowed else "wrong"].append(_line(proposal))
            continue
        open_claims.remove(ways)
        found["right"].append(_line(proposal))
        if "from" in way:
            since = f"{proposal.valid_from:%Y-%m-%d}" if proposal.valid_from else "no date"
            found["dated" if since == way["from"] else "dates"].append(f"{since}, not {way['from']}")
    found["missed"] = [" or ".join(map(_told, ways)) for ways in open_claims]
    return found


def _allowed(row: Mapping[str, Any]) -> list[Claim]:
    return [*row["allow"], *(way for ways in row["expect"] for way in ways)]


def _matching(
    claims: Sequence[Sequence[Claim]], proposal: Proposal, persons: Sequence[str]
) -> tuple[Claim | None, Sequence[Claim] | None]:
    for ways in claims:
        for way in ways:
            if _fits(way, proposal, persons):
                return way, ways
    return None, None


def _fits(claim: Claim, proposal: Proposal, persons: Sequence[str]) -> bool:
    if claim["act"] != proposal.act:
        return False
    if "message" in claim:
        return proposal.retracts is not None and proposal.retracts == persons[claim["message"]]
    confirms = proposal.answers is not None
    same = (value_key(claim["subject"]), claim["attribute"]) == (value_key(proposal.subject), proposal.attribute)
    return (
        same and confirms == bool(claim.get("confirm")) and _bare(proposal.value or "") in map(_bare, claim["values"])
    )


def _bare(value: str) -> str:
    key = value_key(value)
    return next((key.removeprefix(article) for article in _ARTICLES if key.startswith(article)), key)


def _line(p: Proposal) -> str:
    return f"{p.act} {p.subject}.{p.attribute} = {p.value!r}{f' takes back {p.retracts}' if p.retracts else ''}"


def _told(claim: Claim) -> str:
    if "message" in claim:
        return "retract the message before"
    return (
        f"{claim['act']} {claim['subject']}.{claim['attribute']} = {claim['values'][0] if claim['values'] else None!r}"
    )


def _table(judged: Sequence[tuple[Mapping[str, Any], Mapping[str, list[str]]]]) -> list[str]:
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for row, found in judged:
        for kind in (row["kind"], "all"):
            kinds[kind]["rows"] += 1
            kinds[kind].update({name: len(each) for name, each in found.items()})
    rows = sorted(kinds.items(), key=lambda item: (item[0] == "all", item[0]))
    return [f"{'':<12}{'rows':>6}{'right':>7}{'wrong':>7}{'missed':>8}{'precision':>11}{'recall':>8}{'dates':>8}"] + [
        f"{kind:<12}{c['rows']:>6}{c['right']:>7}{c['wrong']:>7}{c['missed']:>8}"
        f"{_share(c['right'], c['wrong']):>11}{_share(c['right'], c['missed']):>8}{_share(c['dated'], c['dates']):>8}"
        for kind, c in rows
    ]


def _share(part: int, rest: int) -> str:
    return f"{part / (part + rest):.2f}" if part + rest else "-"


def _show(judged: Sequence[tuple[Mapping[str, Any], Mapping[str, list[str]]]], what: str) -> None:
    wanted = {"misses": ("missed",), "wrong": ("wrong",), "dates": ("dates",), "all": ("missed", "wrong", "dates")}[
        what
    ]
    for row, found in judged:
        for name in wanted:
            for each in found[name]:
                print(f"{row['id']} [{row['kind']}] {row['text']!r}\n    {name}: {each}")


if __name__ == "__main__":
    main()
