"""Sign-in by an OpenID Connect issuer: whose account an identity opens, and what happens when something is wrong."""

import copy
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from banks.models import AdminEvent
from memadmin import env
from memadmin.accounts.models import User
from tests import factories
from tests.memadmin import issuer as fake
from tests.memadmin.issuer import Issuer
from tests.reviews.pages import text_of

START, JOIN, CALLBACK = "/accounts/company/", "/accounts/company/join/", "/accounts/company/callback/"
PASSWORD = "correct horse battery"
pytestmark = pytest.mark.django_db


@pytest.fixture
def issuer(settings: LazySettings) -> Iterator[Issuer]:
    with fake.running() as issuer:
        providers = copy.deepcopy(settings.SOCIALACCOUNT_PROVIDERS)
        providers["openid_connect"]["APPS"][0]["settings"]["server_url"] = issuer.url
        settings.SOCIALACCOUNT_PROVIDERS = providers
        yield issuer


@pytest.fixture
def lena(db: None) -> User:
    return factories.make_user("lena", email="Lena@example.org")


def leave(client: Client, path: str = START, **more: str) -> str:
    """The issuer's address that the page leads to."""
    page = client.post(path, more).content.decode()
    return unescape(re.search(r'content="0;url=([^"]+)"', page)[1])  # type: ignore[index]


def come_back(client: Client, issuer: Issuer, path: str = START, **more: str):
    return client.get(issuer.agree(leave(client, path, **more)))


def is_in(client: Client) -> bool:
    return client.get("/settings/tokens/").status_code == 200


def test_a_verified_address_opens_the_account_with_it(issuer: Issuer, lena: User) -> None:
    client = Client()
    assert come_back(client, issuer, next="/reviews/?state=pending")["Location"] == "/reviews/?state=pending"
    assert is_in(client)
    event = AdminEvent.objects.get()
    assert (event.what, event.person, event.after) == ("identity-joined", lena, {"name": "lena@example.org"})
    again = Client()
    issuer.claims = {"sub": "42", "email": "other@example.org", "email_verified": False}
    assert come_back(again, issuer)["Location"] == "/"
    assert (is_in(again), AdminEvent.objects.count()) == (True, 1)


def test_the_page_that_leads_there_keeps_the_content_policy(issuer: Issuer, lena: User) -> None:
    answer = Client().post(START)
    assert "form-action 'self'" in answer["Content-Security-Policy"]
    assert answer.status_code == 200
    address = leave(Client())
    assert address.startswith(f"{issuer.url}/authorize?")
    assert "code_challenge_method=S256" in address


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"email_verified": False}, "does not say that it has verified"),
        ({"email_verified": None}, "does not say that it has verified"),
        ({"email_verified": "false"}, "does not say that it has verified"),
        ({"email": "stranger@example.org"}, "there is no account with your e-mail address"),
        ({"email": ""}, "does not say that it has verified"),
        ({"email": "lena"}, "there is no account with your e-mail address"),
    ],
)
def test_nothing_else_joins_an_account(issuer: Issuer, lena: User, claims: dict[str, object], said: str) -> None:
    issuer.claims |= claims
    client = Client()
    page = come_back(client, issuer)
    assert (page.status_code, said in text_of(page), is_in(client)) == (403, True, False)
    assert not SocialAccount._default_manager.exists()
    assert not AdminEvent.objects.exists()


def test_a_user_name_that_looks_like_the_address_is_not_joined(issuer: Issuer, settings: LazySettings) -> None:
    factories.make_user("lena@example.org")
    settings.OIDC_SIGN_UP = True
    assert come_back(Client(), issuer).status_code == 403
    assert User.objects.count() == 1


def test_two_accounts_with_one_address_are_neither_opened(issuer: Issuer, lena: User) -> None:
    factories.make_user("lena2", email="lena@example.org")
    assert "More than one account" in text_of(come_back(Client(), issuer))


def test_a_closed_account_stays_closed(issuer: Issuer, lena: User) -> None:
    User.objects.update(is_active=False)
    client = Client()
    assert come_back(client, issuer)["Location"] == "/accounts/inactive/"
    assert not is_in(client)


def test_addresses_of_other_domains_can_be_kept_out(issuer: Issuer, lena: User, settings: LazySettings) -> None:
    settings.OIDC_DOMAINS = ["example.com"]
    assert "your domain" in text_of(come_back(Client(), issuer))
    settings.OIDC_DOMAINS = ["example.org"]
    assert come_back(Client(), issuer)["Location"] == "/"


def test_who_was_not_invited_gets_an_account_where_that_is_wanted(issuer: Issuer, settings: LazySettings) -> None:
    settings.OIDC_SIGN_UP = True
    factories.make_user("lena")
    issuer.claims |= {"preferred_username": "lena", "name": "Lena Berg"}
    client = Client()
    come_back(client, issuer)
    assert is_in(client)
    person = User.objects.get(username="lena2")
    assert (person.email, person.display_name, person.is_superuser) == ("lena@example.org", "Lena Berg", False)
    assert not person.has_usable_password()


def test_the_second_factor_is_asked_for_here_too(issuer: Issuer, lena: User) -> None:
    TOTP.activate(lena, "JBSWY3DPEHPK3PXP")
    client = Client()
    assert come_back(client, issuer)["Location"] == "/accounts/code/"
    assert not is_in(client)


