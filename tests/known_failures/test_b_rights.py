"""Whoever may not act on a bank acts on nothing: every address that takes a post, found by itself."""

from typing import Any

import pytest
from django.test import Client

from banks.models import Bank, Role
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.known_failures.routes import ADDRESSES, NAMES, address_of
from tests.known_failures.world import everything

# What everybody signed in may add where no thing is named: work that looks for what it may do, and an own file.
OWN_ROWS = {"banks.job", "banks.jobitem", "reviews.sourcefile"}


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
def outsiders(bank: Bank, people: People) -> dict[str, User | None]:
    elsewhere = factories.make_user("elsewhere")
    factories.grant(elsewhere, factories.make_bank(server=bank.server), Role.ADMIN)
    return {"nobody": None, "reader": people.viewer, "admin of another bank": elsewhere}


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "name", "names"), ADDRESSES, ids=NAMES)
def test_row_040_who_has_no_right_changes_nothing_and_nothing_is_sent(
    path: str,
    name: str,
    names: list[str],
    things: dict[str, int],
    bank: Bank,
    people: People,
    outsiders: dict[str, User | None],
    line: LyingTransport,
) -> None:
    url, body = address_of(path, names, things), posted(things, bank, people)
    own = () if names else OWN_ROWS
    before = everything(without=own)
    for who, user in outsiders.items():
        client = Client(raise_request_exception=True)
        if user is not None:
            client.force_login(user)
        if names and who == "admin of another bank":
            assert client.get(url).status_code in {403, 404, 405}
        answer = client.post(url, body)
        refused = answer.status_code in {403, 404, 405}
        sent_to_sign_in = answer.status_code == 302 and answer["Location"].startswith("/accounts/login/")
        # An address that names nothing may answer that nothing was found.
        assert refused or (sent_to_sign_in and user is None) or not names, (who, answer.status_code)
        assert everything(without=own) == before, who
    assert line.calls == []


@pytest.mark.django_db
def test_row_040_the_same_posts_are_taken_from_those_who_may(
    things: dict[str, int], bank: Bank, people: People
) -> None:
    """Or else everything above is refused for another reason than the right."""
    taken = set()
    for path, name, names in ADDRESSES:
        client = Client()
        client.force_login(people.operator)
        answer = client.post(address_of(path, names, things), posted(things, bank, people))
        if answer.status_code not in {403, 404, 405}:
            taken.add(name)
    assert {"reviews:entry-approve", "reviews:entry-delete", "reviews:entry-edit", "banks:write-retry"} <= taken
