"""`/settings/`: what anybody may see there, and what only an operator on their own machine may save."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from banks.models import AdminEvent, Bank
from reviews.agentconfig import files
from tests import factories
from tests.conftest import People
from tests.reviews.pages import XSS, text_of

URL = "/settings/"
As = Callable[..., Client]


def upload(**named: Any) -> dict[str, Any]:
    return {
        name: SimpleUploadedFile("hindsight.json", value if isinstance(value, bytes) else json.dumps(value).encode())
        for name, value in named.items()
    }


@pytest.fixture
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "shop"
    (folder / ".pi").mkdir(parents=True)
    (folder / ".pi" / "hindsight.json").write_text('{"bankId": "shop", "secretThing": "sesame-4711"}')
    settings.AGENT_FOLDERS, settings.PRODUCTION, settings.DEMO = [str(folder)], False, False
    return folder


def change(folder: Path, **more: str) -> dict[str, str]:
    seen = {f"seen_{place}": files.look(place, folder).seen for place in ("project", "global")}
    return {"folder": "0", **seen, "place": "project", "name": "recallMaxLines", "value": "12", **more}


def test_servers_and_their_numbers_and_what_is_unknown(bank: Bank, people: People, as_user: As) -> None:
    assert "unknown" in text_of(as_user(people.viewer).get(URL))
    Bank.objects.filter(pk=bank.pk).update(document_count=17, fact_count=4321)
    page = text_of(as_user(people.viewer).get(URL))
    assert "4,321" in page
    assert "cannot be read: no answer of a server tells it" in page
    assert "4,321" not in text_of(as_user(people.stranger).get(URL))


def test_two_files_are_explained_and_not_kept(bank: Bank, people: People, as_user: As) -> None:
    Bank.objects.filter(pk=bank.pk).update(bank_id="shop", bank_hash=Bank.hash_of("shop"), fact_count=4321)
    pair = upload(project={"bankId": "Shop", "autoRecall": False, "apiKey": "sesame-4711"}, person={"autoRecall": True})
    client = as_user(people.viewer)
    page = text_of(client.post(f"{URL}files/", pair))
    assert "The global file says “on”, which does not count here." in page
    assert f"?bank={bank.pk}" in page
    assert "sesame-4711" not in page
    assert "seen_project" not in page  # nothing there to save
    assert "Shop" not in text_of(client.get(URL))


def test_hostile_and_malformed_files(people: People, as_user: As) -> None:
    client = as_user(people.viewer)
    page = text_of(client.post(f"{URL}files/", upload(project={"memoryLanguage": XSS, XSS: 1}, person=b"{")))
    assert XSS not in page
    assert "The global file cannot be used." in page
    assert client.post(f"{URL}files/", {}).status_code == 422
    assert client.post(f"{URL}files/", upload(project=b" " * 1_100_000)).status_code == 422


def test_an_operator_saves_a_key_of_this_machine(folder: Path, people: People, as_user: As) -> None:
    client = as_user(people.operator)
    page = text_of(client.get(URL))
    assert str(folder) in page
    assert "sesame-4711" not in page
    assert client.post(f"{URL}key/save/", change(folder)).status_code == 303
    assert json.loads((folder / ".pi" / "hindsight.json").read_text())["recallMaxLines"] == 12
    event = AdminEvent.objects.get()
    assert (event.what, event.before, event.after["recallMaxLines"]) == ("agent-file", {}, "12")
    assert client.post(f"{URL}key/remove/", change(folder)).status_code == 303
    assert "recallMaxLines" not in (folder / ".pi" / "hindsight.json").read_text()


def test_what_was_not_on_screen_is_not_saved_over(folder: Path, people: People, as_user: As) -> None:
    form = change(folder)
    (folder / ".pi" / "hindsight.json").write_text('{"bankId": "other"}')
    answer = as_user(people.operator).post(f"{URL}key/save/", form)
    assert answer.status_code == 409
    assert "Nothing was saved" in text_of(answer)
    assert files.look("project", folder).seen in text_of(answer)  # so that the next try is about what is there now
    assert not AdminEvent.objects.exists()


def test_a_file_that_cannot_be_read_has_a_face_and_is_left_alone(folder: Path, people: People, as_user: As) -> None:
    (folder / ".pi" / "hindsight.json").unlink()
    (folder / ".pi" / "hindsight.json").mkdir()
    client = as_user(people.operator)
    assert "It is no ordinary file." in text_of(client.get(URL))
    answer = client.post(f"{URL}key/save/", change(folder))
    assert answer.status_code == 409
    assert "could not be saved (It is no ordinary file.)" in text_of(answer)


def test_a_value_of_another_kind_stays_in_the_form(folder: Path, people: People, as_user: As) -> None:
    answer = as_user(people.operator).post(f"{URL}key/save/", change(folder, value="lots"))
    assert answer.status_code == 422
    assert "lots" in text_of(answer)


@pytest.mark.parametrize("act", ["save", "remove"])
def test_nobody_else_reads_or_saves_this_machines_files(
    folder: Path, people: People, as_user: As, settings: Any, act: str
) -> None:
    form = change(folder)
    before = (folder / ".pi" / "hindsight.json").read_text()
    assert str(folder) not in text_of(as_user(people.owner).get(URL))
    assert as_user(people.owner).post(f"{URL}key/{act}/", form).status_code == 403
    settings.PRODUCTION = True
    assert str(folder) not in text_of(as_user(people.operator).get(URL))
    assert as_user(people.operator).post(f"{URL}key/{act}/", form).status_code == 403
    assert (folder / ".pi" / "hindsight.json").read_text() == before


def test_it_costs_as_many_queries_with_many_servers(
    people: People, as_user: As, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client = as_user(people.operator)
    client.get(URL)
    for number in range(20):
        factories.make_bank(f"b{number}", server=factories.make_server(base_url=f"http://h{number}", name=f"s{number}"))
    with django_assert_max_num_queries(16):
        client.get(URL)
