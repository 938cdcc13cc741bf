"""What looks like a number in an address, or is longer than any, is no reason to fail: no page is an error of ours."""

import pytest
from django.test import Client

from banks.models import Bank
from tests.conftest import People
from tests.known_failures.routes import ADDRESSES, address_of

# What addresses of pages have numbers in.
NUMBERS = (
    "after", "again", "age", "bank", "before", "check", "days", "folder", "full", "group", "job", "kind", "last",
    "line", "looks", "mark", "max_chars", "new", "page", "part", "pick", "refused", "rows", "server", "start", "to",
    "user", "who",
)  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("said", ["²", "9" * 5000])
def test_no_page_fails_at_what_only_looks_like_a_number(
    said: str, things: dict[str, int], bank: Bank, people: People
) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(people.operator)
    query = dict.fromkeys(NUMBERS, said)
    failed = [
        name for path, name, names in ADDRESSES if client.get(address_of(path, names, things), query).status_code >= 500
    ]
    assert failed == []
