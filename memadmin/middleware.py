"""Rules for fragment answers."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers


class FragmentMiddleware:
    """Pages and their fragments share URLs: caches must know, and nothing of a bank is kept by a browser."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        patch_vary_headers(response, ("HX-Request",))
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "no-store"
        return response
