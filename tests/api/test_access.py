"""Every endpoint by every kind of token: who may, who may not, and that nothing is done for those."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import LazySettings
from django.core.cache import cache
from django.utils import timezone

from banks.models import Bank, Job, RetainItem, Role, Write
from banks.services import tokens
from memadmin.accounts.models import User
from memadmin.api.root import api
from reviews.models import ReviewEntry
from reviews.services import decide
from tests import factories
from tests.api.asking import Program, issue
from tests.banks.conftest import LyingTransport
from tests.banks.filing import upload
from tests.banks.operations import make_operation
from tests.banks.retaining import put
from tests.conftest import People
from tests.known_failures.world import everything
from tests.reviews.pages import shown

pytestmark = pytest.mark.django_db
# What is noted down about a token that is used, and the block that is the same for an epoch.
USE = {"banks.apitoken", "banks.frozenblock"}
READING = {"GET /me": 200, "GET /banks": 200, "GET /log": 200, "GET /reviews": 200, "GET /facts/retired": 200}
READING |= {"GET /decisions": 200, "GET /operations": 200, "GET /search": 200, "GET /seeds": 200}
WORDS = {"/search": {"q": "keeping"}, "/blocks/user-profile": {"epoch": "1"}}
OF_A_BANK = [
    *("GET /log?bank", "GET /writes/{write_id}", "GET /retain/{item_id}"),
    *("GET /reviews?bank", "GET /reviews/{review_id}", "GET /facts/retired?bank", "GET /decisions?bank"),
    "GET /search?bank",
    *("GET /operations?bank", "GET /operations/{operation_id}", "GET /blocks/mental-models?bank"),
    "GET /blocks/user-profile?bank",
]
READING |= dict.fromkeys(OF_A_BANK, 200)
READING["GET /jobs/{job_id}"] = READING["GET /seedings/{seeding_id}"] = 404  # of a token that asks for another one's
DECIDING = {"approve": 200, "delete": 202, "edit": 202, "undo": 200}
ACTING = {"POST /facts/retire": 202, "POST /retain": 202, "POST /retain/transcript": 202, "POST /retain/files": 202}
ACTING |= {"POST /imports/queue": 202, "POST /imports/log": 202}
ACTING |= {f"POST /reviews/{{review_id}}/{act}": status for act, status in DECIDING.items()}
ADMINISTERING = {f"POST /operations/{{operation_id}}/{act}": 202 for act in ("cancel", "forget")}
ADMINISTERING["GET /banks/config?bank"] = 200
ADMINISTERING["POST /seedings"] = 202
ACTING["POST /operations/{operation_id}/retry"] = 202
TOO_LITTLE = dict.fromkeys([*ACTING, *ADMINISTERING], 403)
REVIEWING = {**READING, **ACTING, **dict.fromkeys(ADMINISTERING, 403)}
ADMIN = {**READING, **ACTING, **ADMINISTERING}
NONE_OF_IT = dict.fromkeys(ADMIN, 401)
# A queue file may be about any bank: its lines are parked.
STRANGER = {**READING, **dict.fromkeys([*OF_A_BANK, *ACTING, *ADMINISTERING], 404), "POST /imports/queue": 202}
MATRIX: dict[str, dict[str, int]] = {
    "no token": NONE_OF_IT,
    "no such token": NONE_OF_IT,
    "expired": NONE_OF_IT,
    "revoked": NONE_OF_IT,
    "owner closed": NONE_OF_IT,
    "viewer's": {**READING, **TOO_LITTLE},
    "viewer's, made for an admin": {**READING, **TOO_LITTLE},
    "reviewer's for reading": {**READING, **TOO_LITTLE},
    "reviewer's": REVIEWING,
    "admin's": ADMIN,
    "operator's": ADMIN,
    "server admin's": ADMIN,
    "server reviewer's": REVIEWING,
    "group viewer's": {**READING, **TOO_LITTLE},
    "group admin's": ADMIN,
    "admin's for another bank": STRANGER,
    "operator's for another bank": STRANGER,
    "of somebody without a role": {**STRANGER, "POST /imports/queue": 403},
}


def endpoints() -> set[str]:
    paths = api.get_openapi_schema()["paths"]
    return {f"{method.upper()} {path.removeprefix('/api/v1')}" for path, methods in paths.items() for method in methods}


@pytest.fixture
def other(bank: Bank, people: People) -> Bank:
    other = factories.make_bank(server=bank.server)
    factories.grant(people.owner, other, Role.ADMIN)
    return other


def text_of(kind: str, people: People, other: Bank) -> str:
    asked: dict[str, tuple[User, dict[str, Any]]] = {
        "viewer's": (people.viewer, {"role": Role.VIEWER}),
        "viewer's, made for an admin": (people.viewer, {"role": Role.ADMIN}),
        "reviewer's for reading": (people.reviewer, {"role": Role.VIEWER}),
        "admin's": (people.owner, {"role": Role.ADMIN}),
        "operator's": (people.operator, {"role": Role.ADMIN}),
        "admin's for another bank": (people.owner, {"role": Role.ADMIN, "banks": [other]}),
        "operator's for another bank": (people.operator, {"role": Role.ADMIN, "banks": [other]}),
    }
    if kind in asked:
        owner, how = asked[kind]
        return issue(owner, **how)
    if kind.startswith(("server ", "group ")):
        where, role = kind.removesuffix("'s").split()
        person = factories.make_user()
        if where == "server":
            factories.grant(person, other.server, Role[role.upper()])
        else:
            factories.grant_group(factories.make_group("", person), other.server, Role[role.upper()])
        return issue(person, role=Role.ADMIN)
    if kind in {"no token", "no such token"}:
        return "" if kind == "no token" else f"mem_{'a' * 48}"
    if kind == "of somebody without a role":
        factories.grant(people.stranger, other, Role.REVIEWER)
        text = issue(people.stranger)
        other.memberships.filter(user=people.stranger).delete()
        return text
    if kind == "expired":
        with time_machine.travel(timezone.now() - timedelta(days=91), tick=False):
            return issue(people.reviewer)
    text = issue(people.reviewer)
    if kind == "revoked":
        tokens.revoke(actor=people.reviewer, token=tokens.caller_of(text).token)  # type: ignore[union-attr]
    if kind == "owner closed":
        User.objects.filter(pk=people.reviewer.pk).update(is_active=False)
    return text


def memories(bank: Bank) -> dict[str, ReviewEntry]:
    """One for each decision."""
    found = {act: factories.make_entry(bank) for act in DECIDING}
    owner = factories.make_user(is_superuser=True)
    decide.approve(user=owner, entry_id=found["undo"].pk, **shown(found["undo"]))  # type: ignore[arg-type]
    found["undo"].refresh_from_db()
    return found


def ask(
    program: Program, endpoint: str, bank: Bank, write: Write, item: RetainItem, entries: dict[str, ReviewEntry]
) -> Any:
    method, _, path = endpoint.partition(" ")
    if path.startswith("/imports/"):
        return program.send(path, b"torn\n", **({"bank": bank.bank_id} if path.endswith("log") else {}))
    if path.startswith("/operations/"):
        act = path.rpartition("/")[2]
        row = bank.operations.get(status={"cancel": "pending", "forget": "completed"}.get(act, "failed"))
        path = path.format(operation_id=row.pk)
        return program.get(path) if method == "GET" else program.post(path, {})
    if path == "/jobs/{job_id}":
        return program.get(f"/jobs/{Job.objects.earliest('pk').pk}")
    if path == "/seedings":
        return program.post(path, {"banks": [{"bank": bank.bank_id}], "scope": "global"})
    if endpoint == "POST /retain":
        return program.post(path, {"bank": bank.bank_id, "items": [{"content": "Ann moved."}]})
    if path.startswith("/reviews/"):
        act = path.rpartition("/")[2]
        entry = entries.get(act, entries["approve"])
        path = path.format(review_id=entry.pk)
        body = {"version": entry.version} if act == "undo" else shown(entry)
        if act == "edit":
            body = body | {"text": "Other."}
        return program.get(path) if method == "GET" else program.post(path, body)
    if path == "/retain/transcript":
        said = json.dumps({"role": "user", "content": "Move Ann.", "session_id": "s"})
        return program.post(path, {"bank": bank.bank_id, "transcript": said})
    if path == "/retain/files":
        return program.upload(path, {"request": json.dumps({"bank": bank.bank_id}), "files": [upload()]})
    if method == "POST":
        quote = "It was removed for good, I am sure."
        verdicts = [{"verdict": "contradicts", "id": "f1", "quote": quote}]
        return program.post(
            path, {"bank": bank.bank_id, "transcript": quote, "candidates": [{"id": "f1"}], "verdicts": verdicts}
        )
    if path.endswith("?bank"):
        return program.get(path.partition("?")[0], bank=bank.bank_id, **WORDS.get(path[:-5], {}))
    numbers = {"write_id": write.pk, "item_id": item.pk, "seeding_id": Job.objects.earliest("pk").pk}
    return program.get(path.format(**numbers), **WORDS.get(path, {}))


def test_no_endpoint_is_left_out() -> None:
    every = endpoints()
    for kind, row in MATRIX.items():
        assert {each.partition("?")[0] for each in row} == every, kind


@pytest.mark.parametrize("kind", MATRIX)
def test_row_by_row(
    kind: str,
    bank: Bank,
    people: People,
    other: Bank,
    line: LyingTransport,
    settings: LazySettings,
    tmp_path: Path,
) -> None:
    settings.MEDIA_ROOT = tmp_path
    write = Write.objects.create(kind="edit", bank=bank, via="web", state="done", document_id="a")
    (item,) = put(people.owner, bank, "Ben stayed.")
    program, entries = Program(text_of(kind, people, other)), memories(bank)
    Job.objects.create(kind="import-queue", owner=people.reviewer, params={"token": 0})
    for status in ("pending", "completed", "failed"):
        make_operation(bank, status)
    for endpoint, status in MATRIX[kind].items():
        cache.clear()  # too many refusals have tests of their own
        before = everything(without=USE)
        answer = ask(program, endpoint, bank, write, item, entries)
        assert answer.status_code == status, (endpoint, answer.content)
        if status >= 400 or endpoint.startswith("GET"):
            assert everything(without=USE) == before, endpoint
    if MATRIX[kind]["GET /log?bank"] == 404:
        said = program.get("/banks").content + program.get("/log").content + program.get("/reviews").content
        said += program.get("/search", q="keeping").content
        assert bank.bank_id not in said.decode()
    assert {method for method, _ in line.calls} == ({"GET"} if MATRIX[kind]["GET /log?bank"] == 200 else set())
