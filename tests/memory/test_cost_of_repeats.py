"""What a repeat costs, counted in calls and in bytes instead of seconds."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from firsthand import Memory, Observation, User
from firsthand.folding import Folder

MANY = 10_000


def repeated(alex: User, times: int, sample: Observation) -> None:
    """Put that many repeats of an observation into the ledger, as if they had been told one by one."""
    memory = alex.memory
    with memory.parts.store.writing(alex.owner, memory.parts.clock()) as work:
        rows = [replace(sample, id=f"{sample.id}{n}", position=work.next_position()) for n in range(times)]
        Folder(work, memory.policy, memory.vectors, memory.parts.clock()).append(rows)


def calls_of_a_repeat(alex: User, *, act: str) -> int:
    """How many Python and C calls one more repeat takes."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> Any:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        if act == "observe":
            alex.observe("I live in Lisbon.")
        else:
            alex.remember("Lisbon", attribute="lives_in", source=act)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("act", ["stated", "inferred", "observe"])
def test_the_ten_thousandth_repeat_costs_what_the_tenth_did(mem: Memory, act: str) -> None:
    """Issue 2: a slot's ten-thousandth repeat costs what its tenth did."""
    costs, sizes = [], []
    for name, times in (("few", 10), ("many", MANY)):
        alex = mem.user(name)
        first = alex.remember("Lisbon", attribute="lives_in").stored[0]
        with mem.parts.store.reading(alex.owner) as work:
            sample = work.observations.get([first])[first]
        repeated(alex, times, sample)
        calls_of_a_repeat(alex, act=act)  # what is only needed once
        costs.append(calls_of_a_repeat(alex, act=act))
        with mem.parts.store.reading(alex.owner) as work:
            sizes.append(sum(len(cell.state) for cell in work.beliefs.cells()))
    assert costs[1] <= costs[0] * 1.1
    assert sizes[1] <= sizes[0] + 50
