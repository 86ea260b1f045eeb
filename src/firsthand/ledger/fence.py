"""Recognising recalled context when it comes back as talk.

`recall/context.py` writes the block between `<recalled-memory …>` and `</recalled-memory>`; clients put it into a
prompt, and the prompt is observed again. What memory said itself is never evidence and is not stored a second time:
a copy would outlive the erasure of what it was recalled from.
"""

from __future__ import annotations

import re

NOTHING_LEFT = "[recalled memory]"  # stands for a message that was nothing but recalled context
# Possessive repeats: a long row of blanks is looked at once.
_EDGE = re.compile(r"<\s*+(/?)\s*+recalled-memory\b", re.IGNORECASE)


def without_recalled(text: str) -> tuple[str, bool]:
    """The text without complete recalled blocks, and whether recalled context is still in it or was all of it.

    A block without its end (or an end without a start) may have the speaker's words around it in any place, so that
    the text is kept whole and is not to be trusted as evidence.
    """
    if "<" not in text or _EDGE.search(text) is None:
        return text, False
    rest = _outside_blocks(text)
    if _EDGE.search(rest) is not None:
        return text, True
    rest = rest.strip()
    return (rest, False) if rest else (NOTHING_LEFT, True)


def _outside_blocks(text: str) -> str:
    """What lies outside blocks that begin and end; one pass, since the text may be hostile and long."""
    kept, done, start = [], 0, None
    for edge in _EDGE.finditer(text):
        closing = bool(edge[1])
        if not closing and start is None:
            start = edge.start()
        elif closing and start is not None:
            end = text.find(">", edge.end())
            if end < 0:
                break
            kept.append(text[done:start])
            done, start = end + 1, None
    kept.append(text[done:])
    return "".join(kept)
