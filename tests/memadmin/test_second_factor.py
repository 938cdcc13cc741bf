"""The second factor: set up, asked for after the password and after a link, required, lost, reset."""

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from banks.models import AdminEvent, Role
from memadmin.accounts import factor, links
from memadmin.accounts.models import User
from tests import factories
from tests.banks.admin_pages import SignIn, post, text_after
from tests.conftest import People
from tests.reviews.pages import text_of

PASSWORD = "correct horse battery"
WHY = {"reason": "Her phone is in the lake."}
ADD, CODE, CODES = "/accounts/second-factor/add/", "/accounts/code/", "/accounts/second-factor/codes/"


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, int(timezone.now().timestamp()) // 30))


def sign_in(name: str = "mira") -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": name, "password": PASSWORD})
    return client


def set_up(client: Client) -> str:
    """Returns the secret."""
    page = client.get(ADD).content.decode()
    secret = re.search(r'id="secret" value="([A-Z2-7]+)"', page)[1]  # type: ignore[index]
    assert client.post(ADD, {"code": code_of(secret)})["Location"] == CODES
    return secret


def recovery_codes(client: Client) -> list[str]:
    return re.findall(r'<li><code class="id">(\d{4} \d{4})</code>', client.get(CODES).content.decode())


def is_in(client: Client) -> bool:
    return client.get("/settings/tokens/").status_code == 200


@pytest.fixture
def mira(people: People) -> Any:
    """(her secret, her recovery codes), half a minute after she set the factor up."""
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = sign_in()
        secret, codes = set_up(client), recovery_codes(client)
        clock.shift(timedelta(minutes=2))
        yield secret, codes


def test_it_is_set_up_with_the_apps_code_and_recovery_codes_are_shown(people: People) -> None:
    client = sign_in()
    picture = client.get("/accounts/second-factor/picture.svg")
    assert picture.status_code == 404
    page = client.get(ADD).content.decode()
    picture = client.get("/accounts/second-factor/picture.svg")
    assert (picture["Content-Type"], b"<svg" in picture.content) == ("image/svg+xml", True)
    assert client.post(ADD, {"code": "000000"}).status_code == 422
    secret = re.search(r'id="secret" value="([A-Z2-7]+)"', page)[1]  # type: ignore[index]
    client.post(ADD, {"code": code_of(secret)})
    assert len(recovery_codes(client)) == 10
    assert client.get(ADD)["Location"] == "/accounts/second-factor/"
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    event = AdminEvent.objects.get()
    assert (event.what, event.person) == ("factor-added", people.reviewer)


def test_the_password_alone_opens_nothing(mira: Any) -> None:
    client = sign_in()
    assert not is_in(client)
    assert "Your code" in client.get(CODE).content.decode()
    assert "not right" in client.post(CODE, {"code": "000000"}).content.decode()
    assert not is_in(client)
    assert client.post(CODE, {"code": f" {code_of(mira[0])[:3]} {code_of(mira[0])[3:]}"})["Location"] == "/"
    assert is_in(client)


def test_a_code_works_once(mira: Any) -> None:
    code = code_of(mira[0])
    assert sign_in().post(CODE, {"code": code}).status_code == 302
    assert sign_in().post(CODE, {"code": code}).status_code == 422


def test_a_recovery_code_stands_for_the_apps_once(mira: Any) -> None:
    first = mira[1][0]
    client = sign_in()
    assert client.post(CODE, {"code": first}).status_code == 302
    assert sign_in().post(CODE, {"code": first}).status_code == 422
    assert len(recovery_codes(client)) == 9
    client.post(CODES)
    assert first not in recovery_codes(client)
    assert sign_in().post(CODE, {"code": mira[1][1]}).status_code == 422


def test_codes_are_not_guessed(mira: Any, people: People) -> None:
    client = sign_in()
    for _ in range(5):
        assert "not right" in client.post(CODE, {"code": "000000"}).content.decode()
    assert "Too many wrong codes" in sign_in().post(CODE, {"code": code_of(mira[0])}).content.decode()
    call_command("unlock", "mira", stdout=StringIO())
    assert client.post(CODE, {"code": code_of(mira[0])}).status_code == 302


def test_a_one_time_link_stands_for_the_password_alone(mira: Any, people: People) -> None:
    client = Client()
    assert client.post(links.issue(user=people.reviewer).path)["Location"] == CODE
    assert not is_in(client)
    client.post(CODE, {"code": code_of(mira[0])})
    assert is_in(client)
    other = Client()
    assert other.post(links.issue(user=people.viewer).path)["Location"] == "/"
    assert is_in(other)


def test_changing_it_is_asked_for_by_a_code_a_while_after_signing_in(people: People) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = sign_in()
        assert client.get(ADD).status_code == 200
        clock.shift(timedelta(minutes=6))
        assert client.get(ADD)["Location"] == f"/accounts/again/?next={ADD.replace('/', '%2F')}"
        again = client.post("/accounts/again/", {"password": PASSWORD, "next": ADD})
        assert again["Location"] == ADD
        secret = set_up(client)
        clock.shift(timedelta(minutes=6))
        asked = client.post("/accounts/second-factor/remove/")
        assert asked["Location"].startswith("/accounts/again/code/")
        assert Authenticator.objects.exists()
        client.post(asked["Location"], {"code": code_of(secret)})
        client.post("/accounts/second-factor/remove/")
    assert not Authenticator.objects.exists()
    assert [event.what for event in AdminEvent.objects.order_by("pk")] == ["factor-added", "factor-removed"]


