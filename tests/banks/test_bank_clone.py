"""Cloning a bank: a new one on the same server, made once, never over one that is there."""

import pytest

from banks import connections
from banks.models import Bank, Role, Write
from tests import factories
from tests.banks.admin_pages import SignIn, get, post
from tests.banks.conftest import LyingTransport, line
from tests.banks.retaining import work_off
from tests.conftest import People
from tests.reviews.pages import text_of

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server_admin(bank: Bank, people: People) -> People:
    factories.grant(people.owner, bank.server, Role.ADMIN)
    return people


def documents(bank: Bank, bank_id: str) -> dict[str, str]:
    with connections.client_for(bank.server) as client:
        rows = client.list_documents(bank_id).items
        return {row.id: client.get_document(bank_id, row.id).text for row in rows}


def banks_of(bank: Bank) -> set[str]:
    with connections.client_for(bank.server) as client:
        return {row.bank_id for row in client.list_banks()}


def test_a_clone_has_what_the_bank_had(bank: Bank, line: LyingTransport, server_admin: People, as_user: SignIn) -> None:
    client = as_user(server_admin.owner)
    assert "Clone this bank on its server" in text_of(get(client, "bank-export", bank.pk))
    answer = post(client, "bank-clone", bank.pk, bank_id="копия")
    made = Bank.objects.get(bank_id="копия")
    write = Write.objects.get()
    assert answer["Location"] == f"/log/{write.pk}/"
    assert (write.kind, write.bank, line.calls) == ("bank-clone", made, [])
    work_off(made)
    made.refresh_from_db()
    write.refresh_from_db()
    assert (write.state, made.gone_since) == (Write.State.DONE, None)
    assert documents(bank, "копия") == documents(bank, bank.bank_id) != {}


def test_a_bank_that_is_there_is_left_as_it_is(
    bank: Bank, line: LyingTransport, server_admin: People, as_user: SignIn
) -> None:
    client = as_user(server_admin.owner)
    page = text_of(post(client, "bank-clone", bank.pk, bank_id=bank.bank_id))
    assert "has a bank of this id already" in page
    with connections.client_for(bank.server) as past_us:
        post(client, "bank-clone", bank.pk, bank_id="other")
        past_us.put_bank("other")
    work_off(Bank.objects.get(bank_id="other"))
    assert Write.objects.get().state == Write.State.CHANGED
    assert documents(bank, "other") == {}
    assert line.sent("POST") == 0


@pytest.mark.parametrize("cut", ["cut_before", "cut_after"])
def test_a_lost_answer_makes_one_clone(
    bank: Bank, line: LyingTransport, server_admin: People, as_user: SignIn, cut: str
) -> None:
    post(as_user(server_admin.owner), "bank-clone", bank.pk, bank_id="copy")
    getattr(line, cut).append("POST")
    work_off(Bank.objects.get(bank_id="copy"))
    assert Write.objects.get().state == Write.State.DONE
    assert line.sent("POST") == 1
    assert banks_of(bank) == {bank.bank_id, "copy"}


def test_only_an_admin_of_the_whole_server_clones_and_no_persons_bank(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    for person, status in ((people.stranger, 404), (people.viewer, 403), (people.owner, 403)):
        assert post(as_user(person), "bank-clone", bank.pk, bank_id="copy").status_code == status
    assert "Clone this bank" not in text_of(get(as_user(people.owner), "bank-export", bank.pk))
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.operator)
    page = text_of(post(as_user(people.operator), "bank-clone", bank.pk, bank_id="copy"))
    assert "which few may see" in page
    assert not Write.objects.exists()
    assert line.calls == []
