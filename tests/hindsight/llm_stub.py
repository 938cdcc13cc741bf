"""A stand-in for a language model with an OpenAI-like API, so that a real Hindsight server does the same thing every
time.

POST /v1/chat/completions: fact extraction (one fact a sentence), consolidation (facts with the same first name belong
together), tool calls (hand back what was retrieved). POST /v1/embeddings: hashed words. GET /begun/KEY: whether work
that carries the key has come here. GET anything else: alive.

Markers in a text steer it: `[[FAIL]]` fails every extraction, `[[FAILN:2:key]]` the first two that carry the key,
`[[SLOW:5]]` takes five seconds (`[[SLOW:5:key]]` has a key), `[[NOFACTS]]` finds nothing. Standard library only; run by
the tests, not imported.
"""

import base64
import hashlib
import json
import math
import re
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 384
_SMALL_WORDS = """
The A An In On At It He She They We I This That These Those And But Or If When While Of For From To By With As Is Was
Are N Chunk Event Date Context Content
"""
_NOT_NAMES = frozenset(_SMALL_WORDS.split())
_failures: dict[str, int] = {}
_begun: set[str] = set()
_lock = threading.Lock()


class Refusal(Exception):
    """The model call fails because a marker asked for it."""


def embedding(text: str) -> list[float]:
    """Equal words are near."""
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()) or ["<empty>"]:
        for feature, weight in [(word, 1.0)] + [(word[i : i + 3], 0.2) for i in range(max(0, len(word) - 2))]:
            number = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
            vector[number % DIMENSIONS] += weight if (number >> 40) & 1 else -weight
    norm = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / norm for x in vector]


def names(sentence: str) -> list[str]:
    found = re.findall(r"\b[A-Z][a-zA-Z]+\b", sentence)
    return [word for word in dict.fromkeys(found) if word not in _NOT_NAMES][:5]


def extract(prompt: str) -> dict[str, Any]:
    body = prompt.split("\nContent:\n", 1)[-1]
    if "[[NOFACTS]]" in body:
        return {"facts": []}
    sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", body) if len(part.strip()) > 3]
    return {"facts": [_fact(sentence) for sentence in sentences[:60]]}


def _fact(sentence: str) -> dict[str, Any]:
    day = re.search(r"\b(20\d\d-\d\d-\d\d)\b", sentence)
    fact = {
        "what": sentence,
        "when": day[1] if day else "N/A",
        "where": "N/A",
        "who": "N/A",
        "why": "N/A",
        "fact_kind": "event" if day else "conversation",
        "fact_type": "assistant" if re.match(r"(I|We)\b", sentence) else "world",
        "entities": names(sentence),
    }
    if day:
        fact |= {"occurred_start": f"{day[1]}T00:00:00Z", "occurred_end": f"{day[1]}T23:59:59Z"}
    return fact


def consolidate(prompt: str) -> dict[str, Any]:
    fresh, _, known = prompt.split("### New facts", 1)[-1].partition("### Existing observations")
    existing: list[dict[str, Any]]
    try:
        existing = json.loads(known[known.index("[") : known.rindex("]") + 1])
    except ValueError:
        existing = []
    by_subject = {found[0]: each for each in reversed(existing) if (found := names(each.get("text", "")))}
    creates: dict[str, dict[str, Any]] = {}
    updates: dict[str, dict[str, Any]] = {}
    for fact_id, line in re.findall(r"^\s*\[([0-9a-f-]{36})\]\s*(.+?)\s*$", fresh, re.MULTILINE):
        text = re.sub(r"\s*\((?:occurred|mentioned)[^)]*\)\s*$", "", line).split(" | ")[0].strip()
        subject = (names(text) or [text[:20]])[0]
        if old := by_subject.get(subject):
            start: dict[str, Any] = {"observation_id": old["id"], "current_text": old["text"], "text": old["text"]}
            entry = updates.setdefault(str(old["id"]), start | {"source_fact_ids": [], "reason": "same subject"})
        else:
            entry = creates.setdefault(subject, {"text": "", "source_fact_ids": [], "reason": "new subject"})
        if text not in entry["text"]:
            entry["text"] = f"{entry['text']} {text}".strip()[:900]
        entry["source_fact_ids"].append(fact_id)
    return {"creates": list(creates.values()), "updates": list(updates.values()), "deletes": []}


