"""What a back end says of itself to be held to the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from firsthand.ports import Store


class Bench:
    """Opens the store under test. A subclass gives `open_store` and, where it can, ways past the store."""

    shared = True  # whether opening the same place a second time reaches the same rows

    def open_store(self, place: Path) -> Store:
        """A handle on the store kept at this place: a folder of the test's own, the same one for every handle."""
        raise NotImplementedError

    def open_impatient(self, place: Path) -> Store:
        """A handle whose writes hardly wait for their turn."""
        pytest.skip(f"{type(self).__name__} has no handle of little patience on {place}")

    def stored_messages(self, place: Path) -> set[tuple[str, str, str, str]]:
        """(tenant, user, id, content) of every message, read past the store."""
        pytest.skip(f"{type(self).__name__} cannot read past the store at {place}")

    def damage_message(self, place: Path, message_id: str) -> None:
        """Change a stored message's words past the store."""
        pytest.skip(f"{type(self).__name__} cannot write past the store: {message_id} at {place}")

    def holds(self, place: Path, text: str) -> bool:
        """Whether the bytes of a text are anywhere in what the store keeps."""
        pytest.skip(f"{type(self).__name__} cannot look for {text} past the store at {place}")

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        """Where the store under test is kept."""
        return tmp_path

    @pytest.fixture
    def store(self, place: Path) -> Iterator[Store]:
        """The store under test, empty."""
        opened = self.open_store(place)
        yield opened
        opened.close()

    @pytest.fixture
    def second(self, store: Store, place: Path) -> Iterator[Store]:
        """Another handle on the same rows."""
        if not self.shared:
            pytest.skip("a second handle does not reach the same rows")
        opened = self.open_store(place)
        assert opened.id == store.id
        yield opened
        opened.close()
