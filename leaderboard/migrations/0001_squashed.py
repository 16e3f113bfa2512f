# Replaces the migrations of the time before the first version. They may be taken out of `replaces`
# when no database of that time is left.

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('leaderboard', '0001_initial'),
        ('leaderboard', '0002_figures'),
        ('leaderboard', '0003_comparison_index'),
        ('leaderboard', '0004_computed_by_page'),
    ]

    initial = True

    dependencies = [
        ('arena', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='ComparisonIndex',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.CharField(help_text='Another one for every index that is made.', max_length=40)),
                ('payload', models.BinaryField(help_text='As packed by leaderboard.comparisons.index.')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='comparison_index', to='arena.study')),
            ],
            options={
                'verbose_name_plural': 'comparison indexes',
            },
        ),
        migrations.CreateModel(
            name='Refresh',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('wanted_at', models.DateTimeField(blank=True, help_text='When a task was last asked for.', null=True)),
                ('running_until', models.DateTimeField(blank=True, help_text='A computation holds the study until then at the latest.', null=True)),
                ('failed_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.TextField(blank=True, help_text='Why the last computation failed; empty when it did not.')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='refresh', to='arena.study')),
            ],
            options={
                'verbose_name_plural': 'refreshes',
            },
        ),
        migrations.CreateModel(
            name='Snapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('revision', models.PositiveBigIntegerField(help_text="The study's revision when the data were read.")),
                ('comparisons', models.PositiveBigIntegerField(help_text='Rows of comparisons read, revisions included.')),
                ('last_comparison', models.PositiveBigIntegerField(help_text='The largest id among them.')),
                ('methodology', models.CharField(help_text='Version of the way the numbers are made.', max_length=20)),
                ('seed', models.PositiveBigIntegerField()),
                ('parameters', models.JSONField()),
                ('counts', models.JSONField()),
                ('seconds', models.FloatField(help_text='Time the computation took.')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='snapshots', to='arena.study')),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['study', '-id'], name='snapshot_newest_of_study')],
            },
        ),
        migrations.CreateModel(
            name='ComputedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('setting', models.CharField(help_text='The setting as the end of an address.', max_length=2000)),
                ('state', models.CharField(choices=[('wanted', 'Waiting for a worker'), ('running', 'Being computed'), ('ready', 'Ready'), ('failed', 'Could not be computed')], default='wanted', max_length=10)),
                ('wanted_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often a computation of it was started since it was wanted.')),
                ('running_until', models.DateTimeField(blank=True, null=True)),
                ('computed_at', models.DateTimeField(blank=True, help_text='When it was ready, or failed.', null=True)),
                ('read_at', models.DateTimeField(blank=True, help_text='When somebody last looked at it.', null=True)),
                ('seconds', models.FloatField(blank=True, null=True)),
                ('error', models.TextField(blank=True)),
                ('payload', models.TextField(blank=True, help_text='Canonical JSON: a list of tables.')),
                ('snapshot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='computed_views', to='leaderboard.snapshot')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('snapshot', 'setting'), name='computed_view_unique'), models.CheckConstraint(condition=models.Q(('state__in', ['wanted', 'running', 'ready', 'failed'])), name='computed_view_state_known')],
            },
        ),
        migrations.CreateModel(
            name='SnapshotSlice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('standings', 'Standings'), ('matrices', 'Win, tie and game-count matrices'), ('ratings', 'Ratings as shown, with position statistics'), ('correlation', 'Correlation with people'), ('agreement', 'Agreement with other raters, and among these'), ('length', 'Effect of length'), ('data', 'Lengths of the texts')], max_length=20)),
                ('raters', models.CharField(help_text='people, group:NAME or judge:SLUG', max_length=140)),
                ('ties', models.CharField(blank=True, help_text='on, off or empty', max_length=3)),
                ('category', models.CharField(blank=True, help_text='Empty for all categories together.', max_length=100)),
                ('method', models.CharField(blank=True, max_length=20)),
                ('payload', models.TextField(help_text='Canonical JSON')),
                ('inputs', models.CharField(blank=True, help_text='SHA-256 of what costly tables were computed from.', max_length=64)),
                ('snapshot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slices', to='leaderboard.snapshot')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('snapshot', 'kind', 'raters', 'ties', 'category', 'method'), name='slice_unique'), models.CheckConstraint(condition=models.Q(('ties__in', ['on', 'off', ''])), name='slice_ties_known')],
            },
        ),
        migrations.CreateModel(
            name='TextMeasure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(help_text='SHA-256 of the turns as canonical JSON.', max_length=64)),
                ('version', models.PositiveSmallIntegerField()),
                ('characters', models.PositiveIntegerField()),
                ('words', models.PositiveIntegerField()),
                ('unique_words', models.PositiveIntegerField()),
                ('tokens', models.PositiveIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('digest', 'version'), name='text_measure_unique')],
            },
        ),
    ]
