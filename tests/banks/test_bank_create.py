"""Making and naming a bank: only by the form, only by who may, and never over one that is there."""

import pytest
from django.test import Client

from banks import connections
from banks.models import Bank, BankAlias, Role, Server, Write
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, text_after
from tests.banks.conftest import LyingTransport
from tests.banks.retaining import work_off
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server_admin(bank: Bank, people: People) -> People:
    factories.grant(people.owner, bank.server, Role.ADMIN)
    return people


def listed(server: Server) -> dict[str, str]:
    """{id: name} as the server lists them"""
    with connections.client_for(server) as client:
        return {row.bank_id: row.name for row in client.list_banks()}


def make(client: Client, server: Server, bank_id: str, name: str = "") -> Bank:
    answer = post(client, "bank-new", server=server.pk, bank_id=bank_id, name=name)
    assert answer.status_code == 303, text_of(answer)
    return Bank.objects.get(server=server, bank_id=bank_id)


def test_a_bank_is_made_by_the_form_and_is_there_when_the_list_has_it(
    bank: Bank, line: LyingTransport, server_admin: People, as_user: SignIn
) -> None:
    client = as_user(server_admin.owner)
    assert "New bank" in text_of(get(client, "bank-list"))
    made = make(client, bank.server, "команда 7::main", "Team 7")
    assert line.calls == []
    assert made.gone_since is not None  # its server does not have it yet
    write = Write.objects.get()
    assert (write.kind, write.bank, write.actor) == ("bank-create", made, server_admin.owner)
    work_off(made)
    made.refresh_from_db()
    write.refresh_from_db()
    assert (write.state, made.gone_since, line.sent("PUT")) == (Write.State.DONE, None, 1)
    assert listed(bank.server)["команда 7::main"] == "Team 7"


def test_a_bank_that_is_there_is_left_as_it_is(
    bank: Bank, line: LyingTransport, server_admin: People, as_user: SignIn
) -> None:
    client = as_user(server_admin.owner)
    assert "has a bank of this id already" in text_of(
        post(client, "bank-new", server=bank.server.pk, bank_id=bank.bank_id)
    )
    with connections.client_for(bank.server) as past_us:
        past_us.put_bank("theirs", name="Theirs")
    line.calls.clear()
    made = make(client, bank.server, "theirs", "Ours")
    work_off(made)
    assert (Write.objects.get().state, line.sent("PUT")) == (Write.State.CHANGED, 0)
    assert listed(bank.server)["theirs"] == "Theirs"


def test_an_id_that_means_another_bank_already_is_refused(
    bank: Bank, line: LyingTransport, server_admin: People, as_user: SignIn
) -> None:
    BankAlias.objects.create(bank=bank, server=bank.server, alias="shop", alias_hash=Bank.hash_of("shop"))
    answer = post(as_user(server_admin.owner), "bank-new", server=bank.server.pk, bank_id="shop")
    assert "for another bank already" in text_of(answer)
    assert (Bank.objects.count(), Write.objects.count(), line.calls) == (1, 0, [])


def test_a_lost_answer_is_looked_up(bank: Bank, line: LyingTransport, server_admin: People, as_user: SignIn) -> None:
    line.cut_after.append("PUT")
    made = make(as_user(server_admin.owner), bank.server, "new")
    work_off(made)
    assert (Write.objects.get().state, line.sent("PUT")) == (Write.State.DONE, 1)


@pytest.mark.parametrize("bank_id", ["", "a/b", "..", ".", "x" * 193, "ж" * 97, " blank", "evil\u202egnp"])
def test_an_id_that_cannot_be_is_refused_before_anything(
    bank_id: str, bank: Bank, line: LyingTransport, server_admin: People, as_user: SignIn
) -> None:
    answer = post(as_user(server_admin.owner), "bank-new", server=bank.server.pk, bank_id=bank_id)
    assert answer.status_code == 422
    assert (Bank.objects.count(), Write.objects.count(), line.calls) == (1, 0, [])


def test_the_longest_id_is_taken(bank: Bank, line: LyingTransport, server_admin: People, as_user: SignIn) -> None:
    made = make(as_user(server_admin.owner), bank.server, "ж" * 96)
    work_off(made)
    assert "ж" * 96 in listed(bank.server)


def test_only_an_admin_of_the_whole_server_makes_one(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    said = {"server": bank.server.pk, "bank_id": "new"}
    for who, status in ((people.owner, 403), (people.viewer, 403), (people.stranger, 404)):
        assert post(as_user(who), "bank-new", **said).status_code == status
    factories.grant(people.owner, factories.make_server(), Role.ADMIN)
    answer = post(as_user(people.owner), "bank-new", **said)
    assert "You are not an admin of such a server." in text_of(answer)
    assert not Write.objects.exists()


def test_a_bank_is_renamed_on_its_server(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    with connections.client_for(bank.server) as client:
        client.put_bank(bank.bank_id, name="Checkout service")
        client.patch_config(bank.bank_id, {"retain_mission": "x"})
    web = as_user(people.owner)
    page = text_after(web, post(web, "bank-rename", bank.pk, name="Payments"))
    assert "The name is being sent." in page
    work_off(bank)
    bank.refresh_from_db()
    write = Write.objects.get()
    assert (write.state, bank.name, listed(bank.server)[bank.bank_id]) == (Write.State.DONE, "Payments", "Payments")
    assert "vanished" not in write.outcome
    assert "called so already" in text_after(web, post(web, "bank-rename", bank.pk, name="Payments"))
    assert Write.objects.count() == 1


def test_a_name_that_somebody_else_gave_stays(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    with connections.client_for(bank.server) as client:
        client.put_bank(bank.bank_id, name="Theirs")
    post(as_user(people.owner), "bank-rename", bank.pk, name="Ours")
    work_off(bank)
    assert Write.objects.get().state == Write.State.CHANGED
    assert listed(bank.server)[bank.bank_id] == "Theirs"


def test_a_rename_makes_no_bank(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    post(as_user(people.owner), "bank-rename", bank.pk, name="Ours")
    work_off(bank)
    assert Write.objects.get().state == Write.State.ATTENTION
    assert bank.bank_id not in listed(bank.server)
    for who, status in ((people.reviewer, 403), (people.stranger, 404)):
        assert post(as_user(who), "bank-rename", bank.pk, name="x").status_code == status


def test_hostile_names_stay_text(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    Bank.objects.filter(pk=bank.pk).update(name=XSS)
    for name in ("bank-rename", "bank-delete", "bank-config", "bank-config-copy"):
        assert_harmless(text_of(get(as_user(people.operator), name, bank.pk, now=1)))
