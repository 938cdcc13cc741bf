"""Our own pages: hostile ids are text on them, and never part of an address."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from banks.models import Bank, Write
from reviews.models import ReviewEntry
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.known_failures.world import DOCUMENT_IDS, loaded
from tests.reviews.pages import assert_harmless, links, text_of


@pytest.mark.django_db
def test_row_022_every_page_shows_the_memory_and_leads_nowhere_else(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    client = as_user(people.reviewer)
    entries = [loaded(bank, document_id) for document_id in DOCUMENT_IDS]
    ReviewEntry.objects.update(expires_at=timezone.now())
    for entry in entries:
        Write.objects.create(
            kind="delete",
            bank=bank,
            via="web",
            state="attention",
            slot=entry.document_hash,
            document_id=entry.document_id,
        )
    pages = ["/", "/reviews/", "/log/", *[f"/log/{write.pk}/" for write in Write.objects.all()[:5]]]
    pages += [f"/banks/{bank.pk}/{name}/?now=1" for name in ("documents", "entities", "directives")]
    document = f"/banks/{bank.pk}/documents/document/?now=1&document="
    pages += [f"{document}{quote(entry.document_id, safe='')}" for entry in entries]
    pages += [f"/reviews/{entry.pk}/" for entry in entries] + [f"/reviews/{entry.pk}/edit/" for entry in entries[:5]]
    for path in pages:
        answer = client.get(path)
        assert answer.status_code == 200, path
        page = text_of(answer)
        assert_harmless(page)
        addresses = [link.partition("?")[0] for link in links(page)]
        assert [
            each
            for each in addresses
            if not re.fullmatch(r"(/[a-z0-9-]+)*(/|\.csv|\.jsonl)?|/static/[a-z0-9./-]+|#[a-z-]+|", each)
        ] == [], path
    for entry in entries:
        found = text_of(client.get("/reviews/", {"q": entry.document_id}))
        assert f'href="/reviews/{entry.pk}/' in found


def patterns(resolver: URLResolver, prefix: str = "") -> list[tuple[str, URLPattern]]:
    found: list[tuple[str, URLPattern]] = []
    for each in resolver.url_patterns:
        path = f"{prefix}{each.pattern}"
        found += patterns(each, path) if isinstance(each, URLResolver) else [(path, each)]
    return found


def test_row_023_no_path_of_ours_can_carry_a_foreign_id() -> None:
    """Numbers are our primary keys; the secrets of sign-in links and of mails are ours too."""
    ours = {"IntConverter"}
    carrying = {
        path: [type(converter).__name__ for converter in each.pattern.converters.values()]
        for path, each in patterns(get_resolver())
        if each.pattern.converters
    }
    assert carrying
    foreign = {path for path, kinds in carrying.items() if set(kinds) - ours}
    assert {path for path in foreign if not path.startswith(("accounts/", "hooks/", "mail/"))} == set()
