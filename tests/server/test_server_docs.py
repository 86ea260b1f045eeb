"""What docs/server.md shows, run against a server."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from doors_open import opened
from listening import listening

from firsthand.server.keys import ALL, Grant, Level

PAGE = (Path(__file__).parents[2] / "docs" / "server.md").read_text()
OPEN = Grant(ALL, ALL, Level.ADMIN)


def blocks(language: str) -> list[str]:
    """The examples in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_python_examples_run() -> None:
    """Issue: tested examples."""
    assert blocks("py")
    with opened(everybody=OPEN) as server, listening(server) as url:
        for block in blocks("py"):
            exec(compile(block.replace("http://127.0.0.1:8374", url), "docs/server.md", "exec"), {})  # noqa: S102 - ours


@pytest.mark.skipif(shutil.which("curl") is None or shutil.which("bash") is None, reason="needs curl")
def test_the_shell_examples_run() -> None:
    """Issue: tested examples."""
    assert blocks("bash")
    with opened(everybody=OPEN, user="me") as server, listening(server) as url:
        script = "\n".join(blocks("bash")).replace("localhost:8374", url)
        told = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, check=True)  # noqa: S603, S607
        assert '"stored":["' in told.stdout
        assert "Lisbon" in told.stdout
