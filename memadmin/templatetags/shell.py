"""Tags of the page's frame."""

import json
from typing import Any

from django import template
from django.contrib.staticfiles.storage import staticfiles_storage
from django.templatetags.static import static

from banks.access import Reach, reach_of
from memadmin import joined

register = template.Library()


@register.simple_tag(takes_context=True)
def htmx_headers(context: dict[str, Any]) -> str:
    """The value of hx-headers: JSON with the CSRF token (autoescaped, so that it is JSON again in the browser)."""
    return json.dumps({"X-CSRFToken": str(context.get("csrf_token", ""))})


@register.simple_tag
def reach(user: Any) -> Reach:
    """What a person is admin of: which links they are shown."""
    return reach_of(user)


@register.simple_tag
def style_sheets() -> list[str]:
    """Addresses: one where they were joined."""
    return [static(name) for name in ([joined.ALL_STYLES] if _joins() else joined.STYLES)]


@register.simple_tag
def script() -> str:
    return static(joined.ALL_SCRIPTS if _joins() else joined.SCRIPT)


def _joins() -> bool:
    return getattr(staticfiles_storage, "joins", False)
