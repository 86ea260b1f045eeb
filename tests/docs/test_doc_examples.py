"""Examples in the docs run as they stand."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if PYTHON.search(p.read_text())], ids=name)
def test_the_examples_of_a_page_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    """C091: each snippet runs in CI; blocks of one page share their names."""
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        space: dict[str, object] = {}
        for block in PYTHON.findall(page.read_text()):
            exec(compile(block, str(page), "exec"), space)  # noqa: S102 - our own pages
    finally:
        os.chdir(before)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """Ours: no dead link in the repository."""
    dead = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert dead == []
