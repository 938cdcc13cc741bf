"""Requests that nobody thought of, made from the OpenAPI document: each answer is promised there, and none is 500."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.conf import LazySettings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks
from schemathesis.generation import GenerationMode

from banks.models import Bank, Role, Write
from memadmin.api.root import api
from memadmin.wsgi import application
from tests import factories
from tests.api.asking import issue
from tests.banks.conftest import LyingTransport
from tests.banks.operations import make_operation
from tests.banks.retaining import put
from tests.conftest import People

pytestmark = pytest.mark.django_db
OPERATIONS = [(path, method) for path, methods in api.get_openapi_schema()["paths"].items() for method in methods]
PROMISED = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
# The same requests each time, and not too many.
bounded = settings(
    max_examples=15,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "replace")


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """A request ends by closing what its connection has left open: here that is the transaction of the test."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def token(people: People, settings: LazySettings, tmp_path: Path) -> str:
    """Of an admin, without a limit."""
    settings.MEDIA_ROOT, settings.API_PER_MINUTE = tmp_path, 0
    return issue(people.owner, role=Role.ADMIN)


@pytest.fixture
def there(bank: Bank, people: People) -> dict[str, int]:
    """What the parameters of the paths may name."""
    (item,) = put(people.owner, bank, "Ben stayed.")
    write = Write.objects.create(kind="edit", bank=bank, via="web", state="done", document_id="a")
    review, operation = factories.make_entry(bank), make_operation(bank, "failed")
    named = {"review_id": review.pk, "operation_id": operation.pk, "write_id": write.pk, "item_id": item.pk}
    return {**named, "job_id": 1, "seeding_id": 1}


@cache
def schema() -> Any:
    return schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)


def leading_there(case: Any, bank: Bank, there: dict[str, int]) -> None:
    """Random names are of nothing, and the endpoint would go no further."""
    case.path_parameters = {name: there[name] for name in case.path_parameters or {}}
    for part in (case.query, case.body):
        if isinstance(part, dict) and "bank" in part:
            part["bank"] = bank.bank_id
            part.pop("server", None)


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=[f"{method} {path}" for path, method in OPERATIONS])
def test_every_answer_is_promised(
    path: str, method: str, mode: Any, token: str, bank: Bank, there: dict[str, int], line: LyingTransport
) -> None:
    @bounded
    @given(case=schema()[path][method].as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        if mode == GenerationMode.POSITIVE:
            leading_there(case, bank, there)
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=PROMISED)

    ask()
    assert {method for method, _ in line.calls} <= {"GET"}
