"""The kind of write that sends one file to a server, which turns it into text and retains that.

A request to the server may hold ten files, and begins their work one after the other: of a lost answer nobody could
say how far it came, and one file that is refused would refuse all. So each file goes by itself.
"""

from datetime import timedelta
from typing import BinaryIO

from django.utils import timezone

from banks import kept_files
from banks.files import following
from banks.files.taking import KIND, forget_file
from banks.hindsight import HindsightClient, Invalid, NotFound, RetainFile
from banks.models import RetainFile as KeptFile
from banks.models import Write
from banks.retain import missions, person
from banks.retain.batch import missing_bank
from banks.writes import Accepted, Done, Kind, NotDone, StillWorking, Stuck, after, register

# A file that is still on its way is not known to the server yet. A repeated one would be converted twice.
ARRIVES_WITHIN, SLOWEST = timedelta(seconds=60), 128 * 1024  # bytes a second

NO_CONVERTER = (
    "This server has no converter for such a file, and took nothing of it. The file is kept here: have a converter "
    "installed there and retry, or discard this. It said: {}"
)
NO_FILES = "This server takes no files. Nothing was sent; the file is kept here. It said: {}"
NOT_TAKEN = "The server refused the file, and took nothing of it. The file is kept here. It said: {}"
LOST = (
    "The bytes of the file are not in this machine's data folder any more, so nothing was sent. Discard this and send "
    "the file again."
)


@register
class RetainFiles(Kind):
    """One file, under the slot of the document that it becomes."""

    name, glyph, verb, past, tone = KIND, "↗", "retain file", "file retained", "none"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | StillWorking | None:
        if (missing := missing_bank(client, write.bank)) is not None:
            return missing
        missions.ensure(client, write.bank)
        if following.BEFORE in write.outcome:  # it was sent before: nothing is, while that may run or where it is done
            found = following.follow(client, write)
            if isinstance(found, Done | StillWorking):
                return found
        write.outcome = following.note_before(client, write)
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        if write.bank.personal:
            return Stuck(person.NO_FILES_NOW, {"refused": "person"})
        file = KeptFile.objects.filter(write=write).first()
        try:
            stream = kept_files.opened(file.kept if file else "")
        except FileNotFoundError:
            return Stuck(LOST, {"refused": "lost"})
        assert file is not None
        with stream:
            try:
                (operation,) = client.retain_files(write.bank.bank_id, [_on_the_wire(write, file.name, stream)])
            except Invalid as refused:
                said = NO_CONVERTER if refused.detail.startswith("Parser(s) not available") else NOT_TAKEN
                return _refused(said, refused)
            except NotFound as refused:
                if refused.what == "bank":
                    raise
                return _refused(NO_FILES, refused)
        return Accepted({"operation": operation, "stage": "converting"})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        """By the operation, after a lost answer by what is new about the document. Only then it is sent again."""
        found = following.follow(client, write)
        if found is not None:
            return found
        size = KeptFile.objects.filter(write=write).values_list("size", flat=True).first() or 0
        if write.sent and timezone.now() < write.sent + ARRIVES_WITHIN + timedelta(seconds=size / SLOWEST):
            return StillWorking({"stage": "looking", "status": "not known to the server yet"})
        return NotDone()


@after(KIND)
def file_ended(write: Write) -> None:
    """While it needs a person its bytes stay: they may be sent again."""
    if write.state in (Write.State.DONE, Write.State.CANCELLED):
        forget_file(write)


def _on_the_wire(write: Write, name: str, stream: BinaryIO) -> RetainFile:
    said = write.params
    return RetainFile(
        name=name,
        stream=stream,
        document_id=write.document_id,
        context=said.get("context"),
        metadata=said.get("metadata", {}),
        tags=said.get("tags", []),
        timestamp=said.get("timestamp"),
        strategy=said.get("strategy"),
    )


def _refused(said: str, refused: Invalid | NotFound) -> Stuck:
    return Stuck(said.format(refused.detail), {"refused": "server", "status": "refused"})
