"""The command line: each command parses what was typed, calls one verb of the library and prints the answer.

`door.py` is the way in (which commands there are, errors to exit statuses), `options.py` what every command takes,
`screen.py` how anything is printed and `streams.py` where to; the rest is one file per noun. Nothing here imports
numpy or the store before a command needs it.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run `firsthand` on this process's arguments and exit: 0 done, 1 refused, 2 not understood, 130 interrupted."""
    from firsthand.cli import streams
    from firsthand.cli.door import firsthand

    os.umask(os.umask(0o077) | 0o077)  # what is kept here is the user's alone
    streams.prepare(sys.stdout)
    streams.prepare(sys.stderr)
    firsthand.main(prog_name="firsthand")
