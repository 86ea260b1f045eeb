"""The canonical digest of cells: equal for equal beliefs, whoever folded them and in whatever steps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from firsthand.ports import Cell


def digest(cells: Iterable[Cell]) -> str:
    """Hex SHA-256 over all cells that are there, in any order. What the store adds (versions) does not count."""
    hashed = hashlib.sha256()
    for cell in sorted((each for each in cells if each.state), key=lambda each: (each.slot, each.cell)):
        hashed.update(json.dumps([cell.slot, cell.cell, cell.subject, cell.attribute, cell.state]).encode())
    return hashed.hexdigest()
