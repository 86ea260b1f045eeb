"""What the tables of this version are, and by which numbered steps an older store comes there."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step: `0001_first`."""

    name: str
    script: str

    @property
    def number(self) -> int:
        """Its place, which is the schema version that it leads to."""
        return int(self.name.split("_")[0])


@dataclass(frozen=True, slots=True)
class Schema:
    """What a new store is made of, and the steps that bring an older one there."""

    script: str
    migrations: tuple[Migration, ...]

    @property
    def version(self) -> int:
        """The number of the last step."""
        return self.migrations[-1].number


@functools.cache
def schema_of(package: str) -> Schema:
    """The schema of a back end, from its `schema.sql` and `migrations/`."""
    folder = resources.files(package)
    files = sorted(
        (f for f in folder.joinpath("migrations").iterdir() if f.name.endswith(".sql")), key=lambda f: f.name
    )
    steps = tuple(Migration(f.name.removesuffix(".sql"), f.read_text("utf-8")) for f in files)
    return Schema(folder.joinpath("schema.sql").read_text("utf-8"), steps)
