"""The demo's queue: the sample file is written into the demo's data folder once, and imported like any other."""

from pathlib import Path

from django.conf import settings
from django.utils import timezone

from banks.demo import sample_queue
from banks.models import Job, Server
from banks.numbers import look as numbers
from banks.services.probe import probe
from memadmin.accounts.models import User
from reviews.importing.job import start_import

QUEUE_FILE = "review-queue.jsonl"
MACHINE = "demo"


def fill_queue(*, server: Server, owner: User) -> Job | None:
    """The import, or None when it was started before. A break in between repeats it, which changes nothing."""
    file = Path(settings.DATA_DIR) / QUEUE_FILE
    if file.exists():
        return None
    probe(server)  # its banks, so that the first page shows them
    numbers.look(server.pk)
    content = "".join(f"{line}\n" for line in sample_queue(server.base_url, timezone.now())).encode()
    job = start_import(owner=owner, machine=MACHINE, chunks=[content], on_this_machine=True)
    file.write_bytes(content)
    return job
