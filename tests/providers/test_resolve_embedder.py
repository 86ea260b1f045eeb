"""Which embedder a name, a function or an object stands for."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from firsthand.errors import InvalidInput
from firsthand.providers import resolve
from firsthand.providers.callable import CallableEmbedder
from firsthand.providers.static import StaticEmbedder


def test_static_is_the_table_in_the_package() -> None:
    """Design: the default needs no key, no network, no download."""
    assert isinstance(resolve("static"), StaticEmbedder)


def test_onnx_is_the_model_of_the_extra() -> None:
    """Design: the extra, by name."""
    pytest.importorskip("onnxruntime", reason="the onnx extra is not installed: pip install 'firsthand[onnx]'")
    embedder = resolve("onnx")
    assert embedder is not None
    assert embedder.name == "onnx-minilm-1"


@pytest.mark.parametrize("spec", ["none", None])
def test_none_is_no_embedder(spec: str | None) -> None:
    """Design: lexical only is a choice."""
    assert resolve(spec) is None


def test_an_embedder_is_taken_as_it_is() -> None:
    """Design: the port is all that is asked for."""
    own = SimpleNamespace(name="own", dimensions=2, inline=True, embed=lambda texts: np.ones((len(texts), 2)))
    assert resolve(own) is own


def test_a_function_is_wrapped() -> None:
    """Design: any callable."""
    assert isinstance(resolve(lambda texts: [[1.0]] * len(texts)), CallableEmbedder)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("openai", "no embedder is called 'openai'; use 'static', 'onnx', 'none'"),
        ("", "no embedder is called ''"),
        (StaticEmbedder, r"not its class: use StaticEmbedder\(…\)"),
        (SimpleNamespace(name="x", embed=len), "it lacks dimensions, inline"),
        (7, "an object of type int is no embedder"),
    ],
)
def test_anything_else_is_refused_in_words(spec: object, says: str) -> None:
    """Ours: the error says what would do."""
    with pytest.raises(InvalidInput, match=says):
        resolve(spec)  # type: ignore[arg-type]


def test_importing_the_providers_loads_no_numpy() -> None:
    """Design: import is quick; heavy parts come when they are used."""
    script = "import sys, firsthand.providers, firsthand.providers.wordpiece; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)  # noqa: S603
