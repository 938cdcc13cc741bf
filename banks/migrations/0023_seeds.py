import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('banks', '0022_agent_files'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='server',
            name='seed_new_banks',
            field=models.CharField(blank=True, choices=[('', 'no'), ('global', 'as banks of everything (global)'), ('per-project', "as a project's own banks (per-project)")], default='', help_text='whether banks that appear on it get the mental models of our seeds', max_length=12),
        ),
        migrations.AlterField(
            model_name='adminevent',
            name='what',
            field=models.CharField(choices=[('server-added', 'Server added'), ('server-changed', 'Server changed'), ('server-removed', 'Server removed'), ('key-replaced', 'Key replaced'), ('key-removed', 'Key removed'), ('writes-paused', 'Writes paused'), ('writes-resumed', 'Writes resumed'), ('member-added', 'Member added'), ('role-changed', 'Role changed'), ('member-removed', 'Member removed'), ('invited', 'Invited'), ('invited-again', 'New invitation link'), ('closed', 'Account closed'), ('reopened', 'Account opened again'), ('policy-changed', 'Policy changed'), ('person-named', "Made a person's bank"), ('person-cleared', "Made a project's bank"), ('token-made', 'API token made'), ('token-revoked', 'API token revoked'), ('group-made', 'Group made'), ('group-renamed', 'Group renamed'), ('group-removed', 'Group removed'), ('group-joined', 'Put into a group'), ('group-left', 'Taken out of a group'), ('group-role-given', 'Group given a role'), ('group-role-changed', 'Role of a group changed'), ('group-role-taken', 'Role of a group taken away'), ('operator-made', 'Made an operator'), ('operator-ended', 'No operator any more'), ('unlocked', 'Sign-in unlocked'), ('factor-added', 'Second factor set up'), ('factor-removed', 'Second factor removed'), ('factor-reset', 'Second factor reset'), ('codes-made', 'New recovery codes'), ('identity-joined', 'Company sign-in joined'), ('identity-ended', 'Company sign-in ended'), ('outgoing-added', 'Notification address added'), ('outgoing-removed', 'Notification address removed'), ('agent-file', "Agent's configuration saved"), ('seed-added', 'Seed added'), ('seed-changed', 'Seed changed'), ('seed-removed', 'Seed removed')], max_length=20),
        ),
        migrations.CreateModel(
            name='Seed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seed_id', models.CharField(max_length=64, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('source_query', models.TextField()),
                ('scopes', models.JSONField(default=list, help_text='in which scopes it is wanted')),
                ('project_tagged', models.BooleanField(default=False, help_text="in a tagged scope it reads one project's memories")),
                ('extra_tags', models.JSONField(default=list)),
                ('max_tokens', models.PositiveIntegerField()),
                ('trigger', models.JSONField(default=dict, help_text='when and how servers refresh it, in their words')),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['seed_id'],
            },
        ),
        migrations.CreateModel(
            name='ModelPin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model_id', models.TextField()),
                ('model_hash', models.CharField(help_text="sha256 of the id, as of a bank's", max_length=64)),
                ('version_at', models.DateTimeField(help_text='when the server replaced this text; null = it had not', null=True)),
                ('automatic', models.JSONField(default=dict)),
                ('user_name', models.CharField(blank=True, default='', help_text='as it was then', max_length=150)),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
                ('ended', models.DateTimeField(null=True)),
                ('bank', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='model_pins', to='banks.bank')),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='banks.blob')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended__isnull', True)), fields=('bank', 'model_hash'), name='model_pin_one_at_a_time')],
            },
        ),
    ]
