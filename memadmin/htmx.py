"""Pages and fragments: one answer to "who is asking", and what an htmx answer needs beyond a page's."""

from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from memadmin.accounts.models import User


class SeeOther(HttpResponseRedirect):
    """After a POST the next page is fetched by GET, whatever the browser."""

    status_code = 303


class PersonRequest(HttpRequest):
    """A request of a signed-in person: what every view gets that is not `login_not_required`."""

    htmx: HtmxDetails
    user: User


def posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to: nothing until it is sent, then even an empty one."""
    return request.POST if request.method == "POST" else None


def wants_fragment(request: HttpRequest) -> bool:
    """Whether a part of the page is asked for. A history restore carries htmx's header and wants the whole page."""
    details = HtmxDetails(request)  # not request.htmx: an error may come before its middleware ran
    return bool(details) and not details.boosted and not details.history_restore_request


def page_of(request: HttpRequest) -> str:
    """The path of the page a person stands on: of the fragment's page, not of the fragment; "/" for a POST's."""
    details = HtmxDetails(request)
    if details:
        path = details.current_url_abs_path or "/"
        # "http://us//evil.example/" has our host, but its path alone would be another site.
        return path if path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None) else "/"
    return request.get_full_path() if request.method in {"GET", "HEAD"} else "/"
