"""A file that is the body of a request: kept piece by piece, hashed on its way, and removed when no job took it."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, UnreadablePostError

from memadmin.api.errors import Refused
from reviews.importing import files

PIECE = 64 * 1024
BROKE_OFF = "The file broke off on its way. Nothing was imported: send it again."
# What an operation with such a body says in the OpenAPI document; its types know of JSON bodies only.
FILE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file as it is, JSON Lines. Larger than other bodies (`MEMADMIN_IMPORT_MB`).",
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    }
}


@dataclass
class Received:
    """`sha`: of all its bytes. `taken`: a job has it, and removes it."""

    name: str
    sha: str
    taken: bool = False


@contextmanager
def received(request: HttpRequest) -> Iterator[Received]:
    """Raises Refused: 413, and 400 for less than what was announced."""
    files.remove_strays()
    digest, size = hashlib.sha256(), 0

    def pieces() -> Iterator[bytes]:
        nonlocal size
        while piece := request.read(PIECE):
            size += len(piece)
            digest.update(piece)
            yield piece
        if size < int(request.META.get("CONTENT_LENGTH") or 0):
            raise Refused(400, BROKE_OFF)

    try:
        file = Received(files.keep(pieces()), digest.hexdigest())
    except files.TooLarge as error:
        raise Refused(413, "The file is too large. Nothing was imported: split it at a line end.") from error
    except UnreadablePostError as error:
        raise Refused(400, BROKE_OFF) from error
    try:
        yield file
    finally:
        if not file.taken:
            files.remove(file.name)
