"""`Idempotency-Key`: a POST that arrives twice is done once, and answered the same."""

import hashlib
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Schema
from ninja.responses import Status

from banks.api.asking import asker
from banks.models import IdempotencyKey
from memadmin.api.errors import Refused

HEADER = "Idempotency-Key"
LONGEST_KEY = 200
Act = Callable[[], tuple[int, Schema]]


def once(request: HttpRequest, act: Act, *, body: str = "") -> Status[Any] | HttpResponse:
    """Does `act` unless a request with this key was answered. It may only write to the database, and raise.

    The row with the key comes first, in the same transaction: of two at once the second one waits and gets the answer
    of the first, and a process that dies leaves neither. What was refused is not kept: it may be tried again.
    `body`: a hash of it, where it was read in pieces.
    """
    key = request.headers.get(HEADER, "")
    if not key:
        return Status(*act())
    if len(key) > LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise Refused(422, f"`{HEADER}` has up to {LONGEST_KEY} printable signs of the ASCII table.", fields=[])
    token, digest = asker(request).token, _digest(request, body)
    with transaction.atomic():
        try:
            with transaction.atomic():
                row = IdempotencyKey.objects.create(token=token, key=key, request_hash=digest)
        except IntegrityError:
            return _again(IdempotencyKey.objects.get(token=token, key=key), digest)
        status, said = act()
        answer = JsonResponse(said.model_dump(mode="json"), status=status)
        IdempotencyKey.objects.filter(pk=row.pk).update(status=status, response=answer.content.decode())
    return answer


def _again(row: IdempotencyKey, digest: str) -> HttpResponse:
    if row.request_hash != digest:
        raise Refused(422, f"This `{HEADER}` was used for another request. Nothing was done.", fields=[])
    response = HttpResponse(row.response, content_type="application/json", status=row.status)
    response["Idempotency-Replayed"] = "true"
    return response


def _digest(request: HttpRequest, body: str) -> str:
    sent = body.encode() if body else request.body
    return hashlib.sha256(b"\0".join([request.get_full_path().encode("utf-8", "replace"), sent])).hexdigest()
