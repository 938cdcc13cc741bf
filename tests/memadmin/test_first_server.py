from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from banks.models import Bank, Job, Server
from memadmin import bootstrap
from memadmin.accounts import people
from memadmin.accounts.models import User
from memadmin.up.prepare import Mixed, introduce, prepare
from reviews.models import ReviewEntry
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def environment(settings, tmp_path: Path) -> None:
    settings.HINDSIGHT_BASE_URL = "HTTP://Memory.Example:80/"
    settings.HINDSIGHT_NAMESPACE = "default"
    settings.HINDSIGHT_API_KEY = "hush"
    settings.STATIC_ROOT = tmp_path / "static"
    settings.DATA_DIR = tmp_path
    settings.MEDIA_ROOT = tmp_path / "uploads"


def test_the_first_server_comes_from_the_environment_with_its_key_encrypted() -> None:
    server = bootstrap.ensure_first_server()

    assert server is not None
    assert server.base_url == "http://memory.example"
    assert server.api_key == "hush"
    assert "hush" not in server.api_key_encrypted


def test_it_is_registered_once() -> None:
    assert bootstrap.ensure_first_server() == bootstrap.ensure_first_server()

    assert Server.objects.count() == 1


def test_two_that_register_at_the_same_time_agree() -> None:
    address = bootstrap.environment_address()

    assert bootstrap.register(address) == bootstrap.register(address)


def test_nothing_is_registered_without_the_variable(settings) -> None:
    settings.HINDSIGHT_BASE_URL = ""

    assert bootstrap.ensure_first_server() is None
    assert bootstrap.differences() == []


def test_what_is_no_address_is_refused_with_the_reason(settings) -> None:
    settings.HINDSIGHT_BASE_URL = "ftp://memory.example"

    with pytest.raises(ImproperlyConfigured, match="HINDSIGHT_BASE_URL is no address of a server"):
        bootstrap.ensure_first_server()


def test_a_later_difference_is_told_and_not_adopted(settings) -> None:
    bootstrap.ensure_first_server()
    settings.HINDSIGHT_BASE_URL = "http://other.example"

    assert bootstrap.ensure_first_server() is None
    assert "http://other.example" in bootstrap.differences()[0].what
    assert Server.objects.count() == 1


def test_another_key_is_a_difference_that_does_not_show_the_key(settings) -> None:
    bootstrap.ensure_first_server()
    settings.HINDSIGHT_API_KEY = "new-key"

    difference = bootstrap.differences()[0]
    assert "new-key" not in difference.what
    assert bootstrap.adopt_environment().api_key == "new-key"
    assert bootstrap.differences() == []


def test_an_unknown_address_can_be_adopted_as_another_server(settings) -> None:
    bootstrap.ensure_first_server()
    settings.HINDSIGHT_BASE_URL = "http://other.example"

    bootstrap.adopt_environment()

    assert Server.objects.count() == 2
    assert bootstrap.differences() == []


def test_a_server_that_moved_keeps_its_banks_and_its_old_address(settings) -> None:
    first = bootstrap.ensure_first_server()
    bank = factories.make_bank(server=first)
    settings.HINDSIGHT_BASE_URL = "http://other.example"

    moved = bootstrap.adopt_environment(moved=True)

    assert moved == first
    assert moved.base_url == "http://other.example"
    assert moved.other_urls == ["http://memory.example"]
    assert list(moved.banks.all()) == [bank]


def test_the_demo_server_follows_its_port(settings) -> None:
    settings.DEMO = True
    settings.HINDSIGHT_BASE_URL = "http://127.0.0.1:4711"
    first = bootstrap.ensure_first_server()
    settings.HINDSIGHT_BASE_URL = "http://127.0.0.1:4712"

    again = bootstrap.ensure_first_server()

    assert first is not None
    assert first.is_demo
    assert again is not None
    assert (again.pk, again.base_url, again.name) == (first.pk, "http://127.0.0.1:4712", "Demo")


@pytest.mark.parametrize("demo", [True, False])
def test_sample_memories_and_real_ones_never_share_a_database(settings, demo: bool) -> None:
    factories.make_server(is_demo=not demo)
    settings.DEMO = demo

    with pytest.raises(Mixed, match="DATABASE_URL"):
        prepare()


def test_prepare_does_everything_once() -> None:
    first, again = prepare(), prepare()

    assert (first.server, first.operator, first.has_password, first.first_run) == (
        "memory.example",
        "admin",
        False,
        True,
    )
    assert first.static
    assert not again.static
    assert User.objects.count() == 1


def test_the_first_operator_comes_from_the_environment(settings) -> None:
    settings.ADMIN_USERNAME, settings.ADMIN_PASSWORD = "olga", "a long enough password"

    admin = people.ensure_first_admin()

    assert admin.created
    assert admin.has_password
    assert admin.user.is_superuser
    assert admin.user.check_password("a long enough password")


def test_an_operator_who_is_there_is_never_changed(settings) -> None:
    ann = factories.make_user("ann", is_superuser=True)
    settings.ADMIN_USERNAME, settings.ADMIN_PASSWORD = "olga", "another password"

    admin = people.ensure_first_admin()

    assert admin.user == ann
    assert not admin.created
    assert User.objects.count() == 1


def test_the_demo_queue_is_filled_once_with_what_the_demo_server_holds(settings) -> None:
    from banks import connections, jobs
    from banks.demo import DemoServer, DemoTransport
    from banks.demo.samples import fill

    settings.DEMO, settings.HINDSIGHT_BASE_URL = True, "http://127.0.0.1:4711"
    demo = DemoServer(None)
    fill(demo, timezone.now())
    connections.TRANSPORTS["http://127.0.0.1:4711"] = DemoTransport(demo)
    try:
        prepare()
        introduce()
        introduce()
    finally:
        connections.TRANSPORTS.pop("http://127.0.0.1:4711")

    job = Job.objects.get()
    jobs.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result["parked"]) == (Job.State.DONE, 0)
    assert ReviewEntry.objects.filter(state="pending").count() >= 40
    assert Bank.objects.count() >= 5
    assert (settings.DATA_DIR / "review-queue.jsonl").exists()
