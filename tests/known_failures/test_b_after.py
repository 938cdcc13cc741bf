"""What is true after the fact is read back, and said where people look."""

from typing import Any

import httpx
import pytest

from banks import connections
from banks.hindsight import NotFound
from banks.models import Bank, Write
from banks.services import probe
from reviews.services import decide
from tests import factories
from tests.banks.conftest import LyingTransport, store
from tests.conftest import People
from tests.known_failures.world import in_bank, loaded, waiting, work_off
from tests.reviews.pages import text_of

pytestmark = pytest.mark.django_db


class Leaving(httpx.BaseTransport):
    """A server that deletes the document and goes on listing its facts, or says nothing about them."""

    def __init__(self, line: LyingTransport, *, lists: bool) -> None:
        self.line, self.lists = line, lists
        self.before: dict[str, bytes] = {}
        self.deleted = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self.line.handle_request(request)
        self.deleted = self.deleted or request.method == "DELETE"
        if not request.url.path.endswith("/memories/list"):
            return answer
        if not self.deleted:
            self.before[request.url.params["state"]] = answer.read()
            return answer
        if not self.lists:
            return httpx.Response(503, json={"detail": "later"})
        kept = self.before[request.url.params["state"]]
        return httpx.Response(200, content=kept, headers={"content-type": "application/json"})


@pytest.mark.parametrize(("lists", "left", "said"), [(True, 2, "2 left"), (False, "unknown", "unknown left")])
def test_row_029_facts_that_a_delete_leaves_behind_are_reported(
    bank: Bank, people: People, line: LyingTransport, as_user: Any, lists: bool, left: object, said: str
) -> None:
    connections.TRANSPORTS[bank.server.base_url] = Leaving(line, lists=lists)
    entry = loaded(bank, "b")
    decide.delete(user=people.reviewer, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    work_off()
    write = Write.objects.get(kind="delete")
    assert (write.state, write.outcome["units_deleted"], write.outcome["facts_left"]) == ("done", 2, left)
    client = as_user(people.reviewer)
    for path in ("/log/", f"/log/{write.pk}/"):
        assert f"2 facts gone, <b>{said}</b>" in text_of(client.get(path))


def test_row_029_a_clean_delete_says_what_the_server_said(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    entry = loaded(bank, "b")
    decide.delete(user=people.reviewer, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    work_off()
    assert Write.objects.get(kind="delete").outcome == {"units_deleted": 2}
    page = text_of(as_user(people.reviewer).get("/log/"))
    assert "2 facts gone" in page
    assert " left</b>" not in page


def test_row_030_an_edit_promises_nothing_about_what_was_derived(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    entry, client = loaded(bank, "b"), as_user(people.reviewer)
    form = text_of(client.get(f"/reviews/{entry.pk}/edit/"))
    assert "what was derived from the old text may lag behind" in form
    data = {"version": entry.version, "text_hash": entry.text_id, "text": "Carl keeps the ledger."}
    said = text_of(client.post(f"/reviews/{entry.pk}/edit/", data, follow=True))
    work_off()
    write = Write.objects.get(kind="edit")
    assert write.state == "done"
    for page in (said, text_of(client.get(f"/log/{write.pk}/"))):
        assert "facts gone" not in page


def test_row_033_a_bank_exists_when_the_list_has_it(bank: Bank, people: People, line: LyingTransport) -> None:
    """Counters and lists of a bank that does not exist may answer with zeros: they are no proof."""

    def answer(request: httpx.Request) -> httpx.Response:
        found = line.handle_request(request)
        if found.status_code == 404 and "chekout" in request.url.path:
            empty = {"items": [], "operations": [], "total": 0, "total_documents": 0, "nodes_by_fact_type": {}}
            return httpx.Response(200, json=empty)
        return found

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    typo = factories.make_bank("chekout-service", server=bank.server)
    probe.probe(bank.server)
    typo.refresh_from_db()
    bank.refresh_from_db()
    assert typo.gone_since is not None
    assert typo.document_count is None
    assert bank.gone_since is None


def test_row_033_what_waits_for_an_unknown_bank_is_kept_and_says_so(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    typo = factories.make_bank("chekout-service", server=bank.server)
    entry = waiting(typo, "notes/a.md")
    work_off()
    entry.refresh_from_db()
    assert (entry.state, entry.load_state) == ("pending", "missing")
    page = text_of(as_user(people.operator).get(f"/reviews/{entry.pk}/"))
    assert "There is no such bank on this server." in page
    assert in_bank(bank, "notes/a.md") is not None
    with pytest.raises(NotFound), connections.client_for(bank.server) as client:
        client.stats("chekout-service")


def test_row_033_an_edit_in_a_bank_that_is_gone_makes_no_new_bank(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    store(bank, "b", "Ann keeps the ledger.")
    entry = loaded(bank, "b")
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    decide.edit(
        user=people.reviewer,
        entry_id=entry.pk,
        version=entry.version,
        text_hash=str(entry.text_id),
        new_text="Carl keeps the ledger.",
    )
    line.calls.clear()
    work_off()
    assert {method for method, _ in line.calls} == {"GET"}
    with connections.client_for(bank.server) as client:
        assert client.list_banks() == []
