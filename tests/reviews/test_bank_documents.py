"""The documents of a bank: listed by its server, looked into, tagged, and put on cards."""

import httpx
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from banks import connections
from banks.models import Bank, OperationSeen, Server, Write
from reviews.models import ReviewEntry
from tests.banks.conftest import LyingTransport, line, store
from tests.banks.operations import make_operation
from tests.conftest import People
from tests.known_failures.world import DOCUMENT_IDS, loaded, work_off
from tests.reviews.pages import HTMX, XSS, assert_harmless, links, text_of

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)


class NoFilter(httpx.BaseTransport):
    """A server that ignores every filter, as servers do with parameters they do not know."""

    def __init__(self, line: httpx.BaseTransport) -> None:
        self.line = line

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        for name in ("q", "tags", "tags_match", "document_id", "entity_id"):
            url = url.copy_remove_param(name)
        return self.line.handle_request(httpx.Request(request.method, url, headers=request.headers))


def listed(client: Client, bank: Bank, **query: str) -> str:
    answer = client.get(reverse("reviews:bank-documents", args=[bank.pk]), query, headers=HTMX)
    assert answer.status_code == 200
    return text_of(answer)


def seen(client: Client, bank: Bank, document_id: str, **query: str) -> str:
    address = reverse("reviews:bank-document", args=[bank.pk])
    answer = client.get(address, {"document": document_id, **query}, headers=HTMX)
    assert answer.status_code == 200
    return text_of(answer)


def test_the_page_brings_its_list_by_itself(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.viewer)
    page = text_of(client.get(f"/banks/{bank.pk}/documents/"))
    assert f'hx-get="/banks/{bank.pk}/documents/" hx-trigger="load"' in page
    assert line.calls == []
    fragment = listed(client, bank)
    assert "<html" not in fragment
    assert "notes/a.md" in fragment
    assert "1 document<" in fragment
    assert "<html" in text_of(client.get(f"/banks/{bank.pk}/documents/?now=1"))


