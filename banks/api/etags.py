"""Answers that a program may have already: the same bytes for the same content, and 304 for who has them."""

import hashlib
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags
from ninja import Schema

JSON, TEXT = "application/json", "text/plain"  # where both are as welcome, the first
TEXT_TOO: Any = {"content": {TEXT: {"schema": {"type": "string"}}}}  # of an answer in the OpenAPI document


def wants_text(request: HttpRequest) -> bool:
    """Whether the program asks for the bare text, by `Accept`."""
    return request.get_preferred_type([JSON, TEXT]) == TEXT


def tagged(request: HttpRequest, said: Schema, *, text: str, age: int, headers: dict[str, str]) -> HttpResponse:
    """`said`, or its bare `text` for who wants that. `age`: seconds since it was read; it stands in a header like all
    that is no part of what is said."""
    response: HttpResponse = bare(text) if wants_text(request) else JsonResponse(said.model_dump(mode="json"))
    tag = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    asked = [each.removeprefix("W/") for each in parse_etags(request.headers.get("If-None-Match", ""))]
    if tag in asked or "*" in asked:
        response = HttpResponse(status=304)
        del response["Content-Type"]
    for name, value in {**headers, "ETag": tag, "Age": str(age)}.items():
        response[name] = value
    response["Cache-Control"] = "private, no-cache"  # may be kept by the program, and is asked for again each time
    patch_vary_headers(response, ["Accept"])
    return response


def bare(text: str, **more: Any) -> HttpResponse:
    return HttpResponse(text, content_type=f"{TEXT}; charset=utf-8", **more)
