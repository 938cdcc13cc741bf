"""The forms of the page of settings: two files to look at, and one key to save."""

from pathlib import Path
from typing import Any

from django import forms

from reviews.agentconfig.keys import GROUPS, KEYS
from reviews.agentconfig.layers import MOST_BYTES, PLACES

_plain = {"class": "input", "autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
_file = {"class": "input", "accept": ".json,application/json"}
_select = {"class": "select"}
KEY_CHOICES = [(title, [(key.name, key.name) for key in keys]) for title, keys in GROUPS]


class PairForm(forms.Form):
    """One or both files. They are shown and not kept."""

    project = forms.FileField(
        label="Project file", required=False, allow_empty_file=True, widget=forms.FileInput(_file)
    )
    person = forms.FileField(label="Global file", required=False, allow_empty_file=True, widget=forms.FileInput(_file))
    folder = forms.CharField(
        label="Name of the project's folder",
        required=False,
        max_length=255,
        widget=forms.TextInput(_plain),
        help_text="Needed only where the bank is called “auto”.",
    )

    def clean(self) -> dict[str, Any]:
        files = [self.cleaned_data.get("project"), self.cleaned_data.get("person")]
        if not self.errors and not any(files):
            self.add_error(None, "Choose at least one of the two files.")
        for name, file in zip(("project", "person"), files, strict=True):
            if file and file.size > MOST_BYTES:
                self.add_error(name, "It is larger than any configuration.")
        return self.cleaned_data

    def raw(self, name: str) -> bytes | None:
        file = self.cleaned_data.get(name)
        raw: bytes | None = file.read() if file else None
        return raw


class KeyForm(forms.Form):
    """One key of one of the two files, with what was on screen."""

    folder = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    seen_project = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)
    seen_global = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)
    place = forms.ChoiceField(label="File", choices=list(PLACES.items()), widget=forms.Select(_select))
    name = forms.ChoiceField(label="Key", choices=KEY_CHOICES, widget=forms.Select(_select))
    value = forms.CharField(
        label="Value",
        required=False,
        strip=False,
        max_length=20_000,
        widget=forms.Textarea({**_plain, "rows": "2"}),
        help_text="Switches are true or false, lists have commas, objects are JSON.",
    )

    def __init__(self, *args: Any, folders: list[Path], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._folders = folders

    def clean_folder(self) -> Path:
        number: int = self.cleaned_data["folder"]
        if number >= len(self._folders):
            raise forms.ValidationError("This folder is not among those of the operator any more.")
        return self._folders[number]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        return KEYS[name].name

    @property
    def seen(self) -> str:
        name: str = self.cleaned_data[f"seen_{self.cleaned_data['place']}"]
        return name
