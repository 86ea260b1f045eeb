"""Speed, memory and size, measured beside a floor in the same run. Each module is run with `python -m`."""
