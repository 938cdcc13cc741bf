"""The words by which the archive finds facts (reviews/fact_words.py), filled with what is there."""

from typing import Any

from django.db import migrations, transaction

from reviews import fact_words

LOT = 200
TABLES = ["reviews_fact_search", "reviews_reason_search"]


def create(apps: Any, schema_editor: Any) -> None:
    for table in TABLES:
        if schema_editor.connection.vendor == "sqlite":
            # Only ASCII is split and folded here: the words come ready.
            schema_editor.execute(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING fts5(words, tokenize='ascii', columnsize=0)"
            )
        else:
            schema_editor.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (decision_id bigint PRIMARY KEY, words tsvector NOT NULL)"
            )


def fill(apps: Any, schema_editor: Any) -> None:
    """After an interruption it is simply run again."""
    rows = apps.get_model("reviews", "FactDecision").objects.order_by("pk").values_list("pk", flat=True)
    last = 0
    while lot := list(rows.filter(pk__gt=last)[:LOT]):
        with transaction.atomic():
            fact_words.keep(lot, model=apps.get_model("reviews", "FactDecision"))
        last = lot[-1]


def index(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        for table in TABLES:
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {table}_words ON {table} USING gin (words)")


def drop(apps: Any, schema_editor: Any) -> None:
    for table in TABLES:
        schema_editor.execute(f"DROP TABLE IF EXISTS {table}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("reviews", "0008_archive_shelves")]

    operations = [
        migrations.RunPython(create, drop),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(index, migrations.RunPython.noop),
    ]
