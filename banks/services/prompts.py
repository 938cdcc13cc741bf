from django.db import transaction
from django.http import Http404

from banks import selectors, writes
from banks.models import Blob, Role, Write
from memadmin.accounts.models import User


def look(*, user: User, write_id: int, via: Write.Via = Write.Via.WEB) -> tuple[Write, str | None]:
    """The row and what it keeps private, for an admin of its bank: 404 for strangers, 403 for all others.

    The look is a row of the log before anybody sees the text. None, and no look, when our copy was erased.
    """
    write = selectors.get_write(user, write_id, Role.ADMIN)
    if write.private_id is None:
        raise Http404("Nothing of this row is private.")
    with transaction.atomic():
        prompt = Blob.objects.get(pk=write.private_id)
        if prompt.erased:
            return write, None
        writes.record(kind="look", bank=write.bank, via=via, actor=user, undo_of=write)
    return write, prompt.text
