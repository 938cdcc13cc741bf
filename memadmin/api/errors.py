"""Every answer of the API that is no success: `{"detail": text}`, whoever made it."""

import json
import logging
from collections.abc import Iterable, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError

from memadmin.retention import RetentionNotice, first_of, format_retention_notice
from memadmin.uploads import TOO_LARGE

logger = logging.getLogger(__name__)

FIELDS_NAMED = 20
NO_TOKEN = "A token is needed that works: Authorization: Bearer mem_…"  # noqa: S105  no token
NOTHING_HERE = "There is nothing at this address. /api/v1/openapi.json lists what there is."


class Problem(Schema):
    """Why nothing was done."""

    detail: str


class WrongField(Schema):
    """`path`: where it is, such as body.candidates.0.id; `problem`: what is wrong with it."""

    path: str
    problem: str


class Unprocessable(Problem):
    """`fields` is empty where no single field is wrong."""

    fields: list[WrongField] = []


class Refused(HttpError):
    """Raised by endpoints: nothing was done. `more`: further members of the answer, as its status documents them."""

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(status, detail)
        self.more = more


def answer(status: int, detail: str, **more: Any) -> HttpResponse:
    return JsonResponse({"detail": detail, **more}, status=status)


def register(api: NinjaAPI) -> None:
    """Replaces ninja's own answers."""
    api.add_exception_handler(AuthenticationError, _unauthorized)
    api.add_exception_handler(HttpError, _http_error)
    api.add_exception_handler(ValidationError, _unprocessable)
    api.add_exception_handler(MultiPartParserError, _unreadable)
    api.add_exception_handler(UnreadablePostError, _unreadable)
    for too_much in (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent):
        api.add_exception_handler(too_much, _too_much)
    api.add_exception_handler(Http404, _not_found)
    api.add_exception_handler(PermissionDenied, _forbidden)
    api.add_exception_handler(Exception, _failed)


def wrong_fields(found: Iterable[WrongField]) -> HttpResponse:
    """422. What was sent is never repeated in it."""
    fields = first_of(found, FIELDS_NAMED)
    notice = RetentionNotice("fields", "head", "items", FIELDS_NAMED, fields.kept, fields.omitted)
    more = format_retention_notice(notice, lambda _: "")
    said = "; ".join(f"{field.path}: {field.problem}" for field in fields.items[:3])
    detail = " ".join(part for part in (f"The request cannot be used. {said}.", more) if part)
    return answer(422, detail, fields=[field.model_dump() for field in fields.items])


def _unauthorized(request: HttpRequest, error: Any) -> HttpResponse:
    response = answer(401, NO_TOKEN)
    response["WWW-Authenticate"] = "Bearer"
    return response


def _http_error(request: HttpRequest, error: Any) -> HttpResponse:
    more = error.more if isinstance(error, Refused) else {}
    headers = more.pop("headers", {})
    response = answer(error.status_code, str(error), **more)
    for name, value in headers.items():
        response[name] = value
    return response


def _unreadable(request: HttpRequest, error: Any) -> HttpResponse:
    return answer(400, "The form with the files cannot be read, or broke off. Nothing was done.")


def _too_much(request: HttpRequest, error: Any) -> HttpResponse:
    return answer(413, "The form has too many fields or files, or too large ones. Nothing was done.")


def _unprocessable(request: HttpRequest, error: Any) -> HttpResponse:
    if request.META.get(TOO_LARGE):  # what is missing was not read any more
        return _too_much(request, error)
    return wrong_fields(WrongField(path=_path(row["loc"]), problem=str(row["msg"])) for row in error.errors)


def _path(loc: Sequence[Any]) -> str:
    """Without the name that the body has in our function."""
    parts = [part for at, part in enumerate(loc) if at != 1 or loc[0] != "body"]
    return ".".join(_tame(part) for part in parts)


def _tame(part: Any) -> str:
    """A name that the program chose itself may be of any length, and hold anything."""
    return str(part) if isinstance(part, int) else json.dumps(str(part)[:60])[1:-1]


def _not_found(request: HttpRequest, error: Any) -> HttpResponse:
    return answer(404, f"{error or 'There is no such thing'} Or this token may not see it.")


def _forbidden(request: HttpRequest, error: Any) -> HttpResponse:
    return answer(403, str(error) or "This token may not do that.")


def _failed(request: HttpRequest, error: Any) -> HttpResponse:
    """A bug. Headers and bodies stay out of the log: they hold the token, and what people said."""
    request_id = getattr(request, "request_id", "")
    logger.error("%s %s failed", request.method, request.path, exc_info=error)
    return answer(500, f"Something went wrong here, and it is in the log as {request_id}.")
