from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0015_person"),
    ]

    operations = [
        migrations.AddField(
            model_name="job",
            name="once",
            field=models.UUIDField(
                help_text="of the form it came from: however often that is sent", null=True, unique=True
            ),
        ),
    ]
