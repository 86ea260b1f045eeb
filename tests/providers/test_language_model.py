"""Language models over HTTP: a server on loopback that answers well, badly, late, never, and adversarially."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from fake_models import FakeOpenAI, answer_of, fake_openai, observation
from firsthand import InvalidInput, LLMWriter, Memory, ProviderFailed
from firsthand.ports import LanguageModel
from firsthand.providers import language
from firsthand.providers.language import Endpoint, language_model
from stopped_clock import StoppedClock

pytest.importorskip("pydantic_ai", reason="the llm extra is not installed")

ASKED = [("system", "Be brief."), ("user", "Hello?"), ("assistant", "Yes?"), ("user", "Who are you?")]
SAID = "My boxes say I moved to Lisbon last March"
MOVED = answer_of(observation(1, "I moved to Lisbon last March", "Lisbon", attribute="lives_in", since="2026-03"))


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with fake_openai() as fake:
        yield fake


def model_at(server: FakeOpenAI, timeout: float = 30.0) -> LanguageModel:
    return language_model("openai:gpt-4o-mini", Endpoint(server.url, "sk-of-the-test", timeout))


def test_a_conversation_is_sent_and_the_answer_counted(server: FakeOpenAI) -> None:
    """Issue: any OpenAI-compatible endpoint; calls and tokens are counted."""
    server.says("I am a fake.")
    assert model_at(server).answer(ASKED) == ("I am a fake.", 120)
    (request,) = server.requests
    assert request["model"] == "gpt-4o-mini"
    assert [(turn["role"], turn["content"]) for turn in request["messages"]] == ASKED
    assert server.headers[0]["authorization"] == "Bearer sk-of-the-test"


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_an_error_is_one_failure_after_one_request(server: FakeOpenAI, status: int) -> None:
    """Issue: rate limits and outages; whoever asks decides when to ask again, so nothing is repeated in here."""
    server.fails(status)
    with pytest.raises(ProviderFailed, match=str(status)) as caught:
        model_at(server).answer(ASKED)
    assert len(server.requests) == 1
    assert "sk-of-the-test" not in str(caught.value)


@pytest.mark.parametrize("body", [b"", b"<html>bad gateway</html>", b"{}", b'{"choices": []}', b'{"choices": null}'])
def test_an_answer_that_is_none_is_a_failure(server: FakeOpenAI, body: bytes) -> None:
    """Issue: badly answered is reported as failed."""
    server.sends(body)
    with pytest.raises(ProviderFailed, match=r"openai:gpt-4o-mini failed"):
        model_at(server).answer(ASKED)


def test_a_model_that_never_answers_is_given_up(server: FakeOpenAI) -> None:
    """Issue: late, never."""
    server.never_answers()
    with pytest.raises(ProviderFailed, match=r"openai:gpt-4o-mini (did not answer in 0\.2 seconds|failed)"):
        model_at(server, timeout=0.2).answer(ASKED)


def test_a_server_that_is_not_there_is_a_failure() -> None:
    """Issue: outages."""
    with fake_openai() as gone:
        url = gone.url
    with pytest.raises(ProviderFailed, match="failed"):
        language_model("local", Endpoint(url)).answer(ASKED)


def test_it_can_be_asked_from_within_an_event_loop(server: FakeOpenAI) -> None:
    """Ours: notebooks and web servers run one; a call has its own."""
    server.says("Fine.")

    async def ask() -> str:
        return model_at(server).answer(ASKED).text

    assert asyncio.run(ask()) == "Fine."


def test_a_local_model_needs_no_key(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    """C063: no vendor's key where all models are local."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server.says("Fine.")
    assert language_model("llama3:8b", Endpoint(server.url)).answer(ASKED).text == "Fine."
    assert server.requests[0]["model"] == "llama3:8b"


def test_a_missing_key_is_found_out_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """C063: opening, erasing and exporting never need a provider."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Memory(":memory:", writer=LLMWriter("openai:gpt-4o-mini")) as memory:
        alex = memory.user("alex")
        alex.observe("Hello.", session="s1")
        (failed,) = alex.end_session("s1").failed
        assert "OPENAI_API_KEY" in failed.reason
        assert alex.erase().messages == 1


@pytest.mark.parametrize("name", ["gpt-4o-mini", "openai:", ""])
def test_a_name_without_a_provider_is_refused(name: str) -> None:
    """Ours: one clear line."""
    with pytest.raises(InvalidInput, match="PROVIDER:MODEL"):
        language_model(name, Endpoint())


def test_an_address_of_another_kind_is_refused() -> None:
    """Ours: one clear line."""
    with pytest.raises(InvalidInput, match="http"):
        language_model("local", Endpoint("localhost:8080"))


def test_without_the_extra_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """C079: extras named in the error."""
    monkeypatch.setattr(language, "find_spec", lambda _: None)
    with pytest.raises(ProviderFailed, match=r"firsthand\[llm\]"):
        Memory(":memory:", writer=LLMWriter("openai:gpt-4o-mini"))


@pytest.mark.parametrize("timeout", [0, -1, 301])
def test_a_timeout_has_bounds(timeout: float) -> None:
    """Ours: a batch is lent out for no longer than two calls can take."""
    with pytest.raises(InvalidInput, match="timeout"):
        LLMWriter("openai:gpt-4o-mini", timeout=timeout)


def test_a_key_is_in_no_representation() -> None:
    """Ours: settings end up in logs."""
    assert "sk-1" not in repr(LLMWriter("openai:x", api_key="sk-1"))
    assert "sk-1" not in repr(Endpoint(None, "sk-1"))


def test_talk_becomes_memory_over_http(server: FakeOpenAI) -> None:
    """Issue: the example of the issue, against a real server."""
    server.says(f"<think>easy</think>\n```json\n{MOVED}\n```")
    writer = LLMWriter("openai:gpt-4o-mini", base_url=server.url)
    with Memory(":memory:", writer=writer, trigger="session_end", clock=StoppedClock()) as memory:
        alex = memory.user("alex")
        alex.observe(SAID, session="s1")
        assert len(alex.end_session("s1").stored) == 1
        assert [b.value for b in alex.beliefs(attribute="lives_in")] == ["Lisbon"]
        assert memory.health()["unread"]["tokens_today"] == 120


def test_observing_never_waits_for_a_model_that_hangs(server: FakeOpenAI) -> None:
    """C080: the model sits in no write path: talk is stored, found and confirmed while a call is under way."""
    server.never_answers()
    writer = LLMWriter("openai:gpt-4o-mini", base_url=server.url, timeout=30)
    with Memory(":memory:", writer=writer, trigger="every_turn", background=True) as memory:
        alex = memory.user("alex")
        for number in range(20):
            assert alex.observe(f"Entry {number} is w{number}x.", session="s1").messages
        assert alex.recall("w7x")[0].text == "Entry 7 is w7x."
        server.over.set()
