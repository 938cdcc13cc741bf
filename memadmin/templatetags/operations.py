"""How operations of a server look."""

from dataclasses import dataclass

from django import template

from banks.models import OperationSeen
from memadmin.retention import RetainedText, ends_of

register = template.Library()

ERROR_SHOWN = (400, 160)  # bytes
# Types that are plain words; others are shown as the server calls them.
KNOWN = {
    "batch_retain",
    "retain",
    "consolidation",
    "graph_maintenance",
    "refresh_mental_model",
    "file_convert_retain",
    "webhook_delivery",
    "export_bank",
    "import_bank",
    "clone_bank",
}


@dataclass(frozen=True)
class StatusLook:
    glyph: str
    tone: str


LOOKS = {
    "pending": StatusLook("…", "none"),
    "processing": StatusLook("…", "pending"),
    "retrying": StatusLook("↻", "attention"),
    "completed": StatusLook("✓", "approved"),
    "failed": StatusLook("!", "danger"),
    "cancelled": StatusLook("–", "none"),  # noqa: RUF001  the sign for what is over
}


@register.filter
def status_look(status: str) -> StatusLook:
    """One that nobody knows is neither success nor failure."""
    return LOOKS.get(status, StatusLook("?", "attention"))


@register.filter
def type_name(operation: OperationSeen) -> str:
    """ "refresh mental model"; a type that nobody knows as it is called, "unknown" where the server names none."""
    name: str = operation.type
    return name.replace("_", " ") if name in KNOWN else name or "unknown type"


@register.filter
def error_shown(operation: OperationSeen) -> RetainedText:
    """The beginning and the end of its error."""
    return ends_of(operation.error, *ERROR_SHOWN)
