"""A PostgreSQL database: schema, queries, migrations and the adapter. Needs the extra `[postgres]`."""

from .adapter import open_postgres
from .migrate import migrate

__all__ = ["migrate", "open_postgres"]
