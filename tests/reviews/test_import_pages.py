"""The pages of imports: upload, progress, report, parked lines. Everything works without a script."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from banks import jobs
from banks.models import Bank, Job, Role, Server
from reviews.models import Parked, ReviewEntry, SourceFile
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, Reader, assert_harmless, text_of
from tests.reviews.queue_files import URL, add, as_bytes, done, import_lines

SignIn = Callable[..., Client]


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def server(bank: Bank) -> Server:
    bank.server.base_url = URL
    bank.server.save()
    return bank.server


def upload(client: Client, content: bytes, **values: object) -> object:
    file = SimpleUploadedFile("review-queue.jsonl", content)
    return client.post(reverse("reviews:import-new"), {"machine": "laptop", **values, "file": file})


def test_a_file_is_uploaded_imported_and_reported(
    server: Server, people: People, as_user: SignIn, uploads: Path
) -> None:
    client = as_user(people.reviewer)
    answer = upload(client, as_bytes([add("a"), "{ torn", add("b", bank="nowhere")]))
    job = Job.objects.get()
    assert answer.status_code == 303  # type: ignore[attr-defined]
    assert answer["Location"] == reverse("reviews:import-detail", args=[job.pk])  # type: ignore[index]
    assert len(list(uploads.iterdir())) == 1
    jobs.run(job.pk)
    assert list(uploads.iterdir()) == []
    page = text_of(client.get(reverse("reviews:import-detail", args=[job.pk])))
    assert "<b>3 lines read.</b>" in page
    assert "not JSON: torn" in page
    assert "<b>accepted</b>" in page
    assert ReviewEntry.objects.get().document_id == "a"
    listing = text_of(client.get(reverse("reviews:import-list")))
    assert "Queue file of laptop" in listing
    assert "1 line is</b>" in listing or "1 line is parked" in listing


def test_the_report_shows_each_outcome_by_line(server: Server, people: People, as_user: SignIn) -> None:
    job = import_lines([add("a"), "torn", add("b", bank="nowhere"), done("zzz")], people.reviewer)
    client = as_user(people.reviewer)
    for outcome, said in (("skipped", "not JSON"), ("parked", "you may review"), ("superseded", "was waiting")):
        page = text_of(client.get(reverse("reviews:import-detail", args=[job.pk]), {"lines": outcome}))
        assert said in page


def test_many_lines_come_in_pages(server: Server, people: People, as_user: SignIn) -> None:
    job = import_lines(["torn"] * 101, people.reviewer)
    client = as_user(people.reviewer)
    address = reverse("reviews:import-detail", args=[job.pk])
    first = text_of(client.get(address))
    assert f"{address}?lines=skipped&amp;after=100" in first
    second = text_of(client.get(address, {"lines": "skipped", "after": "100"}))
    assert second.count("not JSON") == 1


def test_progress_asks_again_until_it_has_ended(server: Server, people: People, as_user: SignIn) -> None:
    client = as_user(people.reviewer)
    upload(client, as_bytes([add("a")]))
    job = Job.objects.get()
    address = reverse("reviews:import-detail", args=[job.pk])
    page = text_of(client.get(address))
    assert f'hx-get="{address}" hx-trigger="every 2s"' in page
    assert f'<a href="{address}">Look again</a>' in page  # without a script
    waiting = client.get(address, headers=HTMX)
    assert (waiting.status_code, "hx-trigger" in text_of(waiting)) == (200, True)
    assert "<html" not in text_of(waiting)
    jobs.run(job.pk)
    ended = client.get(address, headers=HTMX)
    assert (ended.status_code, "hx-trigger" in text_of(ended)) == (286, False)


def test_skipped_lines_come_back_as_they_were(server: Server, people: People, as_user: SignIn) -> None:
    job = import_lines(as_bytes([add("a")]) + b"\xff torn\r\n{\n", people.reviewer)
    answer = as_user(people.reviewer).get(reverse("reviews:import-skipped", args=[job.pk]))
    assert b"".join(answer.streaming_content) == b"\xff torn\r\n{\n"
    assert "attachment" in answer["Content-Disposition"]


@pytest.mark.parametrize("name", ["import-detail", "import-skipped"])
def test_a_report_is_its_owners_alone(server: Server, people: People, as_user: SignIn, name: str) -> None:
    job = import_lines([add("a")], people.reviewer)
    for person in (people.stranger, people.viewer, people.owner):
        assert as_user(person).get(reverse(f"reviews:{name}", args=[job.pk])).status_code == 404


@pytest.mark.parametrize("name", ["import-list", "import-new", "parked-list"])
def test_pages_want_a_person(db: None, name: str) -> None:
    assert Client().get(reverse(f"reviews:{name}")).status_code in {302, 403}


def test_a_file_above_the_limit_gets_a_sentence(
    server: Server, people: People, as_user: SignIn, settings: LazySettings, uploads: Path
) -> None:
    settings.IMPORT_MAX_BYTES = 1000
    client = as_user(people.reviewer)
    for size in (1001, 400_000):
        answer = upload(client, b"x" * size)
        assert answer.status_code == 413  # type: ignore[attr-defined]
        page = text_of(answer)  # type: ignore[arg-type]
        assert "larger than 1000 bytes" in page
        assert 'value="laptop"' in page  # the other fields are kept
    assert not Job.objects.exists()
    assert list(uploads.iterdir()) == []


def test_no_file_is_said_in_the_form(people: People, as_user: SignIn) -> None:
    answer = as_user(people.reviewer).post(reverse("reviews:import-new"), {"machine": "x"})
    assert answer.status_code == 422
    assert "Choose a file." in text_of(answer)


def test_an_empty_file_is_no_error(server: Server, people: People, as_user: SignIn) -> None:
    client = as_user(people.reviewer)
    upload(client, b"")
    job = Job.objects.get()
    assert jobs.run(job.pk) == "done"
    assert "The file is empty." in text_of(client.get(reverse("reviews:import-detail", args=[job.pk])))


def test_only_servers_of_ones_own_may_be_a_files_localhost(server: Server, people: People, as_user: SignIn) -> None:
    other = factories.make_server(name="Secret server")
    client = as_user(people.viewer)
    page = text_of(client.get(reverse("reviews:import-new")))
    assert "Secret server" not in page
    assert str(server) in page
    assert upload(client, b"", localhost=other.pk).status_code == 422  # type: ignore[attr-defined]
    upload(client, b"", localhost=server.pk)
    assert SourceFile.objects.get().mapping == {"localhost": server.pk}


def test_what_a_file_says_never_becomes_markup(server: Server, people: People, as_user: SignIn) -> None:
    lines = [f"torn {XSS} \u202e", add(XSS, bank=XSS, baseUrl=XSS), add("\u202egpj.exe", bank="x")]
    job = import_lines(lines, people.operator, machine=XSS)
    client = as_user(people.operator)
    for url in (
        reverse("reviews:import-detail", args=[job.pk]),
        f"{reverse('reviews:import-detail', args=[job.pk])}?lines=parked",
        reverse("reviews:import-list"),
        reverse("reviews:parked-list"),
    ):
        assert_harmless(text_of(client.get(url)))


# ── parked lines ───────────────────────────────────────────────────────────────────────────────────────────


def test_parked_lines_are_seen_by_their_owner_and_server_admins_only(
    server: Server, people: People, as_user: SignIn
) -> None:
    import_lines([add("parked-doc")], people.stranger)
    address = reverse("reviews:parked-list")
    assert "parked-doc" in text_of(as_user(people.stranger).get(address))
    assert "parked-doc" in text_of(as_user(people.operator).get(address))
    assert "parked-doc" not in text_of(as_user(people.owner).get(address))  # admin of a bank, not of the server
    factories.grant(people.owner, server, Role.ADMIN)
    assert "parked-doc" in text_of(as_user(people.owner).get(address))
    elsewhere = factories.make_user("elsewhere")
    factories.grant(elsewhere, factories.make_server(), Role.ADMIN)
    assert "parked-doc" not in text_of(as_user(elsewhere).get(address))  # the line belongs to another server


def test_lines_of_no_server_are_seen_by_every_server_admin(server: Server, people: People, as_user: SignIn) -> None:
    import_lines([add("lost", baseUrl="http://nowhere.example")], people.stranger)
    elsewhere = factories.make_user("elsewhere")
    factories.grant(elsewhere, factories.make_server(), Role.ADMIN)
    assert "lost" in text_of(as_user(elsewhere).get(reverse("reviews:parked-list")))


def assign(client: Client, parked: Parked, **values: object) -> object:
    return client.post(reverse("reviews:parked-assign"), {"line": parked.pk, **values})


def test_a_line_is_assigned_to_a_bank_with_what_belongs_to_it(
    server: Server, bank: Bank, people: People, as_user: SignIn
) -> None:
    import_lines([add("a", bank="typo"), add("b", bank="typo"), done("a")], people.stranger)
    factories.grant(people.owner, server, Role.ADMIN)
    first = Parked.objects.order_by("pk").first()
    assert first is not None
    answer = assign(as_user(people.owner), first, bank=bank.pk)
    assert answer.status_code == 303  # type: ignore[attr-defined]
    found = ReviewEntry.objects.get()
    assert (found.document_id, found.bank, found.state, found.decided_via) == ("a", bank, "approved", "file")
    first.refresh_from_db()
    assert first.assigned_by == people.owner
    assert Parked.objects.filter(assigned_at=None).count() == 1


def test_an_address_is_assigned_to_a_server_for_all_lines_of_the_source(
    server: Server, bank: Bank, people: People, as_user: SignIn
) -> None:
    url = "http://localhost:8888"
    lines = [add("a", baseUrl=url), add("b", baseUrl=url), done("a"), add("c", baseUrl="http://x.example")]
    import_lines(lines, people.reviewer)
    parked = Parked.objects.order_by("pk").first()
    assert parked is not None
    answer = assign(as_user(people.operator), parked, server=server.pk)
    job = Job.objects.latest("pk")
    assert answer["Location"] == reverse("reviews:import-detail", args=[job.pk])  # type: ignore[index]
    assert jobs.run(job.pk) == "done"
    states = dict(ReviewEntry.objects.values_list("document_id", "state"))
    assert states == {"a": "approved", "b": "pending"}
    assert Parked.objects.filter(assigned_at=None).get().event.document_id == "c"
    again = import_lines([*lines, add("d", baseUrl=url)], people.reviewer)
    assert again.result["accepted"] == 1  # from now on it is placed by itself


def test_a_conflict_is_settled_by_naming_the_bank(server: Server, people: People, as_user: SignIn) -> None:
    import_lines([add("a"), add("a", bank="second"), done("a")], people.operator)
    second = Bank.objects.get(bank_id="second")
    assign(as_user(people.operator), Parked.objects.get(), bank=second.pk)
    assert ReviewEntry.objects.get(bank=second).state == "approved"
    assert ReviewEntry.objects.exclude(bank=second).get().state == "pending"


def test_strangers_and_members_assign_nothing(server: Server, bank: Bank, people: People, as_user: SignIn) -> None:
    import_lines([add("a")], people.stranger)
    parked = Parked.objects.get()
    for person, status in ((people.stranger, 403), (people.viewer, 404), (people.owner, 404)):
        answer = assign(as_user(person), parked, bank=bank.pk)
        assert answer.status_code == status  # type: ignore[attr-defined]
    assert not ReviewEntry.objects.exists()


def test_an_admin_of_one_server_cannot_put_lines_into_another(
    server: Server, bank: Bank, people: People, as_user: SignIn
) -> None:
    import_lines([add("a", baseUrl="http://nowhere.example")], people.stranger)
    elsewhere = factories.make_user("elsewhere")
    factories.grant(elsewhere, factories.make_server(), Role.ADMIN)
    client = as_user(elsewhere)
    assign(client, Parked.objects.get(), bank=bank.pk)
    assign(client, Parked.objects.get(), server=server.pk)
    assert not ReviewEntry.objects.exists()
    assert SourceFile.objects.get().mapping == {}


def test_the_forms_of_parked_lines_have_names_for_everything(server: Server, people: People, as_user: SignIn) -> None:
    import_lines([add("a", baseUrl="http://nowhere.example")], people.stranger)
    page = text_of(as_user(people.operator).get(reverse("reviews:parked-list")))
    selects = [attributes for tag, attributes in Reader(page).elements if tag == "select"]
    assert selects
    assert all(attributes.get("aria-label") for attributes in selects)
