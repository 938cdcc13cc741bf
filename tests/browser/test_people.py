"""Servers, members, team and policy in a browser: for everybody, on a phone, and without a script."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.urls import reverse
from django.utils import timezone

from banks import jobs
from banks.models import Bank, Group, Job, Membership, Role, Server, Write
from banks.services import groups, members, policy, servers, team, tokens
from memadmin.accounts.models import SignInTries, User
from tests import factories
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.test_access import problems

LONG = "a-very-long-name-without-any-blank-" * 3


@pytest.fixture
def operator(transactional_db: None) -> User:
    return factories.make_user("ruth", first_name="Ruth", last_name="Okafor", is_superuser=True)


@pytest.fixture
def bank(operator: User) -> Bank:
    """A bank with members of every kind, on a server whose writes are paused."""
    now = timezone.now()
    server = factories.make_server(name="hindsight-eu", health="ok", api_version="1.1.0", last_checked=now)
    bank = factories.make_bank("checkout-service", name="Checkout service", server=server)
    mira = factories.make_user("mira", first_name="Mira", last_name="Kovač")
    of_mira = members.add(actor=operator, on=bank, person=mira, role=Role.REVIEWER).membership
    members.change_role(actor=operator, membership=of_mira, was=Role.REVIEWER, role=Role.ADMIN)
    members.add(actor=operator, on=server, person=factories.make_user(LONG), role=Role.VIEWER)
    members.invite(actor=operator, on=bank, username="lena", email="", name="Lena Núñez", role=Role.VIEWER)
    group = groups.make(actor=operator, name=LONG[:100])
    for person in (mira, operator):
        groups.join(actor=operator, group=group, person=person)
    groups.give(actor=mira, on=bank, group=group, role=Role.REVIEWER)
    TOTP.activate(mira, "JBSWY3DPEHPK3PXP")
    SignInTries.objects.create(key=f"code:{mira.pk}", failures=9, last=timezone.now())
    gone = factories.make_user("gone")
    factories.grant(gone, bank, Role.VIEWER)
    team.close(actor=operator, person=gone, reason="left the company")
    servers.pause(actor=operator, server=server, reason="The database is being moved.")
    changed = {**policy.values_of(bank), "auto_approve_days": 3.0}
    policy.change(actor=operator, bank=bank, shown=policy.seen(bank), values=changed)
    Write.objects.create(kind="delete", bank=bank, via="web", slot="a", state="attention")
    return bank


@pytest.fixture
def pages(bank: Bank, operator: User) -> dict[str, str]:
    """Name and path of each page, with all its states on it."""
    now = timezone.now()
    states = {
        health: factories.make_server(name=f"{health} {LONG}"[:100], health=health, health_text=LONG, last_checked=now)
        for health in ("unknown", "degraded", "unreachable", "refused")
    }
    Server.objects.filter(health="unreachable").update(failures=4, closed_until=now + timedelta(hours=1))
    factories.make_bank(LONG, server=states["refused"], gone_since=now)
    asked = factories.make_server(name="asked", health="ok", last_checked=now - timedelta(hours=1))
    jobs.start(kind="ask-server", owner=operator, title="Ask", params={"server": states["unknown"].pk})
    for days, banks, name in ((90, None, "nightly job"), (7, [bank], LONG[:60]), (30, None, "revoked")):
        made = tokens.issue(owner=operator, name=name, role=Role.REVIEWER, banks=banks, days=days).token
    tokens.revoke(actor=operator, token=made)
    of = {person.username: person.pk for person in User.objects.all()}
    return {
        "banks": reverse("banks:bank-list"),
        "no bank": f"{reverse('banks:bank-list')}?q=nothing-like-it",
        "policy": reverse("banks:bank-policy", args=[bank.pk]),
        "members": reverse("banks:bank-members", args=[bank.pk]),
        "servers": reverse("banks:server-list"),
        "add": reverse("banks:server-new"),
        "paused": reverse("banks:server-detail", args=[bank.server.pk]),
        "old": reverse("banks:server-detail", args=[asked.pk]),
        **{health: reverse("banks:server-detail", args=[server.pk]) for health, server in states.items()},
        "settings": reverse("banks:server-edit", args=[bank.server.pk]),
        "key": reverse("banks:server-key", args=[states["refused"].pk]),
        "server's members": reverse("banks:server-members", args=[bank.server.pk]),
        "team": reverse("banks:person-list"),
        "invited": reverse("banks:person-detail", args=[of["lena"]]),
        "closed": reverse("banks:person-detail", args=[of["gone"]]),
        "oneself": reverse("banks:person-detail", args=[operator.pk]),
        "locked": reverse("banks:person-detail", args=[of["mira"]]),
        "groups": reverse("banks:group-list"),
        "group": reverse("banks:group-detail", args=[Group.objects.get().pk]),
        "invite": reverse("banks:person-new"),
        "account": reverse("banks:account"),
        "second factor": reverse("accounts:factor-detail"),
        "password again": reverse("accounts:factor-add"),
        "changes": reverse("banks:event-list"),
        "tokens": reverse("banks:token-list"),
        "all tokens": reverse("banks:token-list-all"),
    }


@pytest.mark.looks
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_shuts_anybody_out(pages: dict[str, str], operator: User, signed_in: Open, viewport: Any) -> None:
    page = signed_in(operator, pages["banks"], viewport=viewport)
    origin, found = page.url.split("/banks/")[0], {}
    for name, path in pages.items():
        page.goto(origin + path)
        if said := problems(page):
            found[name] = said
    assert found == {}


def test_a_refused_form_says_so_to_everybody(bank: Bank, operator: User, signed_in: Open) -> None:
    page = signed_in(operator, reverse("banks:bank-members", args=[bank.pk]), viewport=PHONE)
    page.get_by_label("User name or e-mail").fill("nobody")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("Nobody signs in by this.").wait_for()
    described = page.get_by_label("User name or e-mail").get_attribute("aria-describedby")
    assert "Nobody signs in by this." in page.locator(f"#{described}").inner_text()
    assert problems(page) == []


@pytest.mark.looks
def test_what_a_thumb_presses_is_big_enough(pages: dict[str, str], operator: User, signed_in: Open) -> None:
    page = signed_in(operator, pages["banks"], viewport=PHONE, has_touch=True)
    origin, small = page.url.split("/banks/")[0], []
    for name in ("banks", "policy", "members", "paused", "key", "invited"):
        page.goto(origin + pages[name])
        for button in page.locator(".button:visible, .select:visible, .input:visible, .tabs a:visible").all():
            box = button.bounding_box()
            if box and box["height"] < 44:
                small.append((name, button.inner_text()[:30], box["height"]))
    assert small == []


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_somebody_new_is_invited_and_comes_in(bank: Bank, operator: User, signed_in: Open, script: bool) -> None:
    page = signed_in(operator, reverse("banks:bank-members", args=[bank.pk]), java_script_enabled=script)
    page.get_by_label("User name or e-mail").fill("ben@example.org")
    page.get_by_label("Role", exact=True).select_option("reviewer")
    page.get_by_label("Somebody new").check()
    page.get_by_label("Full name").fill("Ben Okafor")
    page.get_by_role("button", name="Add", exact=True).click()
    link = page.get_by_label("Link, shown this once").input_value()
    assert problems(page) == [] if script else True
    page.context.clear_cookies()  # Ben's own browser
    page.goto(link)
    page.get_by_role("heading", name="Welcome, Ben Okafor").wait_for()
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_label("Password, at least").fill("staple staple staple")
    page.get_by_label("Password again").fill("staple staple staple")
    page.get_by_role("button", name="Set it").click()
    page.get_by_role("link", name="Banks", exact=True).click()
    page.get_by_role("link", name="Checkout service", exact=True).wait_for()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_asking_ends_by_itself(bank: Bank, operator: User, signed_in: Open, script: bool) -> None:
    page = signed_in(operator, reverse("banks:server-detail", args=[bank.server.pk]), java_script_enabled=script)
    page.get_by_role("button", name="Ask now").click()
    page.get_by_text("Waiting for a worker").wait_for()
    Job.objects.update(state="done", finished=timezone.now())
    Server.objects.filter(pk=bank.server.pk).update(health="refused", health_text="HTTP 401")
    if not script:
        page.get_by_role("link", name="Look again").click()
    page.get_by_role("link", name="Replace the key").wait_for()
    assert page.get_by_text("Waiting for a worker").count() == 0


def test_a_role_is_changed_by_keyboard(bank: Bank, operator: User, signed_in: Open) -> None:
    page = signed_in(operator, reverse("banks:bank-members", args=[bank.pk]))
    page.get_by_label("Role of Mira Kovač").focus()
    page.keyboard.type("rev")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Mira Kovač is reviewer here.").wait_for()
    assert Membership.objects.get(user__username="mira").role == Role.REVIEWER
