"""One SQLite file: schema, queries, migrations and the adapter."""
