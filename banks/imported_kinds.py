"""Kinds that an agent's own log tells of, and the look at what it keeps private. Nothing of it is ever sent."""

from banks.writes import Kind, register


@register
class Recall(Kind):
    name, glyph, verb, past, tone = "recall", "↙", "recall", "recalled", "none"
    sends = False


@register
class Reflect(Kind):
    name, glyph, verb, past, tone = "reflect", "↙", "reflect", "reflected", "none"
    sends = False


@register
class LoggedError(Kind):
    """What went wrong in the agent's tool, and entries of a type that nobody here knows."""

    name, glyph, verb, past, tone = "error", "!", "error", "failed", "attention"
    sends = False


@register
class Look(Kind):
    """Somebody read the prompt of a row."""

    name, glyph, verb, past, tone = "look", "○", "look at a prompt", "looked", "none"
    sends = False
