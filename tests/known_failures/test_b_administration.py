"""Banks as such: made by one form, deleted by one, and looked at by everything else."""

import re
from typing import Any

import pytest
from django.test import Client

from banks import connections
from banks.models import Bank
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.banks.retaining import work_off
from tests.conftest import People
from tests.known_failures.source import product_files
from tests.reviews.pages import text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_row_027_after_an_act_on_a_bank_its_settings_are_read_again_and_what_vanished_is_told(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    with connections.client_for(bank.server) as past_us:
        past_us.put_bank(bank.bank_id, name=bank.name)
        past_us.patch_config(bank.bank_id, {"retain_mission": "Keep names.", "retain_chunk_size": 2000})

        def lose() -> None:
            past_us.patch_config(bank.bank_id, {"retain_mission": None})

        as_user(people.owner).post(f"/banks/{bank.pk}/rename/", {"name": "Payments"})
        line.before_call["PATCH"] = lose
        work_off(bank)
    write = bank.writes.get(kind="bank-rename")
    assert (write.state, write.outcome["vanished"]) == ("done", ["retain_mission"])
    assert "retain_mission" in text_of(as_user(people.owner).get(f"/log/{write.pk}/"))


@pytest.mark.parametrize("typed", ["", "checkout", "Checkout service", "checkout-service ", "CHECKOUT-SERVICE", None])
def test_row_028_what_is_typed_is_compared_here_and_another_id_deletes_nothing(
    typed: str | None, bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    said = {} if typed is None else {"typed": typed}
    answer = as_user(people.owner).post(f"/banks/{bank.pk}/delete/", said)
    assert answer.status_code == 400
    assert "is not the id of this bank" in text_of(answer)
    assert (line.calls, bank.writes.count()) == ([], 0)


def test_row_028_only_an_admin_with_a_form_of_ours_deletes_a_bank(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    said, path = {"typed": bank.bank_id}, f"/banks/{bank.pk}/delete/"
    for who, status in ((people.reviewer, 403), (people.viewer, 403), (people.stranger, 404)):
        assert as_user(who).post(path, said).status_code == status
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people.owner)
    assert strict.post(path, said).status_code == 403
    assert as_user(people.owner).delete(path).status_code == 405
    assert (line.calls, bank.writes.count()) == ([], 0)


def test_row_028_the_row_of_the_log_is_first_and_says_how_much_there_was(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    client = as_user(people.owner)
    page = text_of(client.get(f"/banks/{bank.pk}/delete/?now=1"))
    assert re.search(r"<dt>Documents</dt><dd>1</dd>\s*<dt>Facts and observations</dt><dd>[1-9]", page)
    assert f">{bank.bank_id}</code>" in page
    line.calls.clear()
    client.post(f"/banks/{bank.pk}/delete/", {"typed": bank.bank_id, "documents": "1"})
    write, seen = bank.writes.get(), []
    assert (write.kind, write.actor, write.params["documents"], line.calls) == ("bank-delete", people.owner, 1, [])
    line.before_call["DELETE"] = lambda: seen.append(bank.writes.get().outcome)
    work_off(bank)
    assert [(told["documents"], told["facts"] > 0) for told in seen] == [(1, True)]
    assert line.sent("DELETE") == 1


def test_row_034_only_the_form_that_says_so_makes_a_bank() -> None:
    """The call has one place in the product: the write of that form."""
    calling = [path.as_posix() for path, source in product_files() if re.search(r"\.put_bank\(", source)]
    assert calling == ["banks/whole/kinds.py"]


def test_row_034_a_question_makes_no_bank() -> None:
    """Servers make a bank of a mistyped id that is asked to reflect: one place asks, behind a look at the list."""
    calling = {path.as_posix(): source for path, source in product_files() if re.search(r"client\.reflect\(", source)}
    assert list(calling) == ["banks/recall/reflecting.py"]
    (source,) = calling.values()
    assert source.index("with asking(") < source.index("client.reflect(")


def test_row_034_the_pages_of_administration_only_read(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    typo = factories.make_bank("chekout-service", server=bank.server)
    client = as_user(people.operator)
    for page in ("configuration", "rename", "delete", "configuration/copy", "configuration/export"):
        client.get(f"/banks/{typo.pk}/{page}/", {"now": "1", "to": str(bank.pk)})
    client.get("/banks/new/")
    assert {method for method, _ in line.calls} == {"GET"}
    with connections.client_for(bank.server) as past_us:
        assert [row.bank_id for row in past_us.list_banks()] == [bank.bank_id]
