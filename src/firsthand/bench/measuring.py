"""Putting a suite's questions to memory, and the figures of each question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean

from firsthand.bench.corpus import ANSWERED, Asked, Suite, Talk
from firsthand.bench.measures import Ranked, all_at, any_at, in_order, ndcg_at, recall_at, reciprocal_rank, tells
from firsthand.bench.ways import OURS, Answer, Respondent, ids_of
from firsthand.memory import Memory, User
from firsthand.model import Hit
from firsthand.recall.context import Budget, build
from firsthand.text import question_terms, terms

BUDGETS = (250, 500, 1000, 2000)  # tokens of context
_SHORT = 12  # tokens of a short memory with its date and id: a context holds no more memories than fit by that
Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Result:
    """One question's figures, by way of recall; those of a question that has no answer are its best relevances."""

    asked: Asked
    ways: Mapping[str, Figures]
    best: float = 0.0  # the highest relevance of any hit
    answering: float | None = None  # the highest relevance of a hit that answers
    milliseconds: float = 0.0


def measured(suite: Suite, embedder: str, heard: Callable[[Talk], None] = lambda _: None) -> Iterator[Result]:
    """Every question's figures. `heard` is told of each conversation once it is stored."""
    for talk in suite.talks():
        writer = "rules" if suite.listens else "none"
        with Memory(":memory:", embedder=embedder, writer=writer, clock=_stopped(talk.now)) as memory:
            user = memory.user(talk.name, aliases=talk.aliases)
            for session, messages in talk.sessions.items():
                user.observe(list(messages), session=session)
            heard(talk)
            yield from put(talk.questions, user, suite)


def put(questions: Sequence[Asked], user: User, suite: Suite) -> Iterator[Result]:
    """Put questions to a person's memory as it is."""
    respondent = Respondent(user, "all" if suite.listens else "messages")
    respondent.user.recall("warm up", limit=1)
    messages = list(user.messages())
    places = {message.id: message.session or "" for message in messages} if suite.by_session else None
    place = _Place(suite, user, places, {message.id: message.content for message in messages})
    for asked in questions:
        if asked.standing == ANSWERED:
            yield _result(asked, respondent.answer(asked.text), place)
        else:
            hits, spent = respondent.timed(asked.text)
            yield Result(asked, {}, _best(hits), None, spent)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where hits are looked up."""

    suite: Suite
    user: User
    sessions: Mapping[str, str] | None  # of messages, where figures are of sessions
    texts: Mapping[str, str]  # of messages

    def of(self, ranked: Ranked) -> Ranked:
        """Hits as what is counted: themselves, or their sessions, each where it comes first."""
        if self.sessions is None:
            return ranked
        named = (self.sessions[each] for hit in ranked for each in sorted(hit) if each in self.sessions)
        return [frozenset((each,)) for each in dict.fromkeys(named)]


def _result(asked: Asked, answer: Answer, place: _Place) -> Result:
    result = Result(asked, {}, _best(answer.hits), None, answer.milliseconds)
    if asked.facts:
        told = {hit.id: hit.text for hit in answer.hits}
        return replace(
            result, ways={way: _told(asked, hits, {**place.texts, **told}) for way, hits in answer.ranked.items()}
        )
    ranked = {way: place.of(hits) for way, hits in answer.ranked.items()}
    ways = {way: _figures(asked, hits, place.suite) for way, hits in ranked.items()}
    ways[OURS] = {**ways[OURS], **_by_tokens(asked, answer.hits, place)}
    answering = [hit for hit in answer.hits[:10] if _answers(asked, hit, place)]
    return replace(result, ways=ways, answering=_best(answering))


def _best(hits: Sequence[Hit]) -> float:
    return max((hit.terms["relevance"] for hit in hits), default=0.0)


def _answers(asked: Asked, hit: Hit, place: _Place) -> bool:
    return recall_at(place.of([ids_of(hit)]), asked.expected, 1) > 0


def _told(asked: Asked, ranked: Ranked, texts: Mapping[str, str]) -> dict[str, float]:
    """What the first ten hits tell together, and how many of them are beside the point."""
    said = [frozenset(terms(" ".join(texts.get(each, "") for each in hit))) for hit in ranked[:10]]
    together = frozenset[str]().union(*said)
    wanted, unwanted = ([frozenset(question_terms(fact)) for fact in facts] for facts in (asked.facts, asked.beside))
    strays = [any(tells(each, fact) for fact in unwanted) and not any(tells(each, f) for f in wanted) for each in said]
    return {"facts in": fmean(tells(together, fact) for fact in wanted), "irrelevant out": 1 - fmean(strays or [False])}


def _figures(asked: Asked, ranked: Ranked, suite: Suite) -> dict[str, float]:
    if asked.succession is not None and asked.past:
        older, newer = asked.succession
        return {"past order": in_order(ranked, newer, older)}
    out: dict[str, float] = {}
    for depth in suite.depths:
        if suite.by_session:
            out[f"any@{depth}"] = any_at(ranked, asked.expected, depth)
            out[f"all@{depth}"] = all_at(ranked, asked.expected, depth)
            out[f"ndcg@{depth}"] = ndcg_at(ranked, asked.expected, depth)
        else:
            out[f"R@{depth}"] = recall_at(ranked, asked.expected, depth)
    if asked.succession is not None:
        out["update order"] = in_order(ranked, *asked.succession)
    return out | {"MRR": reciprocal_rank(ranked, asked.expected)}


def _by_tokens(asked: Asked, hits: Sequence[Hit], place: _Place) -> dict[str, float]:
    """The share of what is expected that a context of so many tokens shows."""
    if asked.past:
        return {}
    memory = place.user.memory
    profile = place.user.profile() if place.suite.listens else []
    out = {}
    for tokens in BUDGETS:
        most = tokens // _SHORT
        budget = Budget(memory.parts.tokenizer, memory.parts.clock(), tokens, most)
        shown = build(profile, hits[:most], budget).hits
        ranked = place.of([ids_of(hit) for hit in shown])
        out[f"R@{tokens}t"] = recall_at(ranked, asked.expected, len(ranked)) if ranked else 0.0
    return out


def means(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """The mean of each figure over the questions that have it, by way of recall."""
    found: dict[str, dict[str, list[float]]] = {}
    for result in results:
        for way, figures in result.ways.items():
            for name, figure in figures.items():
                found.setdefault(way, {}).setdefault(name, []).append(figure)
    return {way: {name: fmean(each) for name, each in figures.items()} for way, figures in found.items()}


def _stopped(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment
