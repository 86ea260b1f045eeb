"""Any function as an embedder: checked before it is relied on."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from firsthand.errors import InvalidInput, ProviderFailed
from firsthand.ports import Embedder
from firsthand.providers.callable import CallableEmbedder


def letters(texts: list[str]) -> list[list[int]]:
    return [[text.count(letter) for letter in "abc"] for text in texts]


def test_lists_of_numbers_become_unit_vectors() -> None:
    """Design: the port promises unit vectors, whatever the function's scale is."""
    vectors = CallableEmbedder(letters).embed(["aab", "c"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [[2 / math.sqrt(5), 1 / math.sqrt(5), 0.0], [0.0, 0.0, 1.0]], rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_very_large_and_very_small_vectors_keep_their_direction(scale: float) -> None:
    """Ours: squares neither overflow nor vanish."""
    vectors = CallableEmbedder(lambda _: [[3 * scale, 4 * scale]]).embed(["x"])
    np.testing.assert_allclose(vectors, [[0.6, 0.8]], rtol=1e-6)


def test_a_vector_of_zeros_stays_one() -> None:
    """Ours: a text that says nothing has no direction, and no division by zero."""
    assert not CallableEmbedder(letters).embed(["xyz"]).any()


def test_it_is_an_embedder_that_writes_do_not_wait_for() -> None:
    """C085: the first add never waits for a model unless the caller says that it is quick."""
    assert isinstance(CallableEmbedder(letters), Embedder)
    assert not CallableEmbedder(letters).inline
    assert CallableEmbedder(letters, inline=True).inline


def test_the_function_is_not_called_before_there_is_a_text() -> None:
    """C085: opening a store never waits for a model."""
    embedder = CallableEmbedder(lambda _: pytest.fail("called without a text"))
    assert embedder.embed([]).shape == (0, 0)
    assert embedder.dimensions == 0


def test_the_size_is_learned_from_the_first_vectors() -> None:
    """Ours: who passes a bare function need not know its size."""
    embedder = CallableEmbedder(letters)
    embedder.embed(["a"])
    assert embedder.dimensions == 3


def test_the_name_is_the_functions_own_unless_given() -> None:
    """C061: the identity of the model is stored beside the vectors."""
    assert CallableEmbedder(letters).name == f"{__name__}.letters"
    assert CallableEmbedder(letters, name="letters/2").name == "letters/2"
    assert CallableEmbedder(partial(letters)).name == "functools.partial"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\) for 2 texts"),
        ([[1.0, 2.0], [1.0]], "no vectors of one size"),
        ([1.0, 2.0], r"shape \(2,\)"),
        ([[], []], r"shape \(2, 0\)"),
        (None, r"shape \(\)"),
        ([["a", "b"], ["c", "d"]], "no vectors of one size"),
        ([[1.0, float("nan")], [1.0, 2.0]], "not all numbers"),
        ([[1.0, float("inf")], [1.0, 2.0]], "not all numbers"),
    ],
)
def test_an_answer_that_is_no_vectors_is_a_failed_provider(answer: object, says: str) -> None:
    """Ours: a broken endpoint is named, and nothing of it is stored."""
    with pytest.raises(ProviderFailed, match=says):
        CallableEmbedder(lambda _: answer, name="broken").embed(["a", "b"])


def test_another_size_than_stated_or_seen_is_a_failed_provider() -> None:
    """C061: sizes never mix."""
    with pytest.raises(ProviderFailed, match=r"\(1, 4\) is due"):
        CallableEmbedder(letters, dimensions=4).embed(["a"])
    sizes = iter([2, 3])
    changing = CallableEmbedder(lambda texts: np.ones((len(texts), next(sizes))))
    changing.embed(["a"])
    with pytest.raises(ProviderFailed, match=r"\(1, 2\) is due"):
        changing.embed(["a"])


def test_a_function_that_raises_is_a_failed_provider() -> None:
    """Ours: foreign errors are translated where they enter, in one line, the cause kept."""

    def broken(_: list[str]) -> Any:
        raise TimeoutError("no answer\nafter 30 s")

    with pytest.raises(ProviderFailed, match=r"broken raised TimeoutError: no answer after 30 s$") as caught:
        CallableEmbedder(broken).embed(["a"])
    assert isinstance(caught.value.__cause__, TimeoutError)


async def awaited(texts: list[str]) -> list[list[int]]:
    return letters(texts)


@pytest.mark.parametrize(
    "make",
    [lambda: CallableEmbedder(awaited), lambda: CallableEmbedder(letters, dimensions=0)],
    ids=["awaitable", "no dimensions"],
)
def test_a_function_that_cannot_serve_is_refused_at_once(make: Callable[[], CallableEmbedder]) -> None:
    """Ours: mistakes show where they are made."""
    with pytest.raises(InvalidInput):
        make()
