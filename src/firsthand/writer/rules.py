"""The rules writer: talk to proposals, without a model.

Listens to the person alone (role user, no name or a name of theirs), sentence by sentence, for what the table of a
language names: standing requests, first-person statements, people introduced, corrections, things taken back. What
is asked, supposed, quoted, reported, played or meant the other way round is passed over; when in doubt nothing is
proposed. It proposes only: what may enter is decided in `ledger/admission.py`, what is believed in `beliefs/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from firsthand.model import Message, Role
from firsthand.ports import Proposal
from firsthand.writer.agreement import agreed, replied
from firsthand.writer.amends import corrected, last_unsaid, taken_back
from firsthand.writer.cues import fold
from firsthand.writer.hearing import Hearing
from firsthand.writer.language import HINT, PIECE, Ear, Language, ear, gazetteer
from firsthand.writer.requests import remembered, wished
from firsthand.writer.sentences import LONGEST_MESSAGE, Sentence, own_words, sentences
from firsthand.writer.statements import tell
from firsthand.writer.talk import Reading, Talk, Turn

_MOST_WORDS = 50_000  # distinct words that are remembered to be hints or not
_HINT_BITS = 2  # of each language, in what is remembered of a word
_FEW = 120  # characters of an answer that may be but a name
_LOOK_BACK = 12  # turns before the new ones that are read for what was claimed just before


class RulesWriter:
    """Finds what a person says of themselves in plain words, and what they ask to have remembered. Never decides."""

    name = "rules/2"

    def __init__(self, aliases: Iterable[str] = (), languages: Sequence[str] = ("en", "de")) -> None:
        """`aliases` are the speaker names of the person; `languages` are codes of shipped tables, first come first.

        Raises InvalidInput for a language that has no table.
        """
        self._aliases = frozenset(aliases)
        self._ears = tuple(ear(code) for code in languages)
        self._hints: Callable[[str], int] = lru_cache(_MOST_WORDS)(self._hint)

    def propose(self, messages: Sequence[Message], before: Sequence[Message]) -> list[Proposal]:
        """Claims found in `messages`, in order; `before` are the turns that precede them in the session.

        Every proposal quotes the message it names: `content[start:end]` are the words it rests on, and its value is
        among them. Messages longer than 20,000 characters are documents, not talk, and are not read.
        """
        talks: dict[str | None, Talk] = {}
        for message in before[-_LOOK_BACK:]:
            self._hear(message, talks)
        return [proposal for message in messages for proposal in self._hear(message, talks)]

    def _hear(self, message: Message, talks: dict[str | None, Talk]) -> list[Proposal]:
        talk = talks.get(message.session) or talks.setdefault(message.session, Talk())
        turn = Turn(message, mine=self._is_the_persons(message))
        if turn.mine and len(message.content) <= LONGEST_MESSAGE:
            self._read(talk, turn)
        talk.add(turn)
        return turn.proposals

    def _is_the_persons(self, message: Message) -> bool:
        speaks = message.name is None or message.name in self._aliases
        return message.role is Role.USER and speaks and not message.recalled

    def _read(self, talk: Talk, turn: Turn) -> None:
        text = own_words(turn.message.content)
        heard = self._heard(text, talk.question())
        talk.plays = _plays(heard.languages, text, before=talk.plays)
        reading = Reading(self.name, heard.languages, gazetteer(), talk, turn, set(talk.people), plays=talk.plays)
        for sentence in sentences(text, heard.abbreviations):
            reading.hear(sentence)
            _listen(reading, sentence)
        reading.finish()

    def _heard(self, text: str, asked: str) -> _Heard:
        """The languages that a text may be in: those of its words that are hints, each looked at once.

        Few words that answer a question may be in the language of the question.
        """
        seen = 0
        answers = bool(asked) and len(text) < _FEW
        for hints in set(map(self._hints, fold(text).split())):
            seen |= hints
        ears = []
        for each in self._ears:
            if seen & HINT or (seen & PIECE and each.hears(text)) or (answers and each.asks(asked)):
                ears.append(each)
            seen >>= _HINT_BITS
        return _Heard.of(tuple(ears))

    def _hint(self, word: str) -> int:
        return sum(each.hint(word) << (_HINT_BITS * place) for place, each in enumerate(self._ears))


@dataclass(frozen=True, slots=True)
class _Heard:
    """The languages that a message may be in."""

    languages: tuple[Language, ...]
    abbreviations: frozenset[str]

    @classmethod
    @lru_cache(maxsize=16)
    def of(cls, ears: tuple[Ear, ...]) -> _Heard:
        """Those of some ears."""
        abbreviations = frozenset[str]().union(*(each.abbreviations for each in ears))
        return cls(tuple(each.language for each in ears), abbreviations)


def _plays(languages: Sequence[Language], text: str, *, before: bool) -> bool:
    """Whether a play goes on or begins with this turn, which may end it."""
    marks = [each.marks for each in languages]
    if before:
        return not any(each.play_over.search(text) for each in marks)
    return any(each.play.search(text) and not each.play_over.search(text) for each in marks)


def _listen(reading: Reading, sentence: Sentence) -> bool:
    """Hear a sentence in each language until one understands it."""
    words = fold(sentence.text).split()
    for each in reading.languages:
        cues = each.cues.heard(words)
        if cues & each.masks.every and _understood(Hearing(reading, each, sentence, cues=cues)):
            return True
    if reading.number == 1 and reading.talk.was_asked():
        return any(replied(Hearing(reading, each, sentence)) for each in reading.languages)
    return False


def _understood(hearing: Hearing) -> bool:
    cues, masks = hearing.cues, hearing.language.masks
    if cues & masks.retract and taken_back(hearing):
        return True
    if unsaid := last_unsaid(hearing):
        return bool(cues & masks.tell and tell(hearing, unsaid))
    return bool(
        (cues & masks.remember and remembered(hearing))
        or (cues & masks.wish and wished(hearing))
        or (cues & masks.correct and corrected(hearing))
        or (cues & masks.agree and agreed(hearing))
        or (cues & masks.tell and tell(hearing))
    )
