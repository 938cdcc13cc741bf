from django.db import migrations, models


def fill(apps, schema_editor):
    Decision = apps.get_model("reviews", "FactDecision")
    rows = Decision.objects.filter(preview="").select_related("extracted", "current").order_by("pk")
    for decision in rows.iterator(chunk_size=200):
        text = bytes((decision.current or decision.extracted).data).decode("utf-8")
        preview = " ".join(text[:1_200].replace("\x00", " ").split())[:300]
        Decision.objects.filter(pk=decision.pk).update(preview=preview)


class Migration(migrations.Migration):
    """The beginning of each text beside the decision, for the archive and its search."""

    dependencies = [("reviews", "0006_text_sizes")]

    operations = [
        migrations.AddField(
            model_name="factdecision",
            name="preview",
            field=models.CharField(
                blank=True,
                default="",
                help_text="the beginning of the text as it is now, for lists and search",
                max_length=300,
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
