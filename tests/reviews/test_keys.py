import json
from datetime import timedelta

from django.utils import timezone

from banks.models import Bank, Blob
from reviews.keys import KEYS
from tests import factories
from tests.conftest import People
from tests.reviews.pages import Reader, text_of

# Handled without a button of their own: the sheet, leaving a field, and the box of a row.
WITHOUT_BUTTON = {"?", "Escape", "x"}


def test_no_key_has_two_meanings() -> None:
    assert len({key.key for key in KEYS}) == len({key.action for key in KEYS}) == len(KEYS)


def test_every_key_of_the_sheet_presses_something(bank: Bank, people: People, as_user) -> None:
    facts = Blob.objects.store(
        json.dumps([{"id": "f1", "text": "One."}, {"id": "f2", "text": "Two.", "state": "invalidated"}])
    )
    first, middle, last = (
        factories.make_entry(bank, f"{n}.md", expires_at=timezone.now() + timedelta(days=n), facts=facts)
        for n in (1, 2, 3)
    )
    client = as_user(people.reviewer)
    client.post(f"/reviews/{last.pk}/approve/", {"version": 1, "text_hash": last.text_id})
    factories.make_entry(bank, "4.md", expires_at=timezone.now() + timedelta(days=4))
    bound = set()
    for page in ("/", "/reviews/", f"/reviews/{middle.pk}/", f"/reviews/{middle.pk}/edit/", f"/reviews/{first.pk}/"):
        for tag, attributes in Reader(text_of(client.get(page))).elements:
            if "data-key" in attributes:
                assert tag in {"a", "button", "input", "summary"}
                bound.update(str(attributes["data-key"]).split(" "))
    assert bound - {"2"} == {key.key for key in KEYS} - WITHOUT_BUTTON  # the digits are one row of the sheet


def test_no_page_binds_a_key_twice(bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank, expires_at=timezone.now() + timedelta(days=1))
    client = as_user(people.reviewer)
    for state in ("pending", "approved"):
        type(entry).objects.filter(pk=entry.pk).update(state=state)
        elements = Reader(text_of(client.get(f"/reviews/{entry.pk}/"))).elements
        keys = [key for _, each in elements if "data-key" in each for key in str(each["data-key"]).split(" ")]
        assert len(keys) == len(set(keys))
