"""The fold: from the rows of one slot to its cells, from nothing or by the next rows alone.

Rows are replayed in the order in which things were said; `replay.py` says what each does to a cell. Both ways of
folding take the same steps, so they come to the same cells: where that could not be so, `advance` declines. Total: no
ledger makes it raise. Beliefs, which depend on the time at which one looks, are made from cells in `view.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from firsthand.beliefs.moments import moment
from firsthand.beliefs.replay import Aim, CellReplay, Claimed
from firsthand.beliefs.slots import SLOT_CELL, Shape, aimed_act, aimed_value, cells_of, shape_of, slot_of, value_cell
from firsthand.beliefs.state import FOREVER, ReplayKey, decode, encode
from firsthand.model import INFERRED, SAID, Act, Observation, Target, Verdict, micros
from firsthand.policy import Policy
from firsthand.ports import Cell, Placement, Row
from firsthand.text import value_key

VERSION = 2  # of the rules and of what a cell keeps: cells that another version made are made again

_CLAIMING = (Act.ASSERT, Act.CONFIRM, Act.CORRECT)
_NOWHERE = Target()


@dataclass(frozen=True, slots=True)
class Folded:
    """What a fold came to: cells to save, and where each row went."""

    cells: tuple[Cell, ...]
    placements: tuple[Placement, ...]


def fold_slot(rows: Sequence[Row], policy: Policy, owner_key: bytes) -> Folded:
    """Fold one slot from nothing. `rows` are all its rows, in any order.

    Cells come by name, placements in replay order. A cell that was there before and is not returned is gone.
    """
    folded = _open(rows, policy, owner_key)
    if folded is None:
        return _nowhere(rows)
    folded.said, folded.guessed = _ever(rows)
    return folded.take(sorted(rows, key=replay_key))


def advance(cells: Sequence[Cell], rows: Sequence[Row], policy: Policy, owner_key: bytes) -> Folded | None:
    """Fold further rows of one slot into its cells. Returns the cells that changed.

    `cells` are those that exist of the cells named by `slots.cells_of`; others may be among them. None when only a
    full fold gives the right answer: a row was said before one that is folded in already, a first word of the person
    turns earlier inferences into proposals, or an act reaches every value of the slot.
    """
    folded = _open(rows, policy, owner_key)
    if folded is None:
        return _nowhere(rows)
    folded.load(cells)
    said, guessed = _ever(rows)
    if said and folded.guessed and not folded.said:
        return None
    if not all(folded.follows(row) for row in rows):
        return None
    folded.said |= said
    folded.guessed |= guessed
    return folded.take(sorted(rows, key=replay_key))


def replay_key(row: Row) -> ReplayKey:
    """The order in which rows take effect: when it was said, where the words stand, where the row itself stands."""
    observation = row.observation
    own = observation.position
    at = own if row.evidence_position is None else row.evidence_position
    span = observation.evidence[0].start if observation.evidence else None
    return (micros(observation.said_at), *at, span or 0, *own, observation.id)


def _open(rows: Sequence[Row], policy: Policy, owner_key: bytes) -> _Slot | None:
    slot = slot_of(rows[0].observation, policy, owner_key) if rows else ""
    return _Slot(slot, shape_of(slot, policy), policy) if slot else None


def _nowhere(rows: Iterable[Row]) -> Folded:
    ordered = sorted(rows, key=replay_key)
    return Folded((), tuple(Placement(row.observation.id, "", "", "") for row in ordered))


def _ever(rows: Iterable[Row]) -> tuple[bool, bool]:
    """Whether anything was claimed here of rank said, and whether anything was inferred.

    A claim that waits for confirmation was not said yet; one whose message was taken back was.
    """
    said = guessed = False
    for row in rows:
        if _claims(row):
            guessed |= row.observation.rank == INFERRED
            said |= row.observation.rank == SAID and row.observation.verdict is Verdict.WRITE
    return said, guessed


def _claims(row: Row) -> bool:
    observation = row.observation
    if observation.act not in _CLAIMING or observation.verdict is Verdict.DROP:
        return False
    if observation.act is Act.CONFIRM:
        return aimed_value(observation) is not None and row.voided < observation.rank.level
    voided = observation.act is Act.CORRECT and row.voided >= observation.rank.level
    return observation.value is not None and not voided


class _Slot:
    """A slot while it is folded: its cells, opened as rows come to them."""

    def __init__(self, name: str, shape: Shape, policy: Policy) -> None:
        self.name = name
        self.shape = shape
        self.said = False
        self.guessed = False
        self._policy = policy
        self._saved: dict[str, Cell] = {}
        self._open: dict[str, CellReplay] = {}
        self._subjects: dict[str, str] = {}

    def load(self, cells: Iterable[Cell]) -> None:
        """Go on from cells as they were saved."""
        self._saved = {cell.cell: cell for cell in cells if cell.slot == self.name and cell.state}
        self._subjects = {name: cell.subject for name, cell in self._saved.items()}
        own = self._saved.get(SLOT_CELL)
        if own is not None:
            state = self._cell(SLOT_CELL, own.subject).state
            self.said, self.guessed = state.ever_said, state.guessed

    def follows(self, row: Row) -> bool:
        """Whether a row comes after all that its cells have seen, and goes to these cells alone."""
        observation = row.observation
        if self.shape.many and _spans(observation):
            return False
        key = replay_key(row)
        for name in cells_of(observation, self._policy):
            if name in self._saved:
                tail = self._cell(name, observation.subject).state.tail
                if tail is not None and key <= tail:
                    return False
        return True

    def take(self, rows: Iterable[Row]) -> Folded:
        """Replay rows, which are in order, and put the cells away."""
        placements = tuple(self._placed(row) for row in rows)
        if self._open:
            first = next(iter(self._subjects.values()))
            own = self._cell(SLOT_CELL, first).state
            own.ever_said, own.guessed = self.said, self.guessed
        cells = [self._closed(name) for name in sorted(self._open)]
        return Folded(tuple(c for c in cells if c != self._saved.get(c.cell)), placements)

    def _placed(self, row: Row) -> Placement:
        cell, claim = self._step(row)
        return Placement(row.observation.id, self.name, cell, claim)

    def _closed(self, name: str) -> Cell:
        saved = self._saved.get(name)
        state = encode(self._open[name].state)
        if saved is not None and saved.state == state:
            return saved
        return Cell(self.name, name, self._subjects[name], self.shape.attribute, state)

    def _cell(self, name: str, subject: str) -> CellReplay:
        cell = self._open.get(name)
        if cell is None:
            saved = self._saved.get(name)
            cell = self._open[name] = CellReplay(name, self.shape, decode("" if saved is None else saved.state))
            self._subjects.setdefault(name, subject)
            if saved is None and name != SLOT_CELL:
                own = self._cell(SLOT_CELL, subject).state
                cell.state.endings = [replace(each) for each in own.endings]
        cell.guesses_wait = self.said
        return cell

    # -- one row ---------------------------------------------------------------------------------------------------

    def _step(self, row: Row) -> tuple[str, str]:
        """Let a row take effect: (cell, claim) it went to."""
        observation = row.observation
        if observation.verdict is Verdict.DROP:
            return SLOT_CELL, ""
        if observation.act is Act.ASSERT:
            return self._assert(row, observation.value)
        if row.voided >= observation.rank.level:
            return SLOT_CELL, ""  # taken back with its message, it never was
        aimed = aimed_act(observation)
        if aimed is not None:
            return self._answer(row, aimed)
        effects = {Act.END: self._end, Act.CONFIRM: self._confirm, Act.CORRECT: self._correct}
        return effects.get(observation.act, self._take_back)(row)

    def _assert(self, row: Row, value: str | None) -> tuple[str, str]:
        if value is None:
            return SLOT_CELL, ""
        observation = row.observation
        until = None if observation.valid_to is None else moment(observation.valid_to)
        cell = self._touch(row, value)
        return cell.name, cell.claim(self._claimed(row, value, moment(observation.starts), until))

    def _end(self, row: Row) -> tuple[str, str]:
        observation = row.observation
        value = observation.value if observation.value is not None else aimed_value(observation)
        at = moment(observation.valid_to or observation.valid_from or observation.said_at)
        since, to = _interval(observation)
        at = min(max(at, since), to)
        if value is not None:
            cell = self._touch(row, value)
            return cell.name, cell.end(row, self._key(row, value), at)
        if not self.shape.many:
            cell = self._touch(row, "")
            return cell.name, cell.end(row, None, at)
        return self._end_all(row, at)

    def _end_all(self, row: Row, at: int) -> tuple[str, str]:
        """Whatever holds ends, in a slot of many values: each of them, and those still to come that begin before."""
        key = self._attribute(row) if self.shape.opposite is not None else None
        self._cell(SLOT_CELL, row.observation.subject)
        for name in sorted(self._open):
            cell = self._open[name]
            cell.state.tail = replay_key(row)
            cell.end(row, key, at)
        return SLOT_CELL, ""

    def _confirm(self, row: Row) -> tuple[str, str]:
        value = aimed_value(row.observation)
        if value is None:
            return SLOT_CELL, ""
        cell = self._touch(row, value)
        aim = self._aim(row, value)
        until, ended = cell.extent(aim)
        start = moment(_target(row).valid_from or row.observation.starts)
        claimed = self._claimed(row, value, start, until)
        return cell.name, cell.claim(replace(claimed, value_key=aim.value_key, ended=ended))

    def _correct(self, row: Row) -> tuple[str, str]:
        value, wrong = row.observation.value, _target(row).value
        if value is None or wrong is None:
            return self._assert(row, value)
        old, new = self._touch(row, wrong), self._touch(row, value)
        aim = self._aim(row, wrong)
        until, ended = old.extent(aim)
        start = moment(_target(row).valid_from or row.observation.starts)
        claimed = replace(self._claimed(row, value, start, until), ended=ended)
        if old is new and claimed.value_key == aim.value_key:
            return new.name, new.claim(replace(claimed, respells=True))
        fallen = old.correct_away(aim, value)
        claimed = replace(claimed, start=min([start, *(claim.start for claim in fallen)]))
        key = new.claim(claimed)
        for claim in fallen:
            claim.next = (new.name, key)
        return new.name, key

    def _take_back(self, row: Row) -> tuple[str, str]:
        value = aimed_value(row.observation)
        if value is None:
            return SLOT_CELL, ""
        cell = self._touch(row, value)
        return cell.name, cell.take_back(self._aim(row, value), row.observation.act)

    def _answer(self, row: Row, aimed: str) -> tuple[str, str]:
        """An act on an act: wherever in the slot that took effect, or waits to."""
        self._cell(SLOT_CELL, row.observation.subject)
        found = SLOT_CELL, ""
        for name in sorted(self._open):
            cell = self._open[name]
            cell.state.tail = replay_key(row)
            key = cell.answer(row, aimed)
            found = (name, key) if key else found
        return found

    # -- what a row speaks of --------------------------------------------------------------------------------------

    def _touch(self, row: Row, value: str) -> CellReplay:
        name = value_cell(value) if self.shape.many else SLOT_CELL
        self._cell(SLOT_CELL, row.observation.subject)
        cell = self._cell(name, row.observation.subject)
        cell.state.tail = replay_key(row)
        return cell

    def _claimed(self, row: Row, value: str, start: int, until: int | None) -> Claimed:
        return Claimed(row, self._key(row, value), value, row.observation.subject, start, until)

    def _aim(self, row: Row, value: str) -> Aim:
        since, to = _interval(row.observation)
        return Aim(row, self._key(row, value, _target(row).attribute), since, to)

    def _key(self, row: Row, value: str, attribute: str | None = None) -> str:
        """What tells rival values apart: the value, or which of two opposites is claimed of it."""
        return value_key(value) if self.shape.opposite is None else self._attribute(row, attribute)

    def _attribute(self, row: Row, attribute: str | None = None) -> str:
        named = attribute or row.observation.attribute or _target(row).attribute or ""
        name = self._policy.canonical(named)
        return name if name == self.shape.opposite else self.shape.attribute or name


def _spans(observation: Observation) -> bool:
    """Whether it may reach any value of its slot."""
    ends_all = observation.act is Act.END and aimed_value(observation) is None
    return ends_all or aimed_act(observation) is not None


def _target(row: Row) -> Target:
    return row.observation.target or _NOWHERE


def _interval(observation: Observation) -> tuple[int, int]:
    """The interval an act is aimed at; all of time where it names none."""
    target = observation.target or _NOWHERE
    since = -FOREVER if target.valid_from is None else moment(target.valid_from)
    to = FOREVER if target.valid_to is None else moment(target.valid_to)
    return since, max(to, since + 1)
