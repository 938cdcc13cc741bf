"""How rows of the write log look."""

from django import template

from banks import selectors_operations
from banks.models import JobItem, Write
from banks.selectors import Look, look_of
from banks.selectors_facts import told
from banks.selectors_imported import summary
from banks.selectors_models import said as said_of_model

register = template.Library()


@register.simple_tag
def look(write: Write) -> Look:
    return look_of(write.kind)


@register.filter
def facts_told(write: Write) -> str:
    return told(write)


@register.filter
def said(write: Write) -> str:
    """What a row says on one line, where its kind and its document do not tell enough."""
    if write.memories is not None:
        return f"{write.memories:,} {'memory' if write.memories == 1 else 'memories'}"
    return write.file_name or selectors_operations.said(write) or said_of_model(write) or summary(write)


@register.filter
def kind_label(kind: str) -> str:
    return look_of(kind).verb.capitalize()


@register.filter
def item_text(item: JobItem) -> str:
    """What a job left out, as text."""
    return bytes(item.raw).decode("utf-8", "replace") or f"number {item.number}"
