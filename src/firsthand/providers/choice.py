"""Which embedder a name, a function or an object stands for. The embedders themselves are next door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ports import Embedder

NAMES = ("static", "onnx", "none")

_MEMBERS = ("name", "dimensions", "inline", "embed")


def resolve(spec: Embedder | Callable[..., Any] | str | None) -> Embedder | None:
    """The embedder for `static`, `onnx`, a function from texts to vectors, or an object that is one already.

    None and `none` stand for no embedder: recall goes by words alone. A model is loaded at its first text, not here.
    Raises InvalidInput for anything else, and ProviderFailed when an extra is not installed.
    """
    if spec is None or isinstance(spec, str):
        return _named("none" if spec is None else spec)
    if isinstance(spec, type):
        raise InvalidInput(f"embedder= takes an embedder, not its class: use {spec.__name__}(…)")
    if isinstance(spec, Embedder):
        return spec
    if callable(spec):
        from firsthand.providers.callable import CallableEmbedder

        return CallableEmbedder(spec)
    missing = ", ".join(member for member in _MEMBERS if not hasattr(spec, member))
    raise InvalidInput(f"an object of type {type(spec).__name__} is no embedder: it lacks {missing}")


def _named(name: str) -> Embedder | None:
    if name == "static":
        from firsthand.providers.static import StaticEmbedder

        return StaticEmbedder()
    if name == "onnx":
        from firsthand.providers.onnx import OnnxEmbedder

        return OnnxEmbedder()
    if name == "none":
        return None
    raise InvalidInput(f"no embedder is called {name!r}; use {', '.join(map(repr, NAMES))}, or give a function")
