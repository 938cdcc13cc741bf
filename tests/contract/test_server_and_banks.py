"""What the server says about itself, its banks and its key."""

import uuid

import httpx
import pytest

from banks.hindsight import Invalid, NotFound, Refused, RetainItem
from tests.contract.conftest import KEY, until


def test_the_server_tells_its_version_and_health_without_a_key(target):
    with target.client(key="") as stranger:
        assert stranger.version().api_version.startswith("1.1.")
        assert stranger.version().features["observations"] is True
        assert stranger.health().healthy


@pytest.mark.parametrize("key", ["", "wrong", KEY + "x"])
def test_no_key_and_a_wrong_key_are_refused(target, key):
    with target.client(key=key) as stranger, pytest.raises(Refused) as caught:
        stranger.list_banks()
    assert caught.value.status == 401
    assert KEY not in str(caught.value)


def test_a_bank_is_made_named_listed_and_deleted(client):
    name = f"contract-{uuid.uuid4().hex[:8]}"
    client.put_bank(name)
    client.put_bank(name, name="Renamed")
    row = next(row for row in client.list_banks() if row.bank_id == name)
    assert (row.name, row.fact_count) == ("Renamed", 0)
    assert row.created_at is not None
    client.delete_bank(name)
    assert name not in [row.bank_id for row in client.list_banks()]


def test_deleting_an_unknown_bank_is_a_yes(client):
    assert client.delete_bank(f"never-{uuid.uuid4().hex}").units_deleted == 0


@pytest.mark.parametrize(
    "suffix", ["::channel-2::user-3", " with space", "%20", "проект", "?q=1#x", "..", "it's", "a+b&c=d", "\u202egnp"]
)
def test_banks_with_nasty_ids_are_addressed_exactly(client, suffix):
    name = f"c{uuid.uuid4().hex[:8]}{suffix}"
    client.put_bank(name)
    try:
        assert name in [row.bank_id for row in client.list_banks()]
        assert client.stats(name).documents == 0
    finally:
        client.delete_bank(name)
    assert name not in [row.bank_id for row in client.list_banks()]


def test_a_bank_id_of_192_bytes_is_the_longest(client):
    name = uuid.uuid4().hex.ljust(192, "x")
    client.put_bank(name)
    client.delete_bank(name)
    path = f"/v1/default/banks/{name}x"
    with pytest.raises(Invalid):
        client._sender.send("PUT", path.encode(), body={})


@pytest.mark.parametrize("call", ["stats", "list_documents", "list_facts", "list_operations"])
def test_lists_of_an_unknown_bank_say_that_the_bank_is_missing(client, call):
    name = f"never-{uuid.uuid4().hex}"
    with pytest.raises(NotFound) as caught:
        getattr(client, call)(name)
    assert caught.value.what == "bank"
    assert name not in [row.bank_id for row in client.list_banks()]  # no read makes a bank


def test_finding_a_document_in_an_unknown_bank_is_no_proof_of_absence(client):
    with pytest.raises(NotFound) as caught:
        client.find_document(f"never-{uuid.uuid4().hex}", "x")
    assert caught.value.what == "bank"


def test_a_document_of_an_unknown_bank_is_a_missing_document(client):
    with pytest.raises(NotFound) as caught:
        client.get_document(f"never-{uuid.uuid4().hex}", "x")
    assert caught.value.what == "document"


def test_a_retain_makes_a_missing_bank(client):
    name = f"contract-{uuid.uuid4().hex[:8]}"
    client.retain(name, [RetainItem("Ghosts like sheets.", "g")], operation_id=uuid.uuid4())
    until(lambda: [row.bank_id for row in client.list_banks()], lambda names: name in names)
    client.delete_bank(name)


def test_stats_count_documents_and_facts_by_type(bank):
    bank.store("a", "Alice works at Acme. Bob likes tea.")
    bank.quiet()
    stats = bank.client.stats(bank.id)
    assert stats.documents == 1
    assert stats.facts_by_type["world"] == 2
    assert (stats.pending_operations, stats.failed_operations) == (0, 0)


def test_ignored_parameters_are_named(bank):
    page = bank.client._page(
        f"/v1/default/banks/{bank.id}/documents".encode(), "items", dict, limit=1, offset=0, favourite="yes"
    )
    assert page.ignored_params == ("favourite",)
    assert bank.client.list_documents(bank.id).ignored_params == ()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("memories/list?limit=-1", 422),
        ("memories/list?limit=abc", 422),
        ("operations?limit=101", 422),
        ("nowhere", 404),
    ],
)
def test_wrong_questions_get_the_same_refusals(target, bank, path, status):
    with httpx.Client(transport=target.transport, headers={"authorization": f"Bearer {KEY}"}, trust_env=False) as http:
        answer = http.get(f"{target.url}/v1/default/banks/{bank.id}/{path}")
    assert answer.status_code == status
    assert isinstance(answer.json()["detail"], list if status == 422 else str)


def test_a_bank_cannot_be_read_as_such(target, bank):
    with httpx.Client(transport=target.transport, headers={"authorization": f"Bearer {KEY}"}, trust_env=False) as http:
        assert http.get(f"{target.url}/v1/default/banks/{bank.id}").status_code == 405


def test_new_facts_are_counted_by_the_day(bank):
    bank.store("d", "Ann keeps the ledger. Ben reads it.")
    days = bank.client.days(bank.id)
    assert len(days.counts) >= 14
    assert sum(days.counts) == days.counts[-1] == bank.client.get_document(bank.id, "d").fact_count
    assert bank.client.stats(bank.id).pending_consolidation is not None


def test_a_bank_has_no_other_ids_before_it_is_given_some(bank):
    bank.store("d", "Ann keeps the ledger.")
    assert bank.client.aliases(bank.id) == []
