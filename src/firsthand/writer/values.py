"""How the words of a value are cut out of a clause.

A form says where a value begins; the rules of its kind (`[value.*]` of a language's table) say where it ends and
what it cannot be. Every cut is a span of the sentence: values are words that were said, never made up here. When in
doubt nothing is cut, and the form says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import islice, pairwise, takewhile

from firsthand.writer.dates import When
from firsthand.writer.language import Gazetteer, Language, ValueRule
from firsthand.writer.sentences import FILLER, Sentence

Span = tuple[int, int]

_TOKEN = re.compile(r"(?:[^\s,;:!?()\"]|(?<=\d)[:,](?=\d))+|[,;:!?()\"]")
_DASHES = "-\u2013\u2014"
_ENDING = ".!?…'*_" + _DASHES
_PUNCTUATION = re.compile(r"\s*(?:[.,;:!?()…\"\u2013\u2014/-]|$)")
_WORD = re.compile(r"[^\W_][\w'-]*")
_LISTED_WORDS = 2  # words of each further value in a list, at most


@dataclass(frozen=True, slots=True)
class Clause:
    """Where a value is sought: a sentence, what is known of names, and the dates said in it."""

    sentence: Sentence
    language: Language
    names: Gazetteer
    introduced: AbstractSet[str]  # folded names of people who were introduced in this talk
    whens: Sequence[When]
    bound: int | None = None  # where words of the form say that the value ends

    @property
    def text(self) -> str:
        """The sentence, with what is not the person's own blanked."""
        return self.sentence.text

    def cut(self, rule: ValueRule, span: Span, *, whole: bool = False) -> list[Span]:
        """Cut the values that begin at the span's start, none when the words there are no such value.

        With `whole` they must fill the span: its end was found by words of the form.
        """
        clause = replace(self, bound=span[1]) if whole else self
        spans = _SHAPES[rule.shape](clause, rule, self._before_date(rule, span))
        spans = [trimmed for each in spans if (trimmed := self._trimmed(each))]
        if whole and spans and self.text[spans[-1][1] : span[1]].strip(" .,!"):
            return []
        return [] if any(FILLER in self.text[first:last] for first, last in spans) else spans

    def _before_date(self, rule: ValueRule, span: Span) -> Span:
        if rule.shape in ("date", "rest", "pattern"):
            return span
        starts = [when.start for when in self.whens if span[0] < when.start < span[1]]
        return span[0], min([span[1], *starts])

    def _trimmed(self, span: Span) -> Span | None:
        first, last = span
        while last > first and (self.text[last - 1] in _ENDING or self.text[last - 1] in " ,;:"):
            last -= 1
        return (first, last) if last > first else None

    def follows(self, end: int, allowed: frozenset[str]) -> bool:
        """Whether what follows a cut lets it stand: the end, punctuation, a date, or one of the allowed words."""
        if self.bound is not None and not self.text[end : self.bound].strip(" .,!"):
            return True
        if _PUNCTUATION.match(self.text, end) or any(self.text[end : w.start].strip() == "" for w in self._after(end)):
            return True
        word = _WORD.match(self.text, end + len(self.text[end:]) - len(self.text[end:].lstrip()))
        return word is not None and word[0].casefold() in allowed

    def _after(self, end: int) -> list[When]:
        return [when for when in self.whens if when.start >= end]


def _names(clause: Clause, rule: ValueRule, span: Span) -> list[Span]:
    tokens = list(islice(_TOKEN.finditer(clause.text, *span), rule.longest + 6))
    count, first = 0, 0
    while first < len(tokens) and _plain(tokens[first]) in rule.before and _is_name(tokens, first + 1):
        first += 1
    last = first
    while last < len(tokens):
        step = _name_step(clause, rule, tokens, last, begun=last > first)
        if not step:
            break
        last, count = last + step, count + 1
    if not count:
        return _low_names(clause, rule, tokens)
    start = tokens[_kept_before(tokens, first)].start()
    return _checked(clause, rule, (start, tokens[last - 1].end()))


def _kept_before(tokens: Sequence[re.Match[str]], first: int) -> int:
    """Leave out the article of a name: "the Netherlands" and "Netherlands" are one value."""
    start = 0
    while start < first and _plain(tokens[start]) == "the":
        start += 1
    return start


def _name_step(clause: Clause, rule: ValueRule, tokens: Sequence[re.Match[str]], at: int, *, begun: bool) -> int:
    """How many tokens go on with the name from here; 0 when it ends."""
    if at and begun and tokens[at - 1][0][-1] in ".!?…" and not _is_short(tokens[at - 1][0]):
        return 0
    word = _plain(tokens[at])
    if begun and word in clause.language.after_names and word not in rule.joiners:
        return 0
    if _is_name(tokens, at):
        return 1
    if begun and word in rule.joiners and _is_name(tokens, at + 1):
        return 2
    if begun and rule.regions and tokens[at][0] == ",":
        return _region(clause, tokens, at)
    return 0


