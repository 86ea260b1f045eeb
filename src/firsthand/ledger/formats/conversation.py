"""What every reader of files gives: conversations whose messages `intake.drafts` accepts, each with a stable id.

The id is the one in the file. Where there is none it is derived from the format, the conversation and what was said
(role, speaker, words, time, and the how-manieth repeat it is), not from the place in the file: adding a file again
after it grew, or after something was put in at its beginning, stores only what is new.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from firsthand.errors import InvalidInput
from firsthand.ledger import intake
from firsthand.ledger.shapes import with_fields
from firsthand.ledger.values import identifier
from firsthand.model import EPOCH

_ID_BYTES = 10


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file."""

    session: str | None  # its id in the file, or one made from the file's name
    messages: list[dict[str, Any]]  # each with an id; times as text, read in the caller's zone where they have none
    source: str  # "chatgpt conversations.json": the format and the file, for `origin`
    title: str | None = None


@dataclass(slots=True)
class Found:
    """A conversation as a reader found it, before ids are given."""

    session: str | None
    messages: list[tuple[str, dict[str, Any]]]  # where it stands ("line 7"), the message
    title: str | None = None


@dataclass(slots=True)
class Labels:
    """Gives ids to the messages of one file and refuses what `intake` would refuse, naming its place."""

    form: str  # the format
    owners: dict[str, str | None] = field(default_factory=dict)  # given id -> the session that used it first

    def conversations(self, found: Iterable[Found], file: str) -> list[Conversation]:
        """All of them, checked; those without messages are left out. `file` is a name. Raises InvalidInput."""
        labelled = [self._conversation(each, file) for each in found if each.messages]
        if not labelled:
            raise InvalidInput(f"it holds no messages (read as {self.form})")
        return labelled

    def _conversation(self, found: Found, file: str) -> Conversation:
        repeats: Counter[str] = Counter()
        if found.session is not None:
            identifier(found.session, f"{found.messages[0][0]}: session")
        messages = [self._labelled(found.session, where, message, repeats) for where, message in found.messages]
        return Conversation(found.session, messages, f"{self.form} {file}", found.title)

    def _labelled(
        self, session: str | None, where: str, message: dict[str, Any], repeats: Counter[str]
    ) -> dict[str, Any]:
        draft = self._checked(where, message)
        if draft.id is not None:
            first = self.owners.setdefault(draft.id, session)
            return message if first == session else with_fields(message, id=f"{session}/{draft.id}")
        said = digest(self.form, session, draft.role, draft.name, draft.content, draft.at_original)
        repeats[said] += 1
        return with_fields(message, id=said if repeats[said] == 1 else f"{said}-{repeats[said]}")

    def _checked(self, where: str, message: Mapping[str, Any]) -> intake.Draft:
        """The message as intake reads it. Words and role decide its id, whatever shape it has."""
        try:
            return intake.drafts([message], now=EPOCH, zone=UTC, mask=_unmasked)[0]
        except InvalidInput as fault:
            reason = str(fault).removeprefix("message 1: ")
            raise InvalidInput(f"{where}: {reason}") from None


def digest(*parts: str | None) -> str:
    """A short id made from words: the same words give the same one, everywhere."""
    packed = json.dumps(parts, ensure_ascii=False).encode()
    return hashlib.blake2b(packed, digest_size=_ID_BYTES).hexdigest()


def _unmasked(text: str) -> tuple[str, int]:
    return text, 0
