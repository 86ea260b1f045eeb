"""The document of the HTTP API, and the server held to it by requests made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from doors_open import Opened, opened, problem
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import binary
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS

from firsthand import Belief, Explanation, Hit, Receipt, to_json
from firsthand.memory import Memory
from firsthand.server.keys import ALL, Grant, Level
from firsthand.server.openapi import document
from firsthand.server.routes import ROUTES, Route, Scope
from firsthand.server.schema import Unfit, check, of_type

# What a schema cannot say (an end after its start, an id that exists) is refused with 4xx, as the document says.
LEFT_OUT = {"positive_data_acceptance"}
schemathesis.openapi.media_type("application/x-ndjson", binary(max_size=100))
EACH = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def known() -> Iterator[tuple[Any, str]]:
    """The document of a server that holds something, and a key for all of it."""
    with opened(user="alex") as server:
        server.memory.user("alex").observe(["I live in Berlin.", "I'm allergic to hazelnuts."], session="s1")
        _, key = server.keys.make(Grant(ALL, ALL, Level.ADMIN), server.clock())
        schema = schemathesis.openapi.from_asgi("/openapi.json", server.app, headers={"Host": "localhost"})
        schema.raw_schema["security"] = []  # the key is given; what happens without one is tested below
        yield schema, key


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        *((route.name, GenerationMode.POSITIVE) for route in ROUTES),
        *((route.name, GenerationMode.NEGATIVE) for route in ROUTES if route.query or route.body or route.headers),
    ],
)
def test_requests_made_from_the_document_are_answered_as_it_says(
    known: tuple[Any, str], name: str, mode: GenerationMode
) -> None:
    """Issue: schemathesis runs against the document with no failure."""
    headers = {"Authorization": f"Bearer {known[1]}", "Host": "localhost"}
    operation = known[0].find_operation_by_id(name)
    excluded = [each for each in CHECKS.get_all() if each.__name__ in LEFT_OUT]

    @given(case=operation.as_strategy(generation_mode=mode))
    @EACH
    def holds(case: Any) -> None:
        case.call_and_validate(headers=headers, excluded_checks=excluded)

    holds()


def test_every_verb_of_the_library_has_a_route() -> None:
    """Issue: every verb of API.md."""
    from firsthand.memory import User

    verbs = {name for kind in (User, Memory) for name, each in vars(kind).items() if callable(each)}
    served = {route.name for route in ROUTES} | {"exported", "import_", "user", "close", "vectors", "scale"}
    served |= {"merge"}  # takes a path on the server's own disk: no request names one
    assert {name for name in verbs if not name.startswith("_")} <= served


@pytest.mark.parametrize("route", [each for each in ROUTES if each.scope is not Scope.NOTHING], ids=lambda r: r.name)
def test_nothing_is_answered_without_a_key(server: Opened, route: Route) -> None:
    """Issue: off only on loopback and only when said so."""
    refused = server.with_key(None).request(route.method, route.path.replace("{id}", "x"))
    problem(refused, 401, "Unauthorized")


def test_the_document_names_every_route_once() -> None:
    """Ours: one table, one document."""
    written = document()
    operations = [each for path in written["paths"].values() for each in path.values()]
    assert len({each["operationId"] for each in operations}) == len(ROUTES) == len(operations)
    open_ones = {each["operationId"] for each in operations if each.get("security") == []}
    assert open_ones == {route.name for route in ROUTES if route.scope is Scope.NOTHING}


@pytest.mark.parametrize("kind", [Belief, Explanation, Hit, Receipt])
def test_what_the_library_answers_fits_the_documents_schemas(kind: type) -> None:
    """Ours: the schemas are made from the types whose JSON forms are sent."""
    with opened() as server:
        alex = server.memory.user("alex")
        receipt = alex.observe("I live in Berlin. I'm allergic to hazelnuts.")
        belief = alex.beliefs()[0]
        answers: dict[type, Callable[[], Any]] = {
            Belief: lambda: belief,
            Explanation: lambda: alex.why(belief.id),
            Hit: lambda: alex.recall("where do I live?")[0],
            Receipt: lambda: receipt,
        }
        parts: dict[str, Any] = {}
        of_type(kind, parts)
        assert set(parts[kind.__name__]["required"]) == set(to_json(answers[kind]()))


def test_a_schema_that_a_type_has_none_of_is_an_error() -> None:
    """Ours: an answer that cannot be described is found when the document is made."""
    with pytest.raises(TypeError, match="no schema"):
        of_type(set, {})
    with pytest.raises(Unfit, match="must be text"):
        check(None, {"type": "string"}, "it")


def test_the_document_needs_no_key(server: Opened) -> None:
    """Ours: what there is may be read by whoever reaches the server."""
    found = server.with_key(None).get("/openapi.json")
    assert found.status_code == 200
    assert found.json()["openapi"] == "3.1.0"
