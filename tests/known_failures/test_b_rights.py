"""Whoever may not act on a bank acts on nothing: every address by everybody, found by itself."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from banks.models import Bank, Role
from banks.services import tokens
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.known_failures.routes import ADDRESSES, NAMES, address_of
from tests.known_failures.who_may import EVERYBODY, GROUPS, WHO_MAY
from tests.known_failures.world import everything

REFUSED = {403, 404}
# What is noted down about a token that is shown.
USE = {"banks.apitoken"}


def posted(things: dict[str, int], bank: Bank, people: People) -> dict[str, Any]:
    """A body in which every view finds what it looks for."""
    entry = ReviewEntry.objects.get(pk=things["reviews/"])
    return {
        "version": entry.version,
        "text_hash": entry.text_id,
        "text": "Other words.",
        "do": "save",
        "next": "/log/",
        "bank": bank.pk,
        "server": bank.server.pk,
        "user": people.stranger.pk,
        "role": Role.ADMIN,
        "line": 1,
        "days": 7,
        "what": "all",
        "name": "x",
        "base_url": "http://h.test:1",
        "username": "new",
        "on": bank.pk,
    }


@pytest.fixture
def everybody(bank: Bank, people: People) -> dict[str, User]:
    elsewhere, keeper = factories.make_user("elsewhere"), factories.make_user("keeper")
    factories.grant(elsewhere, factories.make_bank(server=bank.server), Role.ADMIN)
    factories.grant(keeper, bank.server, Role.ADMIN)
    roles = [people.stranger, elsewhere, people.viewer, people.reviewer, people.owner, keeper, people.operator]
    return dict(zip(EVERYBODY, roles, strict=True))


class Asking:
    """Every address, one after the other, from the same rows: what a request did is undone."""

    def __init__(self, things: dict[str, int], bank: Bank, people: People, everybody: dict[str, User]) -> None:
        self.things, self.body = things, posted(things, bank, people)
        self.clients = {who: Client() for who in everybody}
        for who, client in self.clients.items():
            client.force_login(everybody[who])

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """(name, URL, method, who may)."""
        for path, name, names in ADDRESSES:
            url = address_of(path, names, self.things)
            yield from ((name, url, method, who) for method, who in zip(("get", "post"), WHO_MAY[name], strict=True))

    def ask(self, client: Client, url: str, method: str) -> Any:
        return client.post(url, self.body) if method == "post" else client.get(url)


@pytest.fixture
def asking(things: dict[str, int], bank: Bank, people: People, everybody: dict[str, User]) -> Asking:
    return Asking(things, bank, people, everybody)


def test_it_is_said_of_every_address_who_may_open_it() -> None:
    assert sorted(set(NAMES) ^ set(WHO_MAY)) == []


@pytest.mark.django_db
def test_row_040_who_has_no_right_changes_nothing_and_nothing_is_sent(asking: Asking, line: LyingTransport) -> None:
    before, wrong = everything(), []
    named = {address_of(path, names, asking.things) for path, _, names in ADDRESSES if names}
    for name, url, method, who_may in asking.rows():
        allowed = EVERYBODY if who_may == "-" else GROUPS[who_may]
        for who in [who for who in EVERYBODY if who not in allowed]:
            status = asking.ask(asking.clients[who], url, method).status_code
            # Who has no role anywhere does not even learn that there is the thing that the address names.
            if status not in REFUSED or (who == "stranger" and status != 404 and url in named):
                wrong.append((name, method, who, status))
        if line.calls or (method == "post" and everything() != before):
            pytest.fail(f"{name} did something for somebody who may not: {line.calls}")
    assert wrong == []


@pytest.mark.django_db
def test_row_040_who_may_gets_through(asking: Asking) -> None:
    """Or else everything above is refused for another reason than the right."""
    wrong = []
    for name, url, method, who_may in asking.rows():
        # The least of them and the most: roles include each other.
        for who in ["operator"] if who_may == "-" else {*GROUPS[who_may][:1], *GROUPS[who_may][-1:]}:
            mark = transaction.savepoint()
            status = asking.ask(asking.clients[who], url, method).status_code
            transaction.savepoint_rollback(mark)
            if (status == 405) != (who_may == "-") or status in REFUSED:
                wrong.append((name, method, who, status))
    assert wrong == []


@pytest.mark.django_db
@pytest.mark.parametrize("role", [None, *Role])
def test_row_040_a_page_is_opened_by_signing_in_and_by_no_token(
    role: Role | None, asking: Asking, everybody: dict[str, User], line: LyingTransport
) -> None:
    client = Client()
    if role is not None:
        text = tokens.issue(owner=everybody["operator"], name="x", role=role, banks=None, days=1).text
        client = Client(headers={"Authorization": f"Bearer {text}"})
    before, wrong = everything(without=USE), []
    for name, url, method, _ in asking.rows():
        answer = asking.ask(client, url, method)
        if answer.status_code != 302 or not answer["Location"].startswith("/accounts/login/"):
            wrong.append((name, method, answer.status_code))
    assert (wrong, line.calls) == ([], [])
    assert everything(without=USE) == before
