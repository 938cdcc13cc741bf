"""What the log says of memories that wait for a reviewer before they are sent. Nothing of these rows reaches a bank."""

from banks.writes import Kind, register


@register
class Hold(Kind):
    """It came, and the bank's policy holds it back."""

    name, glyph, verb, past, tone = "hold", "‖", "hold", "held for review", "pending"
    sends = False


@register
class Reject(Kind):
    name, glyph, verb, past, tone = "reject", "✕", "reject", "rejected", "danger"
    sends = False


@register
class EditHeld(Kind):
    """Worded anew before anything was sent. `before` is the text that came."""

    name, glyph, verb, past, tone = "edit-held", "✎", "edit before sending", "edited before sending", "pending"
    sends = False
