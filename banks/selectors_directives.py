"""The directives of a bank as its server lists them now, with what is under way about each."""

from dataclasses import dataclass

from banks import writes
from banks.directive_kinds import fingerprint
from banks.hindsight import Directive
from banks.models import Bank, Write
from banks.reading import Unread, reading
from memadmin.retention import RetainedText, head_of

PAGE_SIZE = 50
TEXT_SHOWN = 2_000  # bytes
WRITES_LOOKED_AT = 100
KINDS = ("directive-create", "directive-edit", "directive-delete")
NEEDS_A_PERSON = (Write.State.ATTENTION, Write.State.CHANGED)


@dataclass(frozen=True)
class DirectiveRow:
    """`write`: of this one, under way or in need of a person."""

    directive: Directive
    text: RetainedText
    seen: str
    write: Write | None

    @property
    def free(self) -> bool:
        return self.write is None or not self.write.is_open


@dataclass(frozen=True)
class DirectiveSheet:
    """One page. `rows` None: it could not be read, and `unread` says why.

    creating: writes of directives that are not there yet; mark: another one where a write began, went on or ended.
    """

    rows: list[DirectiveRow] | None
    total: int
    creating: list[Write]
    mark: str
    unread: Unread | None = None
    page: int = 1

    @property
    def pages(self) -> int:
        return max(-(-self.total // PAGE_SIZE), 1)

    @property
    def working(self) -> bool:
        under_way = [*self.creating, *(row.write for row in self.rows or [] if row.write)]
        return any(write.is_open for write in under_way)

    @property
    def active(self) -> int:
        return sum(row.directive.active for row in self.rows or [])


def page_of(bank: Bank, page: int) -> DirectiveSheet:
    """One call. Servers list those with the highest priority first."""
    known = _writes(bank)
    creating = [write for write in known if write.kind == "directive-create"]
    mark = _mark(known)
    try:
        with reading(bank) as client:
            found = client.list_directives(bank.bank_id, limit=PAGE_SIZE, offset=(page - 1) * PAGE_SIZE)
    except Unread as unread:
        return DirectiveSheet(None, 0, creating, mark, unread, page)
    by_slot = {write.slot: write for write in known}
    rows = [row_of(bank, directive, by_slot) for directive in found.items[:PAGE_SIZE]]
    return DirectiveSheet(rows, found.total, creating, mark, page=page)


def mark_of(bank: Bank) -> str:
    """The bank is not asked."""
    return _mark(_writes(bank))


def row_of(bank: Bank, directive: Directive, by_slot: dict[str, Write] | None = None) -> DirectiveRow:
    slot = writes.get("directive-edit").slot(bank=bank, document_id="", params={"directive": directive.id})
    text = head_of(directive.content, TEXT_SHOWN)
    return DirectiveRow(directive, text, fingerprint(directive), (by_slot or {}).get(slot))


def _writes(bank: Bank) -> list[Write]:
    """The newest that are under way, or need a person, oldest first. One query."""
    states = [*Write.OPEN, *NEEDS_A_PERSON]
    found = Write.objects.filter(bank=bank, kind__in=KINDS, state__in=states).order_by("-pk")[:WRITES_LOOKED_AT]
    return sorted(found, key=lambda write: write.pk)


def _mark(known: list[Write]) -> str:
    return "-".join(f"{write.pk}{write.state}" for write in known)[-200:]
