"""How much is taken: requests a second of one caller, bytes of one body, seconds that a body may take."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_CALLERS = 10_000  # counted at a time; the one not heard of longest makes room


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a server. 0 is none."""

    body: int = 8 * 1024 * 1024  # bytes of a JSON body
    upload: int = 1024 * 1024 * 1024  # bytes of an import
    rate: float = 100.0  # requests a second of one key, in the long run
    burst: int = 200  # requests at once
    patience: float = 30.0  # seconds without a byte of a body, or with nobody reading an answer
    threads: int = 16  # verbs that run at a time


class Rate:
    """A bucket for each caller: `burst` at once, `rate` a second after that."""

    def __init__(self, rate: float, burst: int, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._now = rate, burst, now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """Take one request of a caller: 0, or the seconds after which it may ask again."""
        if self._rate <= 0:
            return 0.0
        now = self._now()
        left, last = self._buckets.pop(caller, (float(self._burst), now))
        left = min(float(self._burst), left + (now - last) * self._rate)
        taken = left >= 1.0
        self._buckets[caller] = (left - 1.0 if taken else left, now)
        if len(self._buckets) > _CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1.0 - left) / self._rate
