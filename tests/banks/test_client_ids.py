"""Ids become paths in one place, and reach nothing but what they name."""

from urllib.parse import unquote

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from banks.hindsight import NotAddressable, check_bank_id, check_document_id, ids, is_addressable
from tests.banks.recorded import client_of

BASE = httpx.URL("http://h:8888")


def test_an_id_is_encoded_once_as_one_segment():
    path = ids.document_path("default", "team x", "folder/100%.md")
    assert path == b"/v1/default/banks/team%20x/documents/folder%2F100%25.md"
    assert ids.url_of(BASE, path).raw_path == path


def test_a_prefix_of_the_address_is_kept():
    url = ids.url_of(httpx.URL("https://h/tools/hindsight/"), b"/version")
    assert str(url) == "https://h/tools/hindsight/version"


def test_a_query_is_encoded_too():
    url = ids.url_of(BASE, b"/x", {"document_id": "a&b=c #1/ü", "limit": 0, "refresh": True})
    assert url.raw_path == b"/x?document_id=a%26b%3Dc%20%231%2F%C3%BC&limit=0&refresh=true"


@pytest.mark.parametrize("document_id", ["", ".", "..", "a\0b", "\ud83d", "x" * 70_000])
def test_document_ids_that_would_reach_something_else_are_refused_before_any_call(document_id):
    def never(request):
        raise AssertionError(f"a call was made: {request.url}")

    with client_of(never) as client:
        for call in (client.get_document, client.delete_document):
            with pytest.raises(NotAddressable) as caught:
                call("bank", document_id)
            assert caught.value.permanent
            assert not caught.value.outcome_unknown


@pytest.mark.parametrize("bank_id", ["", ".", "..", "x/documents/y", "org/user", "a\0b", "x" * 193, "ж" * 97, "\ud83d"])
def test_bank_ids_that_cannot_be_one_segment_are_refused(bank_id):
    with pytest.raises(NotAddressable):
        check_bank_id(bank_id)
    assert not is_addressable(bank_id)


def test_what_is_harmless_is_accepted():
    for document_id in ("...", "../x", "a/../b", " ", "%2e%2e", "\u202e", "ж" * 600):
        check_document_id(document_id)
    assert is_addressable("agent-1::channel-2::user-3", "..x")
    assert not is_addressable("ok", "..")


@settings(deadline=None)
@given(bank=st.text(max_size=40), document=st.text(max_size=60))
@example(bank="b", document="%2e%2e")
@example(bank="b", document="\\..\\")
@example(bank="%2F", document="..\u200b")
def test_every_id_is_refused_or_arrives_as_itself(bank, document):
    try:
        url = ids.url_of(BASE, ids.document_path("default", bank, document))
    except NotAddressable:
        assert (
            document in {"", ".", ".."}
            or bank in {"", ".", ".."}
            or "/" in bank
            or "\0" in bank + document
            or (
                len(bank.encode("utf-8", "surrogatepass")) > 192
                or any("\ud800" <= c <= "\udfff" for c in bank + document)
            )
        )
        return
    _, version, namespace, banks, bank_segment, documents, document_segment = url.raw_path.decode("ascii").split("/")
    assert (version, namespace, banks, documents) == ("v1", "default", "banks", "documents")
    assert (unquote(bank_segment), unquote(document_segment)) == (bank, document)


@settings(deadline=None)
@given(st.text(alphabet=".%2eE/\\", min_size=1, max_size=8))
def test_dots_never_climb(document):
    try:
        url = ids.url_of(BASE, ids.document_path("default", "b", document))
    except NotAddressable:
        return
    assert url.raw_path.startswith(b"/v1/default/banks/b/documents/")
    assert url.raw_path.count(b"/") == 6


def test_a_list_in_a_query_says_its_name_for_each_word():
    url = ids.url_of(BASE, b"/x", {"tags": ["a&b", "c d"], "limit": 0})
    assert url.raw_path == b"/x?tags=a%26b&tags=c%20d&limit=0"


@pytest.mark.parametrize("given", ["", ".", "..", "a/b", "a\0b", "\ud83d"])
def test_ids_of_entities_and_directives_are_one_segment(given):
    for path in (ids.entity_path, ids.directive_path):
        with pytest.raises(NotAddressable):
            path("default", "b", given)
    assert ids.directive_path("default", "b", "a b") == b"/v1/default/banks/b/directives/a%20b"
