"""A page for a page, a short fragment for a fragment; nothing secret, and what to do next."""

import pytest
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from banks.access import get_bank
from banks.models import Bank, Role
from memadmin import urls as real
from tests.conftest import People

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/reviews/7/?bank=3"}
RESTORE = {**HTMX, "HX-History-Restore-Request": "true"}


def decide(request: HttpRequest, pk: int) -> HttpResponse:
    get_bank(request.user, pk, Role.REVIEWER)
    return HttpResponse("decided")


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("the key is hunter2")


def forbidden(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied("internal reason")


urlpatterns = [
    path("decide/<int:pk>/", decide),
    path("broken/", broken),
    path("forbidden/", forbidden),
    path("", include(real)),
]
handler400, handler403, handler404, handler500 = real.handler400, real.handler403, real.handler404, real.handler500

pytestmark = pytest.mark.urls(__name__)


@pytest.fixture
def viewer(people: People) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(people.viewer)
    return client


def is_page(answer) -> bool:
    return answer.content.lstrip().lower().startswith(b"<!doctype html>")


def test_a_reader_learns_the_role_needed_and_whom_to_ask(viewer: Client, bank: Bank) -> None:
    answer = viewer.post(f"/decide/{bank.pk}/")

    assert answer.status_code == 403
    text = answer.content.decode()
    assert "You can read this bank, but not decide on it." in text
    assert "Your role on it is viewer; this needs reviewer. Nothing was changed." in text
    assert bank.bank_id in text
    assert "Ask Ann Weber for access" in text


def test_a_fragment_gets_the_short_form(viewer: Client, bank: Bank) -> None:
    answer = viewer.post(f"/decide/{bank.pk}/", headers=HTMX)

    assert answer.status_code == 403
    assert not is_page(answer)
    assert b"this needs reviewer" in answer.content
    assert b"HX-Request" in answer["Vary"].encode()


def test_a_stranger_does_not_learn_that_the_bank_exists(people: People, bank: Bank) -> None:
    client = Client()
    client.force_login(people.stranger)

    there, not_there = client.post(f"/decide/{bank.pk}/"), client.post("/decide/999/")

    assert there.status_code == not_there.status_code == 404
    assert bank.bank_id not in there.content.decode()


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("get", "/no/such/page", 404),
        ("get", "/forbidden/", 403),
        ("get", "/broken/", 500),
        ("post", "/healthz", 405),
    ],
)
def test_each_failure_has_a_page_and_a_fragment(viewer: Client, method: str, address: str, status: int) -> None:
    page = getattr(viewer, method)(address)
    fragment = getattr(viewer, method)(address, headers=HTMX)
    restored = getattr(viewer, method)(address, headers=RESTORE)

    assert page.status_code == fragment.status_code == restored.status_code == status
    assert is_page(page)
    assert not is_page(fragment)
    assert b'role="alert"' in fragment.content
    assert is_page(restored)
    assert b"internal reason" not in page.content
    assert b"hunter2" not in page.content


def test_a_wrong_method_still_names_the_right_ones(viewer: Client) -> None:
    assert viewer.post("/healthz")["Allow"] == "GET, HEAD"


def test_a_wrong_host_is_refused_without_a_page_of_ours_breaking(viewer: Client) -> None:
    answer = viewer.get("/", headers={"Host": "evil.example"})

    assert answer.status_code == 400
    assert b"evil.example" not in answer.content


def test_the_page_and_the_log_carry_the_same_number(viewer: Client, caplog: pytest.LogCaptureFixture) -> None:
    answer = viewer.get("/broken/")

    request_id = answer.context["request_id"]
    assert request_id in answer.content.decode()
    assert any(getattr(r, "request", None) is not None and r.request.request_id == request_id for r in caplog.records)


def test_an_error_page_that_cannot_be_made_is_still_an_answer(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object, **kwargs: object) -> HttpResponse:
        raise ValueError("no manifest")

    monkeypatch.setattr("memadmin.errors.render", fails)

    answer = viewer.get("/broken/")

    assert answer.status_code == 500
    assert b"Something went wrong here." in answer.content


def test_an_ended_session_sends_the_browser_to_sign_in_not_the_card(bank: Bank) -> None:
    answer = Client().post(f"/decide/{bank.pk}/", headers=HTMX)

    assert answer.status_code == 200
    assert answer["HX-Redirect"] == "/accounts/login/?next=%2Freviews%2F7%2F%3Fbank%3D3"
    assert "Location" not in answer
    assert answer.content == b""


@pytest.mark.parametrize(
    "page", ["http://evil.example/reviews/", "http://testserver//evil.example/", "javascript:alert(1)", "", "//"]
)
def test_sign_in_never_leads_to_another_site(bank: Bank, page: str) -> None:
    answer = Client().get("/reviews/", headers={**HTMX, "HX-Current-URL": page})

    assert answer["HX-Redirect"] == "/accounts/login/?next=%2F"


def test_an_old_token_says_so_and_offers_to_load_the_page_again(people: People, bank: Bank) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.reviewer)

    fragment = client.post(f"/decide/{bank.pk}/", headers=HTMX)
    page = client.post(f"/decide/{bank.pk}/")

    assert fragment.status_code == page.status_code == 403
    assert b"Nothing was changed" in fragment.content
    assert b'href="/reviews/7/?bank=3"' in fragment.content
    assert not is_page(fragment)
    assert is_page(page)
