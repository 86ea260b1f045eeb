"""What every store promises, as tests. Subclass `StoreContract`, say how to open yours, and run pytest.

    class TestMyStore(StoreContract):
        def open_store(self, place: Path) -> Store:
            return my_store(place / "memory.db")

Override `stored_messages`, `damage_message` and `holds` where you can look past the store: without them a fault that
undoes itself on the way back can hide. Set `shared = False` where a second handle cannot reach the same rows.
"""

from __future__ import annotations

from .beliefs import BeliefContract
from .beside import BesideContract
from .cursors import CursorContract
from .erasure import ErasureContract
from .messages import MessageContract
from .observations import ObservationContract
from .owners import OwnerContract
from .search import SearchContract
from .work import WorkContract

__all__ = ["StoreContract"]


class StoreContract(
    MessageContract,
    ObservationContract,
    BeliefContract,
    SearchContract,
    BesideContract,
    CursorContract,
    WorkContract,
    OwnerContract,
    ErasureContract,
):
    """Everything that `ports.Store` promises."""
