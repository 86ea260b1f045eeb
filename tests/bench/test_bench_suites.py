"""Public data is read as it is published, and answers are not given away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firsthand.bench import cri, locomo, longmemeval, measuring
from firsthand.bench.corpus import Suite
from firsthand.bench.longmemeval import Haystacks
from firsthand.bench.runs import run_of
from firsthand.bench.ways import BM25, OURS, VECTORS
from firsthand.errors import InvalidInput


def written(folder: Path, name: str, value: Any, *, lines: bool = False) -> Path:
    """A file of JSON, or of JSON Lines."""
    path = folder / name
    path.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value), "utf-8")
    return path


def talk(**more: Any) -> dict[str, Any]:
    """A LoCoMo conversation of two turns."""
    turns = [
        {"speaker": "Ana", "dia_id": "D1:1", "text": "We adopted a grey parrot called Coco."},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice!", "blip_caption": "a parrot on a perch"},
    ]
    conversation = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023", "session_9_date_time": "x"}
    asked = [
        {"question": "What is the parrot called?", "evidence": ["D1:1; D9:9"], "category": 4},
        {"question": "Who sold the parrot?", "evidence": ["D1:1"], "category": 5},
        {"question": "Nothing names a turn", "evidence": ["D"], "category": 1},
    ]
    return {"sample_id": "one", "conversation": conversation, "qa": asked, **more}


def test_locomo_is_turns_with_captions_and_questions_with_evidence(tmp_path: Path) -> None:
    """Ours: shared README: captions are part of turns, evidence that does not exist is left out, category 5 apart."""
    (read,) = locomo.suite(written(tmp_path, "l.json", [talk()])).talks()
    (said,) = read.sessions.values()
    assert [each["content"] for each in said] == [
        "We adopted a grey parrot called Coco.",
        "Nice! [image: a parrot on a perch]",
    ]
    assert [(each.expected, each.standing) for each in read.questions] == [
        ((frozenset(("D1:1",)),), "answered"),
        ((frozenset(("D1:1",)),), "unanswered"),
    ]


def test_every_way_of_recall_is_measured_in_the_same_run(tmp_path: Path) -> None:
    """Issue: each figure beside plain BM25 and plain vectors in the same run."""
    suite = locomo.suite(written(tmp_path, "l.json", [talk()]))
    run = run_of(suite, list(measuring.measured(suite, "static")), "data", {})
    assert {OURS, BM25, VECTORS} <= set(run.ways)
    assert run.ways[OURS]["R@1"] == run.ways[BM25]["R@1"] == 1.0
    assert run.ways[OURS]["R@250t"] == 1.0
    assert run.refusals["unanswered"].questions == 1


def row(name: str, **more: Any) -> dict[str, Any]:
    """A LongMemEval row of evidence."""
    evidence = [
        {"date": "2023/03/01 (Wed) 10:00", "turns": [{"role": "user", "content": "My 5K record is 27 minutes."}]},
        {"date": "2023/05/01 (Mon) 10:00", "turns": [{"role": "user", "content": "My 5K record is 25 minutes now."}]},
    ]
    asked = {"question": "What is my 5K record?", "question_date": "2023/06/01 (Thu) 10:00", "evidence": evidence}
    return {"question_id": name, "question_type": "knowledge-update", **asked, **more}


@pytest.fixture
def distractors(tmp_path: Path) -> Path:
    """Five sessions about nothing of interest."""
    turns = [[{"role": "user", "content": f"Tell me of {each}."}] for each in ("bees", "tin", "jazz", "rope", "Oslo")]
    return written(tmp_path, "d.jsonl", [{"date": None, "turns": each} for each in turns], lines=True)


def haystack(path: Path, distractors: Path, seed: int) -> tuple[Suite, list[list[str]]]:
    """The suite of small haystacks, and what is said in each of the first one's sessions."""
    suite = longmemeval.suite(path, Haystacks(distractors, seed, sessions=5))
    first = next(iter(suite.talks()))
    return suite, [[each["content"] for each in said] for said in first.sessions.values()]


