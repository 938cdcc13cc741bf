import html
import json
import re

import pytest
from django.test import Client

from memadmin.accounts.models import User
from tests.conftest import People

PAGES = ["/", "/reviews/", "/log/"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_frame(page: str, people: People, as_user) -> None:
    answer = as_user(people.reviewer).get(page)
    assert answer.status_code == 200
    text = answer.content.decode()
    assert text.count('<main class="page') == 1
    assert text.count("<h1") == 1
    assert "Mira Kovač" in text


@pytest.mark.parametrize("page", PAGES)
def test_nobody_gets_in_without_signing_in(page: str, db: None) -> None:
    answer = Client().get(page)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=")


def test_an_ended_session_leaves_the_page_instead_of_filling_a_card_with_the_sign_in_form(db: None) -> None:
    answer = Client().get(
        "/reviews/", headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/log/?state=attention"}
    )
    assert answer.status_code == 200
    assert answer["HX-Redirect"] == "/accounts/login/?next=%2Flog%2F%3Fstate%3Dattention"
    assert "Location" not in answer


def test_the_attributes_htmx_reads_are_json(people: People, as_user) -> None:
    text = as_user(people.reviewer).get("/").content.decode()
    headers = json.loads(html.unescape(re.search(r'hx-headers="([^"]*)"', text)[1]))
    assert len(headers["X-CSRFToken"]) == 64
    config = json.loads(html.unescape(re.search(r'name="htmx-config" content="([^"]*)"', text)[1]))
    assert (config["allowEval"], config["allowScriptTags"], config["historyCacheSize"]) == (False, False, 0)


def test_the_token_of_hx_headers_passes_the_check(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.reviewer)
    text = client.get("/").content.decode()
    token = json.loads(html.unescape(re.search(r'hx-headers="([^"]*)"', text)[1]))["X-CSRFToken"]
    assert client.post("/accounts/logout/").status_code == 403
    assert client.post("/accounts/logout/", headers={"X-CSRFToken": token}).status_code == 302


def test_what_a_browser_may_do(people: People, as_user) -> None:
    answer = as_user(people.reviewer).get("/")
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-" not in policy
    assert "HX-Request" in answer["Vary"]
    assert answer["Cache-Control"] == "no-store"
    text = answer.content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert " style=" not in text
    assert "<style" not in text


def test_every_page_of_a_demo_says_so(people: People, as_user, settings) -> None:
    settings.DEMO = True
    assert "Sample memories" in as_user(people.reviewer).get("/log/").content.decode()


def test_the_theme_is_the_persons(people: People, as_user) -> None:
    User.objects.filter(pk=people.reviewer.pk).update(theme="dark")
    people.reviewer.refresh_from_db()
    assert '<html lang="en" data-theme="dark">' in as_user(people.reviewer).get("/").content.decode()


def test_an_error_page_never_lands_in_a_card(people: People, as_user) -> None:
    answer = as_user(people.reviewer).get("/no-such-page/", headers={"HX-Request": "true"})
    assert answer.status_code == 404
    assert answer["HX-Retarget"] == "#alerts"
