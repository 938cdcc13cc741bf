"""Directives: created, listed with those that are off, changed field by field, deleted."""

import uuid

import pytest

from banks.hindsight import NotFound, ServerFault

POLITE = {"name": "Polite", "content": "Always be polite.", "priority": 5, "is_active": True, "tags": ["team:core"]}


def test_a_directive_is_created_read_changed_and_deleted(bank):
    made = bank.client.create_directive(bank.id, POLITE)
    assert (made.name, made.content, made.priority, made.active, made.tags) == (
        "Polite", "Always be polite.", 5, True, ["team:core"]
    )  # fmt: skip
    assert bank.client.get_directive(bank.id, made.id) == made
    off = bank.client.patch_directive(bank.id, made.id, {"is_active": False})
    assert (off.active, off.name, off.content) == (False, "Polite", "Always be polite.")
    bare = bank.client.patch_directive(bank.id, made.id, {"tags": [], "priority": -3})
    assert (bare.tags, bare.priority, bare.active) == ([], -3, False)
    bank.client.delete_directive(bank.id, made.id)
    assert bank.client.all_directives(bank.id) == []
    with pytest.raises(NotFound) as caught:
        bank.client.get_directive(bank.id, made.id)
    assert caught.value.what == "directive"


def test_lists_have_those_that_are_off_by_priority_and_are_paged(bank):
    for number in range(3):
        bank.client.create_directive(bank.id, POLITE | {"name": f"n{number}", "priority": number, "is_active": False})
    assert [each.name for each in bank.client.all_directives(bank.id)] == ["n2", "n1", "n0"]
    first, second = (bank.client.list_directives(bank.id, limit=2, offset=offset) for offset in (0, 2))
    assert (first.total, [each.name for each in first.items + second.items]) == (3, ["n2", "n1", "n0"])


def test_a_repeated_create_makes_another_one(bank):
    one, other = (bank.client.create_directive(bank.id, POLITE) for _ in range(2))
    assert one.id != other.id
    assert bank.client.list_directives(bank.id).total == 2


@pytest.mark.parametrize("act", ["get_directive", "delete_directive"])
def test_what_is_not_there_and_what_is_no_id(bank, act):
    with pytest.raises(NotFound) as caught:
        getattr(bank.client, act)(bank.id, str(uuid.uuid4()))
    assert caught.value.what == "directive"
    with pytest.raises(ServerFault):
        getattr(bank.client, act)(bank.id, "nope")


def test_no_directive_creates_a_bank(client):
    name = f"never-{uuid.uuid4().hex}"
    with pytest.raises(ServerFault):
        client.create_directive(name, POLITE)
    with pytest.raises(NotFound) as caught:
        client.list_directives(name)
    assert caught.value.what == "bank"
    assert not client.has_bank(name)
