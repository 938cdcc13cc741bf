"""The list of operations: what it shows of all banks, to whom, and how it says what is not known."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from banks.models import Bank, OperationLook, OperationSeen, Role, Server, Write
from tests import factories
from tests.banks.log_rows import make_row
from tests.banks.operations import make_operation
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, links, text_of

pytestmark = pytest.mark.django_db
HERE = "/operations/"
HOUR = timedelta(hours=1)


def documents(client: Client, query: str = "") -> list[str]:
    """The documents of the rows of a page, in its order."""
    page = text_of(client.get(HERE + query))
    found = {page.find(f">doc-{number}<"): f"doc-{number}" for number in range(70)}
    return [name for place, name in sorted(found.items()) if place >= 0]


def test_operations_of_all_banks_that_a_person_may_see(bank: Bank, people: People, as_user) -> None:
    other = factories.make_bank("ledger", server=bank.server)
    factories.grant(people.viewer, other, Role.VIEWER)
    make_operation(bank, "processing", document_id="doc-1")
    make_operation(other, "failed", document_id="doc-2", error="RuntimeError: no model")
    make_operation(factories.make_bank(), document_id="doc-3")
    page = text_of(as_user(people.viewer).get(HERE))
    for words in ("doc-1", "processing", "doc-2", "failed", "RuntimeError: no model", "checkout-service", "ledger"):
        assert words in page
    assert "doc-3" not in page
    assert "Retry" not in page.split("<main")[1]  # a viewer
    assert "Nothing was read yet." in text_of(as_user(people.stranger).get(HERE))
    assert Client().get(HERE).status_code == 302


def test_the_six_statuses_and_unknown_ones_stand_as_the_server_says_them(bank: Bank, people: People, as_user) -> None:
    said = ["pending", "processing", "completed", "failed", "cancelled", "not_found", "paused by moon"]
    for status in said:
        make_operation(bank, status)
    make_operation(bank, type="dream_of_sheep")
    page = text_of(as_user(people.viewer).get(HERE))
    for status in said:
        assert f"</span> {status}</span>" in page
    assert "dream_of_sheep" in page
    assert documents(as_user(people.viewer), "?status=paused+by+moon") == []


def test_waiting_for_another_attempt_is_retrying_with_its_time_and_count(bank: Bank, people: People, as_user) -> None:
    again = timezone.now() + timedelta(seconds=40)
    make_operation(bank, "retrying", retry_count=2, next_retry_at=again, error="no model", still_since=again)
    make_operation(bank, "pending", next_retry_at=again, type="refresh_mental_model")
    page = text_of(as_user(people.viewer).get(HERE))
    assert f">{timezone.localtime(again):%H:%M:%S}</time>, retry 2" in page
    assert "held back until" in page


def test_a_parent_shows_its_parts_and_one_part_speaks_for_its_parent(bank: Bank, people: People, as_user) -> None:
    batch = make_operation(bank, type="batch_retain", document_id="", items=3)
    make_operation(bank, "completed", parent=batch, document_id="doc-1")
    make_operation(bank, "failed", parent=batch, document_id="doc-2", error="no model")
    single = make_operation(bank, type="batch_retain", document_id="doc-3")
    make_operation(bank, "retrying", parent=single, document_id="doc-3", next_retry_at=timezone.now(), error="busy")
    client = as_user(people.reviewer)
    page = text_of(client.get(HERE))
    assert "2 parts, <b>1 failed</b>" in page
    assert page.count('<details class="details operation-details">') == 1
    assert "the whole is called pending" in page
    assert "retrying" in page
    assert documents(client, "?status=failed") == ["doc-1", "doc-2"]  # a row is found by its parts
    assert documents(client, "?show=failed") == ["doc-1", "doc-2"]
    assert page.count("Retry…") == 3


def test_filters(bank: Bank, people: People, as_user) -> None:
    other = factories.make_bank("ledger")
    factories.grant(people.viewer, other, Role.VIEWER)
    one = make_operation(bank, document_id="doc-1", began=timezone.now() - HOUR, error="no model")
    make_operation(bank, "failed", document_id="doc-2", type="consolidation", began=timezone.now() - 2 * HOUR)
    make_operation(other, "completed", document_id="doc-3", began=timezone.now() - 3 * HOUR)
    client = as_user(people.viewer)
    assert documents(client) == ["doc-1", "doc-2", "doc-3"]
    assert documents(client, f"?bank={bank.pk}") == documents(client, f"?server={bank.server_id}") == ["doc-1", "doc-2"]
    assert documents(client, "?type=consolidation") == documents(client, "?show=failed") == ["doc-2"]
    assert documents(client, "?status=completed") == ["doc-3"]
    assert documents(client, "?show=open") == documents(client, "?q=NO+MOD") == ["doc-1"]
    assert documents(client, f"?q={one.operation_id.upper()}") == ["doc-1"]
    assert documents(client, f"?q={one.operation_id[:8]}") == ["doc-1"]
    assert documents(client, "?bank=x&server=-1&show=none&q=%00") == ["doc-1", "doc-2", "doc-3"]
    assert documents(client, f"?bank={factories.make_bank().pk}") == []


def test_stuck_is_what_nothing_has_happened_to(bank: Bank, people: People, as_user, settings) -> None:
    settings.STUCK_MINUTES = 30
    make_operation(bank, "processing", document_id="doc-1", still_since=timezone.now() - HOUR)
    make_operation(bank, "processing", document_id="doc-2", still_since=timezone.now() - HOUR / 4)
    make_operation(bank, "failed", document_id="doc-3", still_since=timezone.now() - HOUR)
    client = as_user(people.viewer)
    assert "stuck, nothing for 1 h" in text_of(client.get(HERE))
    assert documents(client, "?show=stuck") == ["doc-1"]
    assert "The server's worker may have died" in text_of(client.get(f"{HERE}?show=stuck"))


def test_pages_and_the_number_of_queries_stay_with_many_banks(
    bank: Bank, people: People, as_user, django_assert_max_num_queries
) -> None:
    now = timezone.now()
    factories.grant(people.viewer, bank.server, Role.VIEWER)
    banks = [bank, *(factories.make_bank(server=bank.server) for _ in range(20))]
    for number in range(60):
        row = make_operation(banks[number % 21], began=now - timedelta(minutes=number), document_id=f"doc-{number}")
        make_operation(row.bank, parent=row, document_id=f"doc-{number}")
    client = as_user(people.viewer)
    with django_assert_max_num_queries(32):
        page = client.get(HERE)
    assert documents(client) == [f"doc-{number}" for number in range(50)]
    older = next(link for link in links(text_of(page)) if "page=a" in link)
    assert documents(client, older) == [f"doc-{number}" for number in range(50, 60)]


def test_how_old_it_is_and_what_could_not_be_read(bank: Bank, people: People, as_user) -> None:
    make_operation(bank)
    client = as_user(people.viewer)
    OperationLook.objects.update(looked_at=timezone.now() - timedelta(minutes=4))
    assert "As of 4 min ago." in text_of(client.get(HERE))
    OperationLook.objects.update(looked_at=timezone.now() - 2 * HOUR)
    page = text_of(client.get(HERE))
    assert "Some of this is old." in page
    assert "as of 2 h ago" in page
    OperationLook.objects.update(error="Busy HTTP 503: overloaded")
    page = text_of(client.get(HERE))
    assert "1 bank could not be read." in page
    assert "Busy HTTP 503: overloaded" in page
    Server.objects.update(health=Server.Health.REFUSED)
    assert "refuses our key" in text_of(client.get(HERE))


def test_a_bank_with_more_than_is_kept_says_so(bank: Bank, people: People, as_user) -> None:
    make_operation(bank)
    OperationLook.objects.update(open_total=10_431, failed_total=3)
    assert "Its server counts 10,431 that have not ended" in text_of(as_user(people.viewer).get(HERE))


def test_long_errors_are_bounded_and_say_what_is_left_out(bank: Bank, people: People, as_user) -> None:
    make_operation(bank, "failed", error="begin " + "x" * 4_000 + " end")
    page = text_of(as_user(people.viewer).get(HERE))
    assert "begin xxx" in page
    assert "xxx end" in page
    assert "3,450 bytes are not shown" in page


def test_rows_name_the_write_that_began_them(bank: Bank, people: People, as_user) -> None:
    row = make_operation(bank)
    write = make_row(bank, slot="s", operation_id=row.operation_id, outcome={"operation": row.operation_id})
    foreign = make_row(factories.make_bank(), operation_id=make_operation(bank).operation_id)
    page = text_of(as_user(people.viewer).get(HERE))
    assert f'<a href="/log/{write.pk}/">row {write.pk} of the log</a>' in page
    assert f"/log/{foreign.pk}/" not in page
    page = text_of(as_user(people.viewer).get(f"/log/{write.pk}/"))
    assert f"/operations/?q={row.operation_id}" in page


@pytest.mark.parametrize("query", ["", "?q=%3Cscript%3E", "?status=%3Cscript%3E&type=%22onload"])
def test_hostile_values_stay_text(query: str, bank: Bank, people: People, as_user) -> None:
    row = make_operation(bank, document_id=XSS, about=XSS[:300], error=XSS, type=XSS[:60], status=XSS[:40])
    make_operation(bank, parent=row, document_id=XSS, error=XSS)
    make_operation(bank, parent=row, document_id=XSS, error=XSS)
    OperationLook.objects.update(error=XSS[:300])
    page = text_of(as_user(people.owner).get(HERE + query))
    assert_harmless(page)
    assert all(link.startswith(("/", "#", "?")) for link in links(page))


def test_the_first_page_and_the_banks_count_what_failed_and_what_is_stuck(bank: Bank, people: People, as_user) -> None:
    make_operation(bank, "failed")
    make_operation(bank, "processing", still_since=timezone.now() - 2 * HOUR)
    make_operation(factories.make_bank(), "failed")
    client = as_user(people.viewer)
    for page in (text_of(client.get("/")), text_of(client.get("/banks/"))):
        assert "show=failed" in page
        assert "show=stuck" in page
    assert f"/operations/?bank={bank.pk}" in text_of(client.get("/banks/"))
    assert not Write.objects.exists()
    OperationSeen.objects.all().delete()
    assert "show=failed" not in text_of(client.get("/"))
