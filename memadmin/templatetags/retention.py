"""The one face of what was left out of something long."""

from typing import Any

from django import template

from memadmin.retention import NOTHING, Omitted

register = template.Library()

_SINGULAR = {"items": "item", "bytes": "byte", "chars": "character", "lines": "line", "facts": "fact", "rows": "row"}
_PLURAL = {"chars": "characters"}


@register.inclusion_tag("memadmin/_omitted.html")
def omitted(what: Omitted | None, unit: str, words: str = "", url: str = "", label: str = "") -> dict[str, Any]:
    """{% omitted paper.omitted "bytes" "The beginning is." url=all label="Show all" %}; nothing for nothing.

    `words`: what else to know; `url` and `label`: where the rest is.
    """
    return {"sentence": sentence(what or NOTHING, unit), "words": words, "url": url, "label": label}


def sentence(what: Omitted, unit: str) -> str:
    """For people: singular and thousands separators, which the bare clause has not. "" for nothing."""
    if not what:
        return ""
    if what.kind == "exact" and what.count is not None:
        noun = _SINGULAR.get(unit, unit) if what.count == 1 else _PLURAL.get(unit, unit)
        return f"{what.count:,} {noun} {'is' if what.count == 1 else 'are'} not shown."
    return f"More {_PLURAL.get(unit, unit)} are not shown."
