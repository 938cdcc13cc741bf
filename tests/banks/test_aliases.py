"""Other ids that a server takes for a bank: they mean that bank, wherever a program or a file says them."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from banks import connections, naming
from banks.models import Bank, BankAlias, BankNumbers, Role
from banks.numbers import look
from banks.numbers.read import Numbers
from banks.numbers.store import rows_for, store
from reviews.models import ReviewEntry
from tests import factories
from tests.api.asking import Program, issue
from tests.banks.admin_pages import SignIn, get
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.reviews.pages import text_of
from tests.reviews.queue_files import add, import_lines

pytestmark = pytest.mark.django_db(transaction=True)


def told(bank: Bank, *aliases: str) -> None:
    rows_for([bank])
    row = BankNumbers.objects.select_related("bank").get(bank=bank)
    assert store(row, Numbers(0, 0, {}, None, None, None, aliases=list(aliases)))


def meant(bank_id: str) -> list[Bank]:
    return list(naming.by_id(Bank.objects.order_by("pk"), bank_id))


def test_they_are_read_from_the_server(bank: Bank, line: LyingTransport) -> None:
    said = {"bank_id": bank.bank_id, "aliases": [{"alias": "shop"}, {"alias": "a/b"}, {"alias": ""}, {"alias": "shop"}]}

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=said) if "aliases" in request.url.path else line.handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    assert look.look(bank.server_id) == "1 read, 0 failed"
    assert [row.alias for row in bank.aliases.all()] == ["shop"]
    assert meant("shop") == meant("checkout-service") == [bank]


def test_they_come_go_and_move_as_the_server_says(bank: Bank) -> None:
    other = factories.make_bank("other", server=bank.server)
    told(bank, "shop", "store")
    told(bank, "store")
    assert (meant("shop"), meant("store")) == ([], [bank])
    told(other, "store")
    assert meant("store") == [other]
    assert BankAlias.objects.count() == 1


def test_the_id_of_a_bank_means_that_bank(bank: Bank) -> None:
    other = factories.make_bank("other", server=bank.server)
    told(bank, "other")
    assert meant("other") == [other]
    assert not BankAlias.objects.exists()


def test_an_alias_of_one_server_says_nothing_on_another(bank: Bank) -> None:
    elsewhere = factories.make_bank("shop")
    told(bank, "shop")
    assert meant("shop") == [bank, elsewhere]


def test_a_line_of_a_file_that_says_one_is_about_the_bank(
    bank: Bank, people: People, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    told(bank, "shop")
    import_lines([add("a", bank="shop", baseUrl=bank.server.base_url)], people.owner)
    assert ReviewEntry.objects.get().bank == bank
    assert Bank.objects.count() == 1  # no new one was registered


def test_a_program_may_say_one_where_it_may_see_the_bank(bank: Bank, people: People) -> None:
    told(bank, "shop")
    reader = Program(issue(people.viewer, role=Role.VIEWER))
    assert reader.get("/log", bank="shop").status_code == 200
    factories.grant(people.stranger, factories.make_bank("other", server=bank.server), Role.VIEWER)
    stranger = Program(issue(people.stranger, role=Role.VIEWER))
    assert stranger.get("/log", bank="shop").status_code == stranger.get("/log", bank="none").status_code == 404


def test_a_bank_is_found_by_one(bank: Bank, people: People, as_user: SignIn) -> None:
    factories.make_bank("other", server=bank.server)
    told(bank, "old-shop-name")
    page = text_of(get(as_user(people.operator), "bank-list", q="SHOP-NAME")).split("<table")[1]
    assert "Checkout service" in page
    assert "old-shop-name" in page
    assert ">other<" not in page
