import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import banks.models.webhooks


class Migration(migrations.Migration):

    dependencies = [
        ('banks', '0019_groups'),
    ]

    operations = [
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=banks.models.webhooks.new_token, help_text='the end of our address', max_length=43, unique=True)),
                ('address', models.CharField(help_text='all of it, as the server was told', max_length=500)),
                ('secret_encrypted', models.TextField()),
                ('registered_at', models.DateTimeField(help_text='when its server had it; null = not yet', null=True)),
                ('removed_at', models.DateTimeField(help_text='when an admin wanted it gone: from then on it takes nothing', null=True)),
                ('heard_at', models.DateTimeField(help_text='the last delivery with a good signature', null=True)),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
                ('bank', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='banks.bank')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('removed_at__isnull', True)), fields=('bank',), name='webhook_one_per_bank')],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('delivery_id', models.CharField(help_text='of the header, which is not signed', max_length=100)),
                ('event_id', models.CharField(help_text='of the body, which is', max_length=100)),
                ('event', models.CharField(max_length=60)),
                ('document_id', models.TextField(blank=True, default='')),
                ('document_hash', models.CharField(blank=True, default='', max_length=64)),
                ('said_at', models.DateTimeField(help_text='when it happened, as the server says', null=True)),
                ('signature', models.CharField(help_text='v1 or v2: the newest that was there', max_length=2)),
                ('repeats', models.PositiveIntegerField(default=0, help_text='how often it came again')),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('done', 'done'), ('failed', 'failed')], default='done', max_length=7)),
                ('outcome', models.CharField(blank=True, default='', max_length=300)),
                ('look_after', models.DateTimeField(help_text='when its document is looked at; null = there is no need', null=True)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('claimed_until', models.DateTimeField(help_text='a worker looks until then', null=True)),
                ('received_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('hook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='banks.webhook')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('look_after__isnull', False)), fields=['look_after'], name='webhook_look_due'), models.Index(fields=['hook', 'document_hash'], name='webhook_document')],
                'constraints': [models.UniqueConstraint(fields=('hook', 'delivery_id'), name='webhook_delivery_once'), models.UniqueConstraint(fields=('hook', 'event_id'), name='webhook_event_once')],
            },
        ),
        migrations.AlterField(
            model_name='adminevent',
            name='what',
            field=models.CharField(choices=[('server-added', 'Server added'), ('server-changed', 'Server changed'), ('server-removed', 'Server removed'), ('key-replaced', 'Key replaced'), ('key-removed', 'Key removed'), ('writes-paused', 'Writes paused'), ('writes-resumed', 'Writes resumed'), ('member-added', 'Member added'), ('role-changed', 'Role changed'), ('member-removed', 'Member removed'), ('invited', 'Invited'), ('invited-again', 'New invitation link'), ('closed', 'Account closed'), ('reopened', 'Account opened again'), ('policy-changed', 'Policy changed'), ('person-named', "Made a person's bank"), ('person-cleared', "Made a project's bank"), ('token-made', 'API token made'), ('token-revoked', 'API token revoked'), ('group-made', 'Group made'), ('group-renamed', 'Group renamed'), ('group-removed', 'Group removed'), ('group-joined', 'Put into a group'), ('group-left', 'Taken out of a group'), ('group-role-given', 'Group given a role'), ('group-role-changed', 'Role of a group changed'), ('group-role-taken', 'Role of a group taken away'), ('operator-made', 'Made an operator'), ('operator-ended', 'No operator any more'), ('unlocked', 'Sign-in unlocked'), ('factor-added', 'Second factor set up'), ('factor-removed', 'Second factor removed'), ('factor-reset', 'Second factor reset'), ('codes-made', 'New recovery codes'), ('identity-joined', 'Company sign-in joined'), ('identity-ended', 'Company sign-in ended'), ('outgoing-added', 'Notification address added'), ('outgoing-removed', 'Notification address removed')], max_length=20),
        ),
    ]
