"""BERT's uncased WordPiece, and tokenizers that count what a context costs.

Text is cleaned, lower-cased, stripped of accents and split into words and single signs; each word is then the longest
pieces of it that the vocabulary holds. The result equals that of the reference tokenizer, with two exceptions: names
of special tokens ("[SEP]") are ordinary text here, and characters that entered Unicode after the reference was built
are classed as this Python's database has them. What pieces mean is left to `static.py` and `onnx.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from firsthand.errors import InvalidInput, ProviderFailed

UNKNOWN = "[UNK]"
WORD_LIMIT = 100  # characters; the reference gives up on longer words as well

_CONTINUES = "##"
_CACHED_WORDS = 16_384
_SIGNS = re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ASCII_WORDS = re.compile(rf"[{_SIGNS}]|[^\s{_SIGNS}]+")
# Ideographs, each a word of its own. The third extension starts late in the reference, so it does here.
_IDEOGRAPHS = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b920-\U0002ceaf"
    "\U0002f800-\U0002fa1f]"
)


class _Cleaning(dict[int, str]):
    """What becomes of each character before accents are taken off; filled in as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = cleaned = _cleaned(chr(code))
        return cleaned


class _Folding(dict[int, str]):
    """What becomes of each character of decomposed text; filled in as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _folded(chr(code))
        return folded


_CLEANING = _Cleaning()
_FOLDING = _Folding()


class WordPiece:
    """Splits text into pieces of a vocabulary. Safe to share between threads."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """`vocabulary`: the pieces, each at the place that is its id; pieces inside a word begin with `##`.

        Raises InvalidInput when the unknown piece is missing.
        """
        self._ids = {piece: place for place, piece in enumerate(vocabulary)}
        if UNKNOWN not in self._ids:
            raise InvalidInput(f"the vocabulary holds no {UNKNOWN}")
        self.unknown = self._ids[UNKNOWN]
        self.size = len(self._ids)
        self._pieces_of = lru_cache(maxsize=_CACHED_WORDS)(self._split)

    def encode(self, text: str) -> list[int]:
        """Ids of the text's pieces, in order; no markers are added. Words that cannot be spelled give `unknown`."""
        known = self._ids.get
        ids: list[int] = []
        for word in words(text):
            whole = known(word)
            if whole is None:
                ids += self._pieces_of(word)
            else:
                ids.append(whole)
        return ids

    def count(self, text: str) -> int:
        """How many pieces the text has."""
        return len(self.encode(text))

    def pieces(self) -> list[str]:
        """All pieces, each at the place that is its id."""
        return list(self._ids)

    def id_of(self, piece: str) -> int:
        """The id of a piece that is in the vocabulary. Raises KeyError when it is not."""
        return self._ids[piece]

    def _split(self, word: str) -> tuple[int, ...]:
        if len(word) > WORD_LIMIT:
            return (self.unknown,)
        ids: list[int] = []
        start = 0
        while start < len(word):
            piece, end = self._longest(word, start)
            if piece is None:
                return (self.unknown,)
            ids.append(piece)
            start = end
        return tuple(ids)

    def _longest(self, word: str, start: int) -> tuple[int | None, int]:
        """Id and end of the longest piece at a place in the word."""
        prefix = _CONTINUES if start else ""
        for end in range(len(word), start, -1):
            piece = self._ids.get(prefix + word[start:end])
            if piece is not None:
                return piece, end
        return None, start


class WordPieceTokenizer:
    """Counts tokens by WordPiece: near enough to any model's for English, and needs nothing outside the package."""

    def count(self, text: str) -> int:
        """Tokens in the text."""
        return uncased().count(text)


class CallableTokenizer:
    """Counts tokens with a function of the caller's."""

    def __init__(self, function: Callable[[str], int]) -> None:
        """`function`: from a text to its number of tokens."""
        self._function = function

    def count(self, text: str) -> int:
        """Tokens in the text. Raises ProviderFailed when the function raises or gives no count."""
        try:
            tokens = self._function(text)
        except Exception as error:  # the caller's code: anything may come
            raise ProviderFailed(f"the tokenizer raised {type(error).__name__}: {error}") from error
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            raise ProviderFailed(f"the tokenizer gave {tokens!r}; a number of tokens is 0 or more")
        return tokens


@cache
def uncased() -> WordPiece:
    """The tokenizer of BERT's uncased English vocabulary, 30,522 pieces, read from the package once."""
    return WordPiece((files(__package__) / "wordpiece_uncased.txt").read_text("utf-8").split("\n")[:-1])


def words(text: str) -> list[str]:
    """Lower-case words and single signs of a text, in order."""
    if text.isascii():
        return _ASCII_WORDS.findall(_ASCII_CONTROLS.sub("", text).lower())
    apart = _IDEOGRAPHS.sub(r" \g<0> ", text.translate(_CLEANING))
    return unicodedata.normalize("NFD", apart).translate(_FOLDING).split()


def _cleaned(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character == "\ufffd" or unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs"}:
        return ""
    return " " if character.isspace() else character


def _folded(character: str) -> str:
    if unicodedata.category(character) == "Mn":
        return ""
    if unicodedata.category(character).startswith("P") or re.match(rf"[{_SIGNS}]", character):
        return f" {character} "
    return character.lower()
