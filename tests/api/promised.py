"""Whether an answer is what the OpenAPI document promises: the part of JSON Schema that it uses, and no more."""

import re
from datetime import datetime
from typing import Any

PYTHON = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}
NOT_MODIFIED = 304
JSON = "application/json"
KNOWN = {
    *("$ref", "anyOf", "type", "properties", "required", "items", "format"),
    *("title", "description", "default", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"),
}


def operation_of(document: dict[str, Any], method: str, path: str) -> dict[str, Any] | None:
    for template, methods in document["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            found: dict[str, Any] | None = methods.get(method.lower())
            return found
    return None


def promised(document: dict[str, Any], operation: dict[str, Any], status: int, media: str = JSON) -> dict[str, Any]:
    """The schema of this answer, any for one without a body. Fails when the status is not documented."""
    responses = {str(each): response for each, response in operation["responses"].items()}
    assert str(status) in responses, f"{operation['operationId']} may not answer {status}"
    response = resolved(document, responses[str(status)])
    assert response["description"]
    if status == NOT_MODIFIED:
        return {}
    schema: dict[str, Any] = response["content"][media]["schema"]
    return schema


def resolved(document: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in part:
        return part
    found: Any = document
    for name in part["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return resolved(document, found)


def check(document: dict[str, Any], schema: dict[str, Any], value: Any, where: str = "$") -> None:
    """Fails where the value is not what the schema says, or has members that it does not name."""
    schema = resolved(document, schema)
    assert set(schema) <= KNOWN, f"{where}: {set(schema) - KNOWN} is not understood here"
    if "anyOf" in schema:
        check(document, _fitting(document, schema["anyOf"], value, where), value, where)
        return
    if "type" not in schema:
        return
    kind = PYTHON[schema["type"]]
    assert isinstance(value, kind), f"{where}: {value!r} is no {schema['type']}"
    assert kind is not int or not isinstance(value, bool), where
    if schema.get("format") == "date-time":
        assert datetime.fromisoformat(value).tzinfo is not None, where
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        assert set(value) <= set(properties), f"{where}: {set(value) - set(properties)} is not promised"
        assert set(schema.get("required", ())) <= set(value), where
        for name, each in value.items():
            check(document, properties[name], each, f"{where}.{name}")
    if isinstance(value, list):
        for number, each in enumerate(value):
            check(document, schema["items"], each, f"{where}.{number}")


def _fitting(document: dict[str, Any], schemas: list[dict[str, Any]], value: Any, where: str) -> dict[str, Any]:
    for schema in schemas:
        if isinstance(value, PYTHON[resolved(document, schema)["type"]]):
            return schema
    raise AssertionError(f"{where}: {value!r} is none of {schemas}")
