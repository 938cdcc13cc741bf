"""Mental models: texts that a server writes about a bank, from a question each, and keeps up to date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from banks.hindsight import errors, fields, ids
from banks.hindsight.calls import PAGE, Calls
from banks.hindsight.fields import Row
from banks.hindsight.shapes import Page
from banks.hindsight.walking import every_row, first_rows

Detail = Literal["metadata", "content", "full"]

# What older servers put where the text will be; a model that has this has no text yet.
PLACEHOLDER = "Generating content"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a text rests on. `type`: world, experience, observation, or the server's word for other things."""

    id: str
    text: str
    type: str

    @classmethod
    def parse_groups(cls, response: Any) -> "tuple[Evidence, ...] | None":
        """The lists by type of the answer that a text was made of, each thing once; None when it does not say."""
        groups = response.get("based_on") if isinstance(response, dict) else None
        if not isinstance(groups, dict):
            return None
        each = [(kind, row) for kind, rows in groups.items() if isinstance(rows, list) for row in rows]
        found = {
            row["id"]: cls(row["id"], fields.text(row, "text"), fields.text(row, "type") or str(kind))
            for kind, row in each
            if isinstance(row, dict) and isinstance(row.get("id"), str)
        }
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class MentalModel:
    """What was not asked for, or is not told, is None; `content` also where there is no text yet.

    `stale`: there is something new since its latest refresh. `evidence` comes with full detail only, and not for a
    model that was never refreshed. `trigger`: when and how it is refreshed, in the server's words.
    """

    id: str
    name: str
    source_query: str | None
    content: str | None
    tags: list[str]
    max_tokens: int | None
    trigger: Row | None
    refreshed_at: datetime | None
    failed_at: datetime | None
    created_at: datetime | None
    stale: bool | None
    knowledge_page: bool
    evidence: tuple[Evidence, ...] | None

    @property
    def based_on(self) -> frozenset[str] | None:
        return None if self.evidence is None else frozenset(each.id for each in self.evidence)

    @classmethod
    def parse(cls, row: Row) -> "MentalModel":
        trigger, stale = row.get("trigger"), row.get("is_stale")
        return cls(
            id=fields.required(row, "id"),
            name=fields.text(row, "name"),
            source_query=row["source_query"] if isinstance(row.get("source_query"), str) else None,
            content=written(row.get("content")),
            tags=fields.texts(row, "tags"),
            max_tokens=fields.number(row, "max_tokens", None),
            trigger=trigger if isinstance(trigger, dict) else None,
            refreshed_at=fields.when(row, "last_refreshed_at"),
            failed_at=fields.when(row, "last_refresh_failed_at"),
            created_at=fields.when(row, "created_at"),
            stale=stale if isinstance(stale, bool) else None,
            knowledge_page=row.get("is_knowledge_page") is True,
            evidence=Evidence.parse_groups(row.get("reflect_response")),
        )


@dataclass(frozen=True, slots=True)
class ModelChange:
    """One entry of a model's history, at `at`: what its text was before, or that a refresh failed, and why.

    `before` is None where it had no text. `evidence`: how many things the earlier text rested on, None when not told.
    """

    before: str | None
    at: datetime | None
    failed: bool
    why: str
    evidence: int | None

    @classmethod
    def parse(cls, row: Row) -> "ModelChange":
        rested = Evidence.parse_groups(row.get("previous_reflect_response"))
        told = [fields.text(row, name) for name in ("outcome", "failure_reason", "error_message")]
        return cls(
            before=written(row.get("previous_content")),
            at=fields.when(row, "changed_at"),
            failed=row.get("kind") == "refresh_failed",
            why=": ".join(each for each in told if each),
            evidence=None if rested is None else len(rested),
        )

    @classmethod
    def parse_all(cls, row: Row) -> "list[ModelChange]":
        rows = row.get("items")
        return [cls.parse(fields.mapping(each)) for each in rows] if isinstance(rows, list) else []


@dataclass(frozen=True, slots=True)
class Created:
    """`operation_id`: the work that writes the text, "" when the server did not say."""

    model_id: str
    operation_id: str

    @classmethod
    def parse(cls, row: Row) -> "Created":
        return cls(fields.text(row, "mental_model_id"), fields.text(row, "operation_id"))


@dataclass(frozen=True, slots=True)
class RefreshTrial:
    """What a refresh would do now. `outcome` and `fallback` are the server's words.

    `retrieved` and `used`: how many facts were found, and how many of them the text rests on. `tokens`: what was spent.
    """

    outcome: str
    writes: bool
    mode: str
    fallback: str
    before: str
    after: str
    retrieved: int
    used: int
    tokens: int
    warnings: list[str]

    @classmethod
    def parse(cls, row: Row) -> "RefreshTrial":
        facts, usage = row.get("facts"), row.get("usage")
        told = facts if isinstance(facts, dict) else {}
        return cls(
            outcome=fields.required(row, "outcome"),
            writes=row.get("would_persist") is True,
            mode=fields.text(row, "effective_mode"),
            fallback=fields.text(row, "mode_fallback_reason"),
            before=fields.text(row, "current_content"),
            after=fields.text(row, "preview_content") or fields.text(row, "candidate_content"),
            retrieved=sum(fields.counts(told, "retrieved").values()),
            used=sum(fields.counts(told, "used").values()),
            tokens=fields.number(usage, "total_tokens") if isinstance(usage, dict) else 0,
            warnings=fields.texts(row, "warnings"),
        )


