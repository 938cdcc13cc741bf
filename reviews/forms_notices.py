"""The form of the mails that a person wants."""

import functools
from typing import Any
from zoneinfo import available_timezones

from django import forms

_select = {"class": "select"}
HOURS = [(hour, f"{hour:02}:00") for hour in range(24)]


class NoticeForm(forms.Form):
    digest = forms.BooleanField(label="A digest each day, when something waits", required=False)
    soon = forms.BooleanField(label="A mail when memories are about to be approved by time", required=False)
    hour = forms.TypedChoiceField(label="At", choices=HOURS, coerce=int, widget=forms.Select(_select))
    time_zone = forms.ChoiceField(label="Time zone", widget=forms.Select(_select))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["time_zone"].choices = zones()  # type: ignore[attr-defined]  # the choice field


@functools.cache
def zones() -> list[tuple[str, str]]:
    """Read from the disk once. "localtime" and "Factory" are files that some systems have, and no zones."""
    found = sorted(zone for zone in available_timezones() if "/" in zone or zone == "UTC")
    return [(zone, zone.replace("_", " ")) for zone in found]
