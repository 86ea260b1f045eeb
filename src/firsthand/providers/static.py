"""The default embedder: a table with one vector for each WordPiece, distilled from all-MiniLM-L6-v2.

A text's vector is the sum of its pieces' vectors, brought to unit length: numpy, no model, no network, tens of
microseconds for a turn. How the table is made is in `scripts/build_static_table.py`; how its vectors are compared is
left to recall.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import ProviderFailed
from firsthand.providers.wordpiece import uncased

NAME = "static-minilm-1"
DIMENSIONS = 256
SHA256 = "de4a6620f986e82872f78544cc24769980402d3dcc3988bf04fc9eb0babcd6d6"
TEXT_LIMIT = 65_536  # characters; the mean of more than that many says nothing, and a write should not wait for it

_FILE = "static_minilm.bin"
_MAGIC = b"firsthand table\n"
_loading = Lock()


@dataclass(frozen=True, slots=True)
class Table:
    """Vectors of pieces, one byte to a figure: piece `i` is `scales[i] * rows[i]`."""

    scales: NDArray[np.float32]  # shape (pieces,)
    rows: NDArray[np.int8]  # shape (pieces, dimensions)


class StaticEmbedder:
    """Embeds with the table in the package. Loads it at the first text; instances and threads share it."""

    name = NAME
    dimensions = DIMENSIONS
    inline = True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions); zeros for a text that has no known piece.

        A text's vector does not depend on the texts beside it. Of a text longer than `TEXT_LIMIT` characters only the
        beginning counts. Raises ProviderFailed when the table is missing or is not the one that this version came with.
        """
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        if not texts:
            return vectors
        table, encode = load(), uncased().encode
        for vector, text in zip(vectors, texts, strict=True):
            ids = encode(text[:TEXT_LIMIT])
            if ids:
                np.dot(table.scales[ids], table.rows[ids].astype(np.float32), out=vector)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors


def load() -> Table:
    """The table in the package, verified once in the life of the process. Raises ProviderFailed."""
    with _loading:
        return _packaged()


def read(resource: Traversable, sha256: str) -> Table:
    """A table from its file, which must have this digest. Raises ProviderFailed."""
    try:
        with as_file(resource) as path, path.open("rb") as file:
            held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # processes share the pages
    except (OSError, ValueError) as error:
        raise ProviderFailed(
            f"the embedding table {resource.name} cannot be read ({error}); reinstall firsthand"
        ) from error
    if hashlib.sha256(held).hexdigest() != sha256:
        raise ProviderFailed(
            f"the embedding table {resource.name} is not the one firsthand came with; reinstall firsthand"
        )
    header_ends = held.find(b"\n", len(_MAGIC)) + 1
    shape = json.loads(held[len(_MAGIC) : header_ends])
    pieces, dimensions = int(shape["pieces"]), int(shape["dimensions"])
    scales = np.frombuffer(held, dtype="<f4", count=pieces, offset=header_ends)
    rows = np.frombuffer(held, dtype=np.int8, count=pieces * dimensions, offset=header_ends + scales.nbytes)
    return Table(scales, rows.reshape(pieces, dimensions))


def write(table: Table) -> bytes:
    """The bytes of a table's file: magic, a line of JSON padded to 64 bytes, scales, rows."""
    shape = json.dumps({"pieces": table.rows.shape[0], "dimensions": table.rows.shape[1]})
    header = _MAGIC + shape.encode()
    header += b" " * (-(len(header) + 1) % 64) + b"\n"
    return header + table.scales.astype("<f4").tobytes() + table.rows.tobytes()


@cache
def _packaged() -> Table:
    return read(files(__package__) / _FILE, SHA256)
