"""How a bank is set, made and deleted, and how two people approve, in a browser: for everybody, on any screen."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from banks import connections
from banks.demo import DemoServer, Pace
from banks.models import Bank, Role, Write
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from tests import factories
from tests.banks.config_form import set_past_us
from tests.banks.conftest import LyingTransport, store
from tests.browser.conftest import PHONE, Open
from tests.browser.test_access import problems
from tests.known_failures.world import work_off

OWN = {
    "retain_mission": "Keep decisions.\nName people by their role.",
    "retain_strategies": {"code": {"retain_chunk_size": 6000}},
    "recall_budget_max": 2500,
}


@pytest.fixture
def run(queue: list[ReviewEntry], reviewer: User) -> Iterator[Bank]:
    """The bank of the queue on a demo server, with settings of its own, and its person an admin."""
    bank = queue[0].bank
    factories.grant(reviewer, bank.server, Role.ADMIN)
    demo = DemoServer(None, pace=Pace.instant())
    connections.TRANSPORTS[bank.server.base_url] = LyingTransport(demo)
    store(bank, "ledger", "Ann keeps the ledger.")
    set_past_us(bank, **OWN)
    yield bank
    del connections.TRANSPORTS[bank.server.base_url]
    demo.close()


def test_a_folded_setting_is_changed_and_the_rest_stays(run: Bank, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/banks/{run.pk}/configuration/")
    page.get_by_text("12 inherited").first.click()
    page.get_by_label("retain_chunk_size", exact=True).fill("2000")
    page.get_by_role("button", name="Send what was changed").click()
    expect(page.get_by_text("A change is on its way.")).to_be_visible()
    assert Write.objects.get().params == {"settings": ["retain_chunk_size"]}
    work_off()
    with connections.client_for(run.server) as client:
        assert client.bank_config(run.bank_id).overrides == {**OWN, "retain_chunk_size": 2000}


@pytest.mark.looks
def test_no_page_of_administration_shuts_anybody_out(run: Bank, reviewer: User, signed_in: Open) -> None:
    there = factories.make_bank("other", server=run.server)
    with connections.client_for(run.server) as client:
        client.put_bank(there.bank_id)
    ReviewEntry.objects.update(text_by=reviewer)
    Bank.objects.update(two_reviewers=True, bars_writer=True)
    entry = ReviewEntry.objects.earliest("pk")
    at = f"/banks/{run.pk}"
    pages = {
        f"{at}/configuration/": "Send what was changed",
        f"{at}/configuration/copy/?to={there.pk}": "Copy what is ticked",
        f"{at}/delete/": "Leave it alone",
        f"{at}/rename/": "Rename on the server",
        "/banks/new/": "Create the bank",
        f"{at}/policy/": "Store the policy",
        f"/reviews/{entry.pk}/": "0 of 2 approvals.",
    }
    page = signed_in(reviewer, "/", viewport=PHONE)
    origin, found = page.url.rstrip("/"), {}
    for path, shown in pages.items():
        page.goto(origin + path)
        expect(page.get_by_text(shown).first).to_be_visible()
        if said := problems(page):
            found[path] = said
    assert found == {}


def test_two_people_approve_by_the_same_key(run: Bank, reviewer: User, signed_in: Open) -> None:
    Bank.objects.update(two_reviewers=True)
    ann = factories.make_user("ann", first_name="Ann")
    factories.grant(ann, run, Role.REVIEWER)
    entry = ReviewEntry.objects.earliest("pk")
    mine = signed_in(reviewer, f"/reviews/{entry.pk}/")
    mine.keyboard.press("a")
    expect(mine.get_by_role("heading", name="notes/2.md")).to_be_visible()
    mine.goto(mine.url.partition("/reviews/")[0] + f"/reviews/{entry.pk}/")
    expect(mine.get_by_text("1 of 2 approvals, yours.")).to_be_visible()
    expect(mine.get_by_role("button", name="Approve")).to_be_disabled()
    hers = signed_in(ann, f"/reviews/{entry.pk}/")
    expect(hers.get_by_text("Yours would be the second.")).to_be_visible()
    hers.keyboard.press("a")
    expect(hers.get_by_role("heading", name="notes/2.md")).to_be_visible()
    entry.refresh_from_db()
    assert (entry.state, entry.decided_by) == ("approved", "Ann")
