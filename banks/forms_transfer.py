"""The file of an import into a bank."""

from typing import Any

from django import forms
from django.conf import settings


class TransferForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="One that was exported here, as it is.",
        error_messages={"required": "Choose a file.", "invalid": "Choose a file.", "empty": "The file is empty."},
        widget=forms.ClearableFileInput(attrs={"class": "input", "accept": ".jsonl", "required": True}),
    )

    def clean_file(self) -> Any:
        given = self.cleaned_data["file"]
        if given.size > settings.IMPORT_MAX_BYTES:
            raise forms.ValidationError(too_large())
        return given


def too_large() -> str:
    return f"At most {settings.IMPORT_MAX_BYTES // (1024 * 1024):,} MB. Nothing was kept."
