"""Whose turn it is to write, among threads and among handles of one file."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from firsthand.stores.sqlite.turn import Gate, Queue


def _waiting(queue: Queue, count: int) -> None:
    """Come back once this many wait in the queue."""
    while len(queue._waiting) < count:
        time.sleep(0)  # lets the other threads run


def test_the_queue_is_first_come_first_served() -> None:
    """C055: nobody who comes back at once overtakes those who wait."""
    queue, order = Queue(), list[int]()
    assert queue.acquire(0)

    def come(n: int) -> None:
        assert queue.acquire(60)
        order.append(n)
        queue.release()

    with ThreadPoolExecutor(4) as threads:
        coming = []
        for n in range(4):
            coming.append(threads.submit(come, n))
            _waiting(queue, n + 1)
        queue.release()
        assert queue.acquire(60)  # behind all four
        order.append(4)
        queue.release()
        for each in coming:
            each.result()
    assert order == [0, 1, 2, 3, 4]


def test_whoever_gives_up_is_passed_over() -> None:
    """Ours: a bounded wait leaves no hole in the queue."""
    queue = Queue()
    assert queue.acquire(0)
    with ThreadPoolExecutor(1) as threads:
        assert not threads.submit(queue.acquire, 0).result()
    queue.release()
    assert queue.acquire(0)
    queue.release()


def test_the_queue_knows_whose_turn_it_is() -> None:
    """Ours: so that a thread which waits for itself is told instead of waiting."""
    queue = Queue()
    assert not queue.mine()
    assert queue.acquire(0)
    assert queue.mine()
    with ThreadPoolExecutor(1) as threads:
        assert not threads.submit(queue.mine).result()
        other = threads.submit(queue.acquire, 60)
        _waiting(queue, 1)
        queue.release()
        assert not queue.mine()
        assert other.result()


def test_one_handle_at_a_time_is_through_the_gate(tmp_path: Path) -> None:
    """C054: handles in one process exclude each other as those of two do."""
    one, other = Gate(str(tmp_path / "gate")), Gate(str(tmp_path / "gate"))
    past = time.monotonic()
    assert one.acquire(past)
    assert not other.acquire(past)
    one.release()
    assert other.acquire(past)
    other.close()
    assert one.acquire(past)
    one.close()
