"""Language models behind `ports.LanguageModel`, by pydantic-ai: the `llm` extra. Nothing is loaded before a first call.

One call is one request: no retries in here, since whoever asks decides when to ask again. Each call runs on an event
loop and a thread of its own, so that it can be made from anywhere and ends at its deadline.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from firsthand.errors import InvalidInput, ProviderFailed
from firsthand.ports import Answer, LanguageModel

INSTALL = "pip install 'firsthand[llm]'"
OPENAI = "openai"

_LONGEST_REASON = 300  # characters of what a provider says of its failure


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked, and for how long."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 60.0  # seconds for one call, from asking to the last word


def language_model(name: str, endpoint: Endpoint) -> LanguageModel:
    """The model of a name such as "openai:gpt-4o-mini"; with a base_url, the provider's part may be left out.

    Raises InvalidInput, and ProviderFailed when the extra is not installed.
    """
    provider, colon, model = name.partition(":")
    if not model and not endpoint.base_url:
        raise InvalidInput(f"a model is named PROVIDER:MODEL, such as openai:gpt-4o-mini; not {name!r}")
    missing = [package for package in ("pydantic_ai", "openai") if find_spec(package) is None]
    if missing:
        raise ProviderFailed(f"a language model needs {' and '.join(missing)}: {INSTALL}")
    if endpoint.base_url is not None and not endpoint.base_url.startswith(("http://", "https://")):
        raise InvalidInput(f"base_url is an http or https address, not {endpoint.base_url!r}")
    if endpoint.base_url is None and provider != OPENAI:
        return ChatModel(name, None, endpoint)
    return ChatModel(name, model if provider == OPENAI and colon else name, endpoint)


class ChatModel:
    """A chat model. Safe to share between threads."""

    def __init__(self, name: str, openai_name: str | None, endpoint: Endpoint) -> None:
        """`openai_name`: what an OpenAI-compatible endpoint calls it; None for a provider that pydantic-ai knows."""
        self.name = name
        self._openai_name = openai_name
        self._endpoint = endpoint

    def answer(self, turns: Sequence[tuple[str, str]]) -> Answer:
        """What the model says after these turns, each (role, text) with a role of system, user or assistant.

        Raises ProviderFailed.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="firsthand-model") as alone:
            return alone.submit(self._answered, turns).result()

    def _answered(self, turns: Sequence[tuple[str, str]]) -> Answer:
        try:
            return asyncio.run(self._asked(turns))
        except ProviderFailed:
            raise
        except TimeoutError as error:
            raise ProviderFailed(f"{self.name} did not answer in {self._endpoint.timeout:g} seconds") from error
        except Exception as error:  # each provider has a tree of its own
            raise ProviderFailed(f"{self.name} failed: {_reason(error)}") from error

    async def _asked(self, turns: Sequence[tuple[str, str]]) -> Answer:
        from pydantic_ai.direct import model_request
        from pydantic_ai.settings import ModelSettings

        settings = ModelSettings(timeout=self._endpoint.timeout, temperature=0.0)
        async with asyncio.timeout(self._endpoint.timeout):
            response = await model_request(self._model(), _requests(turns), model_settings=settings)
        text = "".join(part.content for part in response.parts if part.part_kind == "text")
        return Answer(text, response.usage.input_tokens + response.usage.output_tokens)

    def _model(self) -> Any:
        if self._openai_name is None:
            from pydantic_ai.models import infer_model

            return infer_model(self.name)
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        key = self._endpoint.api_key or os.environ.get("OPENAI_API_KEY")
        if key is None and self._endpoint.base_url is None:
            raise ProviderFailed(f"{self.name} needs a key: give api_key= or set OPENAI_API_KEY")
        client = AsyncOpenAI(base_url=self._endpoint.base_url, api_key=key or "none", max_retries=0)
        return OpenAIChatModel(self._openai_name, provider=OpenAIProvider(openai_client=client))


def _requests(turns: Sequence[tuple[str, str]]) -> list[Any]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    made: list[Any] = []
    for role, text in turns:
        if role == "assistant":
            made.append(ModelResponse(parts=[TextPart(content=text)]))
        else:
            part = SystemPromptPart(content=text) if role == "system" else UserPromptPart(content=text)
            made.append(ModelRequest(parts=[part]))
    return made


def _reason(error: Exception) -> str:
    """What went wrong, on one line, without an address that may carry a key."""
    status = getattr(error, "status_code", None)
    words = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
    return f"status {status}: {words}" if status is not None and str(status) not in words else words
