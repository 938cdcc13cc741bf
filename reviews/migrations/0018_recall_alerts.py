from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0017_risk'),
    ]

    operations = [
        migrations.AddField(
            model_name='noticechoice',
            name='recall',
            field=models.BooleanField(default=False, help_text='when facts that saved queries expect stop coming back'),
        ),
        migrations.AddField(
            model_name='outgoinghook',
            name='recall',
            field=models.BooleanField(default=False, help_text='when facts that saved queries expect stop coming back'),
        ),
        migrations.AlterField(
            model_name='notice',
            name='kind',
            field=models.CharField(choices=[('digest', 'digest'), ('soon', 'about to be approved by time'), ('recall', 'facts that stopped coming back')], max_length=6),
        ),
    ]
