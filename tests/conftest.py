import gc
import os
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import hypothesis
import pytest
from django.core.cache import cache
from django.db import DatabaseError
from django.test import Client, TransactionTestCase
from django.test.utils import setup_databases, teardown_databases
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from banks.models import Bank, Role
from memadmin.accounts.models import User
from tests import emptying, factories, migrated
from tests.browser.chromium import browser
from tests.services import backing

__all__ = ["browser"]  # the fixture of every folder that looks at pages

# How fast a machine is with something else to do, or at its first table of characters, is nothing that a test asserts.
# And a check is about the code alone: it tries the same examples each time, and who works on it others.
hypothesis.settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize=os.environ.get("MEMADMIN_TEST_REQUIRE") == "all",
)
hypothesis.settings.load_profile("untimed")

TransactionTestCase._fixture_teardown = emptying.empty  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where every suite must run (MEMADMIN_TEST_REQUIRE=all), leaving one out is failing."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("MEMADMIN_TEST_REQUIRE") == "all":
        report.outcome = "failed"
        report.longrepr = f"left out, and MEMADMIN_TEST_REQUIRE=all: {report.longrepr}"
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """No test finds in the cache what another one left: their rows may have the same ids. And none begins in the last
    half minute of a day: what was today would be yesterday before it ends."""
    cache.clear()
    now = timezone.localtime()
    left = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0) - now
    if left < timedelta(seconds=30):
        time.sleep(left.total_seconds())


def pytest_collection_finish() -> None:
    """What is loaded by now stays: looking through all of it for garbage again and again takes a sixth of a run."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """pytest-django's own, which knows no database that is migrated already."""
    with django_db_blocker.unblock():
        there = migrated.copied()
        databases = setup_databases(0, interactive=False, keepdb=there, serialized_aliases=[])
        if not there:
            migrated.keep()
    yield
    with django_db_blocker.unblock(), suppress(DatabaseError):  # somebody who still looks at it does no harm
        teardown_databases(databases, 0)


# What takes the whole machine, or starts a server for all of its tests, stays in one process of a parallel run.
TOGETHER = {"browser": "chromium", "stack": "chromium", "faults": "chromium", "contract": "hindsight"}


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    elsewhere = [] if backing.in_use() else [item for item in items if item.get_closest_marker("services")]
    if elsewhere:
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if item not in elsewhere]
    for item in items:
        for marker, group in TOGETHER.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.xdist_group(group))
                break


@dataclass(frozen=True)
class People:
    """Who every view test asks: one who may, one who may only look, one who must not know."""

    owner: User  # admin of the bank
    reviewer: User
    viewer: User
    stranger: User  # signed in, without any right on the bank
    operator: User  # superuser


@pytest.fixture
def bank(db: None) -> Bank:
    return factories.make_bank("checkout-service", name="Checkout service")


@pytest.fixture
def people(bank: Bank) -> People:
    people = People(
        owner=factories.make_user("ann", first_name="Ann", last_name="Weber"),
        reviewer=factories.make_user("mira", first_name="Mira", last_name="Kovač"),
        viewer=factories.make_user("ben"),
        stranger=factories.make_user("eve"),
        operator=factories.make_user("root", is_superuser=True, is_staff=True),
    )
    factories.grant(people.owner, bank, Role.ADMIN)
    factories.grant(people.reviewer, bank, Role.REVIEWER)
    factories.grant(people.viewer, bank, Role.VIEWER)
    return people


@pytest.fixture
def as_user() -> Iterator[object]:
    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in  # type: ignore[return-value]
