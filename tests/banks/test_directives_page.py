"""The page of a bank's directives: read from the server, written through the log, by the bank's admins."""

from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from banks import connections
from banks.directive_kinds import fingerprint
from banks.hindsight import Directive
from banks.models import Bank, Server, Write
from tests.banks.admin_pages import SignIn
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.known_failures.world import work_off
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)
FORM = {"name": "Polite", "content": "Always be polite.", "priority": "5", "is_active": "on", "tags": "b\na\n\nb"}


def address(bank: Bank, act: str = "list") -> str:
    return reverse(f"banks:directive-{act}", args=[bank.pk])


def listed(client: Client, bank: Bank) -> str:
    answer = client.get(address(bank), headers=HTMX)
    assert answer.status_code == 200
    return text_of(answer)


def make(bank: Bank, **values: object) -> Directive:
    with connections.client_for(bank.server) as client:
        said = {"name": "Polite", "content": "Always be polite.", **values}
        return client.create_directive(bank.bank_id, said)


def there(bank: Bank) -> list[Directive]:
    with connections.client_for(bank.server) as client:
        return client.all_directives(bank.bank_id)


def named(directive: Directive, **more: str) -> dict[str, str]:
    return {"directive": directive.id, "seen": fingerprint(directive), **more}


def test_the_page_brings_its_list_by_itself(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    make(bank, is_active=False)
    line.calls.clear()
    client = as_user(people.viewer)
    page = text_of(client.get(address(bank)))
    assert f'hx-get="{address(bank)}?page=1" hx-trigger="load"' in page
    assert line.calls == []
    fragment = listed(client, bank)
    assert "<html" not in fragment
    assert "Always be polite." in fragment
    assert ">off<" in fragment
    assert "Add a directive" not in fragment
    assert "<html" in text_of(client.get(f"{address(bank)}?now=1"))


def test_one_is_created_edited_switched_and_deleted(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    assert client.post(address(bank, "add"), FORM).status_code == 303
    assert "Creating" in listed(client, bank)
    work_off()
    (made,) = there(bank)
    assert (made.name, made.priority, made.active, made.tags) == ("Polite", 5, True, ["a", "b"])
    form = text_of(client.get(address(bank, "edit"), {"directive": made.id}))
    assert "Always be polite." in form
    assert fingerprint(made) in form
    answer = client.post(address(bank, "edit"), {**FORM, "content": "Be brief.", **named(made)})
    assert answer.status_code == 303
    work_off()
    write = Write.objects.get(kind="directive-edit")
    assert (write.before.text, write.request.text, write.params["changes"]) == ("Always be polite.", "Be brief.", {})
    (now,) = there(bank)
    assert client.post(address(bank, "switch"), named(now, on="0")).status_code == 303
    work_off()
    assert not there(bank)[0].active
    confirm = text_of(client.get(address(bank, "delete"), {"directive": made.id}))
    assert "The server keeps nothing of it." in confirm
    assert client.post(address(bank, "delete"), named(there(bank)[0])).status_code == 303
    work_off()
    assert there(bank) == []
    write = Write.objects.get(kind="directive-delete")
    assert (write.state, write.before.text, write.actor) == (Write.State.DONE, "Be brief.", people.owner)
    assert "Delete directive" in text_of(client.get("/log/"))


def test_two_posts_of_one_form_are_one_directive(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client, form = as_user(people.owner), str(uuid4())
    for _ in range(2):
        assert client.post(address(bank, "add"), {**FORM, "form": form}).status_code == 303
    work_off()
    assert len(there(bank)) == 1


def test_what_is_the_same_is_not_sent(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    made = make(bank, content="One.\r\nTwo.")
    client = as_user(people.owner)
    same = {"name": "Polite", "content": "One.\r\nTwo.", "priority": "0", "is_active": "on", "tags": ""}
    assert client.post(address(bank, "edit"), {**same, **named(made)}).status_code == 303
    assert client.post(address(bank, "switch"), named(made, on="1")).status_code == 303
    assert not Write.objects.exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"content": "  "}, "An instruction has words."),
        ({"name": ""}, "This field is required."),
        ({"priority": "9999999999"}, "less than or equal to"),
        ({"tags": "a\u202eb"}, "hidden characters"),
    ],
)
def test_what_makes_no_directive_is_said(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn, more: dict[str, str], said: str
) -> None:
    answer = as_user(people.owner).post(address(bank, "add"), {**FORM, **more})
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert not Write.objects.exists()


@pytest.mark.parametrize("act", ["edit", "switch", "delete"])
def test_what_was_changed_or_is_gone_is_not_written(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn, act: str
) -> None:
    made, client = make(bank), as_user(people.owner)
    body = {**FORM, **named(made), "on": "0"}
    for wrong in ({"seen": "0" * 64}, {"directive": "nope"}, {"directive": str(uuid4())}, {"directive": ""}):
        answer = client.post(address(bank, act), {**body, **wrong})
        assert answer.status_code == 409, wrong
        assert 'role="alert"' in text_of(answer)
    assert not Write.objects.exists()


def test_a_second_act_waits_for_the_first(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    made, client = make(bank), as_user(people.owner)
    assert client.post(address(bank, "switch"), named(made, on="0")).status_code == 303
    answer = client.post(address(bank, "delete"), named(made))
    assert answer.status_code == 409
    assert "under way" in text_of(answer)
    assert Write.objects.count() == 1


def test_texts_of_others_do_nothing(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    make(bank, name=XSS, content=XSS, tags=[XSS])
    client = as_user(people.owner)
    assert_harmless(listed(client, bank))
    assert_harmless(text_of(client.get(address(bank, "edit"), {"directive": there(bank)[0].id})))


def test_what_cannot_be_read_is_not_called_empty(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.viewer)
    assert "No directives." in listed(client, bank)
    line.cut_before.append("GET")
    page = listed(client, bank)
    assert "The server does not answer." in page
    assert "No directives." not in page
    Server.objects.filter(pk=bank.server_id).update(health=Server.Health.REFUSED)
    line.calls.clear()
    assert "The server refuses our key." in listed(client, bank)
    assert line.calls == []


def test_a_bank_that_is_gone_is_called_that(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    assert "no such bank on its server any more" in listed(as_user(people.viewer), bank)


def test_only_admins_write(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    made = make(bank)
    line.calls.clear()
    for act in ("add", "edit", "switch", "delete"):
        assert as_user(people.reviewer).post(address(bank, act), {**FORM, **named(made)}).status_code == 403
        assert as_user(people.stranger).post(address(bank, act), {**FORM, **named(made)}).status_code == 404
    assert as_user(people.stranger).get(address(bank), headers=HTMX).status_code == 404
    assert line.calls == []
    assert not Write.objects.exists()
