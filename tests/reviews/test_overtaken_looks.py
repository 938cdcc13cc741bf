"""A look at a document that is under way while something else happens to its entry: neither undoes the other."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from django.utils import timezone

from banks import connections
from banks.models import Bank
from reviews.models import ReviewEntry
from reviews.services import decide, load
from tests import factories
from tests.banks.conftest import LyingTransport, line
from tests.conftest import People

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)
State, Load = ReviewEntry.State, ReviewEntry.Load


@pytest.fixture
def entry(bank: Bank, line: LyingTransport) -> ReviewEntry:
    """Loaded, and to be looked at again."""
    entry = factories.make_entry(bank, "notes/a.md", load_state=Load.LOADING, load_after=timezone.now(), text="")
    assert load.load(entry.pk) == "loaded"
    ReviewEntry.objects.filter(pk=entry.pk).update(load_after=timezone.now())
    entry.refresh_from_db()
    return entry


@pytest.fixture
def answering(bank: Bank, line: LyingTransport) -> Iterator[Callable[..., None]]:
    """Each answer of the server is this one, and something happens before the first."""

    def answer(response: httpx.Response | Exception, meanwhile: Callable[[], object]) -> None:
        happened: list[object] = []

        def handle(request: httpx.Request) -> httpx.Response:
            if not happened:
                happened.append(meanwhile())
            if isinstance(response, Exception):
                raise response
            return response

        connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(handle)

    yield answer
    connections.TRANSPORTS[bank.server.base_url] = line


FAILURES = {
    "no answer": httpx.ConnectError("refused"),
    "an error": httpx.Response(500, json={"detail": "boom"}),
    "a page": httpx.Response(200, text="<html>back soon</html>", headers={"content-type": "text/html"}),
    "our key": httpx.Response(401, json={"detail": "Authentication failed"}),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_look_does_not_unlock_what_is_being_edited(
    entry: ReviewEntry, people: People, answering: Callable[..., None], failure: str
) -> None:
    seen = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    answering(FAILURES[failure], lambda: decide.edit(user=people.reviewer, new_text="Ann kept it.", **seen))
    assert load.load(entry.pk) == "overtaken"
    entry.refresh_from_db()
    assert (entry.load_state, entry.load_after, entry.load_claimed_until) == (Load.LOADING, None, None)


@pytest.mark.parametrize("failure", [None, *FAILURES])
def test_a_wish_to_look_again_outlives_the_look_that_is_under_way(
    entry: ReviewEntry, line: LyingTransport, answering: Callable[..., None], failure: str | None
) -> None:
    wish = timezone.now()

    def ask_again() -> None:
        ReviewEntry.objects.filter(pk=entry.pk).update(load_after=wish)

    if failure is None:
        line.before_call["GET"] = ask_again
    else:
        answering(FAILURES[failure], ask_again)
    load.load(entry.pk)
    entry.refresh_from_db()
    assert (entry.load_after, entry.load_claimed_until) == (wish, None)


def test_a_page_in_place_of_an_answer_is_not_the_last_word(
    entry: ReviewEntry, line: LyingTransport, answering: Callable[..., None], bank: Bank
) -> None:
    answering(FAILURES["a page"], lambda: None)
    assert load.load(entry.pk) == "refused"
    connections.TRANSPORTS[bank.server.base_url] = line
    entry.refresh_from_db()
    assert entry.load_after is not None  # nobody has to ask
    ReviewEntry.objects.filter(pk=entry.pk).update(load_after=timezone.now())
    assert load.load(entry.pk) == "loaded"
