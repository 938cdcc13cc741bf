"""One bank at a glance: numbers as last read, what waits, what was done last, how it is treated."""

import html
import re
from datetime import timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import Bank, BankNumbers, Role, Write
from tests import factories
from tests.banks.admin_pages import SignIn, get, url
from tests.banks.log_rows import make_row
from tests.banks.operations import make_operation
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of


def words(page: str) -> str:
    """What stands in the main part, without its markup."""
    main = page.split("<main", 1)[1].split("</main", 1)[0]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", main)))


def test_it_says_what_waits_what_is_in_it_and_how_it_is_treated(bank: Bank, people: People, as_user: SignIn) -> None:
    now = timezone.now()
    counts = {"document_count": 12, "fact_count": 40, "retired_count": 3, "counted_at": now}
    policy = {"auto_approve_days": 3, "hold": True, "language": "de", "polled": False}
    Bank.objects.filter(pk=bank.pk).update(**counts, **policy)
    BankNumbers.objects.create(
        bank=bank, facts_by_type={"world": 30, "observation": 10}, backlog=5, last_write_at=now - timedelta(hours=2)
    )
    factories.make_entry(bank)
    make_operation(bank, status="failed")
    make_row(bank, "a.md", state="done")
    failed = make_row(bank, "b.md", state="attention", error_text="The server answered 500.")
    page = text_of(get(as_user(people.owner), "bank-detail", bank.pk))
    said = words(page)
    for what in (
        "1 memory pending",
        "12 documents last written 2 h ago",
        "40 facts 30 world, 10 observation",
        "3 retired 5 facts not consolidated",
        "Operations of the server that failed 1",
        "The server answered 500.",
        "Approved by time after 3 days",
        "held until somebody approves",
        "New documents are not reviewed",
        "Its language is de",
    ):
        assert what in said, what
    assert said.index("b.md") < said.index("a.md")
    assert f'href="{url("write-detail", failed.pk)}"' in page
    assert f'href="{url("bank-policy", bank.pk)}"' in page


def test_what_was_never_read_is_unknown_and_not_nothing(bank: Bank, people: People, as_user: SignIn) -> None:
    said = words(text_of(get(as_user(people.viewer), "bank-detail", bank.pk)))
    for what in (
        "unknown documents last write unknown",
        "unknown facts",
        "unknown retired",
        "did not tell",
        "not read",
    ):
        assert what in said, what
    assert "Nothing was done to it from here yet." in said
    assert "Policy" not in said  # not for a viewer


def test_only_rows_of_this_bank_are_shown(bank: Bank, people: People, as_user: SignIn) -> None:
    other = factories.make_bank("other", server=bank.server)
    factories.grant(people.viewer, other, Role.VIEWER)
    make_row(other, "elsewhere.md", state="attention")
    assert "elsewhere.md" not in text_of(get(as_user(people.viewer), "bank-detail", bank.pk))
    assert get(as_user(people.stranger), "bank-detail", bank.pk).status_code == 404


def test_foreign_text_stays_text(bank: Bank, people: People, as_user: SignIn) -> None:
    Bank.objects.filter(pk=bank.pk).update(name=XSS, language=XSS[:35])
    BankNumbers.objects.create(bank=bank, facts_by_type={XSS: 3}, error=XSS)
    make_row(bank, XSS, state="attention", error_text=XSS)
    assert_harmless(text_of(get(as_user(people.owner), "bank-detail", bank.pk)))


def test_more_rows_and_failures_cost_no_more_queries(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    make_row(bank, "0.md", state="attention")
    make_row(bank, "0.md", state="done")
    with CaptureQueriesContext(connection) as few:
        get(client, "bank-detail", bank.pk)
    for number in range(30):
        make_row(bank, f"{number}.md", state="attention" if number % 2 else "done")
    with CaptureQueriesContext(connection) as many:
        get(client, "bank-detail", bank.pk)
    assert len(few) == len(many)
    assert Write.objects.filter(bank=bank).count() == 32
