import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import reviews.models.notices


class Migration(migrations.Migration):

    dependencies = [
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
                ('off_token', models.CharField(default=reviews.models.notices.new_token, help_text='switches off, nothing else', max_length=43, unique=True)),
                ('chosen_at', models.DateTimeField(default=django.utils.timezone.now, help_text='what was due before then is not made up for')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='notice_choice', to=settings.AUTH_USER_MODEL)),
            ],
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
    ]
