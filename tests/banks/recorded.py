"""Answers of a real server, and a client that gets them instead of asking one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from banks.hindsight import HindsightClient

DATA = Path(__file__).resolve().parents[1] / "data" / "hindsight"
URL = "http://hindsight.test:8888"
KEY = "sesame-open-4711"


def exchange(name: str) -> dict[str, Any]:
    """{method, path, status, response_headers, response} of one recorded exchange."""
    recorded: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return recorded


def reply(name: str) -> httpx.Response:
    recorded = exchange(name)
    ignored = {k: v for k, v in recorded["response_headers"].items() if k == "x-ignored-params"}
    return httpx.Response(recorded["status"], json=recorded["response"], headers=ignored)


def client_of(answer: httpx.Response | Callable[[httpx.Request], httpx.Response], **more: Any) -> HindsightClient:
    handler = (lambda request: answer) if isinstance(answer, httpx.Response) else answer
    return HindsightClient(URL, transport=httpx.MockTransport(handler), **more)
