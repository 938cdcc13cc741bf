"""Wires the routers of the apps to one API, and its addresses to Django."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI

from banks.api.blocks import router as blocks
from banks.api.configuration import router as configuration
from banks.api.files import router as files
from banks.api.operations import router as operations
from banks.api.retain import router as retain
from banks.api.routes import router as banks
from banks.api.seeding import router as seeding
from banks.api.transcripts import router as transcripts
from memadmin.api import errors, schema
from memadmin.api.auth import Bearer, tell_limit
from memadmin.api.parser import StrictParser
from memadmin.uploads import FORM_ALLOWANCE, is_upload, limit_of
from reviews.api.decisions import router as decisions
from reviews.api.facts import router as facts
from reviews.api.imports import router as imports
from reviews.api.retired import router as retired
from reviews.api.reviews import router as reviews
from reviews.api.search import router as search

View = Callable[..., HttpResponseBase]
# Files, which are never held in memory: the setting that says how large they may be.
STREAMED = {"imports/queue": "IMPORT_MAX_BYTES", "imports/log": "IMPORT_MAX_BYTES"}


class Api(NinjaAPI):
    def get_openapi_schema(self, **where: Any) -> Any:
        return schema.completed(super().get_openapi_schema(**where))


api = Api(
    title="memadmin",
    version="1",
    description=schema.DESCRIPTION,
    urls_namespace="api",
    docs_url=None,
    auth=Bearer(),
    parser=StrictParser(),
)
errors.register(api)
api.add_router("", banks)
api.add_router("", configuration)
api.add_router("", operations)
api.add_router("", facts)
api.add_router("", reviews)
api.add_router("", decisions)
api.add_router("", imports)
api.add_router("", retired)
api.add_router("", search)
api.add_router("", transcripts)
api.add_router("", retain)
api.add_router("", files)
api.add_router("", seeding)
api.add_router("", blocks)


def urls() -> list[URLPattern]:
    """Below /api/. What is no address of ours is answered here too: never by a page, never by a sign-in."""
    ours: list[URLPattern] = []
    for each in api.urls[0]:
        assert isinstance(each, URLPattern)
        most = STREAMED.get(str(each.pattern), "API_MAX_BYTES")
        ours.append(path(f"v1/{each.pattern}", _alone(each.callback, most), name=each.name))
    return [*ours, re_path("", nothing, name="nothing")]


def _alone(view: View, most: str = "API_MAX_BYTES") -> View:
    """Without session and CSRF, within the limit of a body, and with JSON even for a wrong method."""

    @csrf_exempt
    @login_not_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = _refused(request, getattr(settings, most)) or view(request, *args, **kwargs)
        if response.status_code == 405:
            allowed = ", ".join(sorted(response["Allow"].replace(" ", "").split(",")))
            response = errors.answer(405, f"This address takes {allowed}.")
            response["Allow"] = allowed
        tell_limit(request, response)
        return response

    return guarded


def _refused(request: HttpRequest, most: int) -> HttpResponse | None:
    if "Transfer-Encoding" in request.headers:  # WSGI reads as much as is announced: nothing
        return errors.answer(411, "A request has to say its length: Content-Length. Nothing was done.")
    sent = request.META.get("CONTENT_LENGTH") or "0"
    limit = most
    if request.content_type == "multipart/form-data" and is_upload(request):
        limit, most = limit_of(request) + FORM_ALLOWANCE, limit_of(request)
    if sent.isascii() and sent.isdigit() and int(sent) <= limit:
        return None
    told = filesizeformat(most).replace("\xa0", " ")
    return errors.answer(413, f"A request here has at most {told}. Nothing was done.")


def _nothing(request: HttpRequest) -> HttpResponse:
    return errors.answer(404, errors.NOTHING_HERE)


nothing = _alone(_nothing)
