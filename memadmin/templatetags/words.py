"""Filters for numbers and times, and the tags that show foreign text."""

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils import timezone

from banks.hidden import has_hidden, segments
from banks.secrets.masking import masked
from memadmin import words

register = template.Library()


@register.filter
def ago(moment: datetime | None) -> str:
    return words.ago(moment)


@register.filter
def span_since(moment: datetime | None) -> str:
    """How long ago, without "ago"; empty for no moment."""
    return words.span(timezone.now() - moment) if moment else ""


@register.filter
def as_span(length: timedelta) -> str:
    """ "30 min"; no time at all is "no time"."""
    return words.span(length) if length else "no time"


@register.filter
def number(value: Any) -> str:
    """1,284; a Count keeps its "+"; None is "unknown"."""
    if value is None:
        return "unknown"
    return f"{value:,}" if isinstance(value, int) else str(value)


@register.filter
def counted(value: int, nouns: str) -> str:
    """{{ 3|counted:"fact,facts" }} is "3 facts"."""
    one, _, many = nouns.partition(",")
    return f"{value:,} {one if value == 1 else many}"


@register.simple_tag
def shown(text: Any) -> str:
    """Foreign text with its hidden characters as chips and its secrets masked; escaped like any value."""
    text = masked(str(text))
    return render_to_string("banks/_segments.html", {"segments": segments(text)}) if has_hidden(text) else text


@register.simple_tag
def narrowed(filters: Any, **asked: Any) -> str:
    """The address of the same list, narrowed further: {% narrowed filters bank=3 %}."""
    query: str = filters.query(**{name: str(value) for name, value in asked.items()})
    return query


@register.filter
def until(moment: datetime | None) -> str:
    """ "2 h 10 min"; what is over is "any moment": the sweep that acts on it runs every minute."""
    if moment is None:
        return ""
    return words.span(moment - timezone.now()) if moment > timezone.now() else "any moment"


@register.filter
def due(moment: datetime | None) -> str:
    """The same with its preposition: "in 2 h 10 min" or "at any moment"."""
    said = until(moment)
    return f"at {said}" if said == "any moment" else f"in {said}"


@register.filter
def near(moment: datetime | None) -> bool:
    """Within 24 hours."""
    return moment is not None and moment - timezone.now() <= timedelta(hours=24)


@register.filter
def mark_label(what: str) -> str:
    """A screening mark in words; what has no words of its own is shown as it is called."""
    return {
        "tags": "hidden text",
        "selectors": "hidden text",
        "bidi": "reordered text",
        "invisible": "hidden characters",
        "control": "control characters",
        "lookalike": "look-alike letters",
        "hidden": "hidden characters",
        "secret": "secret",
        "pii": "personal data",
        "injection": "instruction to the agent",
        "blob": "unreadable block",
        "oversize": "very long",
        "language": "another language",
        "duplicate": "near-duplicate",
    }.get(what, what)
