"""Any function from texts to vectors as an embedder: a remote endpoint, a local model, a fake in a test.

What comes back is checked before anybody relies on it. How often to try again, and in what portions an endpoint likes
its texts, is left to the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import InvalidInput, ProviderFailed


class CallableEmbedder:
    """Embeds with a function of the caller's. The function must be safe to call from several threads.

    `dimensions` is 0 until the first vectors show it, unless it is given: nothing is called before there is a text.
    """

    def __init__(
        self,
        function: Callable[[list[str]], Any],
        *,
        name: str | None = None,
        dimensions: int | None = None,
        inline: bool = False,
    ) -> None:
        """Wrap `function`, which takes a list of texts and gives as many vectors: an array, or lists of numbers.

        `name` is the identity stored beside the vectors; without it the function's own name serves, which cannot tell
        one model behind the function from another. `inline`: quick enough to run while a message is being stored.
        Raises InvalidInput.
        """
        if iscoroutinefunction(function):
            raise InvalidInput("an embedder's function must be a plain one; this one has to be awaited")
        if dimensions is not None and dimensions < 1:
            raise InvalidInput(f"an embedder's dimensions are 1 or more, not {dimensions}")
        self._function = function
        self.name = name or _name_of(function)
        self.dimensions = dimensions or 0
        self.inline = inline

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions); a vector of zeros stays one.

        Raises ProviderFailed when the function raises, or gives too few vectors, none at all, other sizes than before,
        or figures that are no numbers.
        """
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        try:
            answer = self._function(list(texts))
        except Exception as error:  # the caller's code: anything may come
            raise ProviderFailed(f"embedder {self.name} raised {type(error).__name__}: {_line(error)}") from error
        vectors = self._checked(answer, len(texts))
        self.dimensions = vectors.shape[1]
        return _unit(vectors)

    def _checked(self, answer: object, texts: int) -> NDArray[np.float64]:
        try:
            vectors = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ProviderFailed(f"embedder {self.name} gave no vectors of one size: {_line(error)}") from error
        size = self.dimensions or (vectors.shape[1] if vectors.ndim > 1 else 0)
        if vectors.shape != (texts, size) or not size:
            raise ProviderFailed(
                f"embedder {self.name} gave shape {vectors.shape} for {texts} texts; ({texts}, {size or 'size'}) is due"
            )
        if not np.isfinite(vectors).all():
            raise ProviderFailed(f"embedder {self.name} gave a vector that is not all numbers")
        return vectors


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)  # squares stay in range
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    np.divide(scaled, lengths, out=scaled, where=lengths > 0)
    unit: NDArray[np.float32] = scaled.astype(np.float32)
    return unit


def _name_of(function: Callable[..., Any]) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
