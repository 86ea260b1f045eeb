"""Prompts, one file each: `NAME-VERSION.md`. A file that was released is not changed; a new version is a new file.

Name and version are recorded with every observation that a prompt brought about.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told before it reads."""

    name: str
    version: int
    text: str

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"


@cache
def prompt(name: str, version: int) -> Prompt:
    """The prompt in the package."""
    text = files(__package__).joinpath(f"{name}-{version}.md").read_text(encoding="utf-8")
    return Prompt(name, version, text)
