"""The forms of the recall desk."""

from typing import Any

from django import forms

from banks.forms import LinesField, NameField
from banks.forms_directives import TagsField
from banks.recall.asked import LONGEST_QUERY, MOST_LINES, MOST_TOKENS, TOKENS, TYPES, Asked, budget_of, mode_of
from banks.recall.block import MOST

_input = {"class": "input", "autocomplete": "off"}
_select = {"class": "select"}
BUDGETS = [("low", "low: the quickest"), ("mid", "mid: as agents ask"), ("high", "high: the widest")]
MODES = [
    ("any", "one of them, or no tag at all"),
    ("any_strict", "one of them"),
    ("all", "all of them, or no tag at all"),
    ("all_strict", "all of them"),
    ("exact", "these and no others"),
]
PREFER = [
    ("", "as the bank is set"),
    ("yes", "observations instead of the facts they are made from"),
    ("no", "both"),
]
_PREFERRED = {"": None, "yes": True, "no": False}


class AskForm(forms.Form):
    """What recall and reflect have in common."""

    use_required_attribute = False

    query = LinesField(
        label="Query", max_length=LONGEST_QUERY, widget=forms.Textarea({**_input, "rows": 2, "dir": "auto"})
    )
    budget = forms.ChoiceField(label="Budget", choices=BUDGETS, initial="mid", widget=forms.Select(_select))
    max_tokens = forms.IntegerField(
        label="At most so many tokens",
        min_value=1,
        max_value=MOST_TOKENS,
        initial=TOKENS,
        widget=forms.NumberInput(_input),
    )
    tags = TagsField(label="Tags", help_text="One on each line; without any, everything is asked.")
    tags_match = forms.ChoiceField(label="What has", choices=MODES, initial="any", widget=forms.Select(_select))

    def asked(self) -> Asked:
        said = self.cleaned_data
        return Asked(
            query=said["query"],
            budget=budget_of(said["budget"]),
            max_tokens=said["max_tokens"],
            tags=tuple(said["tags"]),
            tags_match=mode_of(said["tags_match"]),
            **self.narrowed(said),
        )

    def narrowed(self, said: dict[str, Any]) -> dict[str, Any]:
        return {}


class RecallForm(AskForm):
    world = forms.BooleanField(label="Facts about the world", required=False)
    experience = forms.BooleanField(label="Experiences", required=False)
    observation = forms.BooleanField(label="Observations", required=False)
    prefer = forms.ChoiceField(
        label="Where an observation is made from facts",
        choices=PREFER,
        required=False,
        initial="",
        widget=forms.Select(_select),
    )
    lines = forms.IntegerField(
        label="Facts in the block",
        min_value=1,
        max_value=MOST_LINES,
        initial=MOST,
        widget=forms.NumberInput(_input),
        help_text="As many as the agent is set to inject in one turn.",
    )
    field_order = ("query", *TYPES, "prefer", "budget", "max_tokens", "lines")

    def types(self) -> list[forms.BoundField]:
        return [self[name] for name in TYPES]

    def narrowed(self, said: dict[str, Any]) -> dict[str, Any]:
        types = tuple(name for name in TYPES if said[name])
        return {"types": types, "prefer": _PREFERRED[said["prefer"]], "lines": said["lines"]}


class ReflectForm(AskForm):
    budget = forms.ChoiceField(label="Budget", choices=BUDGETS, initial="low", widget=forms.Select(_select))


class CheckForm(forms.Form):
    use_required_attribute = False

    name = NameField(label="Name", max_length=120, widget=forms.TextInput(_input))


def initial_of(said: Asked) -> dict[str, Any]:
    """A form's values for what was asked once."""
    prefer = next(name for name, value in _PREFERRED.items() if value is said.prefer)
    values = {name: getattr(said, name) for name in ("query", "budget", "max_tokens", "tags_match", "lines")}
    return values | {"prefer": prefer, "tags": "\n".join(said.tags)} | {name: name in said.types for name in TYPES}
