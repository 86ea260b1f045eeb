"""`firsthand` as a process of its own: what a shell, a pipe and a locale do to it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from shells import Shell, process

SAID = "живу в Праге, 张三, שלום, 🎈 and “so” …"

POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions and terminals as POSIX has them")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, monkeypatch)


def test_help_imports_neither_numpy_nor_the_store() -> None:
    """Stack: --help is quick because it loads nothing that it does not need."""
    code = (
        "import sys; from firsthand.cli import main\n"
        "sys.argv = ['firsthand', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'apsw', 'firsthand.memory', 'firsthand.model'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)  # noqa: S603
    assert done.stderr.strip() == b"[]"
    assert b"recall" in done.stdout


def test_exit_statuses_and_one_line_of_errors(shell: Shell) -> None:
    """API: 0, 1 (refused, with the reason), 2 (usage)."""
    done = [process(*words) for words in (("remember", "tea"), ("why", "nobody"), ("why",))]
    assert [each.returncode for each in done] == [0, 1, 2]
    assert [each.stderr.count(b"\n") for each in done] == [0, 1, 1]
    assert all(each.stderr.startswith(b"firsthand: ") for each in done[1:])
    assert shell.json("beliefs")[0]["value"] == "tea"


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "gbk"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii"},
    ],
    ids=lambda env: next(iter(env.values())),
)
def test_text_makes_the_round_trip_in_every_locale(env: dict[str, str], shell: Shell) -> None:
    """C025: arguments and pipes are UTF-8 whatever the locale; --json is exact in any encoding."""
    encoding = env.get("PYTHONIOENCODING", "utf-8")
    typed = process("remember", SAID, "--attribute", "likes", "--user", "Zoë", env=env)
    piped = process("add", "-", "--user", "Zoë", env=env, input=f"Remember that {SAID}".encode())
    assert (typed.returncode, piped.returncode) == (0, 0), typed.stderr + piped.stderr
    listed = process("beliefs", "--user", "Zoë", "--json", env=env)
    assert SAID in {each["value"] for each in json.loads(listed.stdout.decode(encoding))}
    assert process("beliefs", "--user", "Zoë", env=env).returncode == 0
    assert SAID in {each["value"] for each in shell.json("beliefs", "--user", "Zoë")}


@pytest.mark.parametrize("words", [("--help",), ("messages", "--json"), ("policy", "show"), ("nonsense",)])
def test_a_reader_that_leaves_is_no_error(words: tuple[str, ...], shell: Shell) -> None:
    """Ours: `firsthand … | head` stays quiet."""
    file = shell.folder / "long.jsonl"
    file.write_text("".join(json.dumps({"role": "user", "content": f"turn {n}"}) + "\n" for n in range(500)))
    shell.ok("add", str(file))
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "firsthand", *words], stdout=nobody, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert done.returncode == (2 if words == ("nonsense",) else 0)
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr


@POSIX
def test_without_a_path_memory_is_private_and_in_the_data_folder(shell: Shell) -> None:
    """C060: the same file from every working folder, for its owner alone, whatever the umask."""
    home = shell.folder / "Zoë's home"
    home.mkdir()
    env = {"HOME": str(home), "FIRSTHAND_DB": ""}
    for folder in (shell.folder, home):
        done = process("remember", f"from {folder.name}", env=env, cwd=folder, umask=0)
        assert done.returncode == 0, done.stderr
    file = home / ".local/share/firsthand/memory.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert len(json.loads(process("beliefs", "--json", env=env).stdout)) == 2


@POSIX
@pytest.mark.skipif(os.geteuid() == 0 if os.name == "posix" else True, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_said(shell: Shell) -> None:
    """C060: clear error on a read-only place."""
    locked = shell.folder / "locked"
    locked.mkdir(mode=0o500)
    assert "locked" in shell.refused("remember", "tea", "--db", str(locked / "memory.db"))


def test_a_path_of_300_characters_is_a_path_or_an_error(shell: Shell) -> None:
    """C060: path of 250 and more characters."""
    deep = shell.folder.joinpath(*["x" * 50] * 6)
    deep.mkdir(parents=True)
    shell.ok("remember", "tea", "--db", str(deep / "memory.db"))
    assert "too long" in shell.refused("remember", "tea", "--db", str(shell.folder / ("x" * 300))).casefold()


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_output_that_finds_no_room_is_an_error(shell: Shell) -> None:
    """Issue 2, bad input: disk full."""
    shell.ok("remember", "tea")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "firsthand", "beliefs"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert done.returncode == 1
    assert b"No space left" in done.stderr


@POSIX
def test_on_a_terminal_erase_asks_for_the_name(shell: Shell) -> None:
    """Ours: seen on a real terminal, with colours there and none where they are not wanted."""
    import pty

    shell.ok("remember", "tea")
    for answer, status in (("wrong", 1), ("me", 0)):
        asking, terminal = pty.openpty()
        os.write(asking, f"{answer}\n".encode())
        done = subprocess.run(
            [sys.executable, "-m", "firsthand", "erase"], stdin=terminal, capture_output=True, check=False, timeout=60
        )
        os.close(asking)
        os.close(terminal)
        assert b"Type the name to go on" in done.stderr
        assert done.returncode == status
    assert "holds nothing" in shell.refused("beliefs")


@POSIX
@pytest.mark.parametrize(("env", "coloured"), [({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals_that_want_them(env: dict[str, str], coloured: bool, shell: Shell) -> None:
    """Ours: colours only on a terminal, NO_COLOR respected."""
    import pty

    shell.ok("remember", "tea")
    assert b"\x1b[" not in process("beliefs").stdout
    watching, terminal = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "firsthand", "beliefs"],
        env={**os.environ, "TERM": "xterm", **env},
        stdout=terminal,
        check=True,
        timeout=60,
    )
    os.close(terminal)
    assert (b"\x1b[" in os.read(watching, 10_000)) is coloured
    os.close(watching)
