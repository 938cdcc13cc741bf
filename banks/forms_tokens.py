"""The form that makes an API token."""

from typing import Any

from django import forms

from banks.forms import NameField
from banks.models import Bank, Role
from banks.selectors_tokens import banks_offered
from memadmin.accounts.models import User
from memadmin.retention import Omitted

ENDS = {7: "in a week", 30: "in 30 days", 90: "in 90 days", 365: "in a year"}
SOME, ALL = "some", "all"


class BanksField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # no generic at run time
    """Names are not unique: the server's belongs to each."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj} on {obj.server}"


class TokenForm(forms.Form):
    """`cleaned_data["chosen"]`: the banks, None for all of them. `omitted`: how many more there are than offered."""

    name = NameField(
        label="What it is for",
        max_length=60,
        widget=forms.TextInput({"class": "input", "autocomplete": "off"}),
        help_text="Such as “nightly clean-up on build-3”. The write log says it beside your name.",
    )
    role = forms.TypedChoiceField(
        label="It may act as",
        choices=Role.choices,
        coerce=lambda value: Role(int(value)),
        initial=Role.VIEWER,
        widget=forms.Select({"class": "select"}),
        help_text="At most; where your own role is lower, that one counts.",
    )
    scope = forms.ChoiceField(
        label="Banks",
        choices=[(SOME, "only those ticked here:"), (ALL, "all that I may see, also those to come")],
        initial=SOME,
        widget=forms.RadioSelect,
    )
    banks = BanksField(label="Banks", required=False, queryset=Bank.objects.none(), widget=forms.CheckboxSelectMultiple)
    ends = forms.TypedChoiceField(
        label="It ends",
        choices=list(ENDS.items()),
        coerce=int,
        initial=90,
        widget=forms.Select({"class": "select"}),
        help_text="You can revoke it at any time before.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = banks_offered(user)
        self.omitted: Omitted = offered.omitted
        pks = [bank.pk for bank in offered.items]
        banks = Bank.objects.filter(pk__in=pks).select_related("server").order_by("name", "bank_id", "pk")
        self.fields["banks"].queryset = banks  # type: ignore[attr-defined]  # the model field

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data.get("scope") == SOME and not data.get("banks") and "banks" not in self.errors:
            self.add_error("banks", "Tick at least one bank, or choose all of them.")
        data["chosen"] = None if data.get("scope") == ALL else list(data.get("banks") or [])
        return data
