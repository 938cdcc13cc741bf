"""What a person does to a document that they found in the list of a bank: tags here, everything else on its card."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F

from banks import access, writes
from banks.models import Bank, Role, Write
from banks.reading import QUICK_SECONDS, Unread, reading
from banks.tags_kind import same
from memadmin.accounts.models import User
from reviews.errors import NotDecided, TooLate
from reviews.importing.placing import why_no_document
from reviews.models import ReviewEntry
from reviews.services import enqueue


class DocumentRefused(NotDecided):
    """This cannot be done to this document; `str()` says why, and nothing was sent."""


def set_tags(
    *,
    user: User,
    bank_id: int,
    document_id: str,
    tags: Sequence[str],
    was: Sequence[str],
    via: Write.Via = Write.Via.WEB,
) -> Write | None:
    """All tags that the document is to have; `was`: those on screen. None = these are they, no call.

    404 / 403 as ever; DocumentRefused, TooLate when it is not done. Whether `was` is still true is looked at before
    anything is sent.
    """
    bank = access.get_bank(user, bank_id, Role.REVIEWER)
    if why := why_no_document(document_id):
        raise DocumentRefused(f"{why} Nothing was sent.")
    if same(tags, was):
        return None
    params = {"tags": sorted(set(tags)), "was": sorted(set(was))}
    with transaction.atomic():
        _hold(bank, document_id)
        under_way = Write.objects.filter(
            bank=bank, document_hash=Write.hash_of(document_id), state__in=Write.OPEN
        ).first()
        if under_way is not None:
            verb = writes.get(under_way.kind).verb
            raise TooLate(f"“{verb}” is under way on this document. Nothing was sent; when that has ended, try again.")
        return writes.record(kind="tags", bank=bank, via=via, actor=user, document_id=document_id, params=params)


def put_on_card(*, user: User, bank_id: int, document_id: str) -> ReviewEntry:
    """The memory of this document, opened for review when there is none: there it is edited, deleted, extracted again.

    Its server is asked, within seconds. DocumentRefused when it does not list it.
    """
    bank = access.get_bank(user, bank_id, Role.REVIEWER)
    entries = ReviewEntry.objects.of_document(bank=bank, document_id=document_id)
    if (entry := entries.first()) is not None:
        return entry
    try:
        with reading(bank, within=QUICK_SECONDS) as client:
            row = client.find_document(bank.bank_id, document_id)
    except Unread as unread:
        raise DocumentRefused(f"{unread.sentence} Nothing was changed.") from unread
    if row is None:
        raise DocumentRefused("The bank does not list this document any more. Nothing was changed.")
    with transaction.atomic():
        projects = enqueue.projects_of(bank, [Write.hash_of(row.id)])
        enqueue.create(bank, [row], source=enqueue.SOURCE, projects=projects)
    return entries.get()


def tags_ended(write: Write) -> None:
    """An edit replays the tags that were read with the text: they are others now."""
    if write.state != Write.State.DONE:
        return
    for entry in ReviewEntry.objects.of_document(bank=write.bank, document_id=write.document_id):
        tags = list(write.params["tags"])
        params = {**entry.retain_params, "tags": tags}
        ReviewEntry.objects.filter(pk=entry.pk).update(tags=tags, retain_params=params)


def _hold(bank: Bank, document_id: str) -> None:
    """Whoever acts on this document, here or on its card, waits until the row is stored."""
    entry = ReviewEntry.objects.of_document(bank=bank, document_id=document_id)
    if not entry.update(version=F("version")):
        Bank.objects.filter(pk=bank.pk).update(name=F("name"))
