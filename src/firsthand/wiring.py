"""The one file that knows which store and which models are in use.

Everything that `Memory` was given by name becomes a live object here; nothing else imports `stores` or `providers`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firsthand.errors import EmbedderMismatch, InvalidInput, StoreUnavailable
from firsthand.model import Migrated
from firsthand.ports import Clock, Embedder, Extractor, Ids, LanguageModel, Store, Tokenizer, Writer

if TYPE_CHECKING:
    import numpy as np

    from firsthand.writer.model import LLMWriter

    WriterSpec = Writer | Extractor | LLMWriter | str | None

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # no i, l, o, u: an id is read aloud and typed
AUTO = "auto"  # the embedder that the store has; `static` in a new one

_ID_LENGTH = 12  # 60 bits: at a million ids of one owner, one chance in two million of any two alike

EmbedderSpec = Embedder | Callable[[Sequence[str]], "np.ndarray | Sequence[Sequence[float]]"] | str | None


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything from outside that a memory runs on."""

    store: Store
    embedder: Embedder | None
    writer: Writer | None
    extractor: Extractor | None
    tokenizer: Tokenizer
    clock: Clock
    ids: Ids


def system_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def random_id() -> str:
    """Twelve characters that can be read aloud and typed."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_ID_LENGTH))


def open_store(location: str, key: str | bytes | None) -> Store:
    """The store at a path, `:memory:` or an address.

    Raises StoreUnavailable and its kin, and InvalidInput for an address of a kind that is not served.
    """
    if is_server(location):
        if key is not None:
            raise InvalidInput("a key encrypts a file; a server's disks are encrypted where it runs")
        opened: Store = _postgres().open_postgres(location)
        return opened
    if not location:
        raise InvalidInput("the store needs a path; use ':memory:' for one that is not kept")
    from firsthand.stores.sqlite.adapter import open_sqlite

    return open_sqlite(location, key=key, store_id=random_id)


def is_server(location: str) -> bool:
    """Whether it is the address of a PostgreSQL server."""
    return location.startswith(("postgresql://", "postgres://"))


def migrate_store(location: str, *, grant: Sequence[str] = (), distribute: bool = False) -> Migrated:
    """Bring the tables of a server to this version, as their owner, let roles use them, and shard them if asked.

    Raises InvalidInput for what is no server, StoreUnavailable and its kin.
    """
    if not is_server(location):
        raise InvalidInput("only a server is migrated by hand; a file comes to the new version when it is opened")
    done: Migrated = _postgres().migrate(location, store_id=random_id, grant=grant, distribute=distribute)
    return done


def _postgres() -> Any:
    """The back end for servers. Raises StoreUnavailable where its driver is not installed."""
    try:
        from firsthand.stores import postgres
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise StoreUnavailable("PostgreSQL needs its driver: pip install 'firsthand[postgres]'") from error
    return postgres


def open_existing(location: str, key: str | bytes | None) -> Store:
    """As `open_store`, for a store that must be there already. Raises StoreUnavailable where there is none."""
    is_address = "://" in location or location == ":memory:"
    if not is_address and not Path(location).is_file():
        raise StoreUnavailable(f"there is no memory at {location}")
    return open_store(location, key)


def embedder_of(spec: EmbedderSpec) -> Embedder | None:
    """The embedder for `static`, `onnx`, `none`, a callable, or an object that is one already."""
    if spec is None or spec == "none":
        return None
    from firsthand.providers import resolve

    return resolve(spec)


def writers_of(spec: WriterSpec) -> tuple[Writer | None, Extractor | None]:
    """What listens inline and what reads by a model, for `rules`, `none`, an LLMWriter, or an object that is either.

    A model reads beside the rules, which cost nothing and answer at once. Raises InvalidInput, ProviderFailed.
    """
    if spec is None or spec == "none":
        return None, None
    from firsthand.writer.model import LLMWriter, ModelWriter
    from firsthand.writer.rules import RulesWriter

    if spec == "rules":
        return RulesWriter(), None
    if isinstance(spec, str):
        raise InvalidInput(f"no writer is called {spec!r}; use 'rules', 'none' or LLMWriter(\"openai:gpt-4o-mini\")")
    if isinstance(spec, LLMWriter):
        return RulesWriter(), ModelWriter(spec, language_model_of(spec))
    if isinstance(spec, Extractor):
        return RulesWriter(), spec
    if hasattr(spec, "propose"):
        return spec, None
    raise InvalidInput(f"an object of type {type(spec).__name__} is no writer: it has neither propose nor extract")


def language_model_of(spec: LLMWriter) -> LanguageModel:
    """The model that a writer names, or the one it was given."""
    if not isinstance(spec.model, str):
        return spec.model
    from firsthand.providers.language import Endpoint, language_model

    return language_model(spec.model, Endpoint(spec.base_url, spec.api_key, spec.timeout))


def assemble(
    *,
    location: str,
    key: str | bytes | None,
    embedder: EmbedderSpec,
    writer: WriterSpec,
    tokenizer: Tokenizer | Callable[[str], int] | None,
    clock: Clock | None,
) -> Parts:
    """Everything from outside, live. The store is opened last, so that nothing is left open when another part fails."""
    (listens, reads), chosen_tokenizer = writers_of(writer), tokenizer_of(tokenizer)
    if embedder != AUTO:
        chosen = embedder_of(embedder)
        store = open_store(location, key)
        return Parts(store, chosen, listens, reads, chosen_tokenizer, clock or system_clock, random_id)
    store = open_store(location, key)
    try:
        chosen = _familiar(store.facts().get("embedder"))
    except BaseException:
        store.close()
        raise
    return Parts(store, chosen, listens, reads, chosen_tokenizer, clock or system_clock, random_id)


def _familiar(name: str | None) -> Embedder | None:
    """The embedder that made a store's vectors, `static` for a store that has none. Raises EmbedderMismatch."""
    if name is None:
        return embedder_of("static")
    word = next((word for word in ("static", "onnx") if name.startswith(word)), None)
    if word is None:
        raise EmbedderMismatch(
            f"the vectors here were made by {name!r}: pass it as embedder=; embedder='none' reads by words alone"
        )
    return embedder_of(word)


def tokenizer_of(spec: Tokenizer | Callable[[str], int] | None) -> Tokenizer:
    """The tokenizer that budgets a context: WordPiece unless the caller brings the one of its model."""
    from firsthand.providers.wordpiece import CallableTokenizer, WordPieceTokenizer

    if spec is None:
        return WordPieceTokenizer()
    if hasattr(spec, "count"):
        return spec
    if callable(spec):
        return CallableTokenizer(spec)
    raise InvalidInput("tokenizer= takes a function from text to a number of tokens, or an object with count(text)")
