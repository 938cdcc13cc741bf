"""The form about a session of an agent: the bank, the file, and the documents that it becomes."""

from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat

from banks.access import banks_for
from banks.models import Bank, Role
from banks.transcripts import FORMATS, FULL, LAST, Plan
from banks.transcripts.windows import EVERY, MOST_OVERLAP, MOST_TURNS, OVERLAP
from memadmin.accounts.models import User

_select, _input = {"class": "select"}, {"class": "input"}
MODES = [(FULL, "the whole session as one document"), (LAST, "windows of a few turns, a document each")]


class BankChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # it takes none at run time
    def label_from_instance(self, bank: Any) -> str:
        return f"{str(bank)[:80]} on {bank.server.name}"


class TranscriptForm(forms.Form):
    """Only project banks are offered: a person's bank takes no sessions."""

    bank = BankChoice(
        label="Bank",
        queryset=Bank.objects.none(),
        empty_label="choose the bank",
        widget=forms.Select(_select),
        help_text="Banks of people are not offered: what is said at work is no standing fact about a person.",
        error_messages={"required": "Say which bank it is for.", "invalid_choice": "Choose one of the project banks."},
    )
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "told by the file"), *FORMATS.items()],
        widget=forms.Select(_select),
    )
    mode = forms.ChoiceField(label="Becomes", choices=MODES, initial=FULL, widget=forms.Select(_select))
    every = forms.IntegerField(
        label="Turns of a window",
        min_value=1,
        max_value=MOST_TURNS,
        initial=EVERY,
        widget=forms.NumberInput(_input),
        help_text="A turn is what a person said, with the answers to it.",
    )
    overlap = forms.IntegerField(
        label="Turns repeated from before",
        min_value=0,
        max_value=MOST_OVERLAP,
        initial=OVERLAP,
        widget=forms.NumberInput(_input),
        help_text="For context. What is said in them is extracted twice.",
    )
    session = forms.CharField(
        label="Session id",
        required=False,
        max_length=200,
        widget=forms.TextInput({**_input, "autocomplete": "off", "spellcheck": "false"}),
        help_text="Only where the file does not name its session. The documents are named after it.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        banks = banks_for(user, Role.REVIEWER).exclude(kind=Bank.Kind.PERSON).filter(gone_since=None)
        self.fields["bank"].queryset = banks.select_related("server").order_by("name", "bank_id")  # type: ignore[attr-defined]

    @property
    def plan(self) -> Plan:
        said = self.cleaned_data
        return Plan(said["mode"], said["every"], said["overlap"], said["session"])


class UploadForm(TranscriptForm):
    """The same with the file. It comes last: when it is too large, the other fields have already arrived."""

    file = forms.FileField(
        label="File",
        allow_empty_file=True,
        widget=forms.FileInput({**_input, "accept": ".jsonl,application/json,text/plain"}),
        error_messages={"required": "Choose a file.", "invalid": "Choose a file."},
    )

    def clean_file(self) -> Any:
        upload = self.cleaned_data["file"]
        if upload.size > settings.TRANSCRIPT_MAX_BYTES:
            raise forms.ValidationError(too_large())
        return upload


def too_large() -> str:
    limit = filesizeformat(settings.TRANSCRIPT_MAX_BYTES).replace("\xa0", " ")
    return f"The file is larger than {limit}. Nothing was stored. Split it at a line end."
