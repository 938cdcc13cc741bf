"""Directives: standing instructions that a server puts into the prompts of what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from banks.hindsight import fields, ids
from banks.hindsight.calls import PAGE, Calls
from banks.hindsight.fields import Row
from banks.hindsight.shapes import Page
from banks.hindsight.walking import every_row


@dataclass(frozen=True, slots=True)
class Directive:
    """`priority`: higher ones come first. `tags`: without any it counts everywhere, else for answers with such tags."""

    id: str
    name: str
    content: str
    priority: int
    active: bool
    tags: list[str]
    created_at: datetime | None
    updated_at: datetime | None

    @classmethod
    def parse(cls, row: Row) -> "Directive":
        priority = row.get("priority")
        return cls(
            id=fields.required(row, "id"),
            name=fields.text(row, "name"),
            content=fields.text(row, "content"),
            priority=priority if isinstance(priority, int) else 0,  # below nothing, too
            active=row.get("is_active") is not False,
            tags=fields.texts(row, "tags"),
            created_at=fields.when(row, "created_at"),
            updated_at=fields.when(row, "updated_at"),
        )


class DirectiveCalls(Calls):
    """Fields are those of the API: name, content, priority, is_active, tags. Ids that are no UUID are a ServerFault."""

    def list_directives(self, bank_id: str, *, limit: int = PAGE, offset: int = 0) -> Page[Directive]:
        """Those that are off, too; higher priorities first. `limit` is 1 to 1000."""
        path = self._bank(bank_id, "directives")
        return self._page(path, "items", Directive.parse, limit=limit, offset=offset, active_only=False)

    def all_directives(self, bank_id: str) -> list[Directive]:
        """To the end of the list. BadAnswer where it does not end."""
        return every_row(lambda offset: self.list_directives(bank_id, offset=offset), lambda each: each.id)

    def get_directive(self, bank_id: str, directive_id: str) -> Directive:
        return self._get(ids.directive_path(self._namespace, bank_id, directive_id), Directive.parse)

    def create_directive(self, bank_id: str, values: Mapping[str, Any]) -> Directive:
        """Repeating it makes another one. A bank that does not exist is a ServerFault: this call creates none."""
        return self._parsed("POST", self._bank(bank_id, "directives"), Directive.parse, body=dict(values))

    def patch_directive(self, bank_id: str, directive_id: str, changes: Mapping[str, Any]) -> Directive:
        """Change these fields and no others; what holds then."""
        path = ids.directive_path(self._namespace, bank_id, directive_id)
        return self._parsed("PATCH", path, Directive.parse, body=dict(changes))

    def delete_directive(self, bank_id: str, directive_id: str) -> None:
        """Nothing of it is kept on the server."""
        self._send("DELETE", ids.directive_path(self._namespace, bank_id, directive_id))
