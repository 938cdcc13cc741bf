"""Forms about servers, members and policies. Errors say what to do, and never repeat a key."""

import re
from typing import Any

from django import forms
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.validators import EmailValidator, MinLengthValidator
from django.utils.datastructures import MultiValueDict

from banks.addresses import Address, BadAddress
from banks.hidden import has_hidden
from banks.models import Reapply, Role, Server
from memadmin.accounts import people
from memadmin.accounts.models import User

MOST_ADDRESSES = 20
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
NAMESPACE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
SENDABLE = re.compile(r"[\x21-\x7e]*")

_input = {"class": "input"}
_plain = {**_input, "autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
_select = {"class": "select"}


def tidy(values: dict[str, Any]) -> dict[str, Any]:
    """Whole numbers as people write them: 3, not 3.0."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value for name, value in values.items()
    }


class NameField(forms.CharField):
    """A name for people: no character of it hides, or turns the line around."""

    def clean(self, value: Any) -> Any:
        name = super().clean(value)
        if has_hidden(name):
            raise forms.ValidationError("It holds hidden characters. Type it instead of pasting it.")
        return name


class KeyField(forms.CharField):
    """An API key. It is never rendered, not even back to who typed it."""

    def __init__(self, **kwargs: Any) -> None:
        attrs = {**_plain, "autocomplete": "new-password"}
        super().__init__(max_length=2_000, widget=forms.PasswordInput(attrs=attrs), **kwargs)
        self.error_messages["max_length"] = "A key has at most 2,000 characters."

    def clean(self, value: Any) -> Any:
        key = super().clean(value)
        if not SENDABLE.fullmatch(key):
            raise forms.ValidationError("A key has letters, digits and signs of the ASCII table, and no blanks.")
        return key


class ServerFields(forms.Form):
    """What can be said when a server is added, and changed later."""

    name = NameField(label="Name", max_length=100, widget=forms.TextInput(_input))
    other = forms.CharField(
        label="Other addresses",
        required=False,
        max_length=MOST_ADDRESSES * 500,
        widget=forms.Textarea({**_plain, "rows": 3}),
        help_text="One per line: what queue files call the same server. Nothing is ever sent to them.",
    )
    connect_timeout = forms.FloatField(
        label="Connect within",
        min_value=0.1,
        max_value=60,
        initial=5,
        widget=forms.NumberInput({**_input, "step": "any"}),
        help_text="Seconds.",
    )
    read_timeout = forms.FloatField(
        label="Answer within",
        min_value=1,
        max_value=120,
        initial=30,
        widget=forms.NumberInput({**_input, "step": "any"}),
        help_text="Seconds between two pieces of an answer.",
    )

    def clean_other(self) -> list[Address]:
        lines = [line.strip() for line in self.cleaned_data["other"].splitlines() if line.strip()]
        if len(lines) > MOST_ADDRESSES:
            raise forms.ValidationError(f"At most {MOST_ADDRESSES} addresses.")
        return [self.address_of("other", line) for line in lines]

    def address_of(self, field: str, text: str) -> Address:
        try:
            return Address.parse(text)
        except BadAddress as error:
            if "@" in text:
                self._forget(field)  # it may hold a password
            raise forms.ValidationError(str(error)) from error

    def _forget(self, field: str) -> None:
        data = MultiValueDict(self.data)
        data[field] = ""
        self.data = data


class ServerEditForm(ServerFields):
    """What is changed later, with what is not asked before the server's banks are known."""

    seed_new_banks = forms.ChoiceField(
        label="Give new banks the mental models of the seeds",
        required=False,
        choices=Server.SeedNew.choices,
        widget=forms.Select(_select),
        help_text="Banks that appear on it from now on. Only what is missing is made, and making it asks its language "
        "model. A person's bank never gets any.",
    )


class ServerForm(ServerFields):
    """A new server."""

    field_order = ["name", "address", "namespace", "key", "other", "connect_timeout", "read_timeout"]

    address = forms.CharField(
        label="Address",
        max_length=500,
        widget=forms.TextInput({**_plain, "inputmode": "url", "placeholder": "https://memory.example.org"}),
        help_text="http(s)://host, with a port and a path where it has them. It is contacted, with the key below.",
    )
    namespace = forms.CharField(
        label="Namespace",
        max_length=100,
        initial="default",
        widget=forms.TextInput(_plain),
        help_text="The server's own word; “default” where nobody chose another.",
    )
    key = KeyField(label="API key", required=False, help_text="Stored encrypted, and never shown again.")

    def clean_address(self) -> Address:
        return self.address_of("address", self.cleaned_data["address"])

    def clean_namespace(self) -> str:
        namespace: str = self.cleaned_data["namespace"]
        if not NAMESPACE.fullmatch(namespace):
            raise forms.ValidationError("Letters, digits, “-”, “_” and dots that do not come first.")
        return namespace


class KeyForm(forms.Form):
    """Another key, or none. Empty keeps the one that is stored."""

    key = KeyField(label="New key", required=False, help_text="Empty keeps the stored one.")
    none = forms.BooleanField(label="No key: the server asks for none", required=False)

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data.get("key") and data.get("none"):
            raise forms.ValidationError("Either a new key or no key. Nothing was changed.")
        return data


class ReasonForm(forms.Form):
    """Why somebody does it: kept with it for ever."""

    reason = forms.CharField(
        label="Why",
        max_length=300,
        widget=forms.TextInput({**_input, "autocomplete": "off"}),
        validators=[MinLengthValidator(3, "A few words, for those who find it later.")],
        error_messages={"required": "Say why, for those who find it later."},
    )

    @property
    def problem(self) -> str:
        return " ".join(str(error) for error in self.errors.get("reason", []))


class RoleForm(forms.Form):
    """A role out of the three; `was` is the one that was on screen."""

    role = forms.TypedChoiceField(choices=Role.choices, coerce=lambda value: Role(int(value)))
    was = forms.TypedChoiceField(choices=Role.choices, coerce=lambda value: Role(int(value)))


class MemberForm(forms.Form):
    """Somebody who gets a role: by the name they sign in with, or as somebody new (`person` is None then)."""

    person: User | None = None

    login = forms.CharField(
        label="User name or e-mail",
        max_length=150,
        widget=forms.TextInput(_plain),
    )
    role = forms.TypedChoiceField(
        label="Role",
        choices=Role.choices,
        coerce=lambda value: Role(int(value)),
        initial=Role.REVIEWER,
        widget=forms.Select(_select),
    )
    new = forms.BooleanField(label="Somebody new: make an account", required=False)
    name = NameField(
        label="Full name",
        required=False,
        max_length=150,
        widget=forms.TextInput({**_input, "autocomplete": "off"}),
        help_text="For somebody new.",
    )

    def clean_login(self) -> str:
        login: str = self.cleaned_data["login"]
        if "@" in login:
            EmailValidator("This is no e-mail address. A user name has no “@”.")(login)
        UnicodeUsernameValidator(message="Letters, digits and . + - _ @ only.")(login)
        return login

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if login := data.get("login"):
            self._check_person(people.find(login), new=data["new"])
        return data

    def _check_person(self, found: list[User], *, new: bool) -> None:
        """A mistyped name must not become an account, nor an account of somebody else be taken for new."""
        if len(found) > 1:
            self.add_error("login", "More than one account fits. Use the user name.")
        elif found and new:
            self.add_error("login", "Somebody signs in by this already. Untick “somebody new” to give them the role.")
        elif not found and not new:
            self.add_error("login", "Nobody signs in by this. Tick “somebody new” to make an account.")
        self.person = found[0] if len(found) == 1 else None


class WhoseForm(forms.Form):
    """The person whom a bank is about, by the name they sign in with."""

    person: User | None = None

    login = forms.CharField(
        label="User name or e-mail",
        max_length=150,
        widget=forms.TextInput(_plain),
        error_messages={"required": "Say whose bank it is."},
    )

    def clean_login(self) -> str:
        login: str = self.cleaned_data["login"]
        found = people.find(login)
        if len(found) > 1:
            raise forms.ValidationError("More than one account fits. Use the user name.")
        if not found:
            raise forms.ValidationError("Nobody signs in by this. Invite them first, on a page of members.")
        self.person = found[0]
        return login


class LinesField(forms.CharField):
    """Text of several lines, which browsers send with other line ends than it had."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


_mission = {**_plain, "rows": 3, "aria-describedby": "missions-help"}


class PolicyForm(forms.Form):
    """How we treat the memories of one bank. Empty numbers inherit."""

    name = NameField(label="Name", required=False, max_length=300, widget=forms.TextInput(_input))
    language = forms.CharField(label="Language", required=False, max_length=35, widget=forms.TextInput(_plain))
    auto_approve_days = forms.FloatField(
        label="Approve by time after",
        required=False,
        min_value=0,
        max_value=3650,
        widget=forms.NumberInput({**_input, "step": "any"}),
    )
    expire_marked = forms.BooleanField(label="Also what is marked as dangerous", required=False)
    two_reviewers = forms.BooleanField(label="Two people approve", required=False)
    bars_writer = forms.BooleanField(label="Not who wrote it", required=False)
    polled = forms.BooleanField(label="Look for new documents", required=False)
    settle_minutes = forms.IntegerField(
        label="Settle time", required=False, min_value=0, max_value=10_080, widget=forms.NumberInput(_input)
    )
    reopen_on_change = forms.BooleanField(label="Open again what changed", required=False)
    hold = forms.BooleanField(
        label="Hold for review",
        required=False,
        widget=forms.CheckboxInput({"aria-describedby": "hold-help"}),
    )
    reapply = forms.ChoiceField(
        label="Decisions about facts",
        choices=Reapply.choices,
        widget=forms.Select({**_select, "aria-describedby": "reapply-help"}),
    )

    retain_context = forms.CharField(
        label="Context of memories without one", required=False, max_length=10_000, widget=forms.TextInput(_plain)
    )
    retain_mission = LinesField(
        label="Mission for retaining", required=False, max_length=20_000, widget=forms.Textarea(_mission)
    )
    reflect_mission = LinesField(
        label="Mission for answering", required=False, max_length=20_000, widget=forms.Textarea(_mission)
    )

    def clean_language(self) -> str:
        language: str = self.cleaned_data["language"]
        if language and not LANGUAGE.fullmatch(language):
            raise forms.ValidationError("A language tag such as “en”, “de” or “pt-BR”.")
        return language
