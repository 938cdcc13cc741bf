"""Rows for tests, made the way the product makes them; keyword arguments override."""

import itertools
from datetime import datetime
from typing import Any

from django.utils import timezone

from banks.models import Bank, Blob, Group, GroupMember, GroupRole, Membership, Role, Server, Write
from memadmin.accounts.models import User
from reviews import search
from reviews.models import ReviewEntry

_numbers = itertools.count(1)


def make_user(username: str = "", **values: Any) -> User:
    username = username or f"person{next(_numbers)}"
    return User.objects.create_user(username=username, password="correct horse battery", **values)


def make_server(**values: Any) -> Server:
    number = next(_numbers)
    return Server.objects.create(
        **{"name": f"server {number}", "base_url": f"http://hindsight-{number}.test:8888", **values}
    )


def make_bank(bank_id: str = "", **values: Any) -> Bank:
    bank_id = bank_id or f"bank-{next(_numbers)}"
    server = values.pop("server", None) or make_server()
    return Bank.objects.create(server=server, bank_id=bank_id, bank_hash=Bank.hash_of(bank_id), **values)


def grant(user: User, on: Bank | Server, role: Role) -> Membership:
    target = {"bank": on} if isinstance(on, Bank) else {"server": on}
    return Membership.objects.create(user=user, role=role, **target)


def make_entry(bank: Bank, document_id: str = "", *, text: str = "A fact worth keeping.", **values: Any) -> ReviewEntry:
    """A pending entry whose text is loaded; `load_state=` and the like override."""
    document_id = document_id or f"doc-{next(_numbers)}"
    now: datetime = timezone.now()
    entry = ReviewEntry.objects.create(
        **{
            "bank": bank,
            "document_id": document_id,
            "document_hash": Write.hash_of(document_id),
            "enqueued_at": now,
            "age_from": now,
            "first_imported_at": now,
            "load_state": ReviewEntry.Load.LOADED,
            "load_after": None,
            "loaded_at": now,
            "text": Blob.objects.store(text),
            "text_size": len(text.encode()),
            "preview": text[:300].replace("\x00", " "),
            "fact_count": 1,
            "content_hash": f"server-hash-{next(_numbers)}",
            **values,
        }
    )
    search.index(entry_id=entry.pk, document_id=document_id, text=text)
    return entry


def make_group(name: str = "", *people: User) -> Group:
    group = Group.objects.create(name=name or f"group {next(_numbers)}")
    for person in people:
        GroupMember.objects.create(group=group, user=person)
    return group


def grant_group(group: Group, on: Bank | Server, role: Role) -> GroupRole:
    target = {"bank": on} if isinstance(on, Bank) else {"server": on}
    return GroupRole.objects.create(group=group, role=role, **target)
