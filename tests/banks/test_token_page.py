"""The pages of API tokens: made and shown once, listed, revoked."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from banks.log_export import log_rows
from banks.log_filters import LogFilters
from banks.models import AdminEvent, ApiToken, Bank, Role, Write
from banks.services import tokens
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, text_after
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db
FORM = {"name": "nightly job", "role": Role.REVIEWER, "scope": "all", "ends": 90}


def make(owner: Any, name: str = "nightly job", **how: Any) -> ApiToken:
    how = {"role": Role.REVIEWER, "banks": None, "days": 90, **how}
    return tokens.issue(owner=owner, name=name, **how).token


def test_a_token_is_made_and_shown_in_that_answer_alone(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.reviewer)
    answer = post(client, "token-list", **{**FORM, "scope": "some", "banks": [bank.pk]})
    found = re.search(r"mem_[\w-]{48}", text_of(answer))
    assert found is not None
    assert "no-store" in answer["Cache-Control"]
    token = ApiToken.objects.get()
    assert tokens.caller_of(found[0]) == people.reviewer
    assert (token.name, token.role, token.all_banks, list(token.banks.all())) == ("nightly job", 2, False, [bank])
    assert abs(token.expires - timezone.now() - timedelta(days=90)) < timedelta(minutes=1)
    for page in (get(client, "token-list"), client.get("/log/")):
        assert found[0] not in text_of(page)
    assert found[0] not in str(client.session.items())


def test_the_list_says_what_each_may_and_when_it_was_used(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.reviewer)
    assert "You have none." in text_of(get(client, "token-list"))
    with time_machine.travel(timezone.now() - timedelta(days=91), tick=False):
        make(people.reviewer, "over")
    make(people.reviewer, "in use", banks=[bank])
    ApiToken.objects.filter(name="in use").update(last_used=timezone.now() - timedelta(hours=2))
    make(people.owner, "of another person")
    page = text_of(get(client, "token-list"))
    for said in ("over", "ended ", "never", "in use", "2 h ago", bank.bank_id, "reviewer of all banks"):
        assert said in page, said
    assert "of another person" not in page
    assert page.count("Revoke it for good") == 1


def test_revoking_is_for_good_and_kept(bank: Bank, people: People, as_user: SignIn) -> None:
    token, client = make(people.reviewer), as_user(people.reviewer)
    assert "is revoked" in text_after(client, post(client, "token-revoke", token.pk))
    assert "was revoked already" in text_after(client, post(client, "token-revoke", token.pk))
    event = AdminEvent.objects.get(what="token-revoked")
    assert (event.actor, event.person, event.before["name"]) == (people.reviewer, people.reviewer, "nightly job")
    assert "Revoke it for good" not in text_of(get(client, "token-list"))


def test_an_operator_sees_and_revokes_all_of_them(bank: Bank, people: People, as_user: SignIn) -> None:
    token, client = make(people.reviewer), as_user(people.operator)
    page = text_of(get(client, "token-list-all"))
    assert "Mira Kovač" in page
    answer = post(client, "token-revoke", token.pk, all=1)
    assert answer["Location"] == "/team/tokens/"
    assert "revoked" in text_after(client, answer)
    told = text_of(client.get(f"/team/{people.reviewer.pk}/"))
    assert "API token made" in told
    assert "API token revoked" in told


def test_nobody_else_sees_or_revokes_one(bank: Bank, people: People, as_user: SignIn) -> None:
    token = make(people.reviewer)
    for person in (people.owner, people.viewer, people.stranger):
        assert post(as_user(person), "token-revoke", token.pk).status_code == 404
    assert get(as_user(people.owner), "token-list-all").status_code == 403
    assert get(as_user(people.stranger), "token-list-all").status_code == 404
    token.refresh_from_db()
    assert token.state == "live"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "a\u202eb"}, "hidden characters"),
        ({"name": "x" * 61}, "at most 60"),
        ({"role": 7}, "Select a valid choice"),
        ({"ends": 9999}, "Select a valid choice"),
        ({"scope": "some"}, "Tick at least one bank"),
        ({"scope": "some", "banks": [99999]}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_made(change: dict[str, Any], said: str, bank: Bank, people: People, as_user: SignIn) -> None:
    answer = post(as_user(people.reviewer), "token-list", **{**FORM, **change})
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert not ApiToken.objects.exists()


def test_a_foreign_bank_and_one_too_many_are_refused(bank: Bank, people: People, as_user: SignIn) -> None:
    other, client = factories.make_bank("secret"), as_user(people.reviewer)
    assert "secret" not in text_of(get(client, "token-list"))
    assert post(client, "token-list", **{**FORM, "scope": "some", "banks": [other.pk]}).status_code == 422
    assert "no role on any bank" in text_of(post(as_user(people.stranger), "token-list", **FORM))
    for _ in range(tokens.MOST_LIVE):
        make(people.reviewer)
    assert "You have 50 tokens that work." in text_of(post(client, "token-list", **FORM))
    assert ApiToken.objects.count() == tokens.MOST_LIVE


def test_long_lists_are_paged_and_ask_no_more(
    bank: Bank, people: People, as_user: SignIn, django_assert_max_num_queries: Any
) -> None:
    for number in range(51):
        token = make(people.reviewer, f"number {number}.", banks=[bank])
        ApiToken.objects.filter(pk=token.pk).update(revoked=timezone.now())
    client = as_user(people.reviewer)
    get(client, "token-list")
    with django_assert_max_num_queries(20):
        page = text_of(get(client, "token-list"))
    assert ("number 50." in page, "number 0." in page) == (True, False)
    after = re.search(r"\?after=(\d+)", page)
    assert after is not None
    assert "number 0." in text_of(get(client, "token-list", after=after[1]))
    assert get(client, "token-list", after="x").status_code == 200


def test_the_log_says_by_which_token(bank: Bank, people: People, as_user: SignIn) -> None:
    token = make(people.reviewer, "nightly job")
    write = Write.objects.create(
        kind="retire", bank=bank, via="api", state="done", actor=people.reviewer, actor_name="Mira Kovač", token=token
    )
    client = as_user(people.viewer)
    for page in (client.get("/log/"), client.get(f"/log/{write.pk}/")):
        assert "Mira Kovač</bdi>, API token “<bdi>nightly job</bdi>”" in text_of(page)
    (row,) = log_rows(LogFilters().listed(people.viewer))
    assert (row["actor"], row["token"]) == ("Mira Kovač", "nightly job")


def test_hostile_names_stay_text(bank: Bank, people: People, as_user: SignIn) -> None:
    Bank.objects.filter(pk=bank.pk).update(bank_id=XSS[:100], name=XSS[:100])
    make(people.reviewer, XSS[:60], banks=[bank])
    for client, view in ((as_user(people.reviewer), "token-list"), (as_user(people.operator), "token-list-all")):
        assert_harmless(text_of(get(client, view)))
