"""The form about memories to retain: what belongs to the request, around the parts that are about one memory each."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.utils.datastructures import MultiValueDict

from banks.access import banks_for
from banks.forms_memory import PLAIN, SELECT, Choice, MemoryForm, Text, lines
from banks.forms_transcripts import BankChoice
from banks.models import Bank, Role
from banks.retain import Refused, params, parse, scope
from memadmin.accounts.models import User

MOST = 30  # memories in one form: a request has at most so many fields
WAIT = "wait"

MODES = [
    (scope.GLOBAL, "no distinction (global)"),
    (scope.TAGGED, "a tag for the project (per-project-tagged)"),
    (scope.PER_PROJECT, "the project's own bank (per-project)"),
]


class RetainForm(forms.Form):
    """`form_id` stands for this form however often it is sent; `status`: of the answer, when something is refused."""

    use_required_attribute = False

    bank = BankChoice(
        label="Bank",
        queryset=Bank.objects.none(),
        empty_label="choose the bank",
        widget=forms.Select(SELECT),
        error_messages={"required": "Say which bank it is for.", "invalid_choice": "Choose one of the banks."},
    )
    mode = Choice(
        "Projects",
        MODES,
        "How memories of a project are kept apart from those of others.",
        "A tag is project:LABEL. The own bank is BANK-LABEL, and has to exist: none is made. The label is the last "
        "name of the project's path, in lower case. A person's bank takes no project's memories.",
    )
    project = forms.CharField(
        label="Project",
        required=False,
        max_length=scope.LONGEST_PROJECT,
        widget=forms.TextInput(PLAIN),
        help_text="Its path or name, where projects are kept apart.",
    )
    user_bank = forms.BooleanField(
        label="this is a person's bank, and it is meant: standing facts, true in any project", required=False
    )
    session_id = forms.CharField(
        label="Session id",
        required=False,
        max_length=params.LONGEST_WORD,
        widget=forms.TextInput(PLAIN),
        help_text="Goes into the metadata of memories that name none.",
    )
    document_tags = Text(
        "Tags of all",
        "One on each line: document_tags, for every memory of the request.",
        "The older way to say tags; servers add them to those of each memory.",
        rows=2,
    )
    operation_id = Text(
        "Operation id",
        "A UUID of yours. Empty: one is made.",
        "All memories go out as one operation of this id. The same request again changes nothing; another one under "
        "the same id is refused here, since servers would drop it without a word.",
    )
    wait = forms.ChoiceField(
        label="Afterwards",
        required=False,
        choices=[("", "go on (async)"), (WAIT, "wait for the outcome (sync)")],
        widget=forms.Select(SELECT),
        help_text="Whether the next page waits until the bank has them.",
    )

    def __init__(self, data: MultiValueDict[str, str] | None = None, *, user: User, values: Mapping[str, Any]) -> None:
        """`values`: what was typed, where nothing is to be checked yet."""
        super().__init__(data, initial=dict(values))
        self.form_id, self.status = _uuid(values.get("form")) or uuid4(), 422
        banks = banks_for(user, Role.REVIEWER).filter(gone_since=None).select_related("server")
        self.fields["bank"].queryset = banks.order_by("name", "bank_id")  # type: ignore[attr-defined]
        self.memories = [
            MemoryForm(data, prefix=_prefix(number), initial=_typed(values, number)) for number in range(_count(values))
        ]
        self.dry_run = _number(values.get("dry_run"))

    def read(self) -> dict[str, Any] | None:
        """What `retain.plan` takes, None where something is wrong: then it stands with its field."""
        whole = all([self.is_valid(), *[each.is_valid() for each in self.memories]])
        said, asked = self.cleaned_data, dict[str, Any]()
        reading: dict[str, Callable[[], Any]] = {
            "items": lambda: parse([each.given() for each in self.memories]),
            "document_tags": lambda: params.tags(lines(said["document_tags"]), "document_tags"),
            "operation_id": lambda: params.operation(said["operation_id"].strip()),
        }
        for name, read in reading.items():
            try:
                asked[name] = read()
            except Refused as refused:
                self.refuse(refused)
                whole = False
        if not whole:
            return None
        mode = said["mode"] or scope.GLOBAL
        return {**asked, "mode": mode, **{name: said[name] for name in ("bank", "project", "session_id", "user_bank")}}

    def refuse(self, refused: Refused) -> None:
        self.status = refused.status
        for problem in refused.problems:
            if problem.item is not None:
                self.memories[problem.item].refuse(problem)
                continue
            name = {"scope": "mode"}.get(problem.field, re.split(r"[.\[]", problem.field)[0])
            self.add_error(name if name in self.fields else None, problem.text)

    @property
    def problems(self) -> list[tuple[str, str, str]]:
        """(where, id of the control or "", what is wrong) of the request and of each memory, in their order."""
        parts: list[tuple[str, forms.Form]] = [("", self)]
        parts += [(f"Memory {number}", each) for number, each in enumerate(self.memories, start=1)]
        found = []
        for where, part in parts:
            for name, errors in part.errors.items():
                label, at = ("", "") if name == NON_FIELD_ERRORS else (str(part[name].label), part[name].id_for_label)
                found.append((", ".join(each for each in (where, label) if each), at, " ".join(map(str, errors))))
        return found

    @property
    def rare_used(self) -> bool:
        rare = ("session_id", "document_tags", "operation_id")
        return any(self[name].value() for name in rare) or any(name in rare for name in self.errors)


def values_of(posted: MultiValueDict[str, str], keep: Sequence[int | None] | None = None) -> dict[str, Any]:
    """What was typed, as initial values. `keep`: which memories, in their order; None among them is a new one."""
    values: dict[str, Any] = {name: posted.get(name, "") for name in posted if not _OF_MEMORY.match(name)}
    count = _count(values)
    kept = list(range(count)) if keep is None else list(keep)
    for number, old in enumerate(kept):
        if old is not None:
            start = f"{_prefix(old)}-"
            typed = {name[len(start) :]: posted.get(name, "") for name in posted if name.startswith(start)}
            values |= {f"{_prefix(number)}-{name}": value for name, value in typed.items()}
    return {**values, "count": str(len(kept))}


_OF_MEMORY = re.compile(r"m\d+-")


def _prefix(number: int) -> str:
    return f"m{number}"


def _typed(values: Mapping[str, Any], number: int) -> dict[str, Any]:
    start = f"{_prefix(number)}-"
    return {name[len(start) :]: value for name, value in values.items() if name.startswith(start)}


def _count(values: Mapping[str, Any]) -> int:
    return min(max(_number(values.get("count")) or 1, 1), MOST)


def _number(text: Any) -> int | None:
    text = str(text or "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else None


def _uuid(text: Any) -> UUID | None:
    try:
        return UUID(str(text))
    except ValueError:
        return None
