"""From accepted rows to saved beliefs: where ledger, fold and search rows of beliefs meet in one transaction.

`append` is the write path (incremental where the fold allows it), `refold` folds whole slots again after an erasure
or a message taken back, `rebuild` folds an owner from nothing. What the rules are is in `beliefs/`; what may be
appended was decided before, in `ledger/admission.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from firsthand.beliefs.digest import digest
from firsthand.beliefs.fold import Folded, advance, fold_slot
from firsthand.beliefs.slots import cells_of, owner_key, slot_of
from firsthand.beliefs.view import View, view
from firsthand.model import Belief, Observation, Owner, State
from firsthand.policy import Policy
from firsthand.ports import Cell, Row, SearchRow, Writing
from firsthand.recall.index import belief_document
from firsthand.text import STOP_WORDS, term_hashes, terms

Vectors = Callable[[Sequence[str]], Sequence[bytes | None]]


@dataclass(frozen=True, slots=True)
class Change:
    """What a write did to the beliefs of the slots it touched."""

    before: tuple[Belief, ...]
    after: tuple[Belief, ...]

    def superseded(self) -> tuple[str, ...]:
        """Ids of beliefs that held before and hold no longer."""
        holds = {belief.id for belief in self.after if belief.state is State.ACTIVE}
        return tuple(b.id for b in self.before if b.state is State.ACTIVE and b.id not in holds)

    def pending(self) -> tuple[Belief, ...]:
        """Beliefs that wait for the person now and did not before."""
        waited = {belief.id for belief in self.before if belief.state is State.PENDING}
        return tuple(b for b in self.after if b.state is State.PENDING and b.id not in waited)


@dataclass(frozen=True, slots=True)
class Folder:
    """Folds the rows of one owner under one policy."""

    work: Writing
    policy: Policy
    vectors: Vectors
    now: datetime

    def append(self, observations: Sequence[Observation]) -> Change:
        """Add rows to the ledger and bring the beliefs they touch up to date."""
        self.work.observations.add(observations)
        rows = self.work.observations.rows([o.id for o in observations])
        folded = [self._advance(slot, mine) for slot, mine in self._by_slot(rows).items() if slot]
        taken_back = [o.target.message_id for o in observations if o.target and o.target.message_id]
        if taken_back:
            citing = self.work.observations.citing([each for each in taken_back if each])
            folded.extend(self._again(slot) for slot in sorted({self._slot(o) for o in citing}))
        return self._save(folded)

    def refold(self, slots: Iterable[str], unplaced: Sequence[str] = ()) -> Change:
        """Fold whole slots again from the rows placed in them, and from these that are not placed yet."""
        rows = self._by_slot(self.work.observations.rows(unplaced)) if unplaced else {}
        return self._save([self._again(slot, rows.get(slot, ())) for slot in sorted({*slots, *rows}) if slot])

    def of_slot(self, observation: Observation) -> View:
        """The beliefs of the slot that an observation would go to."""
        return view(self.work.beliefs.cells(slots=[self._slot(observation)]), self.policy, self.now)

    def rebuild(self) -> tuple[str, str]:
        """Fold everything from the ledger alone. Returns the digests of the beliefs before and after."""
        before = digest(self.work.beliefs.cells())
        rows = list(self.work.observations.walk())
        self.work.beliefs.clear()
        self._save([self._full(mine, ()) for slot, mine in self._by_slot(rows).items() if slot])
        self.work.bump_epoch()
        return before, digest(self.work.beliefs.cells())

    def _by_slot(self, rows: Iterable[Row]) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            found[self._slot(row.observation)].append(row)
        return found

    def _slot(self, observation: Observation) -> str:
        return slot_of(observation, self.policy, self._key)

    @property
    def _key(self) -> bytes:
        return owner_key(self.work.owner)

    def _advance(self, slot: str, rows: Sequence[Row]) -> _Step:
        names = sorted({(slot, cell) for row in rows for cell in cells_of(row.observation, self.policy)})
        cells = self.work.beliefs.cells(keys=names)
        folded = advance(cells, rows, self.policy, self._key)
        if folded is not None:
            return _Step(tuple(cells), folded)
        return self._again(slot, rows)

    def _again(self, slot: str, unplaced: Sequence[Row] = ()) -> _Step:
        every = [*self.work.observations.of_slots([slot]), *unplaced]
        return self._full(every, self.work.beliefs.cells(slots=[slot]))

    def _full(self, rows: Sequence[Row], old: Sequence[Cell]) -> _Step:
        distinct = {row.observation.id: row for row in rows}
        folded = fold_slot(list(distinct.values()), self.policy, self._key)
        kept = {cell.cell for cell in folded.cells}
        gone = tuple(replace(cell, state="") for cell in old if cell.cell not in kept)
        return _Step(tuple(old), Folded(cells=(*folded.cells, *gone), placements=folded.placements))

    def _save(self, steps: Sequence[_Step]) -> Change:
        last = {(c.slot, c.cell): c for step in steps for c in step.folded.cells}
        first: dict[tuple[str, str], Cell] = {}
        for step in steps:
            for cell in step.before:
                first.setdefault((cell.slot, cell.cell), cell)
        self.work.beliefs.save(list(last.values()), [p for step in steps for p in step.folded.placements])
        before = view(list(first.values()), self.policy, self.now)
        after = view([cell for cell in last.values() if cell.state], self.policy, self.now)
        self._index(before, after)
        return Change(before.beliefs, after.beliefs)

    def _index(self, before: View, after: View) -> None:
        old, new = search_texts(before, self.policy), search_texts(after, self.policy)
        self.work.search.drop([("belief", name) for name in old if name not in new])
        changed = {name: text for name, text in new.items() if old.get(name) != text}
        vectors = self.vectors([text.embedded for text in changed.values()])
        rows = [
            SearchRow("belief", name, term_hashes(text.searched), vector)
            for (name, text), vector in zip(changed.items(), vectors, strict=True)
        ]
        self.work.search.put(rows)


@dataclass(frozen=True, slots=True)
class _Step:
    before: tuple[Cell, ...]
    folded: Folded


@dataclass(frozen=True, slots=True)
class SearchText:
    """What a belief is found by: the text that is embedded, and the words that it is searched by."""

    embedded: str
    searched: str


def search_texts(seen: View, policy: Policy) -> dict[str, SearchText]:
    """What each belief of a view is found by, under the name of its search row."""
    return {search_name(seen, belief): _search_text(belief, policy) for belief in seen.beliefs}


def _search_text(belief: Belief, policy: Policy) -> SearchText:
    """Words take in what else the attribute is called: "Who is Mira's employer?" asks for where she works."""
    text = belief_document(belief)
    if belief.attribute is None:
        return SearchText(text, text)
    attribute = policy.attribute(belief.attribute)
    return SearchText(text, f"{text}. {_new_words(text, (attribute.name, *attribute.aliases))}")


def _new_words(text: str, names: Sequence[str]) -> str:
    """The words of these names that say something and are not in the text, each once."""
    known = set(terms(text))
    words = {word for name in names for word in name.replace("_", " ").split() if word not in STOP_WORDS}
    new = {tuple(terms(word)): word for word in sorted(words, reverse=True) if known.isdisjoint(terms(word))}
    return " ".join(sorted(new.values()))


def search_name(seen: View, belief: Belief) -> str:
    """The name of a belief's search row: its first claim, which an interval that resumes shares."""
    return "\x1f".join(seen.claims[belief.id][0])


def fold_as_known(rows: Iterable[Row], policy: Policy, owner: Owner, valid_at: datetime) -> View:
    """What would be believed if these rows were all that had ever been told, with the messages cited."""
    key = owner_key(owner)
    slots: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        slots[slot_of(row.observation, policy, key)].append(row)
    cells: list[Cell] = []
    cited: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for slot, mine in slots.items():
        if slot:
            folded = fold_slot(mine, policy, key)
            cells.extend(folded.cells)
            cites = {row.observation.id: [e.message_id for e in row.observation.evidence] for row in mine}
            for placed in folded.placements:
                cited[(placed.slot, placed.cell, placed.claim)].extend(cites[placed.observation_id])
    return with_evidence(view(cells, policy, valid_at), cited)


def with_evidence(seen: View, cited: Mapping[tuple[str, str, str], Iterable[str]]) -> View:
    """The view whose beliefs name the messages that their claims cite."""
    filled = []
    for belief in seen.beliefs:
        ids = [each for claim in seen.claims[belief.id] for each in cited.get(claim, ())]
        filled.append(replace(belief, evidence=tuple(dict.fromkeys(ids))) if ids else belief)
    return replace(seen, beliefs=tuple(filled))
