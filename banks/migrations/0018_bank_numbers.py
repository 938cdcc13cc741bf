import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('banks', '0017_retain_user_bank'),
    ]

    operations = [
        migrations.AddField(
            model_name='server',
            name='numbers_claimed_until',
            field=models.DateTimeField(blank=True, help_text='a worker reads the numbers of its banks until then', null=True),
        ),
        migrations.CreateModel(
            name='BankNumbers',
            fields=[
                ('bank', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='numbers', serialize=False, to='banks.bank')),
                ('facts_by_type', models.JSONField(default=dict)),
                ('backlog', models.PositiveIntegerField(help_text='facts that are not consolidated; null = not told', null=True)),
                ('last_write_at', models.DateTimeField(help_text='whoever wrote; null = never, or not told', null=True)),
                ('days', models.JSONField(help_text='new facts of each day, in UTC; null = not told', null=True)),
                ('days_to', models.DateField(help_text='the last of these days', null=True)),
                ('read_after', models.DateTimeField(default=django.utils.timezone.now, help_text='when to read it again')),
                ('failures', models.PositiveIntegerField(default=0, help_text='reads in a row that failed')),
                ('error', models.CharField(blank=True, default='', help_text='of the last read', max_length=300)),
            ],
            options={
                'indexes': [models.Index(fields=['read_after'], name='numbers_due')],
            },
        ),
        migrations.CreateModel(
            name='BankAlias',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('alias', models.TextField()),
                ('alias_hash', models.CharField(help_text="sha256, as of a bank's id", max_length=64)),
                ('bank', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aliases', to='banks.bank')),
                ('server', models.ForeignKey(help_text='of the bank: one bank per alias', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='banks.server')),
            ],
            options={
                'ordering': ['alias'],
                'constraints': [models.UniqueConstraint(fields=('server', 'alias_hash'), name='alias_server_unique')],
            },
        ),
    ]
