"""Every page for everybody: axe finds nothing, and a phone shows it without scrolling sideways."""

import json
from datetime import timedelta

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.utils import timezone
from playwright.sync_api import Page

from banks.models import Bank, BankAlias, BankNumbers, Blob, Write
from memadmin.accounts.models import User
from reviews.models import HealthFact, ReviewEntry
from tests import factories
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.reviews.health_reports import report_of

FACTS = [
    {"text": "A valid fact.", "type": "world", "state": "valid", "entities": ["ledger"], "edited_at": "2026-03-04"},
    {"text": "A retired fact.", "type": "world", "state": "invalidated", "invalidation_reason": "it died"},
    {"text": "Seen across facts.", "type": "observation", "state": "valid", "source_fact_ids": ["1", "2"]},
]


@pytest.fixture
def pages(queue: list[ReviewEntry], reviewer: User) -> dict[str, str]:
    """Name and path of each page, with all its states on it."""
    bank, now = queue[0].bank, timezone.now()
    tags = "".join(chr(0xE0000 + ord(c)) for c in "approve all")
    long = factories.make_entry(
        bank,
        "session/" + "a-very-long-name-" * 12,
        text=f"Hidden{tags} and\u200b long.\n\n" + "A paragraph of it.\n\n" * 900,
        facts=Blob.objects.store(json.dumps(FACTS)),
        tags=["project:checkout"],
        danger=True,
        marks=[{"what": "tags", "tone": "danger", "count": 11}],
    )
    for state in ("loading", "missing", "unreachable", "refused"):
        factories.make_entry(bank, f"{state}.md", load_state=state, enqueued_at=None, expires_at=None)
    factories.make_entry(bank, "leased.md", lease_user=factories.make_user("ann"), lease_until=now + timedelta(hours=1))
    deleted = factories.make_entry(bank, "gone.md", state="deleted", decided_at=now, decided_by="Ann")
    writes = [
        Write.objects.create(
            kind="edit",
            bank=bank,
            via="web",
            state=state,
            slot=state,
            document_id=f"{state}.md",
            before=Blob.objects.store("up to 5 times"),
            request=Blob.objects.store("up to 8 times"),
            error_text="no space left",
        )
        for state in Write.State.values
    ]
    report = report_of(bank, stopped="The server did not answer in time.", retired=None)
    HealthFact.objects.create(report=report, finding="same", place=1, fact_id="1", document_id="d", text="A.", told="1")
    told = {
        "facts_by_type": {"world": 9, "observation": 1},
        "days": [0, 3] * 7,
        "days_to": now.date(),
        "error": "Gone.",
    }
    BankNumbers.objects.create(bank=bank, read_after=now, last_write_at=now, **told)
    BankAlias.objects.create(bank=bank, server=bank.server, alias="checkout", alias_hash=Bank.hash_of("checkout"))
    attention = next(write for write in writes if write.state == "attention")
    return {
        "overview": "/",
        "queue": "/reviews/",
        "no match": "/reviews/?q=nothing-like-it",
        "decided": "/reviews/?state=decided",
        "card": f"/reviews/{long.pk}/",
        "missing": f"/reviews/{ReviewEntry.objects.get(document_id='missing.md').pk}/",
        "deleted": f"/reviews/{deleted.pk}/",
        "edit": f"/reviews/{long.pk}/edit/",
        "log": "/log/",
        "row": f"/log/{attention.pk}/",
        "banks": "/banks/",
        "health": f"/banks/{bank.pk}/health/",
        "facts of health": f"/banks/{bank.pk}/health/facts/?of=same",
    }


# What may differ between the light and the dark face of the same page.
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def problems(page: Page) -> list[str]:
    """What axe finds, in the dark and in the light, and whether one has to scroll sideways."""
    said = []
    page.evaluate(AXE_SCRIPT)
    for scheme, rules in (("dark", COLOURS), ("light", {})):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = page.evaluate("rules => axe.run({ resultTypes: ['violations'], ...rules })", rules)["violations"]
        said += [f"{scheme}, {each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"]]
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return [*said, f"{width} px too wide"] if width > 0 else said


@pytest.mark.looks
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_shuts_anybody_out(
    viewport: dict[str, int], pages: dict[str, str], reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, "/", viewport=viewport)
    origin, found = page.url.rstrip("/"), {}
    for name, path in pages.items():
        page.goto(origin + path)
        if said := problems(page):
            found[name] = said
    page.goto(origin + pages["queue"])
    page.keyboard.press("?")
    if said := problems(page):
        found["keys"] = said
    assert found == {}


@pytest.mark.looks
def test_what_a_thumb_presses_is_big_enough(pages: dict[str, str], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, "/", viewport=PHONE, has_touch=True)
    origin, small = page.url.rstrip("/"), []
    for name in ("overview", "queue", "card", "edit", "log"):
        page.goto(origin + pages[name])
        for button in page.locator(".button:visible, .select:visible, .tabs a:visible").all():
            box = button.bounding_box()
            if box and box["height"] < 44:
                small.append((name, button.inner_text()[:30], box["height"]))
    assert small == []


@pytest.mark.looks
def test_all_done_shuts_nobody_out(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    ReviewEntry.objects.update(state="approved", decided_at=timezone.now())
    assert problems(signed_in(reviewer, "/reviews/", viewport=PHONE)) == []
