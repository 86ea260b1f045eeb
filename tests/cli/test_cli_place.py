"""Where memory is kept when nobody says where."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from firsthand.cli.place import default_path, make_private

HOME = Path("/home/Zoë with a blank")


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", HOME / ".local/share/firsthand/memory.db"),
        ({"XDG_DATA_HOME": "/data"}, "linux", Path("/data/firsthand/memory.db")),
        ({"XDG_DATA_HOME": "relative"}, "linux", HOME / ".local/share/firsthand/memory.db"),
        ({"XDG_DATA_HOME": ""}, "freebsd14", HOME / ".local/share/firsthand/memory.db"),
        ({"XDG_DATA_HOME": "/data"}, "darwin", HOME / "Library/Application Support/firsthand/memory.db"),
        ({"LOCALAPPDATA": "/c/local"}, "win32", Path("/c/local/firsthand/memory.db")),
        ({}, "win32", HOME / "AppData/Local/firsthand/memory.db"),
    ],
)
def test_the_default_lies_in_the_users_data_folder(environ: dict[str, str], platform: str, expected: Path) -> None:
    """C060: not in the package, not in the working folder."""
    assert default_path(environ, platform, HOME) == expected


def test_the_folder_is_its_owners_alone(tmp_path: Path) -> None:
    """C060: private permissions."""
    folder = tmp_path / "deep" / "firsthand"
    make_private(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    make_private(folder)


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    """Ours: permissions that the user chose are the user's business."""
    tmp_path.chmod(0o750)
    make_private(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750
