"""`python -m firsthand` is `firsthand`."""

from __future__ import annotations

from firsthand.cli import main

if __name__ == "__main__":
    main()
