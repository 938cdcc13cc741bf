"""Numbers and times as people say them."""

from datetime import datetime, timedelta

from django.utils import timezone


def span(length: timedelta) -> str:
    """ "12 s", "22 min", "2 h 10 min", "6 d 21 h", "45 d"; the absolute length."""
    seconds = int(abs(length.total_seconds()))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 60:
        return f"{seconds} s"
    if minutes < 60:
        return f"{minutes} min"
    if hours < 24:
        return f"{hours} h {minutes % 60:02} min" if minutes % 60 else f"{hours} h"
    if days < 14:
        return f"{days} d {hours % 24} h" if hours % 24 else f"{days} d"
    return f"{days} d"


def ago(moment: datetime | None) -> str:
    """ "2 min ago", "just now", "in 3 h", or "never"."""
    if moment is None:
        return "never"
    away = timezone.now() - moment
    if away < timedelta(0):
        return f"in {span(away)}"
    return "just now" if away < timedelta(seconds=2) else f"{span(away)} ago"
