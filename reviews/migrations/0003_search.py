"""The full-text index (reviews/search.py), filled with what is there. After an interruption it is simply run again."""

from typing import Any

from django.db import migrations, models, transaction
from django.db.models.functions import Substr

from reviews import search, terms

LOT = 200
BYTES = 4 * terms.CHARACTERS


def create(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        # Only ASCII is split and folded here: the words come ready.
        sql = "CREATE VIRTUAL TABLE IF NOT EXISTS reviews_search USING fts5(words, tokenize='ascii', columnsize=0)"
    else:
        sql = "CREATE TABLE IF NOT EXISTS reviews_search (entry_id bigint PRIMARY KEY, words tsvector NOT NULL)"
    schema_editor.execute(sql)


def fill(apps: Any, schema_editor: Any) -> None:
    rows = (
        apps.get_model("reviews", "ReviewEntry")
        .objects.annotate(beginning=Substr("text__data", 1, BYTES, output_field=models.BinaryField()))
        .order_by("pk")
        .values_list("pk", "document_id", "beginning")
    )
    last = 0
    while lot := list(rows.filter(pk__gt=last)[:LOT]):
        with transaction.atomic():
            for pk, name, data in lot:
                text = bytes(data or b"").decode("utf-8", "ignore")  # the last character may be cut
                search.index(entry_id=pk, document_id=name, text=text)
        last = lot[-1][0]


def index(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("CREATE INDEX IF NOT EXISTS reviews_search_words ON reviews_search USING gin (words)")


def drop(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute("DROP TABLE IF EXISTS reviews_search")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("reviews", "0002_reopened_watched")]

    operations = [
        migrations.RunPython(create, drop),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(index, migrations.RunPython.noop),
    ]
