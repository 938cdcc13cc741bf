"""How what an admin changed is said."""

from typing import Any

from django import template

register = template.Library()

FIELDS = {
    "address": "address",
    "after": "after",
    "auto_approve_days": "approve by time after (days)",
    "banks": "banks",
    "bars_writer": "who wrote a text does not approve it",
    "connect_timeout": "connect within (seconds)",
    "expires": "ends",
    "expire_marked": "also what is marked as dangerous",
    "extra_tags": "further tags",
    "hold": "hold what arrives through memadmin",
    "key": "key",
    "kind": "is about a",
    "language": "language",
    "max_tokens": "longest text (tokens)",
    "name": "name",
    "namespace": "namespace",
    "other_urls": "other addresses",
    "person": "is the bank of",
    "polled": "look for new documents",
    "read_timeout": "answer within (seconds)",
    "prefix": "begins with",
    "project_tagged": "one for each project",
    "reapply": "retired and edited facts after a new extraction",
    "reopen_on_change": "open again what changed",
    "retain_context": "context of memories without one",
    "retain_mission": "mission for retaining",
    "reflect_mission": "mission for answering",
    "role": "role",
    "two_reviewers": "two people approve a memory",
    "scopes": "scopes",
    "seed_new_banks": "mental models of new banks",
    "settle_minutes": "settle time (minutes)",
    "source_query": "question",
    "trigger": "refresh",
}


@register.filter
def field_label(name: str) -> str:
    return FIELDS.get(name, name)


# What an empty value of these means.
EMPTY = {
    "auto_approve_days": "inherited",
    "settle_minutes": "inherited",
    "name": "as the server says",
    "seed_new_banks": "none by itself",
}


@register.filter
def said(value: Any, field: str) -> str:
    """A stored value in words; foreign text stays text."""
    if value is True or value is False:
        return "yes" if value else "no"
    if value is None or value in ("", []):
        return EMPTY.get(field, "none")
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
