"""One error tree, by what the caller can do."""

import httpx
import pytest

from banks import hindsight as h
from tests.banks.recorded import KEY, client_of, reply

ITEM = h.RetainItem("Text.", "d")


def _read(client):
    return client.get_document("bank", "d")


def _write(client):
    return client.delete_document("bank", "d")


@pytest.mark.parametrize(
    ("status", "error", "permanent", "unknown"),
    [
        (400, h.Invalid, True, False),
        (401, h.Refused, True, False),
        (403, h.Refused, True, False),
        (404, h.NotFound, True, False),
        (405, h.Invalid, True, False),
        (408, h.Busy, False, False),
        (409, h.Conflict, True, False),
        (410, h.Retired, True, False),
        (413, h.Invalid, True, False),
        (422, h.Invalid, True, False),
        (429, h.Busy, False, False),
        (500, h.ServerFault, False, True),
        (502, h.ServerFault, False, True),
        (503, h.Busy, False, False),
        (504, h.ServerFault, False, True),
    ],
)
def test_each_status_is_one_kind(status, error, permanent, unknown):
    answer = httpx.Response(status, json={"detail": "words"})
    for call, expected in ((_write, unknown), (_read, False)):
        with pytest.raises(h.HindsightError) as caught:
            call(client_of(answer))
        assert type(caught.value) is error
        assert (caught.value.permanent, caught.value.outcome_unknown) == (permanent, expected)
        assert (caught.value.status, caught.value.detail) == (status, "words")


@pytest.mark.parametrize(
    ("failure", "error", "unknown"),
    [
        (httpx.ConnectError("refused"), h.Unreachable, False),
        (httpx.ConnectTimeout(""), h.Unreachable, False),
        (httpx.PoolTimeout(""), h.Unreachable, False),
        (httpx.ReadTimeout(""), h.Timeout, True),
        (httpx.WriteTimeout(""), h.Timeout, True),
        (httpx.ReadError(""), h.ConnectionLost, True),
        (httpx.WriteError(""), h.ConnectionLost, True),
        (httpx.RemoteProtocolError("Server disconnected"), h.ConnectionLost, True),
    ],
)
def test_each_way_to_get_no_answer_says_whether_something_may_have_happened(failure, error, unknown):
    def fail(request):
        raise failure

    for call, expected in ((_write, unknown), (_read, False)):
        with pytest.raises(h.HindsightError) as caught:
            call(client_of(fail))
        assert type(caught.value) is error
        assert caught.value.outcome_unknown is expected
        assert not caught.value.permanent
        line = str(caught.value)
        assert line.startswith(error.__name__)
        assert "\n" not in line
        assert "/v1/default/banks/bank/documents/d" in line


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("document_delete_again", "document"),
        ("unknown_bank_docs", "bank"),
        ("memory_get_unknown", "fact"),
        ("operation_retry_unknown", "operation"),
        ("root", "route"),
    ],
)
def test_a_404_says_what_is_missing(name, what):
    with pytest.raises(h.NotFound) as caught:
        _write(client_of(reply(name)))
    assert caught.value.what == what


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404, html="<h1>Document not found</h1>"),
        httpx.Response(404, text="Document not found"),
        httpx.Response(404, content=b'{"detail":"Document not found"}'),
        httpx.Response(404, json={"detail": {"message": "Document not found"}}),
        httpx.Response(404, json=["Document not found"]),
        httpx.Response(404),
    ],
)
def test_a_404_of_somebody_else_proves_nothing_about_the_document(answer):
    with pytest.raises(h.NotFound) as caught:
        _write(client_of(answer))
    assert caught.value.what == "route"


def test_web_pages_are_never_quoted():
    page = "<html><script>alert('x')</script>gateway of acme</html>"
    for status, error in ((502, h.ServerFault), (404, h.NotFound), (200, h.BadAnswer)):
        with pytest.raises(error) as caught:
            _read(client_of(httpx.Response(status, html=page)))
        assert "web page" in caught.value.detail
        assert "acme" not in str(caught.value)


def test_what_the_server_says_is_one_bounded_line_without_hidden_characters():
    with pytest.raises(h.ServerFault) as caught:
        _write(client_of(httpx.Response(500, json={"detail": "deadlock\n\nDETAIL:\t" + "x\u202e" * 5000})))
    assert len(caught.value.detail) <= 300
    assert caught.value.detail.startswith("deadlock DETAIL: x")
    assert caught.value.detail.isprintable()


def test_a_validation_error_names_the_place_and_never_quotes_the_input():
    detail = [{"type": "x", "loc": ["body", "items", 0, "content"], "msg": "cannot be empty", "input": "PRIVATE"}]
    with pytest.raises(h.Invalid) as caught:
        _write(client_of(httpx.Response(422, json={"detail": detail})))
    assert caught.value.detail == "body.items.0.content: cannot be empty"


def test_a_message_is_never_blank():
    for answer in (
        httpx.Response(500),
        httpx.Response(500, json={"detail": ""}),
        httpx.Response(500, json={"detail": []}),
    ):
        with pytest.raises(h.ServerFault) as caught:
            _write(client_of(answer))
        assert caught.value.detail.strip()


def test_the_key_is_in_no_error_even_when_the_server_repeats_it():
    answer = httpx.Response(401, json={"detail": f"Invalid API key: {KEY}"})
    with pytest.raises(h.Refused) as caught:
        _read(client_of(answer, api_key=KEY))
    assert KEY not in str(caught.value) + repr(caught.value) + caught.value.detail


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("0", 0.0), ("soon", None), ("-1", None), ("", None)])
def test_busy_tells_how_long_to_wait(header, seconds):
    with pytest.raises(h.Busy) as caught:
        _write(client_of(httpx.Response(429, json={"detail": "slow down"}, headers={"retry-after": header})))
    assert caught.value.retry_after == seconds


@pytest.mark.parametrize("body", [b"", b"not json", b"[1]", b"null", b"{" * 100_000, b'{"ok": tru', b"\xff\xfe"])
def test_an_answer_that_is_no_object_is_a_bad_one_and_a_write_may_have_happened(body):
    answer = httpx.Response(200, content=body, headers={"content-type": "application/json"})
    for call, unknown in ((_read, False), (_write, True)):
        with pytest.raises(h.BadAnswer) as caught:
            call(client_of(answer))
        assert caught.value.outcome_unknown is unknown


def test_another_document_than_asked_for_is_not_shown():
    with pytest.raises(h.BadAnswer, match="cannot show"):
        client_of(reply("document_get_with_invalidated")).get_document("rec-main", "doc-2")
    with pytest.raises(h.BadAnswer, match="cannot show"):
        client_of(reply("document_history")).get_document("rec-docs", "A/history")


def test_the_404_of_a_shadowing_route_is_not_a_missing_document():
    with pytest.raises(h.BadAnswer):
        client_of(reply("document_delete_again")).get_document("bank", "notes/chunks")


def test_a_retired_endpoint_is_its_own_kind():
    with pytest.raises(h.Retired):
        client_of(reply("bank_profile_get")).stats("rec-main")


def test_a_delete_that_the_server_does_not_confirm_is_unknown():
    with pytest.raises(h.BadAnswer) as caught:
        _write(client_of(httpx.Response(200, json={"status": "ok"})))
    assert caught.value.outcome_unknown
