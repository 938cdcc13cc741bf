"""Operations in a browser: walked and picked by keys, changed in place, readable for everybody."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from banks.models import Bank, OperationLook, OperationSeen, Role, Write
from memadmin.accounts.models import User
from tests import factories
from tests.banks.operations import make_operation
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.test_access import problems

HERE = "/operations/"
ERROR = "RuntimeError: Fact extraction failed: 1/1 chunks failed. First failures: chunk 0: "


@pytest.fixture
def bank(reviewer: User) -> Bank:
    bank = factories.make_bank("checkout-service", name="Checkout service", server=factories.make_server(health="ok"))
    factories.grant(reviewer, bank, Role.ADMIN)
    return bank


@pytest.fixture
def operations(bank: Bank) -> list[OperationSeen]:
    """Every face that a row can have, newest first."""
    now = timezone.now()
    kinds = iter(range(20))

    def row(status: str, **values: object) -> OperationSeen:
        return make_operation(bank, status, began=now - timedelta(minutes=3 * next(kinds)), **values)

    batch = row("pending", type="batch_retain", document_id="", items=4)
    for status in ("completed", "failed", "processing"):
        make_operation(bank, status, parent=batch, error=ERROR if status == "failed" else "")
    long = "session/" + "a-very-long-name-" * 9
    again = {"next_retry_at": now + timedelta(seconds=40), "still_since": now + timedelta(seconds=40)}
    rows = [
        batch,
        row("retrying", retry_count=2, error=ERROR + "connection refused", **again),
        row("processing", type="consolidation", document_id="", still_since=now - timedelta(hours=2)),
        row("failed", document_id=long, error=ERROR + "x" * 3_000, over_since=now),
        row("completed", type="refresh_mental_model", document_id="", about="team-overview", over_since=now),
        row("cancelled", over_since=now),
        row("not_found", type="dream_of_sheep", over_since=now),
        row("paused by moon"),
    ]
    OperationLook.objects.update(look_after=now + timedelta(hours=1), open_total=10_431, failed_total=12)
    return rows


def test_it_is_walked_picked_and_confirmed_by_keys(
    operations: list[OperationSeen], reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, HERE)
    for _ in range(4):
        page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_role("checkbox", name="Select retain session")).to_be_checked()
    page.get_by_role("button", name="Retry the selected").press("Enter")
    expect(page.get_by_role("heading", name="Retry 1 operation")).to_be_visible()
    page.get_by_role("button", name="Retry 1 operation").press("Enter")
    expect(page.get_by_text("It is being sent.")).to_be_visible()
    expect(page.get_by_role("link", name="retry is under way")).to_be_visible()
    assert Write.objects.get().params["operation"] == operations[3].operation_id


def test_what_changes_is_changed_in_its_place_and_what_is_picked_stays_picked(
    operations: list[OperationSeen], reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, HERE)
    batch, waiting, *_ = operations
    row = page.locator(".operation", has=page.locator(f"#operation-{batch.pk}"))
    row.get_by_role("checkbox").check()
    row.get_by_text("3 parts of").click()
    expect(row.locator(".operation-parts > li")).to_have_count(3)
    link = page.locator(f"#operation-cancel-{waiting.pk}")
    link.focus()
    now = timezone.now()
    batch.children.filter(status="processing").update(status="completed", raw_status="completed", phase="ended")
    OperationSeen.objects.filter(pk=batch.pk).update(status="failed", raw_status="failed", changed_at=now)
    OperationSeen.objects.filter(pk=waiting.pk).update(retry_count=3, changed_at=now)
    expect(page.locator(f"#operation-{batch.pk} .stamp").first).to_contain_text("failed")
    expect(row.locator(".operation-parts .stamp", has_text="completed")).to_have_count(2)
    expect(row.get_by_role("checkbox")).to_be_checked()
    expect(row.locator(".operation-parts")).to_be_visible()
    expect(page.locator(f"#operation-{waiting.pk}")).to_contain_text("retry 3")
    expect(link).to_be_focused()


@pytest.mark.looks
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_of_operations_shuts_anybody_out(
    size: dict[str, int], operations: list[OperationSeen], reviewer: User, signed_in: Open
) -> None:
    stuck = operations[2]
    paths = [HERE, f"{HERE}?show=stuck", f"{HERE}?q=nothing-like-it", f"{HERE}cancel/?pick={operations[0].pk}"]
    for path in [*paths, f"{HERE}retry/?show=failed&all=1", f"{HERE}cancel/?pick={stuck.pk}&pick={operations[5].pk}"]:
        page = signed_in(reviewer, path, viewport=size)
        for details in page.locator("details").all():
            details.evaluate("each => { each.open = true; }")
        assert problems(page) == [], path


def test_it_works_without_a_script(operations: list[OperationSeen], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"{HERE}?show=open", java_script_enabled=False)
    page.get_by_text("3 parts of batch retain").click()
    expect(page.locator(".operation-parts > li").first).to_be_visible()
    page.get_by_role("button", name="Read now").click()
    expect(page.get_by_text("The servers are being asked.")).to_be_visible()
    page.locator(f"#operation-cancel-{operations[1].pk}").click()
    page.get_by_role("button", name="Cancel 1 operation").click()
    expect(page.get_by_text("It is being sent.")).to_be_visible()
    assert Write.objects.get().kind == "operation-cancel"
