"""Forms about files: which ones for which bank, then what is said about each."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms

from banks.access import banks_for
from banks.files import Upload
from banks.files.accepted import ENDINGS
from banks.forms_transcripts import BankChoice
from banks.models import Bank, Role
from banks.retain.params import LONGEST, Problem
from memadmin.accounts.models import User

_input = {"class": "input"}
_plain = {**_input, "autocomplete": "off", "spellcheck": "false"}
LONGEST_TEXT = 100_000  # characters of a field; what is in it has bounds of its own
NAME_AND_VALUE = "Each line is a name, a colon and a value."


class BankForm(forms.Form):
    bank = BankChoice(
        label="Bank",
        queryset=Bank.objects.none(),
        empty_label="choose the bank",
        widget=forms.Select({"class": "select"}),
        help_text="Banks of people are not offered, nor banks that hold for review: what a file says is not known yet.",
        error_messages={"required": "Say which bank it is for.", "invalid_choice": "Choose one of your banks."},
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        banks = banks_for(user, Role.REVIEWER).filter(gone_since=None, hold=False).exclude(kind=Bank.Kind.PERSON)
        self.fields["bank"].queryset = banks.select_related("server").order_by("name", "bank_id")  # type: ignore[attr-defined]


class _Several(forms.FileInput):
    allow_multiple_selected = True

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        return files.getlist(name)


class _Files(forms.Field):
    """Any number of files; who receives them has the rules."""

    widget = _Several

    def validate(self, value: Any) -> None:
        if not value:
            raise forms.ValidationError("Choose at least one file.")


class FilesForm(BankForm):
    """The files come last: when they are too large, the bank has already arrived."""

    file = _Files(
        label="Files",
        widget=_Several({**_input, "accept": ",".join(f".{ending}" for ending in sorted(ENDINGS)), "required": True}),
        help_text="Up to ten, together at most 100 MB: PDF, Office, images, audio, HTML and plain text.",
    )


class AboutForm(forms.Form):
    """What is said about one file."""

    document_id = forms.CharField(
        label="Document id",
        required=False,
        max_length=LONGEST["document_id"],
        widget=forms.TextInput(_plain),
        help_text="A document of the same id is replaced. Without one it gets an id of its own.",
    )
    context = forms.CharField(
        label="Context",
        required=False,
        max_length=LONGEST["context"],
        widget=forms.TextInput(_input),
        help_text="What it is, such as “minutes of a meeting”: the same sentence means other things elsewhere.",
    )
    tags = forms.CharField(
        label="Tags",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea({**_plain, "rows": 2}),
        help_text="One a line.",
    )
    timestamp = forms.CharField(
        label="When it happened",
        required=False,
        max_length=LONGEST["timestamp"],
        widget=forms.TextInput({**_plain, "placeholder": "2026-03-16T10:00+01:00"}),
        help_text="Without one it is now; “unset” for what is of no time, such as a manual.",
    )
    metadata = forms.CharField(
        label="Metadata",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea({**_plain, "rows": 2, "placeholder": "source: wiki"}),
        help_text=NAME_AND_VALUE,
    )

    def clean_tags(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["tags"].splitlines() if line.strip()]

    def clean_metadata(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for line in filter(str.strip, self.cleaned_data["metadata"].splitlines()):
            name, colon, value = (part.strip() for part in line.partition(":"))
            if not (name and colon) or name in found:
                raise forms.ValidationError(f"{NAME_AND_VALUE} A name is there once.")
            found[name] = value
        return found

    @property
    def about(self) -> dict[str, Any]:
        """As the API takes it; what was left empty is not said."""
        return {name: value for name, value in self.cleaned_data.items() if value}


def about_forms(data: Any, uploads: Sequence[Upload]) -> list[AboutForm]:
    """One for each file, with names of its own in the page."""
    return [AboutForm(data, prefix=f"f{number}") for number in range(len(uploads))]


def tell(forms_: Sequence[AboutForm], problems: Iterable[Problem]) -> list[str]:
    """Each problem beside its field; what belongs to none is returned."""
    rest = []
    for problem in problems:
        name = problem.field.partition("[")[0].partition(".")[0]
        if problem.item is not None and name in AboutForm.base_fields:
            forms_[problem.item].add_error(name, problem.text)
        else:
            rest.append(str(problem))
    return rest
