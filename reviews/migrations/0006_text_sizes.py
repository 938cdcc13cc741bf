from django.db import migrations
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    Entry, Blob = apps.get_model("reviews", "ReviewEntry"), apps.get_model("banks", "Blob")
    sizes = Blob.objects.filter(pk=OuterRef("text_id")).values("size")
    Entry.objects.filter(text__isnull=False).update(text_size=Subquery(sizes))


class Migration(migrations.Migration):
    """Sizes of texts that were loaded before they were kept beside the entry."""

    dependencies = [("reviews", "0005_parts_and_facts")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
