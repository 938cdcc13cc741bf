"""The OpenAPI document holds together; that answers are what it says, tests.api.asking checks at each of them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.api import promised

pytestmark = pytest.mark.django_db


@pytest.fixture
def document() -> dict[str, Any]:
    answer = Client().get("/api/v1/openapi.json")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    found: dict[str, Any] = answer.json()
    return found


def operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(method, each) for methods in document["paths"].values() for method, each in methods.items()]


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"]
        for each in part.values():
            yield from references(each)
    if isinstance(part, list):
        for each in part:
            yield from references(each)


def test_it_is_openapi_3_1_and_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert {"title", "version", "description"} <= set(document["info"])
    for reference in references(document):
        assert promised.resolved(document, {"$ref": reference})


def test_every_operation_has_a_name_a_summary_and_all_its_answers(document: dict[str, Any]) -> None:
    names = [each["operationId"] for _, each in operations(document)]
    assert sorted(names) == sorted(set(names))
    for method, each in operations(document):
        assert each["summary"]
        assert {"400", "401", "403", "404", "405", "413", "422", "429", "500"} < set(each["responses"])
        assert any(status.startswith("2") for status in each["responses"])
        assert each["security"] == [{"Bearer": []}]
        headers = [parameter["name"] for parameter in each["parameters"] if parameter["in"] == "header"]
        kept = ["If-None-Match"] if "304" in each["responses"] else []
        assert headers == (["Idempotency-Key"] if method == "post" else kept)
        for status in each["responses"]:
            said = promised.promised(document, each, int(status))
            assert bool(said) == (status != "304"), f"{each['operationId']} {status}"
    assert document["components"]["securitySchemes"] == {"Bearer": {"type": "http", "scheme": "bearer"}}


def test_it_is_the_same_each_time_and_names_no_host(document: dict[str, Any]) -> None:
    again = Client().get("/api/v1/openapi.json").json()
    assert again == document
    assert "http" not in json.dumps({**document, "components": None})