def _region(clause: Clause, tokens: Sequence[re.Match[str]], comma: int) -> int:
    for length in (3, 2, 1):
        words = tokens[comma + 1 : comma + 1 + length]
        if len(words) == length and " ".join(map(_plain, words)) in clause.names.regions:
            return length + 1
    return 0


def _low_names(clause: Clause, rule: ValueRule, tokens: Sequence[re.Match[str]]) -> list[Span]:
    """Names in a sentence without capitals: only places that are known, and single words where the form is sure."""
    if not clause.sentence.is_low or not tokens:
        return []
    for length in (3, 2, 1) if rule.known_lower else ():
        words = tokens[:length]
        if " ".join(map(_plain, words)) in clause.names.places:
            return _checked(clause, rule, (words[0].start(), words[-1].end()))
    if rule.single_lower and _plain(tokens[0]).isalpha():
        return _checked(clause, rule, tokens[0].span(), ends=True)
    return []


def _checked(clause: Clause, rule: ValueRule, span: Span, *, ends: bool = False) -> list[Span]:
    name = clause.text[slice(*span)].casefold().strip(_ENDING)
    if (
        not _may_be(clause.names, rule, name)
        or (rule.singular and name.endswith("s"))
        or _is_another_sort(clause, rule, name)
    ):
        return []
    if rule.regions and _is_one_of_several(clause, span[1]):
        return []
    allowed = frozenset[str]() if ends else clause.language.after_names
    return [span] if rule.anything_after or clause.follows(span[1], allowed) else []


def _may_be(names: Gazetteer, rule: ValueRule, name: str) -> bool:
    """Whether a name, folded, may be such a value by its words alone."""
    first = name.split(maxsplit=1)[0].strip(".,")
    if len(name.split()) > rule.longest or rule.deny.intersection((name, first)):
        return False
    if name.endswith(("'s", "s'")) and not rule.possessive:
        return False
    places = (name, name.partition(",")[0])
    return not rule.known or first in names.given or any(p in names.places or p in names.regions for p in places)


def _is_another_sort(clause: Clause, rule: ValueRule, name: str) -> bool:
    """Whether a name, folded, is known for something that such a value is not: a place, a person."""
    names, first, bare = clause.names, name.split(maxsplit=1)[0].strip(".,"), name.removesuffix("'s")
    sorts = {
        "place": name in names.places or name in names.regions,
        "person": first in names.given or name in clause.introduced,
        "lone person": bare in names.given or bare in clause.introduced,
    }
    return any(sorts[sort] for sort in rule.neither)


def _is_one_of_several(clause: Clause, end: int) -> bool:
    """Whether another known place follows: "Berlin and Paris" is no place where somebody lives."""
    joined = clause.language.joining.match(clause.text, end)
    words = re.findall(r"[\w'-]+", clause.text[joined.end() :])[:3] if joined else []
    return any(" ".join(words[:length]).casefold() in clause.names.places for length in (1, 2, 3))


def _is_name(tokens: Sequence[re.Match[str]], at: int) -> bool:
    if at >= len(tokens):
        return False
    letters = [c for c in tokens[at][0] if c.isalpha()]
    begins = tokens[at][0][0]
    if (
        not letters
        or not (begins.isalpha() or begins.isdigit())
        or _plain(tokens[at]) in ("i", "i'm", "i've", "i'd", "i'll")
    ):
        return False
    return letters[0].isupper() or letters[0].lower() == letters[0].upper()


def _is_short(token: str) -> bool:
    """Whether a full stop after it may be part of a name: "St.", "J.", "Dr."."""
    return token.endswith(".") and len(token) <= 3  # noqa: PLR2004 - two letters and the stop


def _plain(token: re.Match[str]) -> str:
    return token[0].casefold().strip(_ENDING)


def _phrase(clause: Clause, rule: ValueRule, span: Span) -> list[Span]:
    listed = _phrase_list(clause, rule, span) if rule.split or rule.commas else []
    if listed:
        return listed
    end = _phrase_end(clause, span)
    phrase = _without_trailing(clause, (span[0], end))
    if not _is_phrase(clause, rule, phrase, rule.longest) or _goes_on(clause, phrase, end):
        return []
    following = _WORD.match(clause.text, end)
    word = following[0].casefold() if following else ""
    if word in clause.language.narrowing or (rule.alone and word in clause.language.conjunctions):
        return []
    return [phrase] if clause.follows(end, clause.language.after_words | clause.language.phrase_stops) else []