def test_haystacks_repeat_by_their_seed_and_tell_nothing(tmp_path: Path, distractors: Path) -> None:
    """Ours: shared README: say the seed; ids that give the answer away are hidden."""
    path = written(tmp_path, "rows.jsonl", [row("one"), row("two_abs", evidence=[])], lines=True)
    suite, said = haystack(path, distractors, 1)
    assert said == haystack(path, distractors, 1)[1]
    assert said != haystack(path, distractors, 2)[1]
    assert len(said) == 5
    one, two = suite.talks()
    assert all("answer" not in name for name in one.sessions)
    assert [each.standing for each in one.questions] == ["answered"] * 5 + ["elsewhere", "made-up"]
    assert [each.standing for each in two.questions] == ["unanswered", "elsewhere", "made-up"]
    ordinary, *past = (each.succession for each in one.questions[:5])
    assert ordinary is not None
    assert set(past) == {ordinary}
    older, newer = ordinary
    assert ("27" in str(one.sessions[older]), "25" in str(one.sessions[newer])) == (True, True)


def test_sessions_are_ranked_and_successions_ordered(tmp_path: Path, distractors: Path) -> None:
    """Issue: recall_any@5, recall_all@5, ndcg_any@5 and update order at session level."""
    path = written(tmp_path, "rows.jsonl", [row("one")], lines=True)
    suite, _ = haystack(path, distractors, 1)
    run = run_of(suite, list(measuring.measured(suite, "static")), "data", {})
    figures = run.ways[OURS]
    assert (figures["any@5"], figures["all@5"], figures["ndcg@5"]) == (1.0, 1.0, 1.0)
    assert {"update order", "past order"} <= set(figures)


def test_published_haystacks_are_used_as_they_are(tmp_path: Path) -> None:
    """Ours: a user's longmemeval_s.json needs nothing else."""
    published = row(
        "one",
        haystack_dates=["2023/05/20 (Sat) 02:21", "2023/05/10 (Wed) 02:21"],
        haystack_session_ids=["answer_1", "other"],
        haystack_sessions=[[{"role": "user", "content": "A", "has_answer": True}], [{"role": "user", "content": "B"}]],
        answer_session_ids=["answer_1"],
    )
    (read,) = longmemeval.suite(written(tmp_path, "s.json", [published]), Haystacks()).talks()
    assert [each["content"] for said in read.sessions.values() for each in said] == ["B", "A"]
    assert read.questions[0].expected == (frozenset(("s1",)),)


def test_rows_without_haystacks_need_distractors(tmp_path: Path) -> None:
    """Ours: one clear line that says what to do."""
    with pytest.raises(InvalidInput, match="--distractors"):
        longmemeval.suite(written(tmp_path, "rows.jsonl", [row("one")], lines=True), Haystacks())


def test_cri_asks_what_is_told_and_what_is_beside_the_point(tmp_path: Path) -> None:
    """Issue: CRI query relevance, the expected ones in, the irrelevant ones out."""
    said = [("I work as a gardener in Lyon.", 1), ("Meditation calms me.", 2)]
    rows = [
        {"message_id": at, "role": "user", "content": text, "timestamp": f"2025-05-1{at}T09:00:00", "session_id": "s"}
        for text, at in said
    ]
    pair: dict[str, Any] = {"query_id": "q", "query": "What does Mia do for work?"}
    pair |= {"expected_relevant_facts": ["gardener", "works in Lyon"], "expected_irrelevant_facts": ["meditation"]}
    truth = {"final_profile": {"name": {"value": "Mia Roy"}}, "query_relevance_pairs": [pair]}
    written(tmp_path, "conversations.jsonl", rows, lines=True)
    written(tmp_path, "ground_truth.json", truth)
    suite = cri.suite(tmp_path)
    assert next(iter(suite.talks())).aliases == ("Mia Roy", "Mia")
    run = run_of(suite, list(measuring.measured(suite, "static")), "data", {})
    assert run.ways[OURS]["facts in"] == 1.0


@pytest.mark.parametrize(("reader", "what"), [(locomo.suite, "LoCoMo"), (cri.suite, "CRI")])
def test_other_files_are_refused_in_words(tmp_path: Path, reader: Any, what: str) -> None:
    """Ours: bad input gets one clear line."""
    written(tmp_path, "conversations.jsonl", [])
    path = written(tmp_path, "ground_truth.json", {"a": 1})
    with pytest.raises(InvalidInput, match=what):
        reader(path)
