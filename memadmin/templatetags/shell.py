"""Tags of the page's frame."""

import json
from typing import Any

from django import template

from banks.access import Reach, reach_of

register = template.Library()


@register.simple_tag(takes_context=True)
def htmx_headers(context: dict[str, Any]) -> str:
    """The value of hx-headers: JSON with the CSRF token (autoescaped, so that it is JSON again in the browser)."""
    return json.dumps({"X-CSRFToken": str(context.get("csrf_token", ""))})


@register.simple_tag
def reach(user: Any) -> Reach:
    """What a person is admin of: which links they are shown."""
    return reach_of(user)
