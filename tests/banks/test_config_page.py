"""The page of a bank's configuration: what it shows, what it sends, and what it leaves alone."""

import html

import pytest
from django.test import Client

from banks.config.drift import drifts
from banks.config.seen import Seen
from banks.models import Bank, Blob, Write
from tests.banks.admin_pages import SignIn, get, post, text_after, url
from tests.banks.config_form import on_server, save, set_past_us, shown
from tests.banks.conftest import LyingTransport
from tests.banks.retaining import work_off
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def fragment(client: Client, bank: Bank) -> str:
    return text_of(client.get(url("bank-config", bank.pk), headers=HTMX))


def test_the_page_brings_its_form_by_itself(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    page = text_of(get(client, "bank-config", bank.pk))
    assert f'hx-get="{url("bank-config", bank.pk)}" hx-trigger="load"' in page
    assert line.calls == []
    set_past_us(bank, retain_mission="Keep names.")
    form = fragment(client, bank)
    assert "<html" not in form
    assert "1 set on this bank" in form
    assert "Keep names." in text_of(get(client, "bank-config", bank.pk, now=1))


def test_every_setting_that_the_server_reports_is_in_the_form(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    set_past_us(bank, retain_chunk_size=2000)
    form = shown(as_user(people.owner), bank)
    assert {name.removeprefix("value.") for name in form if name.startswith("value.")} == set(on_server(bank).values)
    assert [name for name in form if name.startswith("own.")] == ["own.retain_chunk_size"]


def test_an_admin_changes_one_setting_and_it_alone_is_sent(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    set_past_us(bank, retain_mission="Old.", recall_budget_max=900)
    client = as_user(people.owner)
    answer = save(client, bank, untick="recall_budget_max", retain_mission="Keep\r\nnames.")
    write = Write.objects.get()
    assert f"Row {write.pk} of the log says how it ends." in text_after(client, answer)
    assert (write.kind, write.actor, write.params["settings"]) == (
        "config",
        people.owner,
        ["recall_budget_max", "retain_mission"],
    )
    assert "A change is on its way." in fragment(client, bank)
    work_off(bank)
    assert on_server(bank).overrides == {"retain_mission": "Keep\nnames."}
    row = text_of(client.get(f"/log/{write.pk}/"))
    assert "Before and after" in row
    assert "(inherited)" in row
    assert "\\n" not in row[row.index("Before and after") : row.index("The row")]  # a mission has its own lines
    assert "Configure" in text_of(get(client, "bank-config", bank.pk))


def test_what_cannot_be_used_stays_typed_in_and_nothing_is_stored(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    answer = save(as_user(people.owner), bank, retain_chunk_size="lots", retain_mission="A & B")
    page = text_of(answer)
    assert answer.status_code == 422
    assert "1 setting has no usable value" in page
    assert 'value="lots"' in page
    assert "A &amp; B" in page
    assert not Write.objects.exists()


def test_a_form_of_another_bank_or_of_nobody_changes_nothing(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    form = {**shown(client, bank), "value.retain_mission": "x"}
    for seen in ("", "forged", form["seen"][:-2]):
        answer = client.post(url("bank-config", bank.pk), {**form, "seen": seen})
        assert answer.status_code == 409
        assert "not of this page any more" in text_of(answer)
    assert not Write.objects.exists()


def test_it_is_saved_while_the_server_is_away(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    form = {**shown(client, bank), "value.retain_mission": "x"}
    line.cut_before += ["GET"] * 20
    assert client.post(url("bank-config", bank.pk), form).status_code == 303
    assert Write.objects.get().state == Write.State.QUEUED
    page = fragment(client, bank)
    assert "The configuration could not be read." in page
    assert "Nothing was changed." in page


def test_missions_are_shown_against_the_policy_and_what_was_written_from_here(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    bank.retain_mission = "Keep decisions."
    bank.save()
    assert "it is set with the next memories" in fragment(client, bank)
    save(client, bank, retain_mission="Keep names.")
    work_off(bank)
    assert "The policy wants another one." in fragment(client, bank)
    set_past_us(bank, retain_mission="Keep everything.")
    page = fragment(client, bank)
    assert "Somebody else changed it." in page
    assert "Some agents write missions of their own at the start of each session." in page
    for take, text in (("ours", "Keep names."), ("policy", "Keep decisions.")):
        seen = shown(client, bank)["seen"]
        assert post(client, "bank-config-mission", bank.pk, seen=seen, mission="retain_mission", take=take).status_code
        work_off(bank)
        assert on_server(bank).overrides == {"retain_mission": text}
    assert "as the policy wants it" in fragment(client, bank)
    seen, rows = shown(client, bank)["seen"], Write.objects.count()
    answer = post(client, "bank-config-mission", bank.pk, seen=seen, mission="retain_mission", take="policy")
    assert "nothing was sent" in text_after(client, answer)
    assert Write.objects.count() == rows


def test_a_mission_that_was_given_back_is_no_drift_until_somebody_sets_one(bank: Bank, people: People) -> None:
    write = Write.objects.create(
        kind="config", bank=bank, via="web", state="done", request=Blob.objects.store('{"retain_mission": null}')
    )
    inherited, set_there = Seen({"retain_mission": "Of all."}, {}), Seen(*[{"retain_mission": "Theirs."}] * 2)
    (quiet,), (moved,) = drifts(bank, inherited), drifts(bank, set_there)
    assert (quiet.moved, moved.moved, moved.ours and moved.ours.write) == (False, True, write)
    assert (quiet.text("ours"), moved.text("policy"), moved.text("theirs")) == (None, None, None)


def test_only_admins_see_and_change_it(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    for name in ("bank-config", "bank-config-mission", "bank-config-copy"):
        for who, status in ((people.reviewer, 403), (people.viewer, 403), (people.stranger, 404)):
            assert post(as_user(who), name, bank.pk).status_code == status
    assert get(as_user(people.reviewer), "bank-config", bank.pk, now=1).status_code == 403
    assert line.calls == []


def test_hostile_values_stay_text(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    hostile = f"</textarea>{XSS}"
    set_past_us(bank, retain_mission=hostile, retain_strategies={XSS: {}})
    client = as_user(people.owner)
    assert_harmless(fragment(client, bank))
    form = shown(client, bank)
    assert form["value.retain_mission"] == hostile
    assert XSS in html.unescape(form["value.retain_strategies"]).replace('\\"', '"')
    save(client, bank, retain_mission=f"{hostile}!")
    work_off(bank)
    assert on_server(bank).overrides["retain_mission"] == f"{hostile}!"
