"""{% key "approve" %}: the hint, {% bind "approve" %}: the attribute the handler looks for. Both from reviews.keys."""

import json
from typing import Any

from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from reviews.keys import BY_ACTION, KEYS, SHEET, Key

register = template.Library()
LAST_DIGIT = 9


@register.inclusion_tag("memadmin/_key.html", takes_context=True)
def key(context: Context, action: str, *, always: bool = False) -> dict[str, Any]:
    """No hint of a single letter for who has turned them off, but in the sheet."""
    found = BY_ACTION[action]
    off = not always and found.single and not getattr(context.get("user"), "letters", True)
    return {"caps": [] if off else found.caps}


@register.simple_tag
def key_table() -> str:
    """For the handlers: {action: key}."""
    return json.dumps({key.action: key.key for key in KEYS})


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
