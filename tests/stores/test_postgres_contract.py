"""The PostgreSQL store against the shipped contract, on a real server, as an ordinary role."""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand.ports import Store
from firsthand.stores.postgres import open_postgres
from firsthand.testing import StoreContract
from postgres_place import Place


class TestPostgres(StoreContract):
    """The tables' owner is another role than the one that works with them."""

    database: Place

    @pytest.fixture(autouse=True)
    def _empty(self, postgres: Place) -> None:
        postgres.empty()
        self.database = postgres

    def open_store(self, place: Path) -> Store:
        """Each test has the one database of its worker, emptied."""
        del place
        return open_postgres(self.database.url)

    def open_impatient(self, place: Path) -> Store:
        """A handle that waits fifty milliseconds."""
        del place
        return open_postgres(f"{self.database.url}?wait=0.05")

    def stored_messages(self, place: Path) -> set[tuple[str, str, str, str]]:
        """Read by a superuser."""
        del place
        found = self.database.execute("SELECT tenant, user_id, id, content FROM firsthand.messages")
        return {(str(tenant), str(user), str(id_), str(content)) for tenant, user, id_, content in found}

    def damage_message(self, place: Path, message_id: str) -> None:
        """Written by a superuser."""
        del place
        worse = "UPDATE firsthand.messages SET content = replace(content, 'live', 'love') WHERE id = "
        self.database.execute(worse + f"'{message_id}'")
