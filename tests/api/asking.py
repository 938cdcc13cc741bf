"""How tests ask the API: by a token, as a program does."""

import json
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client

from banks.models import Bank, Role
from banks.services import tokens
from memadmin.accounts.models import User
from tests.api import promised


def issue(
    owner: User, *, role: Role = Role.REVIEWER, banks: Sequence[Bank] | None = None, days: int = 90, name: str = "agent"
) -> str:
    """The token as its owner sees it once."""
    return tokens.issue(owner=owner, name=name, role=role, banks=banks, days=days).text


def as_promised(method: str, path: str, answer: HttpResponse) -> HttpResponse:
    """Fails when the status or the shape of an answer is not in the OpenAPI document."""
    document = _document()
    if operation := promised.operation_of(document, method, f"/api/v1{path}"):
        media = answer.headers.get("Content-Type", promised.JSON).partition(";")[0]
        schema = promised.promised(document, operation, answer.status_code, media)
        said = json.loads(answer.content or b"null") if media == promised.JSON else answer.content.decode()
        promised.check(document, schema, said)
    return answer


@cache
def _document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Client().get("/api/v1/openapi.json").content)
    return found


class Program:
    """A client with a token, and nothing else: no cookies."""

    def __init__(self, token: str = "") -> None:
        self.token = token

    def get(self, path: str, *, headers: dict[str, str] | None = None, **query: Any) -> HttpResponse:
        asked = {**self._headers(), **(headers or {})}
        return as_promised("GET", path, Client().get(f"/api/v1{path}", query, headers=asked))

    def post(self, path: str, body: Any, **headers: str) -> HttpResponse:
        data = body if isinstance(body, str | bytes) else json.dumps(body)
        headers = {**self._headers(), **headers}
        answer = Client().post(f"/api/v1{path}", data, content_type="application/json", headers=headers)
        return as_promised("POST", path, answer)

    def upload(self, path: str, fields: dict[str, Any], **headers: str) -> HttpResponse:
        """As a form with files: `fields` in their order, files and lists of them among the texts."""
        answer = Client().post(f"/api/v1{path}", fields, headers={**self._headers(), **headers})
        return as_promised("POST", path, answer)

    def send(
        self, path: str, body: bytes, *, headers: dict[str, str] | None = None, announced: int = 0, **query: Any
    ) -> HttpResponse:
        """A file. `announced`: more bytes than there are."""
        where = f"/api/v1{path}?{urlencode(query)}"
        more: dict[str, Any] = {"CONTENT_LENGTH": str(announced), "wsgi.input": BytesIO(body)} if announced else {}
        asked = {**self._headers(), **(headers or {})}
        answer = Client().post(where, body, content_type="application/x-ndjson", headers=asked, **more)
        return as_promised("POST", path, answer)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}
