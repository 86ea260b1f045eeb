"""`firsthand bench`: a person's own questions, runs that are kept, compared and drawn, and what is refused."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from shells import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell with a small memory."""
    shell = Shell(tmp_path, monkeypatch)
    talk = [
        {"role": "user", "content": "We hiked up to the blue lake.", "id": "m1"},
        {"role": "user", "content": "The piano was tuned by Greta.", "id": "m2"},
        {"role": "user", "content": "Bought a new kettle.", "id": "m3"},
    ]
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(map(json.dumps, talk)), "utf-8")
    shell.ok("add", str(path))
    return shell


def asked(shell: Shell, *questions: dict[str, object]) -> str:
    """A file of questions."""
    path = shell.folder / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, questions)), "utf-8")
    return str(path)


HIKE: dict[str, object] = {"question": "Where did we hike?", "expected": ["m1"]}
PIANO: dict[str, object] = {"question": "Who tuned the piano?", "expected": "tuned by greta", "kind": "music"}
NOTHING: dict[str, object] = {"question": "What is my hamster's name?", "expected": []}


def test_own_questions_are_measured_by_ids_and_by_words(shell: Shell) -> None:
    """Issue: quality on the user's own questions, beside plain BM25 and plain vectors in the same run."""
    run = shell.json("bench", asked(shell, HIKE, PIANO, NOTHING))
    assert run["ways"]["firsthand"]["R@1"] == 1.0
    assert {"BM25 alone", "vectors alone"} <= set(run["ways"])
    assert run["counts"] == {"own": 1, "music": 1}
    assert run["refusals"]["unanswered"]["questions"] == 1


def test_measuring_writes_nothing(shell: Shell) -> None:
    """Design: recall never writes; neither does measuring it."""
    before = shell.db.read_bytes()
    shell.ok("bench", asked(shell, HIKE))
    assert shell.db.read_bytes() == before


def test_a_run_is_kept_compared_and_drawn(shell: Shell) -> None:
    """Issue: a table, a plot, and a run file that can be compared with the last one."""
    run, plot, questions = shell.folder / "run.json", shell.folder / "run.svg", asked(shell, HIKE, PIANO)
    first = shell.ok("bench", questions, "--save", str(run), "--plot", str(plot))
    assert "firsthand" in first
    root = ET.fromstring(plot.read_text("utf-8"))  # noqa: S314 - our own picture
    assert "By hits" in [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    kept = json.loads(run.read_text("utf-8"))
    for figures in (kept["ways"]["firsthand"], *kept["questions"].values()):
        figures["R@1"] = 0.0
    run.write_text(json.dumps(kept), "utf-8")
    (changed,) = [line for line in shell.ok("bench", questions, "--compare", str(run)).splitlines() if "+100.0" in line]
    assert changed.split() == ["R@1", "0.0", "100.0", "+100.0", "2", "0"]


def test_runs_of_other_data_are_not_compared(shell: Shell) -> None:
    """Ours: a difference of data is not a difference of recall."""
    run = shell.folder / "run.json"
    shell.ok("bench", asked(shell, HIKE), "--save", str(run))
    assert "different data" in shell.refused("bench", asked(shell, HIKE, PIANO), "--compare", str(run))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"question": "Where?", "expected": ["m9"]}, "question 1: nothing in this memory has the id or the words 'm9'"),
        ({"question": " ", "expected": ["m1"]}, "question 1: expected"),
        ({"question": "Where?", "expect": ["m1"]}, "'expect' is not known"),
        ({"question": "Where?", "expected": [1]}, "a list of ids or words"),
    ],
)
def test_questions_that_cannot_be_measured_are_refused(shell: Shell, question: dict[str, object], said: str) -> None:
    """Ours: one clear line that names the question."""
    assert said in shell.refused("bench", asked(shell, question))


def test_public_data_must_be_pointed_to(shell: Shell) -> None:
    """Ours: the data is not part of the project; the error says where it is."""
    assert "github.com/snap-research/locomo" in shell.refused("bench", "locomo", status=2)
    assert "neither a file" in shell.refused("bench", "no-such-file")
    assert "cannot read" in shell.refused("bench", "locomo", "--data", str(shell.folder / "none.json"))
    broken = shell.folder / "broken.jsonl"
    broken.write_text('{"question_id": 1\n', "utf-8")
    assert "line 1 is no JSON" in shell.refused("bench", "longmemeval", "--data", str(broken))
