"""A bank's policy: changed by its admins, kept for ever, and followed by the dates of what waits."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from banks import jobs
from banks.models import AdminEvent, Bank, Job
from banks.services.probe import probe
from reviews import after_policy
from reviews.models import ReviewEntry
from tests import factories
from tests.banks.admin_pages import SignIn, events, get, post, text_after, url
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.reviews.pages import XSS, Reader, assert_harmless, text_of


def shown(client: Client, bank: Bank) -> dict[str, str]:
    """The form as it stands on the page, as a browser would post it."""
    values = {"reapply": bank.reapply}
    for tag, given in Reader(text_of(get(client, "bank-policy", bank.pk))).elements:
        name, kind = given.get("name"), given.get("type")
        if tag != "input" or not name or name == "csrfmiddlewaretoken":
            continue
        if kind != "checkbox" or "checked" in given:
            values[name] = given.get("value") or ("on" if kind == "checkbox" else "")
    return values


def save(client: Client, bank: Bank, **values: str) -> str:
    said = {name: value for name, value in {**shown(client, bank), **values}.items() if value != "off"}
    page = text_after(client, client.post(url("bank-policy", bank.pk), said))  # type: ignore[arg-type]
    bank.refresh_from_db()
    return page


def test_an_admin_changes_the_policy_and_it_is_kept(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    page = save(
        client, bank, auto_approve_days="2.5", settle_minutes="0", polled="off", expire_marked="on", language="pt-BR"
    )
    assert (bank.auto_approve_days, bank.settle_minutes, bank.polled) == (2.5, 0, False)
    assert (bank.expire_marked, bank.language, bank.reopen_on_change) == (True, "pt-BR", True)
    event = AdminEvent.objects.get()
    assert (event.what, event.actor, event.bank) == ("policy-changed", people.owner, bank)
    assert event.before["auto_approve_days"] is None
    assert event.after == {
        "auto_approve_days": 2.5,
        "expire_marked": True,
        "language": "pt-BR",
        "polled": False,
        "settle_minutes": 0,
    }
    assert "approve by time after (days): <bdi>inherited</bdi>" in page
    assert save(client, bank, auto_approve_days="", settle_minutes="")
    assert (bank.auto_approve_days, bank.settle_minutes) == (None, None)


def test_saving_without_a_change_is_no_event(bank: Bank, people: People, as_user: SignIn) -> None:
    Bank.objects.update(auto_approve_days=3.0, settle_minutes=5, language="de", name="A name", named_here=True)
    assert "Nothing was different." in save(as_user(people.owner), bank)
    assert events() == []


def test_dates_follow_the_policy_at_once(bank: Bank, people: People, as_user: SignIn) -> None:
    old = timezone.now() - timedelta(days=3)
    entry = factories.make_entry(bank, age_from=old, first_imported_at=old, expires_at=old + timedelta(days=7))
    decided = factories.make_entry(bank, state="approved", expires_at=old)
    client = as_user(people.owner)
    save(client, bank, auto_approve_days="30")
    entry.refresh_from_db()
    assert entry.expires_at == old + timedelta(days=30)
    save(client, bank, auto_approve_days="0")
    entry.refresh_from_db()
    decided.refresh_from_db()
    assert (entry.expires_at, decided.expires_at) == (None, old)


def test_what_dates_do_not_depend_on_leaves_them_alone(bank: Bank, people: People, as_user: SignIn) -> None:
    entry = factories.make_entry(bank, expires_at=timezone.now())
    was = entry.expires_at
    save(as_user(people.owner), bank, language="de", settle_minutes="3")
    entry.refresh_from_db()
    assert entry.expires_at == was


def test_many_dates_are_work_for_a_worker_and_nothing_expires_until_then(
    bank: Bank, people: People, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(after_policy, "AT_ONCE", 2)
    monkeypatch.setattr(jobs, "ROWS_PER_STEP", 2)
    old = timezone.now() - timedelta(days=3)
    for _ in range(5):
        factories.make_entry(bank, age_from=old, first_imported_at=old, expires_at=old)
    save(as_user(people.owner), bank, auto_approve_days="9")
    assert set(ReviewEntry.objects.values_list("expires_at", flat=True)) == {None}
    assert jobs.run(Job.objects.get().pk) == "done"
    assert set(ReviewEntry.objects.values_list("expires_at", flat=True)) == {old + timedelta(days=9)}
    assert Job.objects.get().result == {"looked_at": 5}


def test_of_two_who_edit_the_second_is_shown_what_the_first_did(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    mine = {**shown(client, bank), "language": "fr"}
    save(as_user(people.operator), bank, auto_approve_days="1")
    answer = client.post(url("bank-policy", bank.pk), mine)
    page = text_of(answer)  # type: ignore[arg-type]
    assert answer.status_code == 409
    assert "Nothing of yours was stored." in page
    assert 'value="fr"' in page
    assert "inherited</bdi>" in page.partition("h-changes")[2]  # what the other one did
    bank.refresh_from_db()
    assert (bank.auto_approve_days, bank.language) == (1.0, "")


def test_a_name_given_here_outlives_what_the_server_says(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    save(client, bank, name="What we call it")
    probe(bank.server)
    bank.refresh_from_db()
    assert (bank.name, bank.named_here) == ("What we call it", True)
    save(client, bank, name="")
    assert (bank.name, bank.named_here) == ("", False)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("auto_approve_days", "-1"),
        ("auto_approve_days", "nan"),
        ("auto_approve_days", "inf"),
        ("auto_approve_days", "1e9"),
        ("settle_minutes", "1.5"),
        ("settle_minutes", "99999999999"),
        ("language", "not a language"),
        ("name", "evil\u202egpj"),
    ],
)
def test_what_is_no_policy_is_refused(bank: Bank, people: People, as_user: SignIn, field: str, value: str) -> None:
    client = as_user(people.owner)
    answer = client.post(url("bank-policy", bank.pk), {**shown(client, bank), field: value})
    assert answer.status_code == 422
    assert "field-error" in text_of(answer)  # type: ignore[arg-type]
    assert events() == []


def test_only_admins_of_the_bank_see_and_change_it(bank: Bank, people: People, as_user: SignIn) -> None:
    values = {**shown(as_user(people.owner), bank), "language": "fr"}
    for person, status in ((people.reviewer, 403), (people.viewer, 403), (people.stranger, 404)):
        assert get(as_user(person), "bank-policy", bank.pk).status_code == status
        assert post(as_user(person), "bank-policy", bank.pk, **values).status_code == status
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people.owner)
    assert post(strict, "bank-policy", bank.pk, **values).status_code == 403
    assert get(Client(), "bank-policy", bank.pk).status_code == 302
    bank.refresh_from_db()
    assert (bank.language, events()) == ("", [])


def test_nothing_is_sent_to_the_bank(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    save(as_user(people.owner), bank, language="fr", name="Ours")
    assert (line.calls, bank.writes.count()) == ([], 0)


def test_a_hostile_bank_stays_text(people: People, as_user: SignIn) -> None:
    bank = factories.make_bank(XSS, name=XSS)
    client = as_user(people.operator)
    assert_harmless(text_of(get(client, "bank-policy", bank.pk)))
    assert_harmless(save(client, bank, name=XSS))


def test_what_becomes_of_decisions_about_facts_is_a_choice(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    save(client, bank, reapply="ask")
    assert bank.reapply == "ask"
    assert AdminEvent.objects.get().after == {"reapply": "ask"}
    answer = client.post(url("bank-policy", bank.pk), {**shown(client, bank), "reapply": "perhaps"})
    assert (answer.status_code, "Select a valid choice" in text_of(answer)) == (422, True)
    bank.refresh_from_db()
    assert bank.reapply == "ask"


def test_missions_and_the_context_are_kept_with_their_lines(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    save(client, bank, retain_context="pair work", retain_mission="Keep decisions.\r\nNo plans.")
    assert (bank.retain_context, bank.retain_mission) == ("pair work", "Keep decisions.\nNo plans.")
    assert "Nothing was different." in save(client, bank, retain_mission="Keep decisions.\r\nNo plans.")


def test_who_approves_is_a_matter_of_policy(bank: Bank, people: People, as_user: SignIn) -> None:
    page = save(as_user(people.owner), bank, two_reviewers="on", bars_writer="on")
    assert (bank.two_reviewers, bank.bars_writer) == (True, True)
    assert AdminEvent.objects.get().after == {"bars_writer": True, "two_reviewers": True}
    assert "two people approve a memory: <bdi>no</bdi>" in page
    save(as_user(people.owner), bank, two_reviewers="off", bars_writer="off")
    assert (bank.two_reviewers, bank.bars_writer) == (False, False)