class ModelCalls(Calls):
    """Ids with a slash can be created past us; no call can name them, which is NotAddressable."""

    def list_mental_models(
        self, bank_id: str, *, detail: Detail = "metadata", limit: int = PAGE, offset: int = 0
    ) -> Page[MentalModel]:
        """Newest first. `limit` is 1 to 1000; with full detail a few models may be megabytes."""
        path = self._bank(bank_id, "mental-models")
        return self._page(path, "items", MentalModel.parse, limit=limit, offset=offset, detail=detail)

    def first_mental_models(self, bank_id: str, *, most: int, detail: Detail = "metadata") -> Page[MentalModel]:
        """The newest `most`, of up to 1000. `total`: how many there are."""
        return first_rows(
            lambda offset, limit: self.list_mental_models(bank_id, detail=detail, limit=limit, offset=offset),
            lambda row: row.id,
            most=most,
            at_once=most,
        )

    def all_mental_models(self, bank_id: str, *, detail: Detail = "metadata") -> list[MentalModel]:
        """Every one of the bank. A bank that does not exist is NotFound."""
        return every_row(
            lambda offset: self.list_mental_models(bank_id, detail=detail, limit=PAGE, offset=offset),
            lambda row: row.id,
        )

    def get_mental_model(self, bank_id: str, model_id: str, *, detail: Detail = "content") -> MentalModel:
        """`stale` is told with full detail only. NotFound also for a bank that does not exist."""
        path = ids.model_path(self._namespace, bank_id, model_id)
        found = self._get(path, MentalModel.parse, {"detail": detail})
        if found.id != model_id:
            about: dict[str, Any] = {"method": "GET", "path": path.decode("ascii"), "status": 200}
            raise errors.BadAnswer("The server answered for another mental model.", **about)
        return found

    def mental_model_history(self, bank_id: str, model_id: str) -> list[ModelChange]:
        """Newest first. Servers keep a number of versions; this is all that they have."""
        path = ids.model_path(self._namespace, bank_id, model_id, "history")
        answer = self._send("GET", path, listed=True)
        return self._parse(answer, ModelChange.parse_all, method="GET", path=path.decode("ascii"))

    def create_mental_model(
        self,
        bank_id: str,
        model_id: str,
        *,
        name: str,
        source_query: str,
        tags: Sequence[str] = (),
        max_tokens: int | None = None,
        trigger: Mapping[str, Any] | None = None,
    ) -> Created:
        """Has the server write a new one in the background. It creates a missing bank.

        Conflict, or on older servers a ServerFault, when there is a model of this id. A server without a language model
        is a ServerFault too, and has made one without text.
        """
        ids.model_path(self._namespace, bank_id, model_id)  # what could be created and never be named again
        body: dict[str, Any] = {"id": model_id, "name": name, "source_query": source_query}
        if tags:
            body["tags"] = list(tags)
        if max_tokens is not None:
            body["max_tokens"] = max_tokens
        if trigger:
            body["trigger"] = dict(trigger)
        return self._parsed("POST", self._bank(bank_id, "mental-models"), Created.parse, body=body)

    def refresh_mental_model(self, bank_id: str, model_id: str) -> str:
        """Has the text written anew, in the background. Returns the operation's id; while one waits, that one's."""
        path = ids.model_path(self._namespace, bank_id, model_id, "refresh")
        return self._began(self._send("POST", path), path)

    def try_refresh(self, bank_id: str, model_id: str) -> RefreshTrial:
        """What a refresh would write, at the cost of one; nothing is changed.

        Servers that do not offer it are NotFound ("route") or Invalid (405).
        """
        path = ids.model_path(self._namespace, bank_id, model_id, "dry-run-refresh")
        return self._parsed("POST", path, RefreshTrial.parse)

    def patch_mental_model(self, bank_id: str, model_id: str, changes: Mapping[str, Any]) -> MentalModel:
        """Change name, source_query, tags, max_tokens or trigger (of that, what is given). The text cannot be set."""
        path = ids.model_path(self._namespace, bank_id, model_id)
        return self._parsed("PATCH", path, MentalModel.parse, body=dict(changes))

    def delete_mental_model(self, bank_id: str, model_id: str) -> None:
        """With its text and its history; the server keeps nothing of it."""
        self._send("DELETE", ids.model_path(self._namespace, bank_id, model_id))


def written(content: Any) -> str | None:
    """The text of a model, None where there is none yet."""
    if not isinstance(content, str) or not content.strip() or content.lstrip().startswith(PLACEHOLDER):
        return None
    return content