def test_words_and_tags_are_asked_of_the_server(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    store(bank, "tea", "Carl likes rye.", tags=["team:core"])
    store(bank, "rye", "Carl likes oats.", tags=["team"])
    client = as_user(people.viewer)
    assert "2 documents<" in listed(client, bank, q="rye")
    found = listed(client, bank, tag="team:core")
    assert "1 document<" in found
    assert "tag=team%3Acore" in found
    assert "does not know one of these filters" not in found
    assert "No document matches." in listed(client, bank, q="unheard-of")


@pytest.mark.parametrize("query", [{"q": "unheard-of"}, {"tag": "team"}])
def test_a_filter_that_the_server_ignores_is_named(
    bank: Bank, line: LyingTransport, people: People, as_user, query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connections.TRANSPORTS, bank.server.base_url, NoFilter(line))
    page = listed(as_user(people.viewer), bank, **query)
    assert "does not know one of these filters" in page
    assert "notes/a.md" in page


def test_pages_go_to_the_end_and_say_when_the_list_has_moved(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    for number in range(51):
        store(bank, f"d{number}", "Carl likes rye.")
    client = as_user(people.viewer)
    first = listed(client, bank)
    assert "1 to 50" in first
    (later,) = {link for link in links(first) if "start=50" in link}
    second = text_of(client.get(later, headers=HTMX))
    assert "has moved" not in second
    assert "51 to 52" in second
    assert "notes/a.md" in second
    assert not [link for link in links(second) if "start=52" in link]
    store(bank, "new", "Carl likes oats.")
    assert "The list has moved since the page before." in text_of(client.get(later, headers=HTMX))
    assert "There is no such page any more." in listed(client, bank, start="300")


def test_what_is_under_way_or_failed_is_marked(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    make_operation(bank, "failed", document_id="notes/a.md")
    make_operation(bank, "pending", document_id="not-yet.md")
    entry = loaded(bank, "b.md")
    write = Write.objects.create(
        kind="edit", bank=bank, via="web", state="attention", slot="s", document_id="b.md",
        document_hash=entry.document_hash,
    )  # fmt: skip
    page = listed(as_user(people.viewer), bank)
    assert "2 documents have work" in page
    assert "not-yet.md" in page
    assert f'href="/log/{write.pk}/"' in page
    assert f'href="/reviews/{entry.pk}/"' in page
    assert OperationSeen.objects.count() == 2


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ("", "Ann keeps the ledger. Ben reads it."),
        ("chunks", "Chunk 1"),
        ("facts", "Ben reads it."),
        ("retired", "None of its facts is retired."),
        ("history", "tells of nothing that happened"),
    ],
)
def test_a_document_has_its_text_chunks_facts_and_history(
    bank: Bank, line: LyingTransport, people: People, as_user, view: str, said: str
) -> None:
    assert said in seen(as_user(people.viewer), bank, "notes/a.md", view=view)
    assert len(line.calls) == 1


def test_what_was_retired_is_in_its_views(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    with connections.client_for(bank.server) as client:
        fact = client.list_facts(bank.bank_id, q="ledger").items[0]
        client.patch_fact(bank.bank_id, fact.id, state="invalidated", reason="she left")
    viewer = as_user(people.viewer)
    assert "she left" in seen(viewer, bank, "notes/a.md", view="retired")
    assert "fact_invalidated" in seen(viewer, bank, "notes/a.md", view="history")


def test_facts_of_others_are_not_shown_as_its_own(
    bank: Bank, line: LyingTransport, people: People, as_user, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(bank, "other", "Carl keeps the archive.")
    monkeypatch.setitem(connections.TRANSPORTS, bank.server.base_url, NoFilter(line))
    page = seen(as_user(people.viewer), bank, "notes/a.md", view="facts")
    assert "does not list facts by document" in page
    assert "Carl keeps the archive." not in page


def test_a_huge_text_is_shown_in_parts(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    store(bank, "huge", "[[NOFACTS]] " + "lorem ipsum " * 20_000)
    page = seen(as_user(people.viewer), bank, "huge")
    assert len(page) < 60_000
    assert "Show all" in page
    whole = seen(as_user(people.viewer), bank, "huge", full="2")
    assert "Part 2 of 2" in whole


def test_nasty_ids_and_texts_are_text(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    for document_id in DOCUMENT_IDS:
        store(bank, document_id, XSS, tags=[XSS], context=XSS)
        page = seen(client, bank, document_id)
        assert_harmless(page)
        assert "onclick" in page
    assert_harmless(listed(client, bank))
    assert_harmless(text_of(client.get(f"/banks/{bank.pk}/documents/document/", {"document": XSS})))


def test_what_cannot_be_read_is_not_called_empty(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.viewer)
    assert "not in the bank any more" in seen(client, bank, "never")
    assert "No call can reach it." in seen(client, bank, "..")
    assert "No call can reach it." in seen(client, bank, "a\0b")
    store(bank, "a\nb", "Newlines are odd.")
    assert "lists this document and does not find it" in seen(client, bank, "a\nb")
    line.cut_before.append("GET")
    assert "The server does not answer." in listed(client, bank)
    Server.objects.filter(pk=bank.server_id).update(health=Server.Health.REFUSED)
    line.calls.clear()
    page = listed(client, bank)
    assert "The server refuses our key." in page
    assert "No documents." not in page
    assert line.calls == []


def post(client: Client, bank: Bank, act: str, **values: object):
    return client.post(reverse(f"reviews:bank-document-{act}", args=[bank.pk]), {"document": "notes/a.md", **values})


def test_tags_are_set_and_the_next_edit_keeps_them(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    entry = loaded(bank, "notes/a.md")
    client = as_user(people.reviewer)
    assert post(client, bank, "tags", tags="b\r\na\r\na").status_code == 303
    assert post(client, bank, "tags", tags="c").status_code == 409
    work_off()
    write = Write.objects.get()
    assert (write.kind, write.state, write.actor, write.params["tags"]) == ("tags", "done", people.reviewer, ["a", "b"])
    entry.refresh_from_db()
    assert (entry.tags, entry.retain_params["tags"]) == (["a", "b"], ["a", "b"])
    page = seen(client, bank, "notes/a.md")
    assert 'name="was" value="a"' in page
    assert post(client, bank, "tags", tags="b\na", was=["a", "b", "a\0"]).status_code == 303
    assert post(client, bank, "tags", tags="a\u202eb", was=["a", "b"]).status_code == 422
    assert Write.objects.count() == 1


def test_a_document_without_a_card_gets_one(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    assert "Put it on a card" in text_of(client.get(f"/banks/{bank.pk}/documents/document/?document=notes/a.md"))
    answer = post(client, bank, "card")
    entry = ReviewEntry.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/reviews/{entry.pk}/")
    assert (entry.document_id, entry.state) == ("notes/a.md", "pending")
    assert entry.expires_at is None or entry.expires_at > timezone.now()
    assert post(client, bank, "card")["Location"] == f"/reviews/{entry.pk}/"
    work_off()
    page = text_of(client.get(f"/banks/{bank.pk}/documents/document/?document=notes/a.md"))
    assert f'href="/reviews/{entry.pk}/edit/"' in page
    assert f'href="/reviews/{entry.pk}/extract/"' in page
    assert post(client, bank, "card", document="never").status_code == 409
    assert ReviewEntry.objects.count() == 1


def test_readers_look_and_strangers_do_not(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    viewer, stranger = as_user(people.viewer), as_user(people.stranger)
    for act in ("tags", "card"):
        assert post(viewer, bank, act, tags="a").status_code == 403
        assert post(stranger, bank, act, tags="a").status_code == 404
    assert stranger.get(f"/banks/{bank.pk}/documents/", headers=HTMX).status_code == 404
    assert stranger.get(f"/banks/{bank.pk}/documents/document/?document=x", headers=HTMX).status_code == 404
    assert line.calls == []
    assert not Write.objects.exists()


class Capped(httpx.BaseTransport):
    """A server that never gives more than 20 rows, whatever is asked for."""

    def __init__(self, line: httpx.BaseTransport) -> None:
        self.line = line

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if int(url.params.get("limit", "0")) > 20:
            url = url.copy_set_param("limit", "20")
        return self.line.handle_request(httpx.Request(request.method, url, headers=request.headers))


def test_a_server_that_gives_fewer_than_asked_is_read_to_its_end(
    bank: Bank, line: LyingTransport, people: People, as_user, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        store(bank, f"d{number}", "Carl likes rye.")
    monkeypatch.setitem(connections.TRANSPORTS, bank.server.base_url, Capped(line))
    client = as_user(people.viewer)
    page, seen_ids = listed(client, bank), set()
    for _ in range(5):
        assert "has moved" not in page
        seen_ids |= {each for each in [*(f"d{number}" for number in range(30)), "notes/a.md"] if f">{each}<" in page}
        later = {link for link in links(page) if "start=" in link and "after=" in link}
        if not later:
            break
        page = text_of(client.get(later.pop(), headers=HTMX))
    assert len(seen_ids) == 31
