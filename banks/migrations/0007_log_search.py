"""What the log page finds rows by. The rows that are there are only noted down: a worker brings them in by and by
(banks/log_index.py), so that a million of them stop nobody."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def create(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        # Only ASCII is split and folded here: the words come ready.
        schema_editor.execute("CREATE VIRTUAL TABLE banks_log_search USING fts5(words, tokenize='ascii', columnsize=0)")
    else:
        schema_editor.execute("CREATE TABLE banks_log_search (write_id bigint PRIMARY KEY, words tsvector NOT NULL)")
        schema_editor.execute("CREATE INDEX banks_log_search_words ON banks_log_search USING gin (words)")


def drop(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute("DROP TABLE banks_log_search")


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0006_reapply"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Unindexed",
            fields=[
                (
                    "write",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="banks.write",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="WriteFact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("fact_hash", models.CharField(max_length=64)),
                (
                    "write",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="facts_named", to="banks.write"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="writefact",
            constraint=models.UniqueConstraint(fields=("fact_hash", "write"), name="writefact_once"),
        ),
        migrations.AddIndex(
            model_name="write",
            index=models.Index(fields=["kind", "bank", "-occurred_at", "-id", "via"], name="write_kind_newest"),
        ),
        migrations.AddIndex(
            model_name="write",
            index=models.Index(fields=["via", "bank", "-occurred_at", "-id"], name="write_via_newest"),
        ),
        migrations.AddIndex(
            model_name="write",
            index=models.Index(
                condition=models.Q(("actor__isnull", False)),
                fields=["actor", "bank", "-occurred_at", "-id", "kind"],
                name="write_actor_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="write",
            index=models.Index(
                condition=models.Q(("state", "done"), _negated=True),
                fields=["state", "bank", "-occurred_at", "-id", "kind"],
                name="write_undone",
            ),
        ),
        migrations.RunPython(create, drop),
        migrations.RunSQL("INSERT INTO banks_unindexed (write_id) SELECT id FROM banks_write", migrations.RunSQL.noop),
    ]
