"""What is under way into a bank can be seen, and taken back while it waits."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from banks import log_index, retain
from banks.models import Bank, RetainItem, Role, Write
from banks.retain import selectors
from tests import factories
from tests.banks.admin_pages import SignIn
from tests.banks.conftest import LyingTransport
from tests.banks.retaining import drain, flush_now, put, sent, states
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def page(client: Client, view: str = "") -> str:
    return text_of(client.get("/retain/", {"view": view} if view else {}))


def item_of(client: Client, item: RetainItem) -> str:
    return text_of(client.get(f"/retain/{item.pk}/"))


def test_what_waits_is_listed_with_its_text_and_parameters(bank: Bank, people: People, as_user: SignIn) -> None:
    (item,) = put(people.reviewer, bank, {"content": "Ann came.", "tags": ["team"], "context": "a talk"})
    client = as_user(people.viewer)
    shown = page(client)
    assert item.document_id in shown
    assert "Mira Kovač" in shown
    whole = item_of(client, item)
    for part in ("Ann came.", "team", "a talk", item.timestamp, "waiting"):
        assert part in whole


def test_each_state_has_a_view(bank: Bank, people: People, as_user: SignIn, line: LyingTransport) -> None:
    put(people.reviewer, bank, {"content": "Ann came.", "document_id": "arrived"})
    put(people.reviewer, bank, {"content": "[[FAIL]]", "document_id": "failed", "strategy": "other"})
    drain(bank)
    put(people.reviewer, bank, {"content": "Ben came.", "document_id": "on its way"})
    flush_now(bank)
    put(people.reviewer, bank, {"content": "Carl came.", "document_id": "still here"})
    client = as_user(people.reviewer)
    for view, document_id in {
        "done": "arrived",
        "attention": "failed",
        "sent": "on its way",
        "waiting": "still here",
    }.items():
        listed = [row.document_id for row in selectors.item_page(people.reviewer, view, None).rows]
        assert listed == [document_id]
        assert document_id in page(client, view)
    assert [row.document_id for row in selectors.item_page(people.reviewer, "", None).rows] == [
        "still here",
        "on its way",
    ]
    assert client.get("/retain/?view=nothing").status_code == 404


def test_a_batch_names_its_documents_in_the_log(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport
) -> None:
    put(
        people.reviewer,
        bank,
        {"content": "Ann came to Lyon.", "document_id": "a"},
        {"content": "[[NOFACTS]]", "document_id": "b"},
    )
    drain(bank)
    (write,) = sent(bank)
    client = as_user(people.viewer)
    assert "2 memories" in text_of(client.get("/log/"))
    whole = text_of(client.get(f"/log/{write.pk}/"))
    for part in ("From 1 of these texts the bank drew no facts", ">a</code>", ">b</code>", "no facts"):
        assert part in whole
    assert f"/log/{write.pk}/" in text_of(client.get("/log/", {"document": "b"}))
    assert f"/log/{write.pk}/" not in text_of(client.get("/log/", {"document": "c"}))
    log_index.sweep()
    assert f"/log/{write.pk}/" in text_of(client.get("/log/", {"q": "lyon"}))


def test_what_is_missing_is_sent_again_from_the_log(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport
) -> None:
    put(people.reviewer, bank, "Ann came.", "[[FAILN:4:page]] Ben came.")
    drain(bank)
    client = as_user(people.reviewer)
    (write,) = sent(bank)
    assert "Send again what is missing" in text_of(client.get(f"/log/{write.pk}/"))
    client.post(f"/log/{write.pk}/retry/")
    drain(bank)
    assert states(bank) == ["done", "done"]
    assert f'href="/log/{sent(bank)[1].pk}/"' in text_of(client.get(f"/log/{write.pk}/"))


@pytest.mark.parametrize(("who", "status"), [("reviewer", 303), ("owner", 303), ("viewer", 403), ("stranger", 404)])
def test_who_sent_it_and_admins_discard_what_waits(
    bank: Bank, people: People, as_user: SignIn, who: str, status: int
) -> None:
    (item,) = put(people.reviewer, bank, "Ann came.")
    client = as_user(getattr(people, who))
    assert client.post(f"/retain/{item.pk}/discard/").status_code == status
    assert states(bank) == ["discarded" if status == 303 else "queued"]


def test_another_reviewer_does_not(bank: Bank, people: People, as_user: SignIn) -> None:
    (item,) = put(people.reviewer, bank, "Ann came.")
    other = factories.make_user("other")
    factories.grant(other, bank, Role.REVIEWER)
    client = as_user(other)
    assert ">Discard<" not in item_of(client, item)
    assert client.post(f"/retain/{item.pk}/discard/").status_code == 403
    assert states(bank) == ["queued"]


def test_what_is_discarded_is_never_sent(bank: Bank, people: People, as_user: SignIn, line: LyingTransport) -> None:
    first, _ = put(people.reviewer, bank, "Ann came.", "Ben came.")
    client = as_user(people.reviewer)
    client.post(f"/retain/{first.pk}/discard/")
    drain(bank)
    assert states(bank) == ["discarded", "done"]
    assert "Ann came." in item_of(client, first)


def test_what_is_on_its_way_is_not_discarded(bank: Bank, people: People, as_user: SignIn) -> None:
    (item,) = put(people.reviewer, bank, "Ann came.")
    flush_now(bank)
    client = as_user(people.reviewer)
    assert ">Discard<" not in item_of(client, item)
    answer = client.post(f"/retain/{item.pk}/discard/", follow=True)
    assert "Nothing was changed" in text_of(answer)
    assert states(bank) == ["sent"]


def test_hostile_text_stays_text(bank: Bank, people: People, as_user: SignIn, line: LyingTransport) -> None:
    given = {"content": XSS, "document_id": XSS, "tags": [XSS], "context": XSS, "metadata": {XSS: XSS}}
    (item,) = put(people.reviewer, bank, given, project=XSS)
    client = as_user(people.reviewer)
    assert_harmless(item_of(client, item))
    assert_harmless(page(client))
    drain(bank)
    assert_harmless(text_of(client.get(f"/log/{sent(bank)[0].pk}/")))


def test_a_page_takes_the_same_queries_however_much_is_on_it(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.reviewer)
    put(people.reviewer, bank, "one")
    client.get("/retain/")
    with CaptureQueriesContext(connection) as few:
        client.get("/retain/")
    put(people.reviewer, bank, *[f"text {number}" for number in range(30)])
    flush_now(bank)
    with CaptureQueriesContext(connection) as many:
        client.get("/retain/")
    assert len(many) == len(few)
    put(people.reviewer, bank, *[f"more {number}" for number in range(30)])
    assert 'rel="next"' in page(client)


def test_the_address_of_an_item_is_our_own_number(bank: Bank, people: People) -> None:
    items = retain.parse([{"content": "x", "document_id": "../climb"}])
    (item,) = retain.enqueue(user=people.reviewer, bank=bank, items=items, via=Write.Via.WEB).items
    assert reverse("banks:retain-detail", args=[item.pk]) == f"/retain/{item.pk}/"
