"""Language models for tests: one that says what it was told to, and an OpenAI-compatible server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from firsthand.errors import ProviderFailed
from firsthand.ports import Answer

Turns = Sequence[tuple[str, str]]


def observation(turn: int, quote: str, value: str, **given: Any) -> dict[str, Any]:
    """One observation as a well-behaved model gives it."""
    return {
        "turn": turn,
        "quote": quote,
        "subject": "user",
        "attribute": None,
        "value": value,
        "kind": "semantic",
        "act": "assert",
        "since": None,
        "stated": True,
        "lasting": True,
        "handover": True,
        **given,
    }


def answer_of(*observations: dict[str, Any]) -> str:
    """What a well-behaved model says."""
    return json.dumps({"observations": list(observations)}, ensure_ascii=False)


class ScriptedModel:
    """Gives its answers one after the other, the last one again and again. An exception is raised."""

    name = "scripted"

    def __init__(self, *answers: str | Exception | Callable[[Turns], str]) -> None:
        self._answers = list(answers)
        self.asked: list[Turns] = []

    def answer(self, turns: Turns) -> Answer:
        """The next answer."""
        said = self._answers[min(len(self.asked), len(self._answers) - 1)]
        self.asked.append(turns)
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else said(turns)
        return Answer(text, 10)

    def task(self, call: int = -1) -> dict[str, Any]:
        """What it was given to read in a call."""
        given: dict[str, Any] = json.loads(self.asked[call][1][1])
        return given


def down() -> ProviderFailed:
    """The failure of a model that is not there."""
    return ProviderFailed("the model is down")


# -- a server ----------------------------------------------------------------------------------------------------


@dataclass
class FakeOpenAI:
    """A server that speaks OpenAI's chat completions, badly if need be."""

    url: str = ""
    script: list[Callable[[_Reply], None]] = field(default_factory=list)  # one for each request; the last one stays
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)  # set when the test is

    def says(self, *texts: str) -> None:
        """Answer these texts, one for each request."""
        self.script = [lambda reply, text=text: reply.says(text) for text in texts]  # type: ignore[misc]

    def fails(self, status: int) -> None:
        """Answer an error."""
        self.script = [lambda reply: reply.fails(status)]

    def never_answers(self) -> None:
        """Take the request, and say nothing until the test is over."""
        self.script = [lambda reply: reply.waits()]

    def sends(self, body: bytes) -> None:
        """Answer with these bytes, whatever they are."""
        self.script = [lambda reply: reply.sends(200, body)]


class _Reply(BaseHTTPRequestHandler):
    fake: FakeOpenAI

    def do_POST(self) -> None:
        """Take one request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.fake.requests.append(body)
        self.fake.headers.append({key.lower(): value for key, value in self.headers.items()})
        self.fake.script[min(len(self.fake.requests), len(self.fake.script)) - 1](self)

    def says(self, text: str) -> None:
        """Answer as OpenAI does."""
        answer = {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "fake",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}},
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
        self.sends(200, json.dumps(answer).encode())

    def fails(self, status: int) -> None:
        """Answer an error as OpenAI does."""
        self.sends(status, json.dumps({"error": {"message": f"fake status {status}", "type": "fake"}}).encode())

    def waits(self) -> None:
        """Say nothing."""
        self.fake.over.wait(60)

    def sends(self, status: int, body: bytes) -> None:
        """Answer anything."""
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def fake_openai() -> Iterator[FakeOpenAI]:
    """A server on loopback, gone after the block."""
    fake = FakeOpenAI()
    handler = type("Reply", (_Reply,), {"fake": fake})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        fake.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield fake
        fake.over.set()
        server.shutdown()
        thread.join()
