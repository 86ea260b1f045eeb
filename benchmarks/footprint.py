"""What an installation costs: disk, packages, and the CPU time until something happens.

    python -m benchmarks.footprint [--runs 7]

Makes a virtual environment of its own, installs the project from this checkout with pip, and prints the size of what
was installed without bytecode, the number of packages, and medians of the CPU seconds (user and system) of `import
firsthand`, of `firsthand --help`, and of a first `firsthand recall` from the command line over a small store. A bare
`python -c pass` and the import of numpy stand beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.texts import messages, source

ROOT = Path(__file__).resolve().parent.parent
STORED = 1_000  # messages in the store that is recalled from


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="runs of each command, in turns")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="firsthand-footprint-") as folder:
        binaries = _installed(Path(folder, "env"))
        packages = _packages(binaries)
        print(f"installed without bytecode: {_megabytes(binaries.parent, packages):.1f} MB, {len(packages)} packages")
        print("  " + ", ".join(sorted(packages)))
        for name, spent in _timed(_commands(binaries, _store(binaries, Path(folder))), runs).items():
            print(f"{name:<40}{spent:8.3f} s CPU")


def _installed(place: Path) -> Path:
    """A fresh environment with the project in it; the folder of its commands."""
    venv.create(place, with_pip=True)
    binaries = place / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(binaries / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT)]
    subprocess.run(pip, check=True, env=_environment())  # noqa: S603 - our own command
    return binaries


def _packages(binaries: Path) -> list[str]:
    """What is installed, but for pip and setuptools."""
    listed = _output([str(binaries / "python"), "-m", "pip", "list", "--format=json", "--disable-pip-version-check"])
    return [each["name"] for each in json.loads(listed) if each["name"] not in ("pip", "setuptools", "wheel")]


def _megabytes(place: Path, packages: Sequence[str]) -> float:
    """Size of the files that these packages brought, bytecode left out."""
    python = next((place / "bin").glob("python"), place / "Scripts" / "python.exe")
    script = (
        "import sys, importlib.metadata as m; from pathlib import Path\n"
        "files = {Path(f.locate()).resolve() for n in sys.argv[1:] for f in m.files(n) or () if f.suffix != '.pyc'}\n"
        "print(sum(f.stat().st_size for f in files if f.is_file()))"
    )
    return int(_output([str(python), "-c", script, *packages])) / 1e6


def _store(binaries: Path, folder: Path) -> Path:
    """A small store to recall from, made by the installed command."""
    said = folder / "said.jsonl"
    lines = (json.dumps({**each, "at": each["at"].isoformat()}) for each in messages(source(None).texts(STORED, 1)))
    said.write_text("\n".join(lines), "utf-8")
    path = folder / "small.db"
    _output([str(binaries / "firsthand"), "add", str(said), "--db", str(path), "--user", "alex"])
    return path


def _commands(binaries: Path, store: Path) -> Mapping[str, list[str]]:
    python, ours = str(binaries / "python"), str(binaries / "firsthand")
    return {
        "python -c pass": [python, "-c", "pass"],
        "import numpy": [python, "-c", "import numpy"],
        "import firsthand": [python, "-c", "import firsthand"],
        "from firsthand import Memory": [python, "-c", "from firsthand import Memory"],
        "firsthand --help": [ours, "--help"],
        f"firsthand recall, cold, {STORED} messages": [
            *(ours, "recall", "what did I say about the garden?", "--db", str(store), "--user", "alex"),
        ],
    }


def _timed(commands: Mapping[str, list[str]], runs: int) -> dict[str, float]:
    """Median CPU seconds of each command, in turns so that a busy moment meets them all. One run warms up."""
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, command in commands.items():
            seconds = _seconds(command)
            if number:
                spent[name].append(seconds)
    return {name: statistics.median(each) for name, each in spent.items()}


def _seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _output(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _output(command: list[str]) -> str:
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def _environment() -> dict[str, str]:
    """The environment without what would let the checkout stand in for what was installed."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


if __name__ == "__main__":
    main()
