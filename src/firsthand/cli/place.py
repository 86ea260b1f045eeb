"""Where memory is kept when nobody says where: the user's data folder, as each platform names it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FILE = "memory.db"


def default_path(environ: Mapping[str, str], platform: str, home: Path) -> Path:
    """The file used without --db and FIRSTHAND_DB; the same from every working folder.

    `platform` is `sys.platform`. Relative XDG_DATA_HOME is ignored, as its specification asks.
    """
    if platform == "win32":
        base = environ.get("LOCALAPPDATA", "")
        folder = Path(base) if base else home / "AppData" / "Local"
    elif platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        base = environ.get("XDG_DATA_HOME", "")
        folder = Path(base) if base.startswith("/") else home / ".local" / "share"
    return folder / "firsthand" / FILE


def make_private(folder: Path) -> None:
    """Make the folder, for its owner alone; one that is there stays as it is. Raises OSError."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
