"""Rules for fragment answers."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers


class FragmentMiddleware:
    """Pages and their fragments share URLs: caches must know, and nothing of a bank is kept by a browser.

    An error page that answers an htmx request never lands where the fragment was meant to: its notice goes to the
    page's alert region. Views that answer an error with a fragment of their own say so by `HX-Retarget`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        patch_vary_headers(response, ("HX-Request",))
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "no-store"
        if response.status_code >= 400 and "HX-Request" in request.headers and not response.has_header("HX-Retarget"):
            response["HX-Retarget"] = "#alerts"
            response["HX-Reswap"] = "innerHTML"
            response["HX-Reselect"] = ".sheet, .notice"
        return response
