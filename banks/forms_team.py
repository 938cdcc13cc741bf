"""Forms about groups and about accounts that get no role by themselves."""

from typing import Any

from django import forms

from banks.forms import MemberForm, NameField, WhoseForm
from banks.models import Group, Role

_input = {"class": "input"}
_select = {"class": "select"}


class GroupForm(forms.Form):
    name = NameField(
        label="Name",
        max_length=100,
        widget=forms.TextInput({**_input, "autocomplete": "off"}),
        error_messages={"required": "Give it a name."},
    )


class GroupMemberForm(WhoseForm):
    """Somebody who has an account, to be put into a group."""


class GroupRoleForm(forms.Form):
    """A group that gets a role; `groups` are those that may be chosen."""

    group = forms.ModelChoiceField(
        Group.objects.none(), label="Group", empty_label="choose", widget=forms.Select(_select)
    )
    role = forms.TypedChoiceField(
        label="Role of the group",
        choices=Role.choices,
        coerce=lambda value: Role(int(value)),
        initial=Role.REVIEWER,
        widget=forms.Select(_select),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: forms.ModelChoiceField[Group] = self.fields["group"]  # type: ignore[assignment]
        chosen.queryset = Group.objects.order_by("name")
        chosen.error_messages["invalid_choice"] = "There is no such group any more."


class InviteForm(MemberForm):
    """Somebody new, without a role of their own."""

    field_order = ["login", "name", "group"]
    role = None  # type: ignore[assignment]  # Django's way to leave out an inherited field
    new = None  # type: ignore[assignment]

    group = forms.ModelChoiceField(
        Group.objects.none(),
        label="Group",
        required=False,
        empty_label="none",
        widget=forms.Select(_select),
        help_text="Its roles are theirs at once. Roles of their own are given on the page of a bank or server.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: forms.ModelChoiceField[Group] = self.fields["group"]  # type: ignore[assignment]
        chosen.queryset = Group.objects.order_by("name")
        self.fields["login"].help_text = "How they will sign in."
        self.fields["name"].help_text = ""

    def clean(self) -> dict[str, Any]:
        self.cleaned_data["new"] = True
        return super().clean()
