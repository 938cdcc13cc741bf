import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0007_log_search"),
    ]

    operations = [
        migrations.AddField(
            model_name="write",
            name="private",
            field=models.ForeignKey(
                help_text="what a person typed: shown to the bank's admins alone, who say so in the log",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="banks.blob",
            ),
        ),
    ]
