import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

import reviews.models.notices


class Migration(migrations.Migration):

    dependencies = [
        ('banks', '0020_webhooks'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('reviews', '0012_held'),
    ]

    operations = [
        migrations.CreateModel(
            name='NoticeChoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.BooleanField(default=False, help_text='each day: what waits')),
                ('soon', models.BooleanField(default=False, help_text='when memories are about to be approved by time')),
                ('hour', models.PositiveSmallIntegerField(default=8, help_text='of their day', validators=[django.core.validators.MaxValueValidator(23)])),
                ('time_zone', models.CharField(default='UTC', max_length=64)),
                ('chosen_at', models.DateTimeField(default=django.utils.timezone.now, help_text='what was due before then is not made up for')),
                ('off_token', models.CharField(default=reviews.models.notices.new_token, help_text='switches off, nothing else', max_length=43, unique=True)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='notice_choice', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('digest', 'digest'), ('soon', 'about to be approved by time')], max_length=6)),
                ('day', models.DateField(help_text='of the person')),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('sending', 'sending'), ('sent', 'sent'), ('empty', 'nothing to say'), ('failed', 'failed')], default='waiting', max_length=7)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('not_before', models.DateTimeField(default=django.utils.timezone.now)),
                ('error', models.CharField(blank=True, default='', max_length=200)),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
                ('sent', models.DateTimeField(null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notices', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['state', 'not_before'], name='notice_due')],
                'constraints': [models.UniqueConstraint(fields=('user', 'kind', 'day'), name='notice_once_a_day')],
            },
        ),
        migrations.CreateModel(
            name='OutgoingHook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.BooleanField(default=False, help_text='each day: what waits')),
                ('soon', models.BooleanField(default=False, help_text='when memories are about to be approved by time')),
                ('hour', models.PositiveSmallIntegerField(default=8, help_text='of their day', validators=[django.core.validators.MaxValueValidator(23)])),
                ('time_zone', models.CharField(default='UTC', max_length=64)),
                ('chosen_at', models.DateTimeField(default=django.utils.timezone.now, help_text='what was due before then is not made up for')),
                ('name', models.CharField(help_text='what it is for', max_length=60)),
                ('host', models.CharField(help_text='all of its address that is shown: many are keys themselves', max_length=255)),
                ('url_encrypted', models.TextField()),
                ('secret_encrypted', models.TextField()),
                ('removed_at', models.DateTimeField(help_text='its deliveries stay, and there are no more', null=True)),
                ('server', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='outgoing_hooks', to='banks.server')),
            ],
            options={
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='OutgoingDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=6)),
                ('day', models.DateField(help_text='of the address')),
                ('event_id', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('body', models.TextField(blank=True, default='')),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('sent', 'sent'), ('empty', 'nothing to say'), ('failed', 'failed')], default='waiting', max_length=7)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('not_before', models.DateTimeField(default=django.utils.timezone.now)),
                ('claimed_until', models.DateTimeField(help_text='a worker sends until then', null=True)),
                ('status', models.PositiveSmallIntegerField(help_text='of the last answer', null=True)),
                ('error', models.CharField(blank=True, default='', max_length=200)),
                ('took', models.FloatField(help_text='seconds', null=True)),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
                ('sent', models.DateTimeField(null=True)),
                ('hook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='reviews.outgoinghook')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['state', 'not_before'], name='outgoing_due')],
                'constraints': [models.UniqueConstraint(fields=('hook', 'kind', 'day'), name='outgoing_once_a_day')],
            },
        ),
    ]
