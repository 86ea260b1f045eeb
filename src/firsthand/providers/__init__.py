"""Embedders and tokenizers: what turns texts into vectors and counts.

`static` is the default and lives in the package, `onnx` is an extra, `callable` wraps any function of the caller's.
Nothing here touches the network. Importing this package loads no numpy; resolving an embedder may.
"""

from firsthand.providers.choice import resolve

__all__ = ["resolve"]
