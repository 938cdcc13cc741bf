"""Which list of the archive a decision is in, by a column that no update can forget."""

from typing import Any

from django.db import migrations, models
from django.db.models import Exists, F, OuterRef, Subquery
from django.utils import timezone

VIA = [
    ("web", "web"),
    ("api", "API"),
    ("cli", "command line"),
    ("import", "import"),
    ("expiry", "by time"),
    ("housekeeping", "housekeeping"),
    ("reapply", "applied again"),
    ("webhook", "webhook"),
    ("observed", "observed on the server"),
]


def fill(apps: Any, schema_editor: Any) -> None:
    decisions = apps.get_model("reviews", "FactDecision").objects
    writes = apps.get_model("banks", "Write").objects.filter(pk=OuterRef("write"))
    ours = decisions.filter(origin="ours", write__isnull=False)
    again = ours.filter(write__via="reapply")
    again.update(again=1)
    ours.exclude(write__via="reapply").update(via=Subquery(writes.values("via")))
    again.update(via="web")  # who applied it first was a person; nothing else could
    decisions.filter(origin="observed").update(via="observed")
    decisions.filter(verdict="restored").update(restored_at=F("at"))
    entries = apps.get_model("reviews", "ReviewEntry").objects
    deleted = entries.filter(bank=OuterRef("bank"), document_hash=OuterRef("document_hash"), state="deleted")
    decisions.filter(Exists(deleted)).update(gone_since=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0006_reapply"),
        ("reviews", "0007_fact_previews"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="factdecision", name="fact_retired_newest"),
        migrations.RemoveIndex(model_name="factdecision", name="fact_retired_bank"),
        migrations.AddField(
            model_name="factdecision",
            name="via",
            field=models.CharField(blank=True, choices=VIA, default="", help_text="of the verdict", max_length=12),
        ),
        migrations.AddField(
            model_name="factdecision",
            name="again",
            field=models.PositiveIntegerField(
                default=0, help_text="how often it was applied again after an extraction"
            ),
        ),
        migrations.AddField(
            model_name="factdecision",
            name="restored_at",
            field=models.DateTimeField(help_text="when it came back; null = it is retired, or never was", null=True),
        ),
        migrations.AddField(
            model_name="factdecision",
            name="gone_since",
            field=models.DateTimeField(
                help_text="when its fact was first not in the bank: a new extraction, or no document any more",
                null=True,
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddField(
            model_name="factdecision",
            name="shelf",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Case(
                    models.When(
                        verdict__in=["retired", "restored"], gone_since__isnull=False, then=models.Value("gone")
                    ),
                    models.When(verdict="retired", again__gt=0, then=models.Value("again")),
                    models.When(verdict="retired", then=models.Value("retired")),
                    models.When(restored_at__isnull=False, then=models.Value("restored")),
                    default=models.Value("edited"),
                ),
                output_field=models.CharField(
                    choices=[
                        ("retired", "retired"),
                        ("again", "retired again"),
                        ("restored", "restored"),
                        ("gone", "gone"),
                        ("edited", "edited"),
                    ],
                    max_length=10,
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="factdecision",
            index=models.Index(fields=["shelf", "-at", "-id"], name="fact_shelf_newest"),
        ),
        migrations.AddIndex(
            model_name="factdecision",
            index=models.Index(fields=["shelf", "bank", "-at", "-id"], name="fact_shelf_bank"),
        ),
        migrations.AddIndex(
            model_name="factdecision",
            index=models.Index(fields=["shelf", "user", "-at", "-id"], name="fact_shelf_user"),
        ),
    ]
