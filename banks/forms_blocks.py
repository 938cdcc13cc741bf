"""Forms about the blocks that agents get: how long, for which tags, and a file of instructions to try."""

from typing import Any

from django import forms

from banks.access import banks_for
from banks.blocks import agents, markers, preview
from banks.forms_directives import TagsField
from banks.forms_memory import PLAIN, SELECT
from banks.forms_transcripts import BankChoice
from banks.models import Bank
from memadmin.accounts.models import User


class BlockForm(forms.Form):
    """As an agent asks. Empty fields are what holds where nothing is said."""

    max_chars = forms.IntegerField(
        label="At most",
        required=False,
        min_value=0,
        max_value=agents.LARGEST,
        widget=forms.NumberInput({"class": "input", "inputmode": "numeric", "placeholder": f"{agents.MOST_CHARS}"}),
        help_text="Characters of the whole block, as JavaScript counts them.",
    )
    tags = TagsField(
        label="Tags",
        help_text="One on each line. Models without tags are always there, others where they share one.",
    )

    def most(self) -> int:
        given: int | None = self.cleaned_data.get("max_chars")
        return agents.MOST_CHARS if given is None else given

    def tag_list(self) -> list[str]:
        return list(self.cleaned_data.get("tags", []))


class AgentsFileForm(forms.Form):
    bank = BankChoice(
        label="User bank",
        queryset=Bank.objects.none(),
        empty_label="choose the bank",
        widget=forms.Select(SELECT),
        help_text="The bank that the agent has as its user bank.",
        error_messages={"required": "Say which bank it is about.", "invalid_choice": "Choose one of your banks."},
    )
    text = forms.CharField(
        label="AGENTS.md",
        strip=False,
        max_length=preview.LARGEST,
        widget=forms.Textarea({**PLAIN, "rows": 16}),
        help_text="Its text, pasted. Only its markers are kept, for a day; your file is never changed.",
        error_messages={"required": "Paste the text of the file."},
    )

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if len(markers.find(text)) > preview.MOST_MARKERS:
            raise forms.ValidationError(f"It has more than {preview.MOST_MARKERS} markers.")
        return text

    def __init__(self, *args: Any, user: User, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["bank"].queryset = banks_for(user).select_related("server").order_by("name", "bank_id")  # type: ignore[attr-defined]  # of a ModelChoiceField
