"""The script that builds the static table: its parts, without the weights, which do not come with the repository."""

from __future__ import annotations

import json
import math
from pathlib import Path

import build_static_table as build
import numpy as np
import pytest

from firsthand.providers import static
from firsthand.providers.wordpiece import uncased


def test_the_error_function_is_the_one_of_mathematics() -> None:
    """Ours: numpy has none, so the script brings one."""
    x = np.linspace(-5, 5, 1001)
    np.testing.assert_allclose(build.erf(x), [math.erf(each) for each in x], atol=2e-7)


def test_weights_are_read_from_a_safetensors_file() -> None:
    """Ours: a length, a header, then figures; only float32 ones are taken."""
    header = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [8, 24]},
            "ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
        }
    ).encode()
    figures = np.arange(4, dtype="<f4").tobytes()
    found = build.tensors(len(header).to_bytes(8, "little") + header + bytes(8) + figures)
    assert list(found) == ["a"]
    np.testing.assert_array_equal(found["a"], [[0, 1], [2, 3]])


def test_other_weights_are_refused(tmp_path: Path) -> None:
    """Issue: hash-checked."""
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"something else")
    with pytest.raises(SystemExit, match="not the weights expected"):
        build.weights_of(file)


def test_a_state_attends_to_every_piece_and_keeps_its_norm() -> None:
    """Ours: the encoder with small random weights: normalised, and moved by what stands beside."""
    model = build.Model(random_weights())
    states = model.states(np.array([[1, 2, 3], [1, 2, 4]]))
    assert states.shape == (2, 3, build.WIDTH)
    np.testing.assert_allclose(states.mean(axis=-1), 0, atol=1e-9)
    assert np.abs(states[0, 1] - states[1, 1]).max() > 1e-6


def test_rare_pieces_weigh_more_and_signs_weigh_as_the_first_word() -> None:
    """Ours: SIF by Zipf's law from the first word on."""
    weights = build.rarity([5, 10, 11, 500], first_word=10)
    assert weights[0] == weights[1] < weights[2] < weights[3] < 1


def test_each_direction_points_where_its_largest_part_is_positive() -> None:
    """Issue: reproducible; an eigenvector may come with either sign, so the sign is settled."""
    states = np.diag([3.0, 2.0, 1.0])
    made = build.reduced(states, 3)
    assert (made >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(made, axis=1).mean(), 1)


def test_a_table_holds_the_vectors_to_a_byte() -> None:
    """Ours: what is written is what was computed, within the rounding; pieces nobody reads stay zero."""
    pieces = build.readable(uncased().pieces())[:400]
    states = np.random.default_rng(2).normal(size=(len(pieces), build.WIDTH))
    made = build.table(states, pieces)
    vectors = build.reduced(states, static.DIMENSIONS)
    vectors *= build.rarity(pieces, uncased().id_of(build.FIRST_WORD))[:, None]
    held = made.scales[pieces][:, None] * made.rows[pieces].astype(np.float64)
    assert np.abs(held - vectors).max() <= 0.51 * made.scales.max()
    assert not made.rows[uncased().id_of("[CLS]")].any()


def random_weights() -> dict[str, build.Array]:
    """A model of the right shapes, for five pieces."""
    chance = np.random.default_rng(0)
    width, inner = build.WIDTH, 4 * build.WIDTH
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (5, width),
        "embeddings.position_embeddings.weight": (3, width),
        "embeddings.token_type_embeddings.weight": (2, width),
    }
    for layer in range(build.LAYERS):
        name = f"encoder.layer.{layer}"
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= {f"{name}.{part}.weight": (width, width), f"{name}.{part}.bias": (width,)}
        shapes |= {f"{name}.intermediate.dense.weight": (inner, width), f"{name}.intermediate.dense.bias": (inner,)}
        shapes |= {f"{name}.output.dense.weight": (width, inner), f"{name}.output.dense.bias": (width,)}
    weights = {name: chance.normal(scale=0.05, size=shape) for name, shape in shapes.items()}
    norms = ["embeddings"] + [
        f"encoder.layer.{n}.{part}" for n in range(build.LAYERS) for part in ("attention.output", "output")
    ]
    for name in norms:
        weights |= {f"{name}.LayerNorm.weight": np.ones(width), f"{name}.LayerNorm.bias": np.zeros(width)}
    return weights
