"""The embedded store against the shipped contract: as a file, encrypted, and not kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw

from firsthand.ports import Store
from firsthand.stores.sqlite import open_sqlite
from firsthand.testing import StoreContract

KEY = "correct horse battery staple"


def open_at(place: Path, key: str | None = None, wait: float = 30.0) -> Store:
    """The store in a folder, quick rather than durable."""
    return open_sqlite(place / "memory.db", key=key, store_id=lambda: "thisstore", wait=wait, durable=False)


class TestFile(StoreContract):
    """A file that is not encrypted, so that its bytes can be searched."""

    key: str | None = None

    def open_store(self, place: Path) -> Store:
        """A store at the place."""
        return open_at(place, self.key)

    def stored_messages(self, place: Path) -> set[tuple[str, str, str, str]]:
        """Read with SQLite alone."""
        return set(self._past(place).execute("SELECT tenant, user_id, id, content FROM messages"))

    def damage_message(self, place: Path, message_id: str) -> None:
        """Written with SQLite alone."""
        self._past(place).execute(
            "UPDATE messages SET content = replace(content, 'live', 'love') WHERE id = ?", (message_id,)
        )

    def holds(self, place: Path, text: str) -> bool:
        """Looked for in every file there."""
        return any(text.encode() in file.read_bytes() for file in place.iterdir())

    def open_impatient(self, place: Path) -> Store:
        """A handle that waits ten milliseconds."""
        return open_at(place, self.key, wait=0.01)

    def _past(self, place: Path) -> apsw.Connection:
        raw = apsw.Connection(str(place / "memory.db"))
        if self.key is not None:
            raw.execute(f"PRAGMA key = '{self.key}'")
        return raw


class TestEncryptedFile(TestFile):
    """The same file under a key. Its bytes are searched after the key was taken off a copy."""

    key = KEY

    def holds(self, place: Path, text: str) -> bool:
        """Looked for in a copy whose key was taken off; never in the file itself."""
        assert not super().holds(place, text)
        bare = place.parent / f"{place.name}-bare"
        shutil.copytree(place, bare)
        raw = self._past(bare)
        raw.execute("PRAGMA journal_mode = DELETE")
        raw.execute("PRAGMA rekey = ''")
        raw.close()
        found = super().holds(bare, text)
        shutil.rmtree(bare)
        return found


class TestUnkept(StoreContract):
    """`:memory:`, which nobody else can reach."""

    shared = False

    def open_store(self, place: Path) -> Store:
        """A store at the place."""
        del place
        return open_sqlite(":memory:", store_id=lambda: "thisstore")
