"""Single letters are keys, for each person as long as they want."""

from banks.models import Bank
from memadmin.accounts.models import User
from reviews.keys import KEYS
from tests import factories
from tests.conftest import People
from tests.reviews.pages import Reader, text_of


def body(page: str) -> dict[str, str | None]:
    return next(attributes for tag, attributes in Reader(page).elements if tag == "body")


def test_a_person_turns_them_off_and_on_again(bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank)
    client, card = as_user(people.reviewer), f"/reviews/{entry.pk}/"
    before = text_of(client.get(card))
    assert "data-letters" not in body(before)
    answer = client.post("/settings/letters/", {"letters": "off", "next": card})
    assert answer["Location"] == card
    page = text_of(client.get(card))
    assert body(page)["data-letters"] == "off"
    assert "Approve <kbd>" not in " ".join(page.split()).replace("</span> ", "")
    assert page.count("<kbd>") < before.count("<kbd>")
    assert "Turn single letters on" in page
    assert User.objects.get(pk=people.owner.pk).letters
    client.post("/settings/letters/", {"letters": "on", "next": "https://evil.example/"})
    assert "data-letters" not in body(text_of(client.get(card)))


def test_it_leads_nowhere_else(people: People, as_user) -> None:
    client = as_user(people.reviewer)
    for next_ in ("https://evil.example/", "//evil.example/", "", "javascript:alert(1)"):
        assert client.post("/settings/letters/", {"letters": "off", "next": next_})["Location"] == "/"


def test_the_handlers_and_the_sheet_are_made_from_one_table(people: People, as_user) -> None:
    page = text_of(as_user(people.reviewer).get("/"))
    table = next(each["data-table"] for _, each in Reader(page).elements if "data-table" in each)
    for key in KEYS:
        assert f'"{key.action}": "{key.key}"' in str(table)
        assert key.text.split(":")[0] in page
