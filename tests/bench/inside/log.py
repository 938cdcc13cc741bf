"""Fills a database with a write log that has grown for long, and finds the way to the middle of it."""

from typing import Any

from django.db import connection

from banks.log_filters import LogFilters
from banks.models import Bank, Blob, Membership, Role, Server, Write
from banks.selectors_log import LOG_ORDER
from memadmin.accounts.models import User
from memadmin.paging import Cursor
from tests.bench.inside import fill

# Of thousand rows: 500 approved by time; by a person 300 approved, 100 edits, 60 deletes and 40 retired. Of the edits
# 60 wait for a person: a page full of them among a thousand rows too.
FATE = "n * 7919 % 1000"
WAITS = f"{FATE} >= 840 AND {FATE} < 900"


def grow(writes: int, banks: int, seen: int) -> int:
    """`seen` of the banks are shown to the reviewer, all of them to the operator. Returns how many rows there are."""
    people = {name: _person(name) for name in (fill.OPERATOR, fill.REVIEWER, fill.COLLEAGUE)}
    server = Server.objects.create(name="bench", base_url="http://127.0.0.1:9", health=Server.Health.OK)
    made = [
        Bank.objects.create(server=server, bank_id=f"bank-{n}", bank_hash=Bank.hash_of(f"bank-{n}"))
        for n in range(banks)
    ]
    for bank in made[:: max(banks // seen, 1)][:seen]:
        Membership.objects.create(user=people[fill.REVIEWER], bank=bank, role=Role.REVIEWER)
    text = Blob.objects.store("The checkout service keeps its feature flags in Consul.").pk
    with fill.filling((Write,)) as cursor:
        fill.insert(cursor, Write, _columns(made[0].pk, banks, people, text), fill.series(), [writes])
    return Write.objects.count()


def middle(user: str) -> str:
    """The address of the page in the middle of what this person sees."""
    rows = LogFilters().listed(User.objects.get(username=user)).all.order_by(*LOG_ORDER.by())
    row = rows[rows.count() // 2]
    return f"/log/?page={Cursor(row.occurred_at, row.pk)}"


def largest_bank() -> str:
    return f"/log/?bank={Bank.objects.order_by('pk').values_list('pk', flat=True)[0]}"


def _person(name: str) -> User:
    return User.objects.create_user(
        username=name, password="a long enough password", is_staff=True, is_superuser=name == fill.OPERATOR
    )


def _columns(first_bank: int, banks: int, people: dict[str, User], text: str) -> dict[str, Any]:
    reviewer, colleague = people[fill.REVIEWER].pk, people[fill.COLLEAGUE].pk
    by = f"CASE WHEN {FATE} < 500 THEN NULL WHEN n % 2 = 0 THEN {reviewer} ELSE {colleague} END"
    kind = f"CASE WHEN {FATE} < 800 THEN 'approve' WHEN {FATE} < 900 THEN 'edit' WHEN {FATE} < 960 THEN 'delete' END"
    at = fill.ago("n * 15485863 % 31536000")  # seconds, of a year
    return {
        "id": "n",
        # The first banks hold more than the last ones.
        "bank_id": f"{first_bank} + {banks} * (n * 104729 % 1000) * (n * 104729 % 1000) / 1000000",
        "kind": f"COALESCE({kind}, 'retire')",
        "slot": f"CASE WHEN {FATE} >= 800 THEN {fill.digest('n')} ELSE '' END",
        "actor_id": by,
        "actor_name": f"CASE WHEN {FATE} < 500 THEN '' WHEN n % 2 = 0 THEN 'mira' ELSE 'ben' END",
        "via": f"CASE WHEN {FATE} < 500 THEN 'expiry' ELSE 'web' END",
        "document_id": "'sessions/2026/' || (n % 300000) || '.md'",
        "document_hash": fill.digest("n % 300000"),
        "before_id": f"'{text}'",
        "operation_id": "gen_random_uuid()" if connection.vendor == "postgresql" else "lower(hex(randomblob(16)))",
        "state": f"CASE WHEN {WAITS} THEN 'attention' ELSE 'done' END",
        "error_text": f"CASE WHEN {WAITS} THEN 'The server answered 400.' ELSE '' END",
        **dict.fromkeys(("not_before", "occurred_at", "created", "finished"), at),
    }
