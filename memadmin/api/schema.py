"""The OpenAPI document: what ninja makes of the types, and what every endpoint may answer beside it."""

from typing import Any

from memadmin.api.errors import Problem, Unprocessable

DESCRIPTION = """What a program may ask memadmin, the review desk for agent memory.

Every request needs `Authorization: Bearer mem_…`, a token that a person makes on the page *API tokens*. It may do what
its role and banks leave of that person's rights at that moment. Banks are named as their server names them (`bank`);
where two servers have one of that name, `server` is needed too. Errors are `{"detail": "…"}`. A POST with an
`Idempotency-Key` is done once, however often it is sent within a day.
"""

# What may happen to any request, before or behind its endpoint.
SHARED = {
    400: ("Unreadable", Problem, "It could not be read."),
    401: ("Unauthorized", Problem, "There is no token, or none that works."),
    403: ("Forbidden", Problem, "The token's role, or its owner's, is too low."),
    404: ("NotFound", Problem, "There is no such thing, or the token may not see it."),
    405: ("WrongMethod", Problem, "The address does not take this method."),
    411: ("NoLength", Problem, "The body came without its length."),
    413: ("TooLarge", Problem, "The body is too large."),
    422: ("Unprocessable", Unprocessable, "It was read and cannot be used; `fields` say where."),
    429: ("TooMany", Problem, "Too many requests; wait for `Retry-After` seconds."),
    500: ("Failed", Problem, "A fault of memadmin."),
}
WITH_HEADERS = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    405: {"Allow": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait."}},
}
LIMITS = {
    "RateLimit-Limit": "Requests that this token may make in a minute; absent where there is no limit.",
    "RateLimit-Remaining": "How many of them are left.",
    "RateLimit-Reset": "Seconds until the minute is over.",
}
IDEMPOTENCY = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    "description": "The same key with the same body is done once; within a day it is answered as the first time.",
}
IF_NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "required": False,
    "schema": {"type": "string"},
    "description": "An `ETag` from before: where the answer is still the same, it is 304 without a body.",
}


def completed(document: Any) -> Any:
    """Adds the shared answers to every operation, and their header to every POST and to what may be had already."""
    components = document["components"]
    for model in (Problem, Unprocessable):
        shape = model.model_json_schema(ref_template="#/components/schemas/{model}")
        components["schemas"].update(shape.pop("$defs", {}))
        components["schemas"][model.__name__] = shape
    components["headers"] = {
        name: {"schema": {"type": "integer"}, "description": said} for name, said in LIMITS.items()
    }
    components["responses"] = {name: _response(status) for status, (name, _, _) in SHARED.items()}
    for methods in document["paths"].values():
        for method, operation in methods.items():
            for response in operation["responses"].values():
                response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in LIMITS}
            for status, (name, _, _) in SHARED.items():
                operation["responses"].setdefault(status, {"$ref": f"#/components/responses/{name}"})
            if method == "post":
                operation["parameters"].append(IDEMPOTENCY)
            if 304 in operation["responses"]:
                operation["parameters"].append(IF_NONE_MATCH)
    return document


def _response(status: int) -> dict[str, Any]:
    _, model, description = SHARED[status]
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    response: dict[str, Any] = {"description": description, "content": {"application/json": {"schema": schema}}}
    if status in WITH_HEADERS:
        response["headers"] = WITH_HEADERS[status]
    return response
