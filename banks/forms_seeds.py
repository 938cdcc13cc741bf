"""Forms about seeds: one seed, a file of them, and which banks are to get their models."""

from typing import Any

from django import forms

from banks.access import banks_for
from banks.forms_memory import PLAIN, SELECT
from banks.models import Bank, Role
from banks.retain.scope import GLOBAL, LONGEST_PROJECT, PER_PROJECT, TAGGED
from banks.seeds import NotASeed, SeedSpec, checked, library, shape
from banks.seeds.job import MOST_BANKS, Asked
from memadmin.accounts.models import User
from memadmin.filtering import number_of
from memadmin.retention import Omitted, first_of

SCOPES = [
    (GLOBAL, "global: one bank for everything"),
    (PER_PROJECT, "per-project: each project has a bank of its own"),
    (TAGGED, "per-project-tagged: one bank, a tag for each project"),
]
REFRESHES = [("full", "write the whole text anew (full)"), ("delta", "change only what is different (delta)")]
OFFERED = 200  # banks in the form, by name
_number = {"class": "input", "inputmode": "numeric"}


class SeedForm(forms.Form):
    """The team's own seed. What of a trigger has no field here stays as it was."""

    id = forms.CharField(
        label="Id",
        max_length=shape.LONGEST_ID,
        widget=forms.TextInput({**PLAIN, "autocapitalize": "none"}),
        help_text="Lower-case letters, digits and hyphens. Models get this id; in a tagged scope the project's label "
        "is added.",
    )
    name = forms.CharField(label="Name", max_length=shape.LONGEST_NAME, widget=forms.TextInput(PLAIN))
    source_query = forms.CharField(
        label="Question",
        max_length=shape.LONGEST_QUERY,
        widget=forms.Textarea({"class": "input", "rows": 6}),
        help_text="What the server answers from the bank's memories, each time it writes the text.",
    )
    scopes = forms.MultipleChoiceField(
        label="Scopes", choices=SCOPES, widget=forms.CheckboxSelectMultiple(), help_text="Where it is wanted."
    )
    project_tagged = forms.BooleanField(
        label="one for each project: in a tagged scope it reads only what has the project's tag", required=False
    )
    extra_tags = forms.CharField(
        label="Further tags",
        required=False,
        widget=forms.Textarea({**PLAIN, "rows": 2}),
        help_text="One on each line. Servers write a model with tags only from memories that have all of them: a tag "
        "that no memory has makes an empty text.",
    )
    max_tokens = forms.IntegerField(
        label="Longest text",
        min_value=shape.LEAST_TOKENS,
        max_value=shape.MOST_TOKENS,
        initial=shape.TOKENS,
        widget=forms.NumberInput(_number),
        help_text="In tokens.",
    )
    mode = forms.ChoiceField(label="A refresh", choices=REFRESHES, initial="full", widget=forms.Select(SELECT))
    by_itself = forms.BooleanField(
        label="refreshed by the server whenever it has consolidated new memories; each time it asks its language model",
        required=False,
        initial=True,
    )

    def __init__(self, *args: Any, spec: SeedSpec | None = None, **kwargs: Any) -> None:
        self._kept = dict(spec.trigger) if spec else {}
        kwargs["initial"] = _initial(spec) if spec else None
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if self.errors:
            return data
        tags = [line.strip() for line in data["extra_tags"].splitlines() if line.strip()]
        trigger = {**self._kept, "mode": data["mode"], "refresh_after_consolidation": data["by_itself"]}
        data["source_query"] = data["source_query"].replace("\r\n", "\n")  # as browsers send it
        names = ("id", "name", "source_query", "scopes", "project_tagged", "max_tokens")
        try:
            data["spec"] = checked({name: data[name] for name in names} | {"extra_tags": tags, "trigger": trigger})
        except NotASeed as wrong:
            for name, text in wrong.problems.items():
                self.add_error(name if name in self.fields else None, text)
        return data


def _initial(spec: SeedSpec) -> dict[str, Any]:
    values = spec.as_json()
    trigger = values.pop("trigger")
    return {
        **values,
        "extra_tags": "\n".join(spec.extra_tags),
        "mode": trigger.get("mode", "full"),
        "by_itself": trigger.get("refresh_after_consolidation", False),
    }


class SeedFileForm(forms.Form):
    file = forms.FileField(
        label="File",
        widget=forms.FileInput({"class": "input", "accept": ".json,application/json"}),
        error_messages={"required": "Choose a file.", "invalid": "Choose a file.", "empty": "The file is empty."},
    )

    def clean_file(self) -> list[SeedSpec]:
        upload = self.cleaned_data["file"]
        if upload.size > library.FILE_BYTES:
            raise forms.ValidationError(f"The file is larger than {library.FILE_BYTES:,} bytes. Nothing was stored.")
        try:
            return library.read(upload.read())
        except library.NotAFile as wrong:
            raise forms.ValidationError([*wrong.problems, "Nothing was stored."]) from wrong


class Banks(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # it takes none at run time
    def label_from_instance(self, bank: Any) -> str:
        return f"{str(bank)[:80]} ({bank.bank_id[:60]}) on {bank.server.name}"


class SeedingForm(forms.Form):
    """Only project banks of which one is admin are offered."""

    banks = Banks(
        label="Banks",
        queryset=Bank.objects.none(),
        widget=forms.CheckboxSelectMultiple(),
        error_messages={"required": "Choose at least one bank.", "invalid_choice": "Choose among the banks."},
    )
    scope = forms.ChoiceField(label="Scope", choices=SCOPES, initial=TAGGED, widget=forms.RadioSelect())
    project = forms.CharField(
        label="Project",
        required=False,
        max_length=LONGEST_PROJECT,
        widget=forms.TextInput(PLAIN),
        help_text="Its path or name, for a tagged scope: the last name of it, in lower case, is the label.",
    )
    seeds = forms.MultipleChoiceField(
        label="Seeds",
        required=False,
        widget=forms.CheckboxSelectMultiple(),
        help_text="None chosen: all that are meant for the scope.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        banks = banks_for(user, Role.ADMIN).exclude(kind=Bank.Kind.PERSON).filter(gone_since=None)
        banks = banks.select_related("server").order_by("name", "bank_id", "pk")
        first = first_of(banks.values_list("pk", flat=True), OFFERED)
        self.omitted: Omitted = first.omitted
        # What was asked for is among them, wherever it stands.
        meant = self.data.getlist("banks") if self.is_bound else (self.initial.get("banks") or [])  # type: ignore[attr-defined]
        asked = [number_of(pk) for pk in meant[:MOST_BANKS]]
        self.fields["banks"].queryset = banks.filter(pk__in=[*first.items, *asked])  # type: ignore[attr-defined]
        self.fields["seeds"].choices = [(spec.id, spec.name) for spec in library.every()]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data.get("scope") == TAGGED and not data.get("project", "").strip():
            self.add_error("project", "Say whose models they are.")
        if len(data.get("banks") or []) > MOST_BANKS:
            self.add_error("banks", f"At most {MOST_BANKS} banks at once.")
        return data

    @property
    def asked(self) -> Asked:
        said = self.cleaned_data
        return Asked([bank.pk for bank in said["banks"]], said["scope"], said["project"], said["seeds"])
