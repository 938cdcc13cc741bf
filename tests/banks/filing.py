"""What tests of files share: files, and the ways in which they are sent."""

import io
import zipfile
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from banks import files
from banks.files.taking import FILE
from banks.models import Bank, RetainFile, Write
from memadmin.accounts.models import User

TEXT = b"Ann moved to Lyon. Ben stayed in Bonn."


def upload(name: str = "notes.md", data: bytes = TEXT) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def archive(**parts: int) -> bytes:
    """A file of parts, each of so many zeros, packed as small as they go."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, size in parts.items():
            with packed.open(name, "w", force_zip64=False) as part:
                for start in range(0, size, 1 << 20):
                    part.write(bytes(min(1 << 20, size - start)))
    return target.getvalue()


def send(user: User, bank: Bank, *uploads: SimpleUploadedFile, about: Any = None, **more: Any) -> list[Write]:
    """As a program does it; nothing has left yet."""
    kept = files.receive(list(uploads) or [upload()], kind=FILE)
    said = about or [{}] * len(kept)
    return files.retain_files(user=user, bank=bank, uploads=kept, about=said, via=Write.Via.API, **more).writes


def kept_of(write: Write) -> str:
    return RetainFile.objects.get(write=write).kept
