import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('banks', '0023_seeds'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='FrozenBlock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('marker_hash', models.CharField(help_text='sha256 of the marker as it is written on one line', max_length=64)),
                ('epoch_hash', models.CharField(help_text='sha256 of the key that the agent gave its epoch', max_length=64)),
                ('text', models.TextField(blank=True, help_text='empty where there was nothing to say, and `told` says why')),
                ('told', models.JSONField(default=dict, help_text='what is said about the text: of banks.blocks.frozen.Told')),
                ('stale', models.CharField(blank=True, default='', help_text='why it is that of an earlier epoch', max_length=200)),
                ('read_at', models.DateTimeField(help_text='when the bank said this')),
                ('created', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('bank', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='frozen_blocks', to='banks.bank')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('owner', 'bank', 'marker_hash', 'epoch_hash'), name='frozen_block_once_an_epoch')],
            },
        ),
    ]
