import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('banks', '0024_frozen_blocks'),
    ]

    operations = [
        migrations.CreateModel(
            name='RecallCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('asked', models.JSONField(help_text='the query, and what narrows it (banks.recall.asked)')),
                ('made_by', models.CharField(help_text='name of the person, as it was', max_length=150)),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
                ('answered_at', models.DateTimeField(help_text='the last answer of the bank', null=True)),
                ('lost', models.PositiveSmallIntegerField(default=0, help_text='expected facts that did not come then')),
                ('error', models.CharField(blank=True, default='', help_text='why the bank did not answer since', max_length=300)),
                ('failures', models.PositiveSmallIntegerField(default=0, help_text='tries in a row without an answer')),
                ('run_after', models.DateTimeField(default=django.utils.timezone.now, help_text='when to ask again')),
                ('claimed_until', models.DateTimeField(help_text='a worker asks until then', null=True)),
                ('bank', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recall_checks', to='banks.bank')),
            ],
            options={
                'ordering': ['name', 'id'],
                'indexes': [models.Index(fields=['run_after'], name='recall_check_due')],
            },
        ),
        migrations.CreateModel(
            name='ExpectedFact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fact_id', models.TextField()),
                ('text', models.TextField(help_text='its beginning, as it was when it was chosen')),
                ('words_hash', models.CharField(help_text='of all of it, without case and white space', max_length=64)),
                ('document_id', models.TextField(blank=True, default='')),
                ('place', models.PositiveIntegerField(help_text='among the hits of the last answer; null = not there', null=True)),
                ('way', models.CharField(blank=True, choices=[('itself', 'as it was'), ('changed', 'with another text'), ('derived', 'as an observation made from it')], default='', help_text='how it came back', max_length=7)),
                ('missing_since', models.DateTimeField(help_text='the first answer without it', null=True)),
                ('recall_check', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='expected', to='banks.recallcheck')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('recall_check', 'words_hash'), name='expected_fact_once')],
            },
        ),
    ]
