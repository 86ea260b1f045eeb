"""Quality, measured on public data. Each module is run with `python -m`."""
