import hashlib
from typing import ClassVar

from django.db import models
from django.utils import timezone


class BlobManager(models.Manager["Blob"]):
    def store(self, text: str) -> "Blob":
        """The blob of this text, created when it is new. `text` must be encodable as UTF-8 (no lone surrogates)."""
        data = text.encode("utf-8")
        digest = hashlib.sha256(data).hexdigest()
        blob, created = self.get_or_create(
            sha256=digest, defaults={"data": data, "size": len(data), "length": len(text)}
        )
        if not created and blob.erased:
            # The same text arrived again after an erasure: it is here again, and that must be visible.
            Blob.objects.filter(pk=blob.pk).update(data=data, erased=None)
            blob.data, blob.erased = data, None
        return blob


class Blob(models.Model):
    """Content-addressed text. Everything that can be long or secret lives here once and is referenced.

    Bytes, not text: PostgreSQL's text cannot hold every string and a byte-exact round trip is a law.
    List queries never touch this table.
    """

    sha256 = models.CharField(max_length=64, primary_key=True)
    data = models.BinaryField()
    size = models.PositiveIntegerField(help_text="bytes of UTF-8")
    length = models.PositiveIntegerField(help_text="code points")
    created = models.DateTimeField(default=timezone.now)
    erased = models.DateTimeField(null=True, help_text="when the text was erased; its hash and sizes stay")

    objects: ClassVar[BlobManager] = BlobManager()

    def __str__(self) -> str:
        return f"{self.sha256[:12]} ({self.size} bytes)"

    @classmethod
    def known_as(cls, sha256: str | None) -> "Blob | None":
        """To refer to a stored blob without reading it, which may be megabytes; only its key is there."""
        return cls(pk=sha256) if sha256 else None

    @property
    def text(self) -> str:
        """The text; empty after an erasure (`erased` tells)."""
        return bytes(self.data).decode("utf-8")
