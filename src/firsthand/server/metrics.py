"""Counts and times of this process in the text format of Prometheus. No names of users and no content are in them."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from firsthand.model import Receipt

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
MEDIA = "text/plain; version=0.0.4; charset=utf-8"
FRESH = 60.0  # seconds that the figures of the store are kept: finding them walks all of it

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What this process has done so far. Safe to use from several threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._now = now
        self._requests: Counter[Labels] = Counter()
        self._times: dict[Labels, list[float]] = {}
        self._claims: Counter[str] = Counter()
        self._store: tuple[float, Mapping[str, Any]] | None = None

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            self._requests[("route", route), ("status", str(status))] += 1
            counts = self._times.setdefault((("route", route),), [0.0] * (len(BUCKETS) + 2))
            counts[bisect_left(BUCKETS, seconds)] += 1
            counts[-1] += seconds

    def wrote(self, receipt: Receipt) -> None:
        """Count what a write came to."""
        with self._lock:
            for outcome in ("messages", "stored", "pending", "dropped", "superseded", "duplicates", "failed"):
                self._claims[outcome] += len(getattr(receipt, outcome))

    def text(self, health: Callable[[], Mapping[str, Any]]) -> str:
        """Everything, for a scrape; `health` is asked at most once a minute."""
        return "\n".join([*self._lines(), *_store_lines(self._held(health))]) + "\n"

    def _held(self, health: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        if self._store is None or self._now() - self._store[0] > FRESH:
            self._store = (self._now(), health())
        return self._store[1]

    def _lines(self) -> Iterator[str]:
        with self._lock:
            requests, claims = dict(self._requests), dict(self._claims)
            times = {labels: list(counts) for labels, counts in self._times.items()}
        yield from _head("firsthand_requests_total", "counter", "Requests answered, by route and status.")
        for labels, count in sorted(requests.items()):
            yield f"firsthand_requests_total{_labels(labels)} {count}"
        yield from _head("firsthand_request_seconds", "histogram", "Seconds from a request to its answer, by route.")
        for labels, counts in sorted(times.items()):
            yield from _histogram("firsthand_request_seconds", labels, counts)
        yield from _head("firsthand_written_total", "counter", "What writes came to, by outcome.")
        for outcome, count in sorted(claims.items()):
            yield f"firsthand_written_total{_labels((('outcome', outcome),))} {count}"


def _histogram(name: str, labels: Labels, counts: list[float]) -> Iterator[str]:
    total = 0.0
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=False):
        total += count
        yield f"{name}_bucket{_labels((*labels, ('le', bound)))} {total:.0f}"
    yield f"{name}_sum{_labels(labels)} {counts[-1]:.6f}"
    yield f"{name}_count{_labels(labels)} {total:.0f}"


_GAUGES = {
    "owners": "Users that the store holds something of.",
    "messages": "Messages kept.",
    "observations": "Claims and acts in the ledger.",
    "beliefs": "Beliefs in any state.",
    "active": "Beliefs that hold now.",
    "pending": "Claims that wait for a person.",
    "due": "Texts whose vectors are still to be made.",
    "admission_rate": "Share of the claims offered that were let in.",
}


def _store_lines(health: Mapping[str, Any]) -> Iterator[str]:
    for name, about in _GAUGES.items():
        value = health.get(name)
        if value is not None:
            yield from _head(f"firsthand_{name}", "gauge", about)
            yield f"firsthand_{name} {value}"
    yield from _head("firsthand_broken_invariants", "gauge", "Things that must hold and do not, such as one value.")
    yield f"firsthand_broken_invariants {len(health.get('wrong', ()))}"


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _labels(labels: Labels) -> str:
    inside = ",".join(f'{key}="{value}"' for key, value in labels)
    return f"{{{inside}}}" if inside else ""
