from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0010_beside"),
    ]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="number",
            field=models.BigIntegerField(
                help_text="its place in the feed for programs, once it has taken effect", null=True
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(condition=models.Q(("number__isnull", True)), fields=["id"], name="decision_unnumbered"),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("number__isnull", False)), fields=("number",), name="decision_number"
            ),
        ),
    ]
