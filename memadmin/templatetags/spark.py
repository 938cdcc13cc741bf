"""Small charts as inline SVG: attributes only, so that the content security policy has nothing to allow."""

from collections.abc import Sequence
from typing import Any

from django import template

register = template.Library()

WIDTH, HEIGHT = 104, 24
LEAST = 0.5  # per cent of a bar: what there is one of is seen


@register.inclusion_tag("memadmin/_spark.html")
def spark(values: Sequence[int], label: str) -> dict[str, Any]:
    """Bars, the last one set apart. `label` is read out with the last value."""
    step, top = WIDTH / max(len(values), 1), max([*values, 1])

    def bar(at: int, value: int) -> str:
        height = max(round(value / top * (HEIGHT - 2), 1), 0.8 if value else 0)
        return f"M{at * step + step / 2:.1f} {HEIGHT}V{HEIGHT - height:.1f}"

    bars = [bar(at, value) for at, value in enumerate(values) if value]
    now = bars.pop() if bars and values[-1] else ""
    return {"bars": "".join(bars), "now": now, "label": label, "last": values[-1] if values else 0}


@register.inclusion_tag("memadmin/_bar.html")
def bar(part: int | None, whole: int) -> dict[str, Any]:
    """How much of the whole this is. The number beside it says the same; None = not known."""
    if part is None or whole <= 0:
        return {"unknown": part is None, "filled": 0}
    share = min(100 * part / whole, 100)
    return {"unknown": False, "filled": f"{max(share, LEAST if part else 0):.1f}"}
