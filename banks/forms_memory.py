"""The part of a form that is about one memory: texts read into what the API takes as JSON.

Whether that may be stored is checked where the API's is.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from django import forms

from banks.forms import LinesField
from banks.retain import Problem

CUSTOM = "custom"
SELECT = {"class": "select"}
PLAIN = {"class": "input", "autocomplete": "off", "spellcheck": "false"}

SCOPES = [
    ("", "as the bank is set"),
    ("combined", "combined: all tags together"),
    ("shared", "shared: one for all, without tags"),
    ("per_tag", "per_tag: one for each tag"),
    ("all_combinations", "all_combinations: one for each set of tags"),
    (CUSTOM, "custom: the sets written below"),
]


class Text(LinesField):
    """A text as it was typed: nothing is stripped or refused here."""

    def __init__(self, label: str, help_text: str, more: str = "", *, rows: int = 0, placeholder: str = "") -> None:
        attrs = {**PLAIN, **({"placeholder": placeholder} if placeholder else {})}
        widget = forms.Textarea({**attrs, "rows": rows}) if rows else forms.TextInput(attrs)
        super().__init__(label=label, help_text=help_text, strip=False, required=False, widget=widget)
        self.more = more
        self.validators = []


class Choice(forms.ChoiceField):
    def __init__(self, label: str, choices: Sequence[tuple[str, str]], help_text: str, more: str = "") -> None:
        super().__init__(label=label, choices=choices, help_text=help_text, required=False, widget=forms.Select(SELECT))
        self.more = more


class MemoryForm(forms.Form):
    """One memory. What is missing is not sent."""

    use_required_attribute = False

    content = Text("Content", "The text to remember. The bank draws facts from it.", rows=5)
    document_id = Text(
        "Document id",
        "Its name in the bank. Empty: one that nobody else uses.",
        "A document that has this id already is replaced with all of its facts, or continued (see Update).",
    )
    update_mode = Choice(
        "Update",
        [("replace", "replace"), ("append", "append")],
        "What happens to a document that has this id already.",
        "Replace forgets the old text; where parts of it are the same, their facts stay. Append needs a document id; "
        "it adds this text behind the old one. An append goes out in a request of its own. It is never sent again by "
        "itself, since then it might stand there twice.",
    )
    context = Text(
        "Context",
        "Where it comes from, such as “stand-up” or “support ticket”.",
        "It is shown to the model that draws the facts, and shapes them: “the project was terminated” is one thing in "
        "a performance review and another in a roadmap. Empty: the context of the bank's policy, where it has one.",
    )
    no_context = forms.BooleanField(
        label="no context, not even that of the bank", required=False, widget=forms.CheckboxInput()
    )
    tags = Text(
        "Tags",
        "One on each line. Who recalls can ask for some of them.",
        "Such as user:ann, session:s-17 or topic:billing. A recall with tags finds memories that share one.",
        rows=2,
    )
    timestamp = Text(
        "When",
        "When it happened: 2026-03-16T10:00:00+01:00, or unset. Empty: the time of queueing.",
        "“Last Monday” in the text is reckoned from it. A time without an offset is UTC. “unset” is for what has no "
        "time, such as a handbook.",
        placeholder="2026-03-16T10:00:00+01:00",
    )
    metadata = Text(
        "Metadata",
        "One “name: text” on each line. It comes back with every fact.",
        "A name without a colon is null, and is dropped; a name with nothing behind its colon stays, with an empty "
        "text. An object in JSON is taken too.",
        rows=2,
    )
    entities = Text(
        "Entities",
        "Names that must be recognized, one on each line: Ann Weber | PERSON.",
        "The kind behind the bar may be left out; it is CONCEPT then. They are added to those that the model finds. A "
        "list in JSON is taken too.",
        rows=2,
    )
    resolve_entities = Choice(
        "Match these names",
        [("", "as servers do: yes"), ("true", "yes"), ("false", "no, they are exact")],
        "Whether a name may be matched with a similar one of the bank.",
        "Yes makes one entity of “Dr. Waller” and “Dr Waller”. No takes your names word for word, apart from case. It "
        "counts only for the names above; those that the model finds are always matched.",
    )
    observation_scopes = Choice(
        "Observations",
        SCOPES,
        "Which observations this memory is worked into; the preview lists them.",
        "An observation has exactly the tags of its scope. Each scope is a pass of its own, which costs.",
    )
    custom_scopes = Text(
        "Custom scopes",
        'A list of lists of tags in JSON, such as [["user:ann"], ["user:ann", "topic:billing"]].',
        "[[]] is one scope without tags, the same as shared. [] names no scope at all, and the server does as for "
        "combined. An entry with * stands for the tags that it matches, such as topic:*.",
        rows=2,
    )
    strategy = Text(
        "Strategy",
        "The name of one of the bank's retain strategies. Empty: its default.",
        "Memories with different strategies go out in different requests.",
    )

    def clean_metadata(self) -> dict[str, str | None]:
        text = self.cleaned_data["metadata"]
        if text.lstrip().startswith("{"):
            return dict(_json(text))
        pairs = [line.partition(":") for line in lines(text)]
        names = [name.strip() for name, _, _ in pairs]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise forms.ValidationError(f"{twice[0][:60]} is there twice.")
        return {name.strip(): value.strip() if colon else None for name, colon, value in pairs}

    def clean_tags(self) -> list[str]:
        return lines(self.cleaned_data["tags"])

    def clean_entities(self) -> Any:
        text = self.cleaned_data["entities"]
        if text.lstrip().startswith("["):
            return _json(text)
        pairs = [[part.strip() for part in line.split("|", 1)] for line in lines(text)]
        return [dict(zip(("text", "type"), pair, strict=False)) for pair in pairs]

    def clean_custom_scopes(self) -> Any:
        text = self.cleaned_data["custom_scopes"]
        if self.cleaned_data.get("observation_scopes") != CUSTOM:
            return None
        if not text.strip():
            raise forms.ValidationError('Write the sets of tags, such as [["user:ann"]].')
        found = _json(text)
        if not isinstance(found, list):
            raise forms.ValidationError('A list of lists of tags, such as [["user:ann"]].')
        return found

    def given(self) -> dict[str, Any]:
        """As the API takes it, without what could not be read."""
        said = self.cleaned_data
        simple = ("document_id", "timestamp", "strategy", "context", "update_mode", "tags", "metadata", "entities")
        given = {name: said[name] for name in simple if said.get(name)}
        if said.get("no_context") and "context" not in given:
            given["context"] = ""
        if said.get("resolve_entities"):
            given["resolve_entities"] = said["resolve_entities"] == "true"
        scopes = said.get("observation_scopes")
        if scopes == CUSTOM:
            given["observation_scopes"] = said.get("custom_scopes")
        elif scopes:
            given["observation_scopes"] = scopes
        return {"content": said["content"], **given}

    @property
    def has_more(self) -> bool:
        """Whether one of the rarer fields has been used, or is wrong."""
        rare = (
            "timestamp",
            "metadata",
            "entities",
            "resolve_entities",
            "observation_scopes",
            "custom_scopes",
            "strategy",
        )
        return any(self[name].value() for name in rare) or any(name in rare for name in self.errors)

    def refuse(self, problem: Problem) -> None:
        name = re.split(r"[.\[]", problem.field)[0]
        if name == "observation_scopes" and self.cleaned_data.get(name) == CUSTOM:
            name = "custom_scopes"
        text = problem.text if problem.field in ("", name) else f"{problem.field}: {problem.text}"
        self.add_error(name if name in self.fields else None, text)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}, character {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise forms.ValidationError(f"This is no JSON{where}.") from None
