"""What a unit of work asks of its connection: named queries, run one by one or many at a time.

How the statements read is in each back end's `queries.sql`, loaded here by name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any, Protocol

Value = str | int | float | bytes | None
Fields = tuple[Any, ...]

_NAMED = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


class Queries(Protocol):
    """A connection inside a transaction, for one thread at a time."""

    def all(self, name: str, *values: Value) -> list[Fields]:
        """Every row of a query."""

    def one(self, name: str, *values: Value) -> Fields | None:
        """The first row of a query."""

    def many(self, name: str, sets: Iterable[tuple[Value, ...]]) -> list[Fields]:
        """The rows of a query run with each set of values, in no promised order.

        Sets that only look something up may be asked in one statement, so they differ in what is looked up alone.
        """

    def many_unless_taken(self, name: str, sets: Iterable[tuple[Value, ...]]) -> bool:
        """Run a query with each set of values, or with none: False where a row with the same key is there."""

    def each(self, name: str, *values: Value) -> Iterator[Fields]:
        """The rows of a query as they are read. Ends with an error once the block that made it has ended."""

    def changes(self) -> int:
        """A number that grows with every row changed."""


@functools.cache
def statements(package: str) -> dict[str, str]:
    """The queries of a package's `queries.sql` by name."""
    text = resources.files(package).joinpath("queries.sql").read_text("utf-8")
    _, *parts = _NAMED.split(text)
    return {name: _bare(body) for name, body in zip(parts[::2], parts[1::2], strict=True)}


def _bare(body: str) -> str:
    lines = (line for line in body.splitlines() if not line.startswith("--"))
    return "\n".join(lines).strip().removesuffix(";")
