"""The form of a directive, and that of tags."""

from typing import Any

from django import forms

from banks.forms import LinesField, NameField
from banks.hidden import has_hidden
from banks.retain import Refused, params

LONGEST_NAME, LONGEST_CONTENT = 200, 20_000
HIGHEST = 1_000  # of priorities, either way

_input = {"class": "input", "autocomplete": "off"}


class TagsField(LinesField):
    """One on each line; a list without doubles, in the order of the alphabet."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.Textarea({**_input, "rows": 3, "spellcheck": "false"})
        super().__init__(required=False, max_length=50_000, widget=widget, **kwargs)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        found = sorted({line.strip() for line in text.split("\n") if line.strip()})
        if any(has_hidden(tag) for tag in found):
            raise forms.ValidationError("A tag holds hidden characters. Type it instead of pasting it.")
        try:
            return params.tags(found)
        except Refused as refused:
            raise forms.ValidationError(str(refused)) from refused


class DirectiveForm(forms.Form):
    use_required_attribute = False

    name = NameField(
        label="Name",
        max_length=LONGEST_NAME,
        widget=forms.TextInput(_input),
        help_text="For people: it is not part of the instruction.",
    )
    content = LinesField(
        label="Instruction",
        max_length=LONGEST_CONTENT,
        strip=False,
        widget=forms.Textarea({**_input, "rows": 6}),
        help_text="Put into the prompt whenever the bank reflects on a question.",
    )
    priority = forms.IntegerField(
        label="Priority",
        min_value=-HIGHEST,
        max_value=HIGHEST,
        initial=0,
        widget=forms.NumberInput(_input),
        help_text="Higher ones come first.",
    )
    is_active = forms.BooleanField(label="It is on", required=False, initial=True, widget=forms.CheckboxInput())
    tags = TagsField(
        label="Tags",
        help_text="One on each line. Without any it counts for every answer, else for those asked for with such tags.",
    )

    def clean_content(self) -> str:
        content = str(self.cleaned_data["content"])
        if not content.strip():
            raise forms.ValidationError("An instruction has words.")
        return content

    def values(self) -> dict[str, Any]:
        """In the API's words."""
        said = self.cleaned_data
        return {name: said[name] for name in ("name", "content", "priority", "is_active", "tags")}


class TagsForm(forms.Form):
    use_required_attribute = False

    tags = TagsField(label="Tags", help_text="One on each line. All of them: what is not here is taken away.")
