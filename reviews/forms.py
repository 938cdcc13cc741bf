"""Forms of this app, with messages that say what to do."""

from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat

from banks.access import banks_for
from banks.models import Bank, Role, Server
from memadmin.accounts.models import User
from reviews.selectors.imports import servers_of_member


class ImportForm(forms.Form):
    """A queue file, whose it is, and which server its localhost means."""

    file = forms.FileField(
        label="File",
        allow_empty_file=True,
        error_messages={"required": "Choose a file.", "invalid": "Choose a file."},
    )
    machine = forms.CharField(
        label="Machine",
        required=False,
        max_length=200,
        help_text="Whose file it is, such as “Ann's laptop”. The same name again continues the same source.",
    )
    localhost = forms.ModelChoiceField(
        label="Its localhost means",
        required=False,
        queryset=Server.objects.none(),
        empty_label="nothing here: park such lines",
        help_text="A file's http://localhost is the machine it was written on. Say which server that was.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["localhost"].queryset = servers_of_member(user)  # type: ignore[attr-defined]  # the model field

    def clean_file(self) -> Any:
        return _small_enough(self.cleaned_data["file"])


class LogImportForm(forms.Form):
    """An agent's log, and the bank it is about."""

    bank = forms.ModelChoiceField(
        label="Bank",
        queryset=Bank.objects.none(),
        empty_label="choose the bank",
        help_text="The file does not say which bank its lines are about: the one that the agent's project writes to.",
        error_messages={"required": "Say which bank it is about.", "invalid_choice": "Choose one of your banks."},
    )
    file = forms.FileField(
        label="File",
        allow_empty_file=True,
        error_messages={"required": "Choose a file.", "invalid": "Choose a file."},
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        banks = banks_for(user, Role.REVIEWER).select_related("server").order_by("name", "bank_id")
        self.fields["bank"].queryset = banks  # type: ignore[attr-defined]  # the model field

    def clean_file(self) -> Any:
        return _small_enough(self.cleaned_data["file"])


def _small_enough(upload: Any) -> Any:
    if upload.size > settings.IMPORT_MAX_BYTES:
        raise forms.ValidationError(too_large())
    return upload


def too_large() -> str:
    limit = filesizeformat(settings.IMPORT_MAX_BYTES).replace("\xa0", " ")
    return f"The file is larger than {limit}. Nothing was imported. Split it at a line end, or import it on the server."
