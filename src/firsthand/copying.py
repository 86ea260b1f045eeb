"""A whole store copied into another one, of the same kind or not: every row as it is stored, compared by digest.

The target says in its facts that it is being copied into until all of it is there; nobody can open it as a memory
before. An interrupted copy goes on with the users who are not there yet. The source is only read, each user as of one
moment; who writes meanwhile is copied again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from firsthand.errors import InvalidInput, StoreBusy, StoreCorrupt, StoreUnavailable
from firsthand.model import Copied, Head, Owner
from firsthand.ports import Clock, Removal, Store, StoredRow

COPYING = "copying_from"  # the fact that holds the id of the store that is being copied
_OWN_FACTS = ("store", "schema", "scrub_due", COPYING)
_ROUNDS = 5  # looks for users who wrote while they were copied
_WIDTH = 32  # bytes of a digest


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a copy is."""

    done: int  # users, of this round
    of: int
    rows: int  # of all users so far


def refuse_unfinished(store: Store) -> None:
    """Raise StoreUnavailable for a store that not all of a copy has reached."""
    if store.facts().get(COPYING):
        raise StoreUnavailable("a copy into this memory has not finished; run the same `firsthand copy` again")


def copy(source: Store, target: Store, clock: Clock, tell: Callable[[Progress], object] = lambda _: None) -> Copied:
    """Copy everything, and compare it.

    Raises InvalidInput (the target holds something else), StoreBusy (the source is written to all the time),
    StoreCorrupt (what was read back is not what was written), StoreUnavailable and its kin. What was copied stays.
    """
    if source.id == target.id:
        raise InvalidInput("that is one and the same memory")
    refuse_unfinished(source)
    resumed = _claim(source, target)
    work = _Copy(source, target, clock)
    work.users(tell)
    remains, facts = source.remains(), _facts(source)
    target.take_over(remains)
    target.set_facts({**dict.fromkeys(_facts(target)), **facts})
    if target.remains().secret != remains.secret or _sum(target.remains().rows) != _sum(remains.rows):
        raise _different("what erasures left behind")
    if _facts(target) != facts:
        raise _different("what the store knows of itself")
    target.scrub()  # of what was taken out again
    target.set_facts({COPYING: None})
    total = work.sum + _sum(remains.rows) + _sum(("facts", each) for each in facts.items())
    return Copied(work.owners, work.rows, _hex(total), resumed)


class _Copy:
    """The users copied so far: as of which head row, and their rows, counted and summed up."""

    def __init__(self, source: Store, target: Store, clock: Clock) -> None:
        self._copied: dict[Owner, tuple[int, int]] = {}
        self._heads: dict[Owner, Head] = {}
        self._source, self._target, self._clock = source, target, clock

    @property
    def owners(self) -> int:
        """Users copied."""
        return len(self._copied)

    @property
    def rows(self) -> int:
        """Rows of theirs."""
        return sum(rows for rows, _ in self._copied.values())

    @property
    def sum(self) -> int:
        """Of the digests of these rows."""
        return sum(each for _, each in self._copied.values())

    def users(self, tell: Callable[[Progress], object]) -> None:
        """Copy every user, and again those who wrote meanwhile, until nobody did."""
        for _ in range(_ROUNDS):
            owners = self._source.owners()
            behind = [owner for owner in owners if self._head(owner) != self._heads.get(owner)]
            self._take_out(set(self._target.owners()) - set(owners))
            if not behind:
                return
            for number, owner in enumerate(behind, 1):
                self._user(owner)
                tell(Progress(number, len(behind), self.rows))
        raise StoreBusy("the memory was written to all the time; stop what writes to it and copy again, which goes on")

    def _head(self, owner: Owner) -> Head:
        if owner not in self._heads:
            return Head()
        with self._source.reading(owner) as old:
            return old.head()

    def _user(self, owner: Owner) -> None:
        with self._source.reading(owner) as old:
            head = old.head()
            if not head.version:  # erased since they were listed
                return
            if self._there(owner) == head and (found := _counted(old.stored())) == self._found(owner):
                self._note(owner, head, found)
                return
            given = _Counting(old.stored())
            with self._target.writing(owner, self._clock()) as new:
                new.take_over(given)
        if self._found(owner) != (given.rows, given.sum):
            raise _different(f"what was copied of {owner.tenant}/{owner.user}")
        self._note(owner, head, (given.rows, given.sum))

    def _there(self, owner: Owner) -> Head:
        with self._target.reading(owner) as new:
            return new.head()

    def _found(self, owner: Owner) -> tuple[int, int]:
        with self._target.reading(owner) as new:
            return _counted(new.stored())

    def _note(self, owner: Owner, head: Head, found: tuple[int, int]) -> None:
        self._heads[owner] = head
        self._copied[owner] = found

    def _take_out(self, gone: Iterable[Owner]) -> None:
        """Users who were erased in the source after they were copied."""
        for owner in gone:
            with self._target.writing(owner, self._clock()) as new:
                new.erase(Removal(everything=True), ())
            self._copied.pop(owner, None)
            self._heads.pop(owner, None)


def _claim(source: Store, target: Store) -> bool:
    """Have the target say what it is for. Returns whether a copy into it was begun before."""
    held = target.facts().get(COPYING)
    if held is not None and held != source.id:
        raise InvalidInput(f"a copy of another memory ({held}) into this one has not finished; take a new place")
    if held is None and (target.owners() or target.remains().rows):
        raise InvalidInput("there is a memory at the target already; a copy needs a place of its own")
    target.set_facts({COPYING: source.id})
    return held is not None


def _facts(store: Store) -> dict[str, str]:
    return {name: value for name, value in store.facts().items() if name not in _OWN_FACTS}


def _different(what: str) -> StoreCorrupt:
    return StoreCorrupt(f"{what} does not read back as it was written; the copy is not to be used")


# -- digests -----------------------------------------------------------------------------------------------------


class _Counting:
    """Rows that are counted and summed up while somebody takes them."""

    def __init__(self, rows: Iterator[StoredRow]) -> None:
        self.rows = self.sum = 0
        self._given = rows

    def __iter__(self) -> Iterator[StoredRow]:
        for row in self._given:
            self.rows += 1
            self.sum += _digest(row)
            yield row


def _counted(rows: Iterator[StoredRow]) -> tuple[int, int]:
    given = _Counting(rows)
    for _ in given:
        pass
    return given.rows, given.sum


def _sum(rows: Iterable[StoredRow]) -> int:
    return sum(map(_digest, rows))


def _digest(row: StoredRow) -> int:
    """A row's digest as a number. Their sum stands for a set of rows, in whichever order each store gives them."""
    table, fields = row
    said = b"".join(_spelled(each) for each in (table, *fields))
    return int.from_bytes(hashlib.blake2b(said, digest_size=_WIDTH).digest())


def _spelled(value: str | int | bytes | None) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, int):
        return b"i%d;" % value
    if isinstance(value, str):
        text = value.encode()
        return b"s%d;%s" % (len(text), text)
    return b"b%d;%s" % (len(value), value)


def _hex(total: int) -> str:
    return f"{total % (1 << 8 * _WIDTH):0{2 * _WIDTH}x}"
