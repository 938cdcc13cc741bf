"""What goes over the wire, and where it never goes."""

import json
import logging
import uuid
from datetime import UTC, datetime, timedelta, timezone

import httpx
import pytest
import time_machine

from banks.hindsight import (
    BadAnswer,
    HindsightClient,
    HindsightError,
    NotAddressable,
    RetainItem,
    Timeout,
    Timeouts,
    transport,
)
from tests.banks.recorded import KEY, URL, client_of, reply


class Recorder:
    """Keeps the requests and answers them in order; the last answer repeats."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def __call__(self, request):
        self.requests.append(request)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def test_a_retain_is_always_in_the_background_with_its_id_and_an_id_for_each_document():
    recorder, operation_id = Recorder(reply("retain_async")), uuid.uuid4()
    items = [
        RetainItem("One.", "a", timestamp=datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=2))), tags=["t"]),
        RetainItem("Two.", "b", context="c", metadata={"k": "v"}, strategy="s", resolve_entities=False),
    ]
    client_of(recorder).retain("bank", items, operation_id=operation_id)
    (request,) = recorder.requests
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.content) == {
        "items": [
            {
                "content": "One.",
                "document_id": "a",
                "update_mode": "replace",
                "timestamp": "2026-01-02T01:00:00+00:00",
                "tags": ["t"],
            },
            {
                "content": "Two.",
                "document_id": "b",
                "update_mode": "replace",
                "context": "c",
                "metadata": {"k": "v"},
                "strategy": "s",
                "resolve_entities": False,
            },
        ],
        "async": True,
        "operation_id": str(operation_id),
    }


@pytest.mark.parametrize("items", [[], [RetainItem("One.", "a"), RetainItem("Two.", "a")]])
def test_no_items_and_a_document_twice_are_a_mistake_of_the_caller(items):
    with pytest.raises(ValueError, match="each document once"):
        client_of(reply("retain_async")).retain("bank", items, operation_id=uuid.uuid4())


def test_an_item_without_an_addressable_id_is_refused():
    with pytest.raises(NotAddressable):
        client_of(reply("retain_async")).retain("bank", [RetainItem("One.", "")], operation_id=uuid.uuid4())


def test_half_characters_do_not_stop_a_text():
    recorder = Recorder(reply("retain_async"))
    client_of(recorder).retain("bank", [RetainItem("a\ud83db 😀", "d")], operation_id=uuid.uuid4())
    assert json.loads(recorder.requests[0].content)["items"][0]["content"] == "a\ufffdb 😀"


def test_a_list_of_facts_always_names_the_state():
    recorder = Recorder(httpx.Response(200, json={"items": [], "total": 3}))
    client = client_of(recorder)
    client.list_facts("bank")
    assert client.count_facts("bank", state="invalidated") == 3
    queries = [dict(request.url.params) for request in recorder.requests]
    assert queries == [
        {"state": "valid", "limit": "100", "offset": "0"},
        {"state": "invalidated", "limit": "0", "offset": "0"},
    ]


def test_the_key_travels_as_a_bearer_token_and_only_when_there_is_one():
    for key, header in ((KEY, f"Bearer {KEY}"), ("", None)):
        recorder = Recorder(reply("version"))
        client_of(recorder, api_key=key).version()
        assert recorder.requests[0].headers.get("authorization") == header


@pytest.mark.parametrize("key", ["two\nlines", "käse", "a b", "\0"])
def test_a_key_that_cannot_be_a_header_is_refused_without_being_repeated(key):
    with pytest.raises(ValueError, match="cannot be sent") as caught:
        HindsightClient(URL, api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("url", ["", "hindsight", "ftp://h", "http://", "http://u:p@h", "http://h?x=1", "http://h/#f"])
def test_only_plain_addresses_are_taken(url):
    with pytest.raises(ValueError):
        HindsightClient(url)


@pytest.mark.parametrize(
    "location",
    [
        "http://elsewhere.test/v1",
        "http://hindsight.test:8888.evil.test/",
        "http://hindsight.test/v1/default/banks",
        "https://hindsight.test:8888/",
        "//elsewhere.test/",
        "",
    ],
)
def test_nothing_follows_a_redirect_to_another_server(location):
    recorder = Recorder(httpx.Response(302, headers={"location": location}))
    with pytest.raises(HindsightError):
        client_of(recorder, api_key=KEY).list_banks()
    assert len(recorder.requests) == 1


def test_a_read_follows_a_redirect_on_the_same_server():
    recorder = Recorder(
        httpx.Response(307, headers={"location": "/v1/default/banks/?limit=100"}), reply("auth_ok_bearer")
    )
    assert client_of(recorder).list_banks()
    assert recorder.requests[1].url.path == "/v1/default/banks/"


def test_a_read_does_not_follow_for_ever():
    recorder = Recorder(httpx.Response(307, headers={"location": f"{URL}/again"}))
    with pytest.raises(BadAnswer, match="keeps redirecting"):
        client_of(recorder).version()
    assert len(recorder.requests) == transport.MOST_REDIRECTS + 1


def test_a_write_is_never_redirected():
    recorder = Recorder(httpx.Response(307, headers={"location": "/v1/default/banks/bank"}))
    with pytest.raises(BadAnswer) as caught:
        client_of(recorder).delete_document("bank", "d")
    assert len(recorder.requests) == 1
    assert not caught.value.outcome_unknown


def test_ignored_parameters_are_returned_and_logged_by_name_only(caplog):
    with caplog.at_level(logging.DEBUG):
        retained = client_of(reply("retain_unknown_field"), api_key=KEY).retain(
            "bank-of-secrets", [RetainItem("PRIVATE TEXT", "private-id")], operation_id=uuid.uuid4()
        )
    assert retained.ignored_params == ("foo",)
    ours = [record for record in caplog.records if record.name.startswith("banks.")]
    assert [record.levelname for record in ours] == ["WARNING"]
    assert "foo" in ours[0].getMessage()
    for secret in (KEY, "PRIVATE", "private-id", "bank-of-secrets"):
        assert secret not in ours[0].getMessage()


def test_an_answer_that_is_too_large_is_cut_off(monkeypatch):
    monkeypatch.setattr(transport, "LARGEST_ANSWER", 1_000)
    taken = []

    def endless():
        for _ in range(1_000):
            taken.append(1)
            yield b"x" * 100

    with pytest.raises(BadAnswer, match="larger than"):
        client_of(httpx.Response(200, content=endless())).version()
    assert len(taken) < 20


def test_an_answer_that_drips_is_a_timeout():
    answer = httpx.Response(200, content=iter([b"x", b"y"]))
    with pytest.raises(Timeout, match="too slowly"):
        client_of(answer, timeouts=Timeouts(total=-1.0)).version()


def test_timeouts_and_limits_are_explicit():
    assert Timeouts(connect=1.5, read=9.0).as_httpx() == httpx.Timeout(connect=1.5, read=9.0, write=9.0, pool=1.5)
    assert transport.LIMITS.max_connections == 20


def test_the_certificates_are_read_once_for_all_clients(monkeypatch):
    transport._tls.cache_clear()
    made: list[int] = []
    create = httpx.create_ssl_context
    monkeypatch.setattr(httpx, "create_ssl_context", lambda: made.append(1) or create())
    for _ in range(3):
        HindsightClient("https://memory.example").close()
    assert made == [1]


def test_other_namespaces_have_their_own_paths():
    recorder = Recorder(reply("auth_ok_bearer"))
    client_of(recorder, namespace="team a").list_banks()
    assert recorder.requests[0].url.raw_path.startswith(b"/v1/team%20a/banks?")


def test_no_representation_shows_the_key():
    with HindsightClient(URL, api_key=KEY) as client:
        assert KEY not in repr(client)


@pytest.mark.parametrize(
    ("date", "ahead"),
    [
        ("Mon, 30 Nov 2026 12:05:00 GMT", 300.0),
        ("Mon, 30 Nov 2026 12:00:00 GMT", 0.0),
        ("yesterday", None),
        ("Mon, 99 Nov 2026 12:05:00 GMT", None),
        ("", None),
        (None, None),
    ],
)
@time_machine.travel(datetime(2026, 11, 30, 12, 0, tzinfo=UTC), tick=False)
def test_the_servers_clock_is_compared_with_ours(date, ahead):
    answer = httpx.Response(200, json={"banks": [], "total": 0}, headers={} if date is None else {"date": date})
    client = client_of(lambda request: answer)
    assert client.clock_ahead is None
    client.list_banks()
    assert client.clock_ahead == ahead