def _goes_on(clause: Clause, phrase: Span, end: int) -> bool:
    """Whether a comma parts two adjectives of one thing: "a safe, inviting place"."""
    words = clause.text[slice(*phrase)].casefold().split()
    return clause.text[end : end + 1] == "," and bool({"a", "an"}.intersection(words))


def _phrase_end(clause: Clause, span: Span) -> int:
    for token in _TOKEN.finditer(clause.text, *span):
        if token[0] in ',;:!?()"' or not token[0].strip(_DASHES) or _plain(token) in clause.language.phrase_stops:
            return token.start()
        if token[0][-1] in ".!?…":
            return token.end()
    return span[1]


def _without_trailing(clause: Clause, span: Span) -> Span:
    text = clause.text[slice(*span)].rstrip(" " + _ENDING)
    while shorter := clause.language.trailing.search(text):
        text = text[: shorter.start()].rstrip(" ,")
    return span[0], span[0] + len(text)


def _is_phrase(clause: Clause, rule: ValueRule, span: Span, longest: int) -> bool:
    words = [word.casefold().strip(_ENDING) for word in clause.text[slice(*span)].split()]
    if not 1 <= len(words) <= longest or not any(c.isalpha() for c in words[0]):
        return False
    said = clause.text[slice(*span)].split()[1:]
    article_of_name = words[0] == "the" and said and all(word[0].isupper() for word in said)  # "the Beatles"
    if words[0] in rule.deny_first and not article_of_name:
        return False
    return not rule.deny.intersection(words)


def _phrase_list(clause: Clause, rule: ValueRule, span: Span) -> list[Span]:
    """Several values side by side: "peanuts, shellfish and penicillin"."""
    stop = _list_end(clause, span)
    text = clause.text[span[0] : stop]
    breaks = [m.span() for m in clause.language.listing.finditer(text)]
    if not breaks or not clause.language.joining.search(text):
        return []
    edges = [(0, 0), *breaks, (len(text), len(text))]
    parts = [(span[0] + before[1], span[0] + after[0]) for before, after in pairwise(edges)]
    items = [_without_trailing(clause, _without_before(clause, rule, part)) for part in parts]
    fitting = 1 + sum(1 for _ in takewhile(lambda each: _is_further(clause, rule, each), items[1:]))
    last = edges[fitting][0]
    joined = clause.language.joining.search(text[: edges[fitting - 1][1]])
    if fitting == 1 or not joined or not _is_phrase(clause, rule, items[0], rule.longest):
        return []
    if not clause.follows(span[0] + last, clause.language.after_words):
        return []
    whole = (items[0][0], items[fitting - 1][1])
    if rule.commas and _brings_all(clause, items[fitting - 1]):
        return [whole]
    return items[:fitting] if rule.split or _side_by_side(clause, items[:fitting], whole) else [whole]


def shared_word(clause: Clause, items: Sequence[Span]) -> Span | None:
    """Find the word that the last of several names brings and all of them mean: "Thai, Indian and Korean food"."""
    *others, last = (clause.text[slice(*each)] for each in items)
    named = others and all(" " not in each and each[:1].isupper() for each in (*others, last.split(" ")[0]))
    word = last.rpartition(" ")[2]
    if not named or last.count(" ") != 1 or word.casefold() not in clause.language.shared:
        return None
    return items[-1][1] - len(word), items[-1][1]


def _brings_all(clause: Clause, last: Span) -> bool:
    """Whether the last of a list may bring a word for all, and nothing tells: "rock, jazz and soul music"."""
    first, _, word = clause.text[slice(*last)].rpartition(" ")
    return first[:1].islower() and word.casefold() in clause.language.shared


def _without_before(clause: Clause, rule: ValueRule, span: Span) -> Span:
    """Leave out a small word that a further value of a list repeats: "to nuts and to bees"."""
    word = _WORD.match(clause.text, span[0])
    repeats = word is not None and word[0].casefold() in rule.before and clause.text[word.end() : word.end() + 1] == " "
    return (word.end() + 1, span[1]) if word is not None and repeats else span


def _side_by_side(clause: Clause, items: Sequence[Span], whole: Span) -> bool:
    """Whether several things are liked each, not one thing with two names: "hiking and jazz", but "fish and chips"."""
    if shared_word(clause, items):
        return True
    texts = [clause.text[slice(*each)].casefold() for each in items]
    if len(items) != 2:  # noqa: PLR2004 - a list with commas
        return True
    alike = all(" " not in text for text in texts) or all(text.split()[0].endswith("ing") for text in texts)
    return alike and clause.text[slice(*whole)].casefold() not in clause.language.pairs


