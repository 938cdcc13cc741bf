"""A developer's machine for tests: its files, and the program asking the API of this process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client

from banks import jobs
from banks.models import Bank, Blob, Job, Write
from memadmin.accounts.models import User
from memadmin.syncing import command
from reviews.models import ReviewEntry
from reviews.services import decide, feed
from tests.reviews.pages import shown
from tests.reviews.queue_files import add, as_bytes

LOCAL = "http://localhost:8888"


class Here(httpx.BaseTransport):
    """The application itself, with workers that are done whenever somebody looks. `before` may act, or raise."""

    def __init__(self, before: Callable[[httpx.Request], httpx.Response | None] = lambda request: None) -> None:
        self.before = before
        self.asked: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.asked.append(request)
        path = request.url.path
        if said := self.before(request):
            return said
        if "/jobs/" in path and Job.objects.filter(pk=path.rsplit("/", 1)[1], state="queued").exists():
            jobs.run(int(path.rsplit("/", 1)[1]))
        if path.endswith("/decisions"):
            feed.number()
        names = ("Authorization", "Idempotency-Key")
        headers = {name: request.headers[name] for name in names if name in request.headers}
        kind = request.headers.get("Content-Type", "application/json")
        answer = Client().generic(
            request.method, request.url.raw_path.decode(), request.content, content_type=kind, headers=headers
        )
        return httpx.Response(answer.status_code, headers=dict(answer.items()), content=answer.content)

    @property
    def sent(self) -> list[bytes]:
        return [request.content for request in self.asked if request.method == "POST"]


class Machine:
    def __init__(self, folder: Path, bank: Bank, token: str) -> None:
        self.folder, self.bank = folder, bank
        self.queue, self.log, self.state = folder / "queue.jsonl", folder / "log.jsonl", folder / "state.json"
        self.token = folder / "token"
        self.token.write_text(token)
        self.here = Here()
        self.slept: list[float] = []

    def has(self, *lines: str | bytes) -> None:
        """Appends lines, as the tool does; bytes as they are."""
        with self.queue.open("ab") as file:
            for line in lines:
                file.write(line if isinstance(line, bytes) else as_bytes([line]))

    def add(self, document_id: str, **values: Any) -> str:
        return add(document_id, **{"bank": self.bank.bank_id, "baseUrl": LOCAL, **values})

    def command(self, *more: str, here: httpx.BaseTransport | None = None) -> command.Command:
        given = ["--url", "http://memadmin.test", "--token-file", str(self.token), "--bank", self.bank.bank_id]
        given += ["--queue", str(self.queue), "--state", str(self.state), "--machine", "laptop", "--json", *more]
        options = command.parser().parse_args(given)
        return command.Command(options, {}, sleep=self.slept.append, transport=here or self.here)

    def sync(self, capsys: pytest.CaptureFixture[str], *more: str, code: int = 0) -> dict[str, Any]:
        """What it says. Fails for another exit code."""
        capsys.readouterr()
        left = self.command(*more).run()
        told: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert left == code, told
        return told

    @property
    def lines(self) -> list[str]:
        return self.queue.read_bytes().decode().split("\n")

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines if line.strip()]


def entry_of(bank: Bank, document_id: str) -> ReviewEntry:
    """With its text, as a worker has loaded it."""
    entry = ReviewEntry.objects.get(bank=bank, document_id=document_id)
    text = Blob.objects.store("A fact worth keeping.")
    loaded = {"load_state": "loaded", "load_after": None, "text": text, "text_size": 21, "content_hash": "c"}
    ReviewEntry.objects.filter(pk=entry.pk).update(**loaded)
    return ReviewEntry.objects.get(pk=entry.pk)


def approve(user: User, bank: Bank, document_id: str) -> ReviewEntry:
    entry = entry_of(bank, document_id)
    decide.approve(user=user, entry_id=entry.pk, **shown(entry))  # type: ignore[arg-type]
    return entry


def delete(user: User, bank: Bank, document_id: str, state: str = "done") -> ReviewEntry:
    """`state`: of its write; "" = as it is before it is sent."""
    entry = entry_of(bank, document_id)
    write = decide.delete(user=user, entry_id=entry.pk, **shown(entry))  # type: ignore[arg-type]
    if state:
        Write.objects.filter(pk=write.pk).update(state=state)
    return entry
