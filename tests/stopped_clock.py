"""A clock that only moves when it is told to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class StoppedClock:
    """Stands still until it is moved."""

    def __init__(self, at: str = "2026-06-01T12:00:00+00:00") -> None:
        self.at = datetime.fromisoformat(at)

    def __call__(self) -> datetime:
        """Now."""
        return self.at

    def forward(self, **span: float) -> datetime:
        """Move on by a span, given as to timedelta."""
        self.at += timedelta(**span)
        return self.at

    def to(self, at: str) -> datetime:
        """Move to a time."""
        self.at = datetime.fromisoformat(at).replace(tzinfo=UTC)
        return self.at
