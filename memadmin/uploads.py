"""A wall before uploads are written anywhere. Forms are parsed before a view runs (the CSRF token is in one)."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest

# In request.META: the name of the file that was too much, True where that is not known. The view answers 413.
TOO_LARGE = "memadmin.upload_too_large"
FORM_ALLOWANCE = 1024 * 1024  # the other fields and the multipart frame
# The settings that bound what comes to these addresses; to all others comes at most a queue file.
LIMITS = {
    "banks:transcript-new": "TRANSCRIPT_MAX_BYTES",
    "banks:retain-files": "FILES_MAX_BYTES",
    "api:retain-files": "FILES_MAX_BYTES",
}


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
        self.limit = limit_of(self.request)
        if content_length > self.limit + FORM_ALLOWANCE:
            self.limit = -1

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received += len(raw_data)
        if self.received > self.limit:
            self.META[TOO_LARGE] = True if self.limit < 0 else str(self.file_name)
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def is_upload(request: HttpRequest) -> bool:
    """Whether files of a limit of their own come to this address."""
    return request.resolver_match is not None and request.resolver_match.view_name in LIMITS


def limit_of(request: HttpRequest | None) -> int:
    """Bytes that all files of this request may have together."""
    match = request.resolver_match if request is not None else None
    return int(getattr(settings, LIMITS.get(match.view_name if match else "", "IMPORT_MAX_BYTES")))


def refused(request: HttpRequest, form: forms.Form, said: str) -> int:
    """The status of the answer to a form with a `file` that cannot be used, 0 when it can. `said`: of a large file."""
    if request.META.get(TOO_LARGE):
        form.errors["file"] = form.error_class([said])
        return 413
    if form.is_valid():
        return 0
    return 413 if said in form.errors.get("file", []) else 422