def _is_further(clause: Clause, rule: ValueRule, span: Span) -> bool:
    words = clause.text[slice(*span)].split()
    return _is_phrase(clause, rule, span, _LISTED_WORDS) and words[0].casefold() not in clause.language.verbs


def _list_end(clause: Clause, span: Span) -> int:
    stops = clause.language.phrase_stops - clause.language.conjunctions
    for token in _TOKEN.finditer(clause.text, *span):
        if token[0] in ';:!?()"' or not token[0].strip(_DASHES) or _plain(token) in stops:
            return token.start()
        if token[0][-1] in ".!?…":
            return token.end() - 1
    return span[1]


def _listed(clause: Clause, rule: ValueRule, span: Span) -> list[Span]:
    if rule.split:
        items = [_listed_one(clause, rule, each) for each in _split(clause, span)]
        kept = items[: items.index(None)] if None in items else items
        return [item for item in kept if item]
    found = _listed_one(clause, rule, span)
    return [found] if found else []


def _split(clause: Clause, span: Span) -> list[Span]:
    text = clause.text[slice(*span)]
    edges = [(0, 0), *(m.span() for m in clause.language.listing.finditer(text)), (len(text), len(text))]
    return [(span[0] + before[1], span[0] + after[0]) for before, after in pairwise(edges) if after[0] > before[1]]


def _listed_one(clause: Clause, rule: ValueRule, span: Span) -> Span | None:
    end = _listed_end(clause, span)
    text = clause.text[span[0] : end].casefold().rstrip(" " + _ENDING)
    head = next((each for each in rule.heads if text == each or text.endswith((" " + each, "-" + each))), None)
    if head is None:
        return None
    modifiers = text[: -len(head)].split()
    if len(modifiers) >= rule.longest or rule.deny.intersection(modifiers):
        return None
    if any(not re.fullmatch(r"[\w&/+#.'-]+", word) or word.endswith("'s") for word in modifiers):
        return None
    return span[0], span[0] + len(text)


def _listed_end(clause: Clause, span: Span) -> int:
    for token in _TOKEN.finditer(clause.text, *span):
        if token[0] in ',;:!?()"' or not token[0].strip(_DASHES) or _plain(token) in clause.language.after_words:
            return token.start()
        if token[0][-1] in "!?…" or (token[0][-1] == "." and not _is_short(token[0])):
            return token.end()
    return span[1]


def _pattern(clause: Clause, rule: ValueRule, span: Span) -> list[Span]:
    found = rule.pattern.match(clause.text, *span) if rule.pattern else None
    if found is None:
        return []
    if found.end() != clause.bound and re.match(r"[\w@'-]|[.,]\w", clause.text[found.end() :]):
        return []
    if sum(map(str.isdigit, found[0])) < rule.digits:
        return []
    following = _WORD.match(clause.text, found.end() + 1) if clause.text[found.end() :].startswith(" ") else None
    dated = following is not None and any(when.start == following.start() for when in clause.whens)
    if following and following[0].casefold() in rule.not_after and found.end() != clause.bound and not dated:
        return []
    return [_kept(found, rule)]


def _kept(found: re.Match[str], rule: ValueRule) -> Span:
    """With words to keep, the others in front of the last one are dropped: "little sister" is a sister."""
    words = found[0].split()
    if not rule.keep:
        return found.span()
    kept = 1
    while kept < len(words) and words[-kept - 1].casefold() in rule.keep:
        kept += 1
    text = re.search(r"\s+".join(map(re.escape, words[-kept:])) + "$", found[0])
    return (found.start() + (text.start() if text else 0), found.end())


def _rest(clause: Clause, rule: ValueRule, span: Span) -> list[Span]:
    text = clause.text[slice(*span)]
    ends = clause.language.rest_ends.search(text)
    text = text[: ends.start()] if ends else text
    fits = 5 <= len(text) <= rule.longest and sum(map(str.isdigit, text)) >= rule.digits  # noqa: PLR2004
    return [(span[0], span[0] + len(text))] if fits else []


def _date(clause: Clause, rule: ValueRule, span: Span) -> list[Span]:  # noqa: ARG001 - all shapes are called alike
    """Cut a day of the year, as it was said, without the words before it."""
    for when in clause.whens:
        if when.start <= span[0] + 4 and when.core >= span[0] - 4 and when.means in ("day", "iso"):
            article = 4 if clause.text[when.core :].casefold().startswith("the ") else 0
            return [(when.core + article, when.end)]
    return []


_SHAPES: Mapping[str, Callable[[Clause, ValueRule, Span], list[Span]]] = {
    "names": _names,
    "phrase": _phrase,
    "listed": _listed,
    "pattern": _pattern,
    "rest": _rest,
    "date": _date,
}
