"""The archive of retired facts: what it lists, for whom, and what its buttons ask for."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from banks.models import Bank, Job, Role, Write
from reviews.models import FactDecision
from tests import factories
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, links, text_of
from tests.reviews.retired import retired

HERE = "/facts/retired/"


def texts(client: Client, query: str = "") -> list[str]:
    page = text_of(client.get(HERE + query))
    return [f"Fact number {n}." for n in range(60, 0, -1) if f"Fact number {n}.</" in page]


def test_what_is_retired_of_all_banks_with_reason_and_who(bank: Bank, people: People, as_user) -> None:
    other = factories.make_bank(server=bank.server)
    factories.grant(people.viewer, other, Role.VIEWER)
    retired(bank, 1)
    retired(other, 2, origin="observed", user_name="")
    retired(bank, 3, verdict="restored")
    retired(factories.make_bank(), 4)
    Bank.objects.filter(pk=bank.pk).update(retired_count=7, counted_at=timezone.now() - timedelta(minutes=5))
    page = text_of(as_user(people.viewer).get(HERE))
    for words in ("Fact number 1.", "“reason 1”", "by <bdi>Ann Weber</bdi>", "Fact number 2.", "retired elsewhere"):
        assert words in page
    assert "Fact number 3." not in page
    assert "Fact number 4." not in page
    assert "<b>7</b> in 1 bank, read from the servers 5 min ago" in page
    assert "<b>unknown</b>, it could not be read" in page  # the other one
    Bank.objects.filter(pk=bank.pk).update(counted_at=timezone.now() - timedelta(hours=3))
    assert "<b>unknown</b>, last read 3 h ago: 7" in text_of(as_user(people.viewer).get(HERE))
    assert "/restore" not in page.split("<main")[1]  # a viewer
    assert "No fact is retired." in text_of(as_user(people.stranger).get(HERE))


def test_filters(bank: Bank, people: People, as_user) -> None:
    other = factories.make_bank(server=bank.server)
    factories.grant(people.reviewer, other, Role.REVIEWER)
    retired(bank, 1, user=people.owner, at=timezone.now() - timedelta(days=9))
    retired(bank, 2, origin="observed")
    retired(other, 3)
    client = as_user(people.reviewer)
    assert texts(client) == ["Fact number 3.", "Fact number 2.", "Fact number 1."]
    assert texts(client, "?q=NUMBER+2") == ["Fact number 2."]
    assert texts(client, "?via=api") == []
    assert texts(client, "?q=doc-3") == texts(client, f"?bank={other.pk}") == ["Fact number 3."]
    assert texts(client, f"?who={people.owner.pk}") == texts(client, "?reason=reason+1") == ["Fact number 1."]
    assert texts(client, "?origin=observed") == ["Fact number 2."]
    day = (timezone.localdate() - timedelta(days=5)).isoformat()
    assert texts(client, f"?until={day}") == ["Fact number 1."]
    assert texts(client, f"?since={day}") == ["Fact number 3.", "Fact number 2."]
    assert len(texts(client, "?tab=x&order=y&via=z&bank=x&who=-1&origin=none&since=2026-99-99&q=%00")) == 3


def test_pages_by_time_and_the_number_of_queries_stays(
    bank: Bank, people: People, as_user, django_assert_max_num_queries
) -> None:
    now = timezone.now()
    for number in range(1, 61):
        retired(bank, number, at=now - timedelta(minutes=60 - number))
    client = as_user(people.reviewer)
    with django_assert_max_num_queries(24):
        page = client.get(HERE)
    assert len(texts(client)) == 50
    older = next(link for link in links(text_of(page)) if "page=a" in link)
    assert texts(client, older) == [f"Fact number {n}." for n in range(10, 0, -1)]


def test_one_is_restored_by_a_row_of_its_own(bank: Bank, people: People, as_user) -> None:
    decision = retired(bank, 1)
    client = as_user(people.reviewer)
    answer = client.post(f"{HERE}{decision.pk}/restore/?q=x")
    assert (answer.status_code, answer["Location"]) == (303, f"{HERE}?q=x")
    write = Write.objects.get()
    assert (write.kind, write.fact_ids, write.document_id, write.actor) == ("restore", ["f1"], "doc-1", people.reviewer)
    assert "Fact number 1." in write.facts_before.text
    assert "restore is under way" in text_of(client.get(HERE))
    client.post(f"{HERE}{decision.pk}/restore/")  # a second click
    assert Write.objects.count() == 1


def test_who_may_not(bank: Bank, people: People, as_user) -> None:
    decision = retired(bank, 1)
    for path in (f"{HERE}{decision.pk}/restore/", f"{HERE}look/{bank.pk}/"):
        assert as_user(people.stranger).post(path).status_code == 404
        assert as_user(people.viewer).post(path).status_code == 403
        assert as_user(people.reviewer).get(path).status_code == 405
    assert Client().get(HERE).status_code == 302
    assert not Write.objects.exists()
    assert not Job.objects.exists()


def test_all_that_match_are_counted_exactly_and_confirmed(bank: Bank, people: People, as_user) -> None:
    watched = factories.make_bank(server=bank.server)
    factories.grant(people.reviewer, watched, Role.VIEWER)
    for number in range(1, 4):
        retired(bank, number)
    retired(watched, 9)
    client = as_user(people.reviewer)
    page = text_of(client.get(f"{HERE}restore-all/?q=number&bank={bank.pk}"))
    assert "<dd><bdi>Checkout service</bdi></dd>" in page
    page = text_of(client.get(f"{HERE}restore-all/?q=number"))
    assert "Restore 3 facts" in page
    assert "1 other that match are in banks on which you may not decide" in page
    assert client.post(f"{HERE}restore-all/?q=number", {"total": "2"}).status_code == 409
    assert not Job.objects.exists()
    answer = client.post(f"{HERE}restore-all/?q=number", {"total": "3"})
    job = Job.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"{HERE}jobs/{job.pk}/")
    assert job.params["filters"] == {"q": "number"}
    assert as_user(people.owner).get(answer["Location"]).status_code == 404  # another person's work


def test_nothing_selected_starts_nothing(bank: Bank, people: People, as_user) -> None:
    answer = as_user(people.reviewer).post(f"{HERE}restore/", {"pick": ["x", "-1"]}, follow=True)
    assert "Nothing is selected" in text_of(answer)
    assert not Job.objects.exists()


@pytest.mark.parametrize("query", ["", "?q=%3Cscript%3E"])
def test_hostile_values_stay_text(query: str, bank: Bank, people: People, as_user) -> None:
    factories.make_entry(bank, XSS)
    retired(bank, 1, text=XSS, reason=XSS, document_id=XSS, user_name=XSS[:100], fact_id=XSS[:60])
    FactDecision.objects.update(preview=f"<script>{XSS}")
    page = text_of(as_user(people.reviewer).get(HERE + query))
    assert_harmless(page)
    assert all(link.startswith(("/", "#", "?")) for link in links(page))
