"""A wall before uploads are written anywhere. Forms are parsed before a view runs (the CSRF token is in one)."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload

TOO_LARGE = "memadmin.upload_too_large"  # in request.META: the view answers 413 with a sentence
FORM_ALLOWANCE = 64 * 1024  # the other fields and the multipart frame


class BoundedUploadHandler(FileUploadHandler):
    """Stops at our own limit and leaves a note; the rest of the body is read and dropped, so that an answer arrives."""

    received = 0
    limit = 0
    META: dict[str, Any]

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict[str, Any],  # noqa: N803  Django passes it by this name
        content_length: int,
        boundary: Any,
        encoding: Any = None,
    ) -> None:
        self.META = META
        self.limit = settings.IMPORT_MAX_BYTES
        if content_length > self.limit + FORM_ALLOWANCE:
            self.limit = -1

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received += len(raw_data)
        if self.received > self.limit:
            self.META[TOO_LARGE] = True
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None
