"""What happens to a memory while somebody looks at it, and a list as a browser has it."""

import html
import json
import re
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client

from banks.models import Blob, Write
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from reviews.services import decide, expiry
from tests.conftest import People
from tests.reviews.pages import HTMX, text_of

OLD, NEW = "Up to 5 times.\nSecond line.", "Up to 8 times.\nSecond line."

# What happened: what a conflict says about it, and the way on that it offers.
CASES = {
    "approved": ("<bdi>Ann Weber</bdi> approved this memory", "Take the approval back"),
    "being deleted": ("<bdi>Ann Weber</bdi> deleted this memory", "Undo the delete"),
    "edited": ("<bdi>Ann Weber</bdi> edited this memory", "Approve the new text"),
    "by time": ("This memory was approved by <bdi>time</bdi>", "Take the approval back"),
    "reopened": ("<bdi>Ann Weber</bdi> reopened this memory", "Approve it"),
    "written again": ("This memory was written again", "Approve the new text"),
}


def act(verb: str, user: User, entry: ReviewEntry) -> None:
    entry.refresh_from_db()
    decide.__dict__[verb](user=user, entry_id=entry.pk, version=entry.version, text_hash=entry.text_id)


def happen(name: str, entry: ReviewEntry, people: People) -> None:
    """One of CASES; what a person does, Ann does."""
    if name == "approved":
        act("approve", people.owner, entry)
    elif name == "being deleted":
        act("delete", people.owner, entry)
    elif name == "edited":
        edited(entry, people)
    elif name == "by time":
        ReviewEntry.objects.filter(pk=entry.pk).update(expires_at="2020-01-01T00:00Z")
        assert expiry.run().count == 1
    elif name == "reopened":
        act("approve", people.owner, entry)
        decide.undo(user=people.owner, entry_id=entry.pk)
    else:
        written_again(entry)


def written_again(entry: ReviewEntry, text: str = NEW) -> None:
    """As an agent does it: another text, no decision."""
    ReviewEntry.objects.filter(pk=entry.pk).update(text=Blob.objects.store(text), version=entry.version + 1)


def edited(entry: ReviewEntry, people: People) -> None:
    """Ann's edit has reached the bank and was read back."""
    seen = {"entry_id": entry.pk, "version": entry.version, "text_hash": entry.text_id}
    write = decide.edit(user=people.owner, new_text=NEW, **seen)
    assert write is not None
    Write.objects.filter(pk=write.pk).update(state="done")
    ReviewEntry.objects.filter(pk=entry.pk).update(text=write.request, load_state="loaded", version=entry.version + 2)


def form_of(client: Client, entry: ReviewEntry) -> dict[str, str]:
    """What the card's form sends, as it stands on the page."""
    page = text_of(client.get(f"/reviews/{entry.pk}/"))
    return {
        name: re.search(rf'<input type="hidden" name="{name}" value="([^"]*)"', page)[1]
        for name in ("version", "text_hash", "proof")
    }


class List:
    """The list as a browser has it: what it asks for next stands in its latest answer."""

    def __init__(self, client: Client, query: str = "") -> None:
        self.client = client
        self.page = text_of(client.get(f"/reviews/{query}"))
        self.asks = _asks(self.page)

    def ask(self) -> HttpResponse:
        path, values = self.asks or ("", {})
        answer = self.client.get(f"{path}{'&' if '?' in path else '?'}{urlencode(values)}", headers=HTMX)
        if answer.status_code == 200:
            self.asks = _asks(text_of(answer))
        return answer


def _asks(page: str) -> tuple[str, dict[str, str]] | None:
    found = re.search(r'id="changes" hx-get="([^"]*)" hx-vals="([^"]*)"', page)
    return (html.unescape(found[1]), json.loads(html.unescape(found[2]))) if found else None


def when(page: str, entry: ReviewEntry) -> str:
    """What stands at the right of the row."""
    found = re.search(rf'<div class="row-when" id="when-{entry.pk}"[^>]*>.*?</div>', page, re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", found[0]).split()) if found else ""
