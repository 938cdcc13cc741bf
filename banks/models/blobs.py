import hashlib
from collections.abc import Iterable, Sequence
from typing import ClassVar

from django.db import connection, models
from django.utils import timezone

AT_ONCE = 1_000  # rows of one statement
_INSERT = "INSERT INTO banks_blob (sha256, data, size, length, created)"


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

    def store_many(self, texts: Iterable[str]) -> dict[str, str]:
        """The keys of the blobs of many texts, in a fixed number of statements. Otherwise as `store`."""
        keys = {text: Blob.key_of(text) for text in texts}
        # In one order everywhere: two who store the same texts at once never wait for each other.
        new = {key: text for text, key in sorted(keys.items(), key=lambda pair: pair[1])}
        known = new.keys() - self._insert(list(new.items()))
        for key in self.filter(pk__in=known, erased__isnull=False).values_list("pk", flat=True) if known else []:
            self.filter(pk=key).update(data=new[key].encode("utf-8"), erased=None)
        return keys

    def _insert(self, new: Sequence[tuple[str, str]]) -> set[str]:
        """The keys of those that were not there. In SQL of our own: Django does not say which these are."""
        inserted, now = set[str](), connection.ops.adapt_datetimefield_value(timezone.now())
        with connection.cursor() as cursor:
            for at in range(0, len(new), AT_ONCE):
                rows = [(key, text.encode("utf-8"), len(text)) for key, text in new[at : at + AT_ONCE]]
                marks = ", ".join(["(%s, %s, %s, %s, %s)"] * len(rows))
                values = [value for key, data, length in rows for value in (key, data, len(data), length, now)]
                cursor.execute(f"{_INSERT} VALUES {marks} ON CONFLICT DO NOTHING RETURNING sha256", values)
                inserted.update(key for (key,) in cursor.fetchall())
        return inserted


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

    @staticmethod
    def key_of(text: str) -> str:
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    @classmethod
    def of(cls, text: str) -> "Blob":
        """The blob that this text would have; nothing is stored."""
        data = text.encode("utf-8")
        return cls(sha256=cls.key_of(text), data=data, size=len(data), length=len(text))

    @classmethod
    def known_as(cls, sha256: str | None) -> "Blob | None":
        """To refer to a stored blob without reading it, which may be megabytes; only its key is there."""
        return cls(pk=sha256) if sha256 else None

    @property
    def text(self) -> str:
        """The text; empty after an erasure (`erased` tells)."""
        return bytes(self.data).decode("utf-8")