# ── joining by who is signed in ────────────────────────────────────────────────────────────────────────────


def test_who_is_signed_in_joins_an_identity_whose_address_is_not_verified(issuer: Issuer, lena: User) -> None:
    issuer.claims |= {"email_verified": False}
    client = Client()
    client.post("/accounts/login/", {"login": "lena", "password": PASSWORD})
    assert come_back(client, issuer, JOIN, next="/settings/account/")["Location"] == "/settings/account/"
    other = Client()
    come_back(other, issuer)
    assert is_in(other)
    eve = Client()
    factories.make_user("eve")
    eve.post("/accounts/login/", {"login": "eve", "password": PASSWORD})
    assert "somebody else" in text_of(come_back(eve, issuer, JOIN))
    assert SocialAccount._default_manager.get().user == lena


def test_who_signed_out_meanwhile_joins_nothing(issuer: Issuer, lena: User) -> None:
    client = Client()
    client.post("/accounts/login/", {"login": "lena", "password": PASSWORD})
    back = issuer.agree(leave(client, JOIN))
    session = client.session
    del session["_auth_user_id"]
    session.save()
    assert client.get(back).status_code == 403
    assert not SocialAccount._default_manager.exists()
    assert Client().post(JOIN)["Location"].startswith("/accounts/login/")


# ── when something is wrong ────────────────────────────────────────────────────────────────────────────────


def test_an_issuer_that_does_not_answer_has_a_face(lena: User) -> None:
    page = Client().post(START)
    assert (page.status_code, "does not answer" in text_of(page)) == (403, True)


@pytest.mark.parametrize("query", ["", "?code=x&state=y", "?error=server_error&state=y", "?code=x"])
def test_an_answer_that_nobody_asked_for_opens_nothing(issuer: Issuer, lena: User, query: str) -> None:
    page = Client().get(f"{CALLBACK}{query}")
    assert (page.status_code, "Back to signing in" in text_of(page)) == (403, True)


def test_breaking_off_says_so(issuer: Issuer, lena: User) -> None:
    client = Client()
    state = re.search(r"state=([^&]+)", leave(client))[1]  # type: ignore[index]
    assert "was broken off" in text_of(client.get(f"{CALLBACK}?error=access_denied&state={state}"))


def test_an_answer_works_once_and_in_its_own_browser(issuer: Issuer, lena: User) -> None:
    client = Client()
    back = issuer.agree(leave(client))
    assert Client().get(back).status_code == 403
    assert client.get(back).status_code == 302
    assert client.get(back).status_code == 403


@pytest.mark.parametrize("wrong", ["audience", "no token", "another person"])
def test_a_token_that_is_not_for_us_or_about_somebody_else_opens_nothing(
    issuer: Issuer, lena: User, wrong: str
) -> None:
    issuer.audience = "other" if wrong == "audience" else issuer.audience
    issuer.with_token = wrong != "no token"
    issuer.userinfo = {**issuer.claims, "sub": "43"} if wrong == "another person" else None
    client = Client()
    assert come_back(client, issuer).status_code == 403
    assert not is_in(client)


def test_signing_out_says_that_the_company_still_knows_you(issuer: Issuer, lena: User) -> None:
    client = Client()
    come_back(client, issuer)
    out = client.post("/accounts/logout/")
    assert out["Location"] == "/accounts/login/?left=company"
    assert "At <bdi>Example</bdi> you still are signed in" in client.get(out["Location"]).content.decode()
    assert not is_in(client)


@pytest.mark.parametrize(
    "path", ["signup/", "social/signup/", "social/connections/", "3rdparty/", "email/", "oidc/x/login/"]
)
def test_nothing_else_of_allauth_is_reachable(path: str) -> None:
    assert Client().get(f"/accounts/{path}").status_code == 404


# ── configuration ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("value", ["http://login.example.org", "login.example.org", "ftp://x", "https://"])
def test_an_issuer_is_reached_by_https(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMADMIN_OIDC_ISSUER", value)
    with pytest.raises(ImproperlyConfigured):
        env.issuer("MEMADMIN_OIDC_ISSUER")


def test_without_an_issuer_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    look = (
        "import sys, django, importlib; django.setup(); from django.conf import settings;"
        "importlib.import_module(settings.ROOT_URLCONF);"
        "print([m for m in ('requests', 'jwt', 'fido2', 'qrcode', 'allauth.socialaccount.models') if m in sys.modules])"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MEMADMIN_")}
    clean |= {"DJANGO_SETTINGS_MODULE": "memadmin.settings", "MEMADMIN_DATA_DIR": str(tmp_path)}
    said = subprocess.run([sys.executable, "-c", look], env=clean, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_an_operator_ends_it_and_everybody_reads_what_opens_their_account(issuer: Issuer, lena: User) -> None:
    client, root = Client(), Client()
    root.force_login(factories.make_user("root", is_superuser=True))
    come_back(client, issuer)
    page = text_of(client.get("/settings/account/"))
    assert "lena@example.org</bdi> at <bdi>Example</bdi> opens this account" in page
    assert "Join your identity" not in page
    end = f"/team/{lena.pk}/identity/end/"
    assert "End the company" in text_of(root.get(f"/team/{lena.pk}/"))
    root.post(end, {"reason": "She has a new address."})
    assert not is_in(client)
    assert not SocialAccount._default_manager.exists()
    assert AdminEvent.objects.latest("pk").what == "identity-ended"
