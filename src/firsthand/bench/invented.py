"""Questions that nothing can answer, because nobody has the names in them."""

from __future__ import annotations

import random

_BEGINS = (
    "Bra",
    "Cel",
    "Dro",
    "Fen",
    "Gru",
    "Hol",
    "Jes",
    "Kva",
    "Lom",
    "Mir",
    "Nol",
    "Pra",
    "Quo",
    "Sil",
    "Tho",
    "Vex",
)
_ENDS = (
    "bbik",
    "dorra",
    "gelow",
    "kansky",
    "lindra",
    "mopulos",
    "nastri",
    "pettova",
    "quisto",
    "rvane",
    "ssabel",
    "zzoni",
)
_SHAPES = (
    "When did {person} move to {place}?",
    "What is the name of {person}'s dog?",
    "How much did I pay for the {thing} from {place}?",
    "What did {person} say about the {thing} project?",
    "Which colour did {person} paint the {thing} room?",
    "How long have I been learning {thing}?",
    "Where did {person} and I meet for the {thing} festival?",
)


def question(seed: str) -> str:
    """A question about invented people, places and things; the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - figures must repeat
    names = {what: chance.choice(_BEGINS) + chance.choice(_ENDS) for what in ("person", "place", "thing")}
    return chance.choice(_SHAPES).format(**names)
