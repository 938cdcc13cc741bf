"""Whatever goes wrong, a program gets `{"detail": …}`, and nothing of a token is written down."""

import logging
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.conf import LazySettings
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from banks.models import Bank, Write
from banks.services import tokens
from memadmin.api import auth
from tests.api.asking import Program, issue
from tests.banks.conftest import LyingTransport
from tests.conftest import People

pytestmark = pytest.mark.django_db


def detail(answer: Any, status: int) -> str:
    assert answer.status_code == status
    assert answer["Content-Type"].startswith("application/json")
    assert "no-store" in answer["Cache-Control"]
    assert "Location" not in answer
    said = answer.json()["detail"]
    assert isinstance(said, str)
    assert said
    return said


@pytest.mark.parametrize(
    "path", ["", "/", "/v1", "/v1/", "/v1/nothing", "/v1/me/", "/v2/me", "/v1/banks/../../x", "/%00"]
)
def test_an_unknown_address_is_no_page(path: str) -> None:
    for ask in (Client().get, Client().post, Client().delete):
        assert "nothing" in detail(ask(f"/api{path}"), 404)


def test_a_wrong_method_says_which_is_right(program: Program) -> None:
    for path, allowed in (("/me", "GET"), ("/facts/retire", "POST")):
        answer = Client().put(f"/api/v1{path}")
        assert allowed in detail(answer, 405)
        assert answer["Allow"] == allowed


def test_without_a_token_nothing_and_a_cookie_is_none(people: People) -> None:
    signed_in = Client(enforce_csrf_checks=True)
    signed_in.force_login(people.operator)
    for client in (Client(), signed_in):
        for answer in (client.get("/api/v1/me"), client.post("/api/v1/facts/retire", {}, "application/json")):
            detail(answer, 401)
            assert answer["WWW-Authenticate"] == "Bearer"
    basic = {"Authorization": "Basic bWVtXzp4"}
    detail(Client().get("/api/v1/me", headers=basic), 401)
    assert Client().get("/api/v1/openapi.json").status_code == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b'{"bank": NaN}', b"[" * 200_000, b"nothing"],
    ids=["none", "half", "no text", "no number", "deep", "word"],
)
def test_what_is_no_json_is_refused(program: Program, body: bytes) -> None:
    answer = program.post("/facts/retire", body)
    detail(answer, 422 if not body else 400)


def test_what_cannot_be_used_is_named_by_its_path_and_never_repeated(program: Program) -> None:
    secret = "hunter2hunter2"
    answer = program.post("/facts/retire", {"bank": [secret], "candidates": [{"id": "a"}, {"id": {secret: 1}}]})
    said = detail(answer, 422)
    paths = [field["path"] for field in answer.json()["fields"]]
    assert paths == ["body.bank", "body.transcript", "body.candidates.1.id"]
    assert secret not in answer.content.decode()
    assert said.startswith("The request cannot be used. body.bank: ")
    many = program.post("/facts/retire", {"bank": "b", "transcript": "", "candidates": [7] * 150})
    assert (len(many.json()["fields"]), "Omitted 130 items" in many.json()["detail"]) == (20, True)
    for query in ({"cursor": "x"}, {"cursor": "b~1~2026-01-01T00:00:00+00:00"}, {"limit": 0}, {"document": "a"}):
        detail(program.get("/log", **query), 422)
    for query in ({"cursor": "x"}, {"cursor": "9" * 30}, {"limit": 1_000}):
        detail(program.get("/banks", **query), 422)
    for number in ("0", "-1", "9" * 30, "x"):
        assert program.get(f"/writes/{number}").status_code in {404, 422}


