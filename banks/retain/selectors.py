"""What pages show of the retain queue."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count as CountOf
from django.db.models import Min, QuerySet
from django.http import Http404

from banks import access
from banks.models import Bank, Job, RetainItem, Role, Write
from memadmin.accounts.models import User
from memadmin.counting import Count, counts_of
from memadmin.paging import Cursor, Order, Page, page_of
from memadmin.retention import RetainedItems, first_of

State = RetainItem.State
NEWEST = Order("queued_at", descending=True)
PAGE_SIZE = 50
CAP = 1_000
ITEMS_SHOWN = 50  # of a batch
# The views of the page, in their order; "" is what is not over yet.
VIEWS: dict[str, tuple[str, list[State]]] = {
    "": ("Under way", [State.QUEUED, State.SENT]),
    "held": ("Held for review", [State.HELD]),
    "waiting": ("Waiting", [State.QUEUED]),
    "sent": ("On their way", [State.SENT]),
    "attention": ("Need a person", [State.ATTENTION]),
    "done": ("In the bank", [State.DONE]),
    "discarded": ("Discarded", [State.DISCARDED]),
}
LIGHT = ("entities", "metadata", "context", "tags", "document_tags", "observation_scopes")


@dataclass(frozen=True)
class View:
    name: str
    label: str
    count: Count | None  # of what is not over


def item_page(user: Any, view: str, cursor: Cursor | None) -> Page[RetainItem]:
    """Newest first. A constant number of queries."""
    banks = access.bank_ids_for(user)
    if banks is None:
        banks = list(Bank.objects.order_by().values_list("pk", flat=True))
    split: dict[str, list[Any]] = {"state": VIEWS[view][1], "bank": banks}
    rows = RetainItem.objects.select_related("bank", "write").defer(*LIGHT)
    return page_of(rows, NEWEST, cursor, PAGE_SIZE, split)


def views_of(user: Any) -> list[View]:
    open_views = ["", "held", "waiting", "sent", "attention"]
    counts = counts_of([(seen_by(user).filter(state__in=VIEWS[name][1]), CAP) for name in open_views])
    found = dict(zip(open_views, counts, strict=True))
    return [View(name, label, found.get(name)) for name, (label, _) in VIEWS.items()]


def seen_by(user: Any) -> QuerySet[RetainItem]:
    banks = access.bank_ids_for(user)
    return RetainItem.objects.all() if banks is None else RetainItem.objects.filter(bank__in=banks)


def held_by_bank(banks: Collection[int]) -> dict[int, int]:
    """How many memories are held for review; a bank that is not in it has none."""
    held = RetainItem.objects.filter(bank__in=banks, state=State.HELD).order_by().values_list("bank")
    return dict(held.annotate(CountOf("pk")))


def get_item(user: Any, pk: int) -> RetainItem:
    """404 for strangers of its bank."""
    found = RetainItem.objects.select_related("bank__server", "content", "write").filter(pk=pk).first()
    if found is None:
        raise Http404("No such memory.")
    access.require(user, found.bank, Role.VIEWER)
    return found


def rows_of(user: Any, job: Job) -> list[RetainItem]:
    """The memories that a form has sent, in its order, as far as this person may see them."""
    rows = seen_by(user).filter(pk__in=job.result.get("items", []))
    return list(rows.select_related("bank__server", "write").defer(*LIGHT).order_by("pk"))


def may_discard(user: User, item: RetainItem) -> bool:
    """What one has sent oneself, and as an admin of the bank everything."""
    role = access.role_on(user, item.bank)
    return role is not None and (role >= Role.ADMIN or (role >= Role.REVIEWER and item.actor_id == user.pk))


def items_of(write: Write) -> RetainedItems[RetainItem]:
    """The memories of a batch, in the order of the request; none of other rows."""
    rows = write.items.defer(*LIGHT).order_by("pk")
    return first_of(rows.iterator(chunk_size=200), ITEMS_SHOWN)


def tell_batches(rows: Iterable[Write]) -> None:
    """Sets what lists say of batches of ours. One query, and none where there is no batch."""
    batches = {row.pk: row for row in rows if row.kind == "retain" and row.slot}
    if not batches:
        return
    items = RetainItem.objects.filter(write__in=batches).order_by().values("write")
    for found in items.annotate(count=CountOf("pk"), first=Min("pk")):
        batches[found["write"]].memories = found["count"]


def documents_of(write: Write) -> list[str]:
    """Hashes of the ids of all documents that a row is about."""
    own = [write.document_hash] if write.document_hash else []
    return own or list(write.items.values_list("document_hash", flat=True))
