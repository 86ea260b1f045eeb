"""One SQLite file: schema, queries, migrations and the adapter."""

from .adapter import open_sqlite

__all__ = ["open_sqlite"]
