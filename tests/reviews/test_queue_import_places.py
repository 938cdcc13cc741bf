"""Import of a queue file: whose banks and whose localhost its lines mean."""

import pytest

from banks.models import Bank, Role, Server
from reviews.models import Parked, ReviewEntry
from tests import factories
from tests.conftest import People
from tests.reviews.queue_files import URL, add, counts, done, entry, import_lines

State = ReviewEntry.State


@pytest.fixture
def server(bank: Bank) -> Server:
    bank.server.base_url = URL
    bank.server.save()
    return bank.server


# ── whose banks ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("who", ["viewer", "stranger"])
def test_lines_count_only_where_the_sender_may_review(server: Server, people: People, who: str) -> None:
    job = import_lines([add("a"), done("a")], getattr(people, who))
    assert counts(job) == {"parked": 2}
    assert not ReviewEntry.objects.exists()


def test_no_right_and_no_such_bank_read_the_same(server: Server, people: People) -> None:
    import_lines([add("a"), add("b", bank="nowhere"), add("c", baseUrl="http://other.example")], people.stranger)
    assert Parked.objects.values_list("reason", flat=True).distinct().count() == 1


def test_rights_given_later_place_the_lines_at_the_next_import(server: Server, bank: Bank, people: People) -> None:
    lines = [add("a"), done("a"), add("b")]
    import_lines(lines, people.stranger)
    factories.grant(people.stranger, bank, Role.REVIEWER)
    job = import_lines(lines, people.stranger)
    assert counts(job) == {"accepted": 3}
    assert (entry("a").state, entry("b").state) == (State.APPROVED, State.PENDING)
    assert not Parked.objects.filter(assigned_at=None).exists()


def test_a_server_admin_registers_banks_and_a_reviewer_does_not(server: Server, people: People) -> None:
    import_lines([add("a", bank="new-bank")], people.reviewer)
    assert not Bank.objects.filter(bank_id="new-bank").exists()
    factories.grant(people.reviewer, server, Role.ADMIN)
    import_lines([add("a", bank="new-bank")], people.reviewer)
    assert entry("a").bank == Bank.objects.get(server=server, bank_id="new-bank")


# ── whose localhost ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def local(server: Server) -> Server:
    server.base_url = "http://localhost:8888"
    server.save()
    return server


@pytest.mark.parametrize("url", ["http://localhost:8888", "http://127.0.0.1:8888", "http://[::1]:8888"])
def test_a_files_localhost_is_not_ours(local: Server, people: People, url: str) -> None:
    assert counts(import_lines([add("a", baseUrl=url)], people.operator)) == {"parked": 1}


@pytest.mark.parametrize("url", ["HTTP://LOCALHOST:8888//", "http://127.0.0.1:8888", "http://[::1]:8888"])
def test_read_on_the_server_itself_localhost_is_ours(local: Server, people: People, url: str) -> None:
    job = import_lines([add("a", baseUrl=url)], people.operator, on_this_machine=True)
    assert counts(job) == {"accepted": 1}
    assert entry("a").bank.server == local


@pytest.mark.parametrize(
    "url",
    [
        *("http://localhost:9999", "https://localhost:8888", "http://localhost.attacker.example:8888", ""),
        *("http://127.0.0.1.example.net:8888", "http://localhost:8888@evil.example", "http://localhost@evil:8888"),
    ],
)
def test_what_only_looks_like_localhost_is_parked(local: Server, people: People, url: str) -> None:
    job = import_lines([add("a", baseUrl=url)], people.operator, on_this_machine=True)
    assert counts(job) == {"parked": 1}


def test_the_sender_may_say_what_localhost_means(server: Server, people: People) -> None:
    lines = [add("a", baseUrl="http://localhost:8888")]
    assert counts(import_lines(lines, people.reviewer, localhost=server)) == {"accepted": 1}
    more = [*lines, add("b", baseUrl="http://127.0.0.1:9999")]
    assert counts(import_lines(more, people.reviewer)) == {"known": 1, "accepted": 1}  # it is remembered
    assert counts(import_lines(lines, people.reviewer, machine="other")) == {"parked": 1}  # for this machine only


def test_one_server_for_all_lines(server: Server, people: People) -> None:
    job = import_lines([add("a", baseUrl=""), add("b", baseUrl="http://x.example")], people.reviewer, server=server)
    assert counts(job) == {"accepted": 2}


def test_other_addresses_of_a_server_are_its_own(server: Server, people: People) -> None:
    server.other_urls = ["https://memory.example/hindsight"]
    server.save()
    job = import_lines([add("a", baseUrl="https://MEMORY.example:443/hindsight/")], people.reviewer)
    assert counts(job) == {"accepted": 1}


def test_a_namespace_is_another_server(server: Server, people: People) -> None:
    team = factories.make_server(base_url=URL, namespace="team")
    lines = [add("a", namespace="team"), add("b", namespace=""), add("c", namespace="nowhere")]
    job = import_lines(lines, people.operator)
    assert counts(job) == {"accepted": 2, "parked": 1}
    assert (entry("a").bank.server, entry("b").bank.server) == (team, server)


def test_a_done_that_fits_two_banks_goes_to_a_person(server: Server, people: People) -> None:
    job = import_lines([add("a"), add("a", bank="second"), done("a")], people.operator)
    assert counts(job) == {"accepted": 2, "parked": 1}
    assert not ReviewEntry.objects.exclude(state=State.PENDING).exists()
    assert "person" in Parked.objects.get().reason
