"""Forms about a bank as such."""

from typing import Any

from django import forms

from banks.access import servers_for
from banks.forms import NameField
from banks.models import Server

_plain = {"class": "input", "autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class ServerChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # it takes none at run time
    def label_from_instance(self, server: Any) -> str:
        return str(server.name)


class NewBankForm(forms.Form):
    """A bank that is made on its server. Its id is for programs and for ever, its name for people."""

    server = ServerChoice(
        label="Server",
        queryset=Server.objects.none(),
        empty_label=None,
        widget=forms.Select({"class": "select"}),
        error_messages={"invalid_choice": "You are not an admin of such a server."},
    )
    bank_id = forms.CharField(
        label="Id",
        strip=False,
        widget=forms.TextInput(_plain),
        help_text="Agents name the bank by it. At most 192 bytes, no “/”. It cannot be changed later.",
        error_messages={"required": "Give it an id."},
    )
    name = NameField(
        label="Name",
        required=False,
        max_length=300,
        widget=forms.TextInput({"class": "input", "autocomplete": "off"}),
        help_text="For people, stored on the server. Empty: it is called by its id.",
    )

    def __init__(self, data: Any = None, *, user: Any, **more: Any) -> None:
        super().__init__(data, **more)
        servers: Any = self.fields["server"]
        servers.queryset = servers_for(user).order_by("name")


class RenameForm(forms.Form):
    name = NameField(
        label="Name on the server",
        max_length=300,
        widget=forms.TextInput({"class": "input", "autocomplete": "off"}),
        error_messages={"required": "A name has at least one character."},
    )


class CloneForm(forms.Form):
    """The bank that is made from another one."""

    bank_id = forms.CharField(
        label="Id of the new bank",
        strip=False,
        widget=forms.TextInput(_plain),
        help_text="Agents name the bank by it. At most 192 bytes, no “/”. It cannot be changed later.",
        error_messages={"required": "Give it an id."},
    )
    config = forms.BooleanField(
        label="Also its settings, directives and webhooks; its webhooks are then called for both banks",
        required=False,
    )