def test_text_that_no_database_stores_arrives_without_it(bank: Bank, people: People, program: Program) -> None:
    quote = "it was removed \\u0000for good\\ud800 by us"
    body = (
        f'{{"bank": "{bank.bank_id}", "transcript": "{quote}", "candidates": [{{"id": "f1"}}],'
        f' "verdicts": [{{"verdict": "contradicts", "id": "f1", "quote": "{quote}"}}]}}'
    )
    assert program.post("/facts/retire", body).status_code == 202
    assert Write.objects.get().params["reason"] == "it was removed \ufffdfor good\ufffd by us"


def test_a_fault_of_ours_is_json_with_a_number(
    program: Program, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(user: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("banks.api.routes.MeOut.of", broken)
    with caplog.at_level(logging.DEBUG):
        said = detail(program.get("/me"), 500)
    assert "a bug" in caplog.text
    assert "a bug" not in said
    assert program.token not in caplog.text


def test_what_django_refuses_is_json_too(program: Program) -> None:
    detail(Client().get("/api/v1/me", headers={"Host": "evil.example"}), 400)


def test_a_body_in_chunks_is_not_taken_for_an_empty_one(program: Program) -> None:
    answer = program.post("/facts/retire", "{}", **{"Transfer-Encoding": "chunked"})
    assert "Content-Length" in detail(answer, 411)


def test_too_many_bad_tokens_wait_and_good_ones_do_not(program: Program) -> None:
    bad = Program("mem_" + "x" * 48)
    with time_machine.travel(timezone.now().replace(minute=2, second=0), tick=False) as clock:
        for _ in range(auth.MOST_REFUSED):
            detail(bad.get("/me"), 401)
        answer = bad.get("/me")
        detail(answer, 429)
        assert answer["Retry-After"] == "180"
        assert program.get("/me").status_code == 200
        clock.shift(180)
        detail(bad.get("/me"), 401)


def test_no_token_is_logged_or_shown(
    bank: Bank, people: People, program: Program, line: LyingTransport, caplog: pytest.LogCaptureFixture, as_user: Any
) -> None:
    dead = issue(people.reviewer)
    tokens.revoke(actor=people.reviewer, token=tokens.caller_of(dead).token)  # type: ignore[union-attr]
    seen = b""
    with caplog.at_level(logging.DEBUG):
        for each in (program, Program(dead), Program("mem_" + "ж" * 48)):
            for path in ("/me", "/banks", "/log", "/writes/1", "/nothing"):
                seen += each.get(path).content
            seen += each.post("/facts/retire", "{").content
    for page in ("/log/", "/team/", "/team/changes/", f"/team/{people.reviewer.pk}/"):
        seen += as_user(people.operator).get(page).content
    for text in (program.token, dead):
        assert text not in caplog.text
        assert text.encode() not in seen
        assert tokens.hash_of(text).encode() not in seen
    assert line.calls == []


def test_every_address_of_the_api_is_below_one_prefix() -> None:
    found = [str(each.pattern) for each in get_resolver().url_patterns if "api" in str(each.pattern)]
    assert found == ["api/", "api"]


def test_each_token_has_its_own_limit(people: People, program: Program, settings: LazySettings) -> None:
    settings.API_PER_MINUTE = 3
    with time_machine.travel(datetime(2026, 3, 16, 10, 0, 20, tzinfo=UTC), tick=False) as clock:
        mine, other = Program(issue(people.reviewer)), Program(issue(people.reviewer))
        assert [mine.get("/me").status_code for _ in range(4)] == [200, 200, 200, 429]
        answer = mine.get("/me")
        assert (answer["Retry-After"], "3 requests" in answer.json()["detail"]) == ("40", True)
        assert other.get("/me").status_code == 200
        clock.shift(40)
        answer = mine.get("/me")
        assert [answer[name] for name in auth.LIMIT_HEADERS] == ["3", "2", "60"]
        assert (other.get("/nothing").status_code, mine.get("/writes/1")["RateLimit-Remaining"]) == (404, "1")
        settings.API_PER_MINUTE = 0
        assert {mine.get("/me").status_code for _ in range(9)} == {200}
        assert auth.LIMIT_HEADERS[0] not in mine.get("/me")
