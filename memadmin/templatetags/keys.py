"""{% key "approve" %}: the hint, {% bind "approve" %}: the attribute the handler looks for. Both from reviews.keys."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from reviews.keys import BY_ACTION, SHEET, Key

register = template.Library()
LAST_DIGIT = 9


@register.inclusion_tag("memadmin/_key.html")
def key(action: str) -> dict[str, Any]:
    return {"caps": BY_ACTION[action].caps}


@register.simple_tag
def bind(*actions: str) -> SafeString:
    return format_html('data-key="{}"', " ".join(BY_ACTION[action].key for action in actions))


@register.simple_tag
def bind_fact(number: int) -> SafeString:
    """The first nine facts of a card have the digits; the others have none."""
    return format_html('data-key="{}"', number) if number <= LAST_DIGIT else SafeString("")


@register.simple_tag
def key_sheet() -> list[tuple[str, list[Key]]]:
    return SHEET