def test_a_password_alone_does_not_change_it(mira: Any, people: People, as_user: SignIn) -> None:
    old = as_user(people.reviewer)  # from before it was set up
    asked = old.get(CODES)
    assert asked["Location"].startswith("/accounts/again/code/")
    old.post("/accounts/again/", {"password": PASSWORD, "next": CODES})
    assert old.get(CODES)["Location"].startswith("/accounts/again/code/")
    assert old.post("/accounts/second-factor/remove/").status_code == 302
    assert factor.has_one(people.reviewer)


# ── required ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rule", "asked"), [("optional", ""), ("admins", "ann root"), ("all", "ann mira ben eve root")]
)
def test_who_must_have_one_does_nothing_before(people: People, settings: LazySettings, rule: str, asked: str) -> None:
    settings.SECOND_FACTOR = rule
    for person in (people.owner, people.reviewer, people.viewer, people.stranger, people.operator):
        answer = sign_in(person.username).get("/settings/tokens/")
        assert (answer.status_code == 302) == (person.username in asked.split()), person
        assert answer.status_code == 200 or answer["Location"] == ADD


def test_an_admin_by_a_group_must_have_one_too(people: People, settings: LazySettings) -> None:
    settings.SECOND_FACTOR = "admins"
    group = factories.make_group("Keepers", people.stranger)
    factories.grant_group(group, factories.make_server(), Role.ADMIN)
    assert not is_in(sign_in("eve"))


def test_once_set_up_the_way_is_open_and_another_session_shows_it(
    people: People, settings: LazySettings, as_user: SignIn
) -> None:
    settings.SECOND_FACTOR = "all"
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client, old = sign_in(), as_user(people.reviewer)
        assert old.get("/reviews/", headers={"HX-Request": "true"})["HX-Redirect"] == ADD
        secret = set_up(client)
        assert is_in(client)
        clock.shift(timedelta(minutes=2))
        asked = old.get("/reviews/?state=pending")
        assert asked["Location"] == "/accounts/again/code/?next=%2Freviews%2F%3Fstate%3Dpending"
        answer = old.post(asked["Location"], {"code": code_of(secret), "next": "/reviews/?state=pending"})
        assert answer["Location"] == "/reviews/?state=pending"
        assert is_in(old)
        client.post("/accounts/second-factor/remove/")
        assert not is_in(client)


def test_an_invited_person_chooses_a_password_and_sets_it_up(settings: LazySettings, db: None) -> None:
    settings.SECOND_FACTOR = "all"
    lena = User.objects.create_user("lena", "", password=None)
    client = Client()
    assert client.post(links.issue(user=lena, invitation=True).path)["Location"] == "/accounts/password/set/"
    new = {"password1": "staple staple staple", "password2": "staple staple staple"}
    assert client.post("/accounts/password/set/", new)["Location"] == "/"
    assert client.get("/")["Location"] == ADD
    set_up(client)
    assert is_in(client)


@pytest.mark.parametrize("next_", ["https://evil.example/", "//evil.example/"])
def test_after_a_code_nobody_is_sent_to_another_site(mira: Any, people: People, as_user: SignIn, next_: str) -> None:
    answer = as_user(people.reviewer).post("/accounts/again/code/", {"code": code_of(mira[0]), "next": next_})
    assert answer["Location"] == "/"


# ── lost ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_operator_resets_a_lost_one(mira: Any, people: People, as_user: SignIn) -> None:
    elsewhere, client = as_user(people.reviewer), as_user(people.operator)
    page = text_after(client, post(client, "person-factor-reset", people.reviewer.pk, **WHY))
    assert "signed out everywhere" in page
    assert not is_in(elsewhere)
    assert is_in(sign_in())
    assert not factor.has_one(people.reviewer)
    event = AdminEvent.objects.order_by("pk").last()
    assert event is not None
    assert (event.what, event.actor, event.person, event.reason) == (
        *("factor-reset", people.operator, people.reviewer),
        WHY["reason"],
    )
    assert "Second factor reset" in text_of(sign_in().get("/settings/account/"))


def test_nobody_else_resets_it(mira: Any, people: People, as_user: SignIn) -> None:
    assert post(as_user(people.owner), "person-factor-reset", people.reviewer.pk, **WHY).status_code == 403
    client = as_user(people.operator)
    text_after(client, post(client, "person-factor-reset", people.reviewer.pk))
    assert factor.has_one(people.reviewer)  # without a reason
    set_up(sign_in("root"))
    assert "Your own" in text_after(client, post(client, "person-factor-reset", people.operator.pk, **WHY))


def test_the_terminal_resets_it(mira: Any, people: People) -> None:
    out = StringIO()
    call_command("reset_factor", "mira", stdout=out)
    assert "mira" in out.getvalue()
    assert is_in(sign_in())
