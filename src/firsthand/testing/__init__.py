"""Contract suites that every store and every embedder runs, ours and yours. Needs pytest, and only here."""

import pytest

pytest.register_assert_rewrite("firsthand.testing.store", "firsthand.testing.embedder")

from .embedder import EmbedderContract  # noqa: E402 - after pytest knows that these modules hold assertions
from .store import StoreContract  # noqa: E402

__all__ = ["EmbedderContract", "StoreContract"]
