"""The team's own seeds: made, changed and removed by admins, taken from files and written into them."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from banks.models import AdminEvent, Bank, Role, Seed
from banks.seeds import BUILT_IN, library
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, text_after, url
from tests.banks.conftest import LyingTransport
from tests.banks.mental import make_seed
from tests.conftest import People
from tests.reviews.pages import XSS, Reader, assert_harmless, text_of

pytestmark = pytest.mark.django_db
NEW = {
    "id": "glossary",
    "name": "Glossary",
    "source_query": "Which words mean something special here?",
    "scopes": ["global", "per-project-tagged"],
    "extra_tags": "lang:de\n\nteam:core",
    "max_tokens": "900",
    "mode": "delta",
    "by_itself": "on",
}


def shown(client: Client, seed: Seed) -> str:
    inputs = [given for tag, given in Reader(text_of(get(client, "seed-edit", seed.pk))).elements if tag == "input"]
    return next(given["value"] or "" for given in inputs if given.get("name") == "shown")


def upload(client: Client, data: Any) -> Any:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return client.post(url("seed-import"), {"file": SimpleUploadedFile("seeds.json", raw)})


def test_an_admin_makes_a_seed_and_it_is_in_the_library(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport
) -> None:
    client = as_user(people.owner)
    page = text_after(client, post(client, "seed-new", **NEW))
    seed = Seed.objects.get()
    assert (seed.seed_id, seed.scopes, seed.extra_tags) == (
        "glossary",
        ["global", "per-project-tagged"],
        ["lang:de", "team:core"],
    )
    assert seed.trigger == {"mode": "delta", "refresh_after_consolidation": True}
    assert "Glossary" in page
    assert all(spec.name in page for spec in BUILT_IN)
    assert AdminEvent.objects.get().what == "seed-added"
    assert line.calls == []


def test_a_seed_is_changed_by_who_saw_it_and_keeps_what_the_form_does_not_show(
    bank: Bank, people: People, as_user: SignIn
) -> None:
    seed = make_seed(trigger={"mode": "full", "keep_trace": True})
    client = as_user(people.owner)
    old = shown(client, seed)
    assert post(client, "seed-edit", seed.pk, **NEW, shown=old).status_code == 303
    seed.refresh_from_db()
    assert seed.max_tokens == 900
    assert seed.trigger == {"mode": "delta", "keep_trace": True, "refresh_after_consolidation": True}
    again = post(client, "seed-edit", seed.pk, **{**NEW, "name": "Words"}, shown=old)
    assert (again.status_code, "Somebody changed this seed" in text_of(again)) == (409, True)
    assert AdminEvent.objects.get().what == "seed-changed"


def test_a_seed_is_removed(bank: Bank, people: People, as_user: SignIn) -> None:
    seed = make_seed()
    client = as_user(people.owner)
    assert "Models that were made from it stay" in text_after(client, post(client, "seed-remove", seed.pk))
    assert not Seed.objects.exists()
    assert AdminEvent.objects.get().before["source_query"] == seed.source_query


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "user-preferences"}, "built in"),
        ({"id": "taken"}, "There is a seed of this id"),
        ({"id": "Not Good"}, "Lower-case letters"),
        ({"scopes": []}, "required"),
        ({"max_tokens": "9000"}, "8192"),
        ({"scopes": ["global"], "project_tagged": "on"}, "not told apart"),
    ],
)
def test_what_cannot_be_a_seed_is_said_at_its_field(
    bank: Bank, people: People, as_user: SignIn, change: dict[str, Any], said: str
) -> None:
    make_seed("taken")
    answer = post(as_user(people.owner), "seed-new", **{**NEW, **change})
    assert (answer.status_code, said in text_of(answer)) == (422, True)
    assert Seed.objects.count() == 1


def test_who_is_no_admin_of_anything_reads_them_and_changes_none(bank: Bank, people: People, as_user: SignIn) -> None:
    seed = make_seed()
    reader = as_user(people.viewer)
    page = text_of(get(reader, "seed-list"))
    assert "Glossary" in page
    assert "New seed" not in page
    for view, pk in (("seed-new", None), ("seed-edit", seed.pk), ("seed-remove", seed.pk), ("seed-import", None)):
        assert post(reader, view, pk, **NEW).status_code == 403
    assert get(as_user(people.stranger), "seed-list").status_code == 404
    assert Seed.objects.get().name == "Glossary"


def test_what_is_exported_is_imported_elsewhere_and_a_second_time_changes_nothing(
    bank: Bank, people: People, as_user: SignIn
) -> None:
    make_seed("a")
    make_seed("b", extra_tags=["lang:de"], name="Wörter")
    client = as_user(people.owner)
    answer = get(client, "seed-export")
    assert 'filename="memadmin-seeds.json"' in answer["Content-Disposition"]
    before = [library.spec_of(row) for row in Seed.objects.all()]
    Seed.objects.all().delete()
    assert "2 added, 0 were here already" in text_after(client, upload(client, answer.content))
    assert [library.spec_of(row) for row in Seed.objects.all()] == before
    assert "0 added, 2 were here already" in text_after(client, upload(client, answer.content))
    everything = json.loads(get(client, "seed-export", None, all="1").content)["seeds"]
    assert [row["id"] for row in everything][:3] == [spec.id for spec in BUILT_IN]


def test_a_seed_that_stands_here_is_left_alone(bank: Bank, people: People, as_user: SignIn) -> None:
    make_seed("a", name="Ours")
    client = as_user(people.owner)
    theirs = [{**library.spec_of(Seed.objects.get()).as_json(), "name": "Theirs"}]
    assert "Left alone" in text_after(client, upload(client, theirs))
    assert Seed.objects.get().name == "Ours"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        ({"seeds": []}, "no list of seeds"),
        ({"seeds": "x"}, "no list of seeds"),
        ([7], "Seed 1"),
        ([{"id": "good", "name": "N", "source_query": "Q", "scopes": ["global"]}, {"id": "BAD"}], "Seed 2, id"),
        ([{"id": "a", "name": "N", "source_query": "Q", "scopes": ["global"]}] * 2, "twice"),
    ],
)
def test_a_file_with_a_mistake_changes_nothing(
    bank: Bank, people: People, as_user: SignIn, data: Any, said: str
) -> None:
    answer = upload(as_user(people.owner), data)
    assert (answer.status_code, said in text_of(answer)) == (422, True)
    assert not Seed.objects.exists()


def test_foreign_text_in_a_seed_stays_text(bank: Bank, people: People, as_user: SignIn) -> None:
    make_seed("x", name=XSS, source_query=XSS, extra_tags=[XSS])
    for view, pk in (("seed-list", None), ("seed-edit", Seed.objects.get().pk)):
        assert_harmless(text_of(get(as_user(people.owner), view, pk)))


def test_an_admin_of_one_bank_may_edit_the_library(people: People, bank: Bank, as_user: SignIn) -> None:
    other = factories.make_user("other")
    factories.grant(other, factories.make_bank("elsewhere"), Role.ADMIN)
    assert post(as_user(other), "seed-new", **NEW).status_code == 303
