"""Which file is watched, and what its page says to whom."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from banks.models import Bank, Job, Server
from reviews import tasks, watching
from reviews.models import SourceFile
from tests import factories
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of
from tests.reviews.watched import LOCAL, Tool, look

SignIn = Callable[..., Client]


@pytest.fixture
def path(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    settings.QUEUE_FILE = str(tmp_path / "review-queue.jsonl")
    return Path(settings.QUEUE_FILE)


@pytest.fixture
def server(bank: Bank, people: People) -> Server:
    bank.server.base_url = LOCAL
    bank.server.save()
    return bank.server


@pytest.fixture
def unset(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.QUEUE_FILE = settings.TOOLS_QUEUE_FILE = ""
    settings.MEDIA_ROOT = tmp_path / "uploads"
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / ".pi" / "hindsight" / "review-queue.jsonl"


def test_unset_it_is_where_the_tool_writes(unset: Path, settings: LazySettings) -> None:
    assert watching.watched_path() == unset
    settings.TOOLS_QUEUE_FILE = "/elsewhere/q.jsonl"
    assert watching.watched_path() == Path("/elsewhere/q.jsonl")
    settings.QUEUE_FILE = "~/named.jsonl"
    assert watching.watched_path() == unset.parents[2] / "named.jsonl"


def test_an_account_without_a_home_watches_what_was_named(
    unset: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless(path: Path) -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "expanduser", homeless)
    assert watching.watched_path() is None
    settings.QUEUE_FILE = "/srv/queue.jsonl"
    assert watching.watched_path() == Path("/srv/queue.jsonl")


@pytest.mark.parametrize("word", ["off", "OFF", "no"])
def test_it_can_be_turned_off(unset: Path, settings: LazySettings, db: None, word: str) -> None:
    settings.QUEUE_FILE = word
    Tool(unset).add("a")
    assert tasks.watch_queue_file() == "off"
    assert not SourceFile.objects.exists()


def test_the_demo_watches_no_file_of_anybody(unset: Path, settings: LazySettings, db: None) -> None:
    settings.DEMO = True
    settings.QUEUE_FILE = str(unset)
    Tool(unset).add("a")
    assert look() == "off"


def test_behind_a_proxy_only_a_named_file_is_watched(unset: Path, settings: LazySettings) -> None:
    settings.PRODUCTION = True
    assert watching.watched_path() is None
    settings.QUEUE_FILE = "/srv/queue.jsonl"
    assert watching.watched_path() == Path("/srv/queue.jsonl")


def test_a_file_of_the_tool_is_found_when_it_appears(
    server: Server, unset: Path, people: People, as_user: SignIn
) -> None:
    assert look() == "no file"
    assert not SourceFile.objects.exists()
    client = as_user(people.operator)
    page = text_of(client.get(reverse("reviews:import-list")))
    assert "Not there yet." in page
    assert "~/.pi/hindsight" in page
    Tool(unset).add("a")
    assert look() == "read"
    assert "Not there yet." not in text_of(client.get(reverse("reviews:import-list")))


def test_without_an_operator_nothing_happens(db: None, path: Path) -> None:
    Tool(path).add("a")
    assert look() == "no file"


# ── the page ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_page_says_what_the_file_brought(server: Server, path: Path, people: People, as_user: SignIn) -> None:
    tool = Tool(path)
    tool.add("a")
    tool.add("b", baseUrl="http://nowhere.example")
    tool.write("not json\n")
    look()
    page = text_of(as_user(people.operator).get(reverse("reviews:import-list")))
    assert "1 line that took effect, 1 parked, 1 that could not be read" in page
    assert f'href="{reverse("reviews:import-detail", args=[Job.objects.get().pk])}">Line by line' in page
    assert "1 line waits" in page


def test_only_operators_learn_of_the_file(server: Server, path: Path, people: People, as_user: SignIn) -> None:
    Tool(path).add("a")
    look()
    for person in (people.owner, people.reviewer, people.stranger):
        assert "Watched file" not in text_of(as_user(person).get(reverse("reviews:import-list")))
    other = factories.make_user("second", is_superuser=True)
    page = text_of(as_user(other).get(reverse("reviews:import-list")))
    assert "Watched file" in page
    assert "Line by line" not in page  # the report is its owner's


def test_a_path_never_becomes_markup(
    server: Server, people: People, as_user: SignIn, settings: LazySettings, tmp_path: Path
) -> None:
    settings.QUEUE_FILE = str(tmp_path / XSS.replace("/", "") / "\u202egpj")
    look()
    assert_harmless(text_of(as_user(people.operator).get(reverse("reviews:import-list"))))
