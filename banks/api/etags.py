"""Answers that a program may have already: the same bytes for the same content, and 304 for who has them."""

import hashlib

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.http import parse_etags
from ninja import Schema


def tagged(request: HttpRequest, said: Schema, *, age: int) -> HttpResponse:
    """`age`: seconds since it was read, which stands in a header, since it is no part of what is said."""
    response: HttpResponse = JsonResponse(said.model_dump(mode="json"))
    tag = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    asked = [each.removeprefix("W/") for each in parse_etags(request.headers.get("If-None-Match", ""))]
    if tag in asked or "*" in asked:
        response = HttpResponse(status=304)
        del response["Content-Type"]
    response["ETag"] = tag
    response["Age"] = str(age)
    response["Cache-Control"] = "private, no-cache"  # may be kept by the program, and is asked for again each time
    return response
