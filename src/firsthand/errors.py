"""Everything that firsthand raises, in one tree.

    FirsthandError
    ├── InvalidInput          the caller's data or arguments are not acceptable; nothing was stored
    │   ├── Conflict          the same id or idempotency key came back with other content
    │   │   └── Stale         what the caller acts on is not any more as the caller saw it
    │   └── PolicyInvalid     a policy file says something that the rules refuse
    ├── NotFound              no such id for this owner (another owner's id looks exactly like this)
    ├── NotAllowed            the caller may not do this (a source it may not claim, a scope too narrow)
    ├── PolicyMismatch        the store was folded with another policy
    ├── EmbedderMismatch      the store's vectors were made by another embedder
    ├── ProviderFailed        an embedder or a language model did not answer usefully
    └── StoreError            the place where memory is kept let us down
        ├── StoreUnavailable  cannot be opened: path, permission, wrong key, not a database
        ├── StoreBusy         another process held it too long; safe to try again
        ├── StoreFull         no room left on the device; the write was undone
        ├── StoreCorrupt      the file is damaged
        └── SchemaTooNew      written by a newer firsthand

Expected outcomes (stored, pending, dropped, nothing found) are values, never exceptions.
Each message is one line that says what to do.
"""

from __future__ import annotations


class FirsthandError(Exception):
    """Base of every error that firsthand raises on purpose."""


class InvalidInput(FirsthandError):
    """The caller's data or arguments are not acceptable; nothing was stored."""


class Conflict(InvalidInput):
    """The same id or idempotency key came back with other content."""


class Stale(Conflict):
    """What the caller acts on is not any more as the caller saw it."""


class PolicyInvalid(InvalidInput):
    """A policy file says something that the rules refuse."""


class NotFound(FirsthandError):
    """No such id for this owner."""


class NotAllowed(FirsthandError):
    """The caller may not do this."""


class PolicyMismatch(FirsthandError):
    """The store was folded with another policy than the one given."""


class EmbedderMismatch(FirsthandError):
    """The store's vectors were made by another embedder than the one given."""


class ProviderFailed(FirsthandError):
    """An embedder or a language model did not answer usefully."""


class StoreError(FirsthandError):
    """The place where memory is kept let us down."""


class StoreUnavailable(StoreError):
    """The store cannot be opened."""


class StoreBusy(StoreError):
    """Another process held the store too long; trying again is safe."""


class StoreFull(StoreError):
    """No room left on the device; the write was undone."""


class StoreCorrupt(StoreError):
    """The file is damaged."""


class SchemaTooNew(StoreError):
    """The store was written by a newer firsthand."""
