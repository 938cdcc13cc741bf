"""The forms of the mails that a person wants, and of an address that a team is told at."""

import functools
from typing import Any
from zoneinfo import available_timezones

from django import forms

from banks.forms import NameField
from memadmin.accounts.models import User
from memadmin.outgoing import LONGEST_URL

_select = {"class": "select"}
_plain = {"class": "input", "autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
HOURS = [(hour, f"{hour:02}:00") for hour in range(24)]


class NoticeForm(forms.Form):
    digest = forms.BooleanField(label="A digest each day, when something waits", required=False)
    soon = forms.BooleanField(label="A mail when memories are about to be approved by time", required=False)
    recall = forms.BooleanField(label="A mail when facts stop coming back for a saved query", required=False)
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


class OwnNoticeForm(NoticeForm):
    """With the address, where the account has none yet. Others are an operator's to change."""

    email = forms.EmailField(
        label="E-mail address", required=False, help_text="For these mails alone: nobody signs in, or is found, by it."
    )
    field_order = ("email",)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].widget.attrs |= {**_plain, "autocomplete": "email"}
        if user.email:
            del self.fields["email"]


class OutgoingForm(NoticeForm):
    """An address of a team. What it may be, the service says (memadmin.outgoing)."""

    name = NameField(label="What it is for", max_length=60, widget=forms.TextInput(_plain))
    url = forms.CharField(
        label="Address",
        max_length=LONGEST_URL,
        widget=forms.TextInput(_plain),
        help_text="https://… in the public network. It is stored encrypted, and only its host is shown again.",
    )
    digest = forms.BooleanField(label="A digest each day, when something waits", required=False, initial=True)
    soon = forms.BooleanField(label="A message when memories are about to be approved by time", required=False)
    recall = forms.BooleanField(label="A message when facts stop coming back for a saved query", required=False)
    field_order = ("name", "url")

    def clean(self) -> dict[str, Any]:
        if not any(self.cleaned_data.get(name) for name in ("digest", "soon", "recall")):
            self.add_error(None, "Choose at least one of the messages.")
        return self.cleaned_data
