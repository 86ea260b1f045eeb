"""A shell for tests: `firsthand` in this process or in one of its own, with a home and a memory of the test's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import firsthand as package
from firsthand.cli.door import firsthand

_CODE = str(Path(package.__file__).resolve().parents[1])  # found from any working folder, installed or not


class Shell:
    """Types commands; what was set for one test is gone after it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.db = folder / "memory.db"
        for name in [each for each in os.environ if each.startswith("FIRSTHAND_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(folder / "home"))
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        monkeypatch.setenv("FIRSTHAND_DB", str(self.db))

    def run(self, *words: str, typed: bytes | str | None = None) -> Result:
        """The command's status, output and errors."""
        return CliRunner().invoke(firsthand, words, input=typed)

    def ok(self, *words: str, typed: bytes | str | None = None) -> str:
        """The output of a command that succeeds."""
        result = self.run(*words, typed=typed)
        assert result.exit_code == 0, result.stderr or result.exception
        return result.stdout

    def json(self, *words: str, typed: bytes | str | None = None) -> Any:
        """The JSON that a command prints with --json."""
        return json.loads(self.ok(*words, "--json", typed=typed))

    def rows(self, *words: str) -> list[Any]:
        """The JSON Lines that a command prints with --json."""
        return [json.loads(line) for line in self.ok(*words, "--json").splitlines()]

    def refused(self, *words: str, status: int = 1, typed: bytes | str | None = None) -> str:
        """The one line of errors of a command that is refused."""
        result = self.run(*words, typed=typed)
        assert result.exit_code == status, result.output
        lines = result.stderr.splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("firsthand: ")
        return lines[0].removeprefix("firsthand: ")

    def said(self, text: str, *, name: str = "talk.jsonl", **more: str) -> Path:
        """A file of one message by the user."""
        path = self.folder / name
        path.write_text(json.dumps({"role": "user", "content": text, **more}) + "\n", encoding="utf-8")
        return path


def process(*words: str, env: dict[str, str] | None = None, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """`firsthand` in a process of its own."""
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "firsthand", *words],
        env={**os.environ, "PYTHONPATH": _CODE, **(env or {})},
        capture_output=True,
        check=False,
        timeout=60,
        **more,
    )
