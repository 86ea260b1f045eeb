"""What importing costs: heavy libraries wait until something needs them."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("firsthand", ("numpy", "apsw", "click", "snowballstemmer")),
        ("firsthand.ledger.admission", ("numpy", "apsw", "click", "snowballstemmer")),
        ("firsthand.writer.rules", ("numpy", "apsw", "click", "snowballstemmer")),
        ("firsthand.memory", ("apsw", "click", "snowballstemmer")),
    ],
)
def test_heavy_libraries_are_not_imported_with_a_module(module: str, absent: tuple[str, ...]) -> None:
    """Issue: import under 0.2 s CPU; what a module does not need at once it does not load."""
    script = f"import sys, {module}; print(*[name for name in {absent!r} if name in sys.modules])"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter

    assert done.stdout.split() == []
