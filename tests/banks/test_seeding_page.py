"""The pages of seeding: what would be made is read first, then made, and each row says how it ended."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks import connections, jobs
from banks.models import Bank, Job, Role, Write
from banks.seeds import job as seeding
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, text_after, url
from tests.banks.conftest import LyingTransport
from tests.banks.mental import AUTOMATIC, make_model, models_in, work
from tests.banks.models_page import cells
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)
SHOP = {"scope": "per-project-tagged", "project": "/home/ann/shop"}


def asked(client: Client, *banks: Bank, **given: Any) -> tuple[Job, str]:
    """The job of a preview, and its page once a worker has done it."""
    answer = client.post(url("seeding-new"), {**SHOP, "banks": [bank.pk for bank in banks], **given})
    assert answer.status_code == 303, cells(text_of(answer))
    job = Job.objects.filter(kind=seeding.KIND).latest("pk")
    assert jobs.run(job.pk) == "done"
    return job, text_of(client.get(answer["Location"]))


def test_a_preview_is_read_and_then_made_just_so(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank, "user-preferences", tags=["project:desk"])
    make_model(bank, "project-conventions-shop", name="Ours", tags=["project:shop"])
    client = as_user(people.owner)
    preview, page = asked(client, bank)
    said = cells(page)
    assert "1 to create · 1 exist, 1 of what exists differs from its seed · 1 exist with other tags" in said
    assert "it reads what has project:desk" in said
    assert "differs from the seed in: name, question, longest text, refresh" in said
    assert "Create 1 model" in said
    assert not Write.objects.exists()
    made = client.post(url("seeding-create", preview.pk))
    job = Job.objects.latest("pk")
    assert made["Location"] == url("seeding-detail", job.pk)
    assert "Waiting for a worker" in text_after(client, made)
    assert jobs.run(job.pk) == "done"
    assert "being made" in cells(text_of(client.get(made["Location"], headers=HTMX)))
    work(bank)
    answer = client.get(made["Location"], headers=HTMX)
    assert answer.status_code == 286
    assert "✓ created" in cells(text_of(answer))
    assert set(models_in(bank)) == {"user-preferences", "project-conventions-shop", "project-decisions-shop"}


def test_a_second_click_finds_the_first_ones_work(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    preview, _ = asked(client, bank)
    first, second = (client.post(url("seeding-create", preview.pk))["Location"] for _ in range(2))
    assert first == second
    assert Job.objects.count() == 2


def test_what_came_meanwhile_and_what_a_person_must_see_have_faces_of_their_own(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    preview, _ = asked(client, bank)
    client.post(url("seeding-create", preview.pk))
    job = Job.objects.latest("pk")
    assert jobs.run(job.pk) == "done"
    made = Write.objects.order_by("pk")
    make_model(bank, made[0].params["model"])
    made.filter(pk=made[1].pk).update(state=Write.State.ATTENTION, error_text="The server said no.")
    work(bank)
    page = cells(text_of(get(client, "seeding-detail", job.pk)))
    assert f"= exists, untouched up to 1,500 tokens, refreshed after consolidation row {made[0].pk} : done" in page
    assert f"! needs a person up to 1,200 tokens, refreshed after consolidation row {made[1].pk} :" in page
    assert "The server said no." in page
    assert "1 need a person" in page


def test_the_page_of_many_banks_takes_no_more_queries_than_that_of_one(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client, counted = as_user(people.owner), []
    many = [factories.make_bank(f"b-{number}", server=bank.server) for number in range(5)]
    for each in many:
        factories.grant(people.owner, each, Role.ADMIN)
        with connections.client_for(each.server) as server:
            server.put_bank(each.bank_id)
    for banks in ([bank], many):
        preview, _ = asked(client, *banks)
        client.post(url("seeding-create", preview.pk))
        assert jobs.run(Job.objects.latest("pk").pk) == "done"
        with CaptureQueriesContext(connection) as queries:
            get(client, "seeding-detail", Job.objects.latest("pk").pk)
        counted.append(len(queries))
    assert counted[0] == counted[1]


def test_what_is_pinned_differs_by_the_pin(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    make_model(bank, "user-preferences", trigger=AUTOMATIC)
    client = as_user(people.owner)
    page = text_of(get(client, "bank-model-pin", bank.pk, model="user-preferences"))
    seen = re.search(r'name="seen" value="(\w+)"', page)
    assert seen is not None
    post(client, "bank-model-pin", bank.pk, model="user-preferences", seen=seen[1])
    work(bank)
    assert "differs from the seed in: name, question, longest text, refresh (it is pinned)" in cells(
        asked(client, bank)[1]
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"banks": []}, "Choose at least one bank."),
        ({"project": " "}, "Say whose models they are."),
        ({"scope": "all"}, "Select a valid choice"),
        ({"seeds": ["nothing"]}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_asked_is_said(
    bank: Bank, people: People, as_user: SignIn, given: dict[str, Any], said: str
) -> None:
    answer = post(as_user(people.owner), "seeding-new", **{**SHOP, "banks": [bank.pk], **given})
    assert (answer.status_code, said in text_of(answer)) == (422, True)
    assert not Job.objects.exists()


def test_only_banks_that_one_administers_are_offered(bank: Bank, people: People, as_user: SignIn) -> None:
    other, person = factories.make_bank("other-bank"), factories.make_bank("person-bank", server=bank.server)
    Bank.objects.filter(pk=person.pk).update(kind=Bank.Kind.PERSON)
    factories.grant(people.owner, other, Role.REVIEWER)
    factories.grant(people.owner, person, Role.ADMIN)
    client = as_user(people.owner)
    page = text_of(get(client, "seeding-new"))
    assert bank.bank_id in page
    assert "other-bank" not in page
    assert "person-bank" not in page
    assert post(client, "seeding-new", **SHOP, banks=[other.pk]).status_code == 422
    assert get(as_user(people.reviewer), "seeding-new").status_code == 403
    assert get(as_user(people.stranger), "seeding-new").status_code == 404


def test_a_preview_is_its_owners(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    preview, _ = asked(as_user(people.owner), bank)
    for person in (people.reviewer, people.stranger):
        client = as_user(person)
        assert get(client, "seeding-detail", preview.pk).status_code == 404
        assert post(client, "seeding-create", preview.pk).status_code == 404
    assert not Write.objects.exists()


def test_foreign_tags_stay_text(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    make_model(bank, "user-preferences", name=XSS, tags=[XSS])
    assert_harmless(asked(as_user(people.owner), bank)[1])