def text_of(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def _evidence(messages: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """(ids, texts) that earlier tool calls brought."""
    told = "\n".join(text_of(message.get("content")) for message in messages if message.get("role") == "tool")
    ids = list(dict.fromkeys(re.findall(r'"id"\s*:\s*"([0-9a-f-]{36})"', told)))
    texts = list(dict.fromkeys(json.loads(each) for each in re.findall(r'"text"\s*:\s*("(?:[^"\\]|\\.)*")', told)))
    return ids[:20], texts[:8]


def _question(messages: list[dict[str, Any]]) -> str:
    first = next((text_of(m.get("content")) for m in messages if m.get("role") == "user"), "query")
    asked = re.search(r"(?:## Question|Question:)\s*(.+)", first)
    return (asked[1] if asked else first)[:300].strip()


def _choose_tool(request: dict[str, Any], tools: dict[str, Any]) -> str | None:
    choice = request.get("tool_choice")
    if isinstance(choice, dict):
        return str(choice["function"]["name"])
    if choice == "required" and len(tools) == 1:
        return next(iter(tools))
    if not any(message.get("role") == "tool" for message in request["messages"]):
        for name in ("recall", "search_observations", "search_mental_models"):
            if name in tools:
                return name
    return next((name for name in ("answer_ready", "done") if name in tools), None)


def _arguments(name: str, tools: dict[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    ids, texts = _evidence(messages)
    question = _question(messages)
    if name in {"search_mental_models", "search_observations", "recall"}:
        return {"reason": "stub", "query": question}
    if name == "answer_ready":
        return {"answer_found": bool(texts)}
    if name != "done":
        return {}
    lines = "\n".join(f"- {text}" for text in texts or ["No information is stored about this."])
    title = question.split("\n", maxsplit=1)[0][:120]
    sections = [{"heading": "Summary", "level": 2, "blocks": [f"Answer to: {title}", lines]}]
    every = {
        "answer_found": bool(texts),
        "memory_ids": ids,
        "document": {"sections": sections},
        "answer": f"## Answer\n\n{lines}",
        "directive_compliance": "Directive 1: complied.",
    }
    return {key: value for key, value in every.items() if key in tools["done"]["parameters"]["properties"]}


def _tool_reply(request: dict[str, Any]) -> tuple[dict[str, Any], str]:
    tools = {tool["function"]["name"]: tool["function"] for tool in request["tools"]}
    name = _choose_tool(request, tools)
    if name is None:
        return {"role": "assistant", "content": "Stub answer."}, "stop"
    function = {"name": name, "arguments": json.dumps(_arguments(name, tools, request["messages"]))}
    call = {"id": f"call_{time.time_ns() & 0xFFFFFF:x}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def _obey_markers(prompt: str) -> None:
    if slow := re.search(r"\[\[SLOW:(\d+)(?::(\w+))?\]\]", prompt):
        if slow[2]:
            _begun.add(slow[2])
        time.sleep(min(int(slow[1]), 60))
    if "[[FAIL]]" in prompt:
        raise Refusal("stub: forced failure")
    if some := re.search(r"\[\[FAILN:(\d+):(\w+)\]\]", prompt):
        with _lock:
            _failures[some[2]] = _failures.get(some[2], 0) + 1
            if _failures[some[2]] <= int(some[1]):
                raise Refusal(f"stub: forced failure {_failures[some[2]]}")


def chat(request: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """(message, finish reason) of one completion."""
    by_role = {
        role: "\n".join(text_of(m.get("content")) for m in request["messages"] if m.get("role") == role)
        for role in ("system", "user")
    }
    everything = "\n".join(by_role.values())
    extracting = "Extract facts from the following chunk" in by_role["user"]
    if extracting:
        _obey_markers(by_role["user"])
    if request.get("tools"):
        return _tool_reply(request)
    if extracting:
        answer = json.dumps(extract(by_role["user"]))
    elif "memory consolidation system" in by_role["system"] or "### New facts" in by_role["user"]:
        answer = json.dumps(consolidate(by_role["user"]))
    elif '"action"' in everything and "merge" in everything and "keep" in everything:
        answer = json.dumps({"action": "keep", "reason": "stub", "text": ""})
    elif '"operations"' in everything or "DeltaOperation" in everything:
        answer = json.dumps({"operations": []})
    elif request.get("response_format"):
        answer = json.dumps({"answer": "Stub answer."})
    else:
        answer = "ok" if "Say 'ok'" in everything else "Stub answer based on the stored memories."
    return {"role": "assistant", "content": answer}, "stop"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent."""

    def _reply(self, status: int, data: dict[str, Any]) -> None:
        raw = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self) -> None:
        if self.path.startswith("/begun/"):
            self._reply(200, {"begun": self.path.removeprefix("/begun/") in _begun})
            return
        self._reply(200, {"object": "list", "data": [{"id": "stub", "object": "model"}]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if self.path.endswith("/embeddings"):
            self._reply(200, self._embeddings(request))
        elif self.path.endswith("/chat/completions"):
            self._reply(*self._completion(request))
        else:
            self._reply(404, {"error": {"message": "not found"}})

    def _embeddings(self, request: dict[str, Any]) -> dict[str, Any]:
        given = request["input"]
        vectors: list[Any] = [embedding(str(text)) for text in ([given] if isinstance(given, str) else given)]
        if request.get("encoding_format") == "base64":
            vectors = [base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *vector)).decode() for vector in vectors]
        data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
        return {"object": "list", "model": request.get("model"), "data": data, "usage": usage}

    def _completion(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        try:
            message, reason = chat(request)
        except Refusal as refusal:
            return 400, {"error": {"message": str(refusal), "type": "invalid_request_error", "code": "stub"}}
        return 200, {
            "id": "stub",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": request.get("model", "stub"),
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
