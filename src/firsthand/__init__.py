"""Long-term memory for AI agents: keeps what was actually said, and can prove it.

    from firsthand import Memory

    with Memory("agent.db") as mem:
        alex = mem.user("alex")
        alex.observe([{"role": "user", "content": "I moved to Lisbon in March."}], session="s1")
        print(alex.context("Where do I live?"))

Names are loaded when they are first used, so that `import firsthand` and `firsthand --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firsthand.aio import AsyncMemory, AsyncUser
    from firsthand.client import Client, RemoteUser
    from firsthand.errors import (
        Conflict,
        EmbedderMismatch,
        FirsthandError,
        InvalidInput,
        NotAllowed,
        NotFound,
        PolicyInvalid,
        PolicyMismatch,
        ProviderFailed,
        SchemaTooNew,
        Stale,
        StoreBusy,
        StoreCorrupt,
        StoreError,
        StoreFull,
        StoreUnavailable,
    )
    from firsthand.memory import Memory, User
    from firsthand.model import (
        Act,
        Belief,
        Caller,
        Context,
        Dropped,
        ErasureReceipt,
        Evidence,
        Explanation,
        Failed,
        Hit,
        Kind,
        Message,
        Observation,
        Owner,
        Pending,
        Position,
        Quote,
        Receipt,
        Report,
        Role,
        Session,
        Source,
        State,
        Target,
        Unheard,
        to_json,
    )
    from firsthand.policy import Policy
    from firsthand.writer.model import LLMWriter

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(("AsyncMemory", "AsyncUser"), "firsthand.aio"),
    **dict.fromkeys(("Client", "RemoteUser"), "firsthand.client"),
    **dict.fromkeys(
        (
            "Conflict",
            "EmbedderMismatch",
            "FirsthandError",
            "InvalidInput",
            "NotAllowed",
            "NotFound",
            "PolicyInvalid",
            "PolicyMismatch",
            "ProviderFailed",
            "SchemaTooNew",
            "Stale",
            "StoreBusy",
            "StoreCorrupt",
            "StoreError",
            "StoreFull",
            "StoreUnavailable",
        ),
        "firsthand.errors",
    ),
    **dict.fromkeys(("Memory", "User"), "firsthand.memory"),
    **dict.fromkeys(
        (
            "Act",
            "Belief",
            "Caller",
            "Context",
            "Dropped",
            "ErasureReceipt",
            "Evidence",
            "Explanation",
            "Failed",
            "Hit",
            "Kind",
            "Message",
            "Observation",
            "Owner",
            "Pending",
            "Position",
            "Quote",
            "Receipt",
            "Report",
            "Role",
            "Session",
            "Source",
            "State",
            "Target",
            "Unheard",
            "to_json",
        ),
        "firsthand.model",
    ),
    "LLMWriter": "firsthand.writer.model",
    "Policy": "firsthand.policy",
}

__all__ = [
    "Act",
    "AsyncMemory",
    "AsyncUser",
    "Belief",
    "Caller",
    "Client",
    "Conflict",
    "Context",
    "Dropped",
    "EmbedderMismatch",
    "ErasureReceipt",
    "Evidence",
    "Explanation",
    "Failed",
    "FirsthandError",
    "Hit",
    "InvalidInput",
    "Kind",
    "LLMWriter",
    "Memory",
    "Message",
    "NotAllowed",
    "NotFound",
    "Observation",
    "Owner",
    "Pending",
    "Policy",
    "PolicyInvalid",
    "PolicyMismatch",
    "Position",
    "ProviderFailed",
    "Quote",
    "Receipt",
    "RemoteUser",
    "Report",
    "Role",
    "SchemaTooNew",
    "Session",
    "Source",
    "Stale",
    "State",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "Target",
    "Unheard",
    "User",
    "__version__",
    "to_json",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'firsthand' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
