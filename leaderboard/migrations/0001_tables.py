# Replaces the migrations of the time before the first version. They may be taken out of `replaces`
# when no database of that time is left.

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models



class Migration(migrations.Migration):

    replaces = [
        ('leaderboard', '0001_squashed'),
        ('leaderboard', '0002_releases'),
        ('leaderboard', '0003_how_often_judges_are_right'),
        ('leaderboard', '0004_error_tags'),
        ('leaderboard', '0005_snapshots_that_open'),
        ('leaderboard', '0006_tables_of_single_answers'),
        ('leaderboard', '0007_tables_of_features'),
        ('leaderboard', '0008_what_tables_were_computed_from'),
    ]

    initial = True

    dependencies = [
        ('arena', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Snapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='snapshots', to='arena.study')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('revision', models.PositiveBigIntegerField(help_text="The study's revision when the data were read.")),
                ('comparisons', models.PositiveBigIntegerField(help_text='Rows of comparisons read, revisions included.')),
                ('last_comparison', models.PositiveBigIntegerField(help_text='The largest id among them.')),
                ('methodology', models.CharField(help_text='Version of the way the numbers are made.', max_length=20)),
                ('seed', models.PositiveBigIntegerField()),
                ('parameters', models.JSONField()),
                ('counts', models.JSONField()),
                ('seconds', models.FloatField(help_text='Time the computation took.')),
                ('is_opening', models.BooleanField(default=False, help_text='Holds only what the leaderboard opens with; one with all tables replaces it.')),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['study', '-id'], name='snapshot_newest_of_study')],
            },
        ),
        migrations.CreateModel(
            name='SnapshotSlice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('snapshot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slices', to='leaderboard.snapshot')),
                ('kind', models.CharField(choices=[('standings', 'Standings'), ('matrices', 'Win, tie and game-count matrices'), ('ratings', 'Ratings as shown, with position statistics'), ('correlation', 'Correlation with people'), ('agreement', 'Agreement with other raters, and among these'), ('length', 'Effect of length'), ('data', 'Lengths of the texts'), ('trust', 'How often judges are right'), ('requirements', 'Requirements met'), ('scores', 'Text scores'), ('features', 'Features of answers')], max_length=20)),
                ('raters', models.CharField(help_text='people, group:NAME or judge:SLUG', max_length=140)),
                ('ties', models.CharField(blank=True, help_text='on, off or empty', max_length=3)),
                ('category', models.CharField(blank=True, help_text='Empty for all categories together.', max_length=100)),
                ('method', models.CharField(blank=True, max_length=20)),
                ('payload', models.TextField(help_text='Canonical JSON')),
                ('inputs', models.CharField(blank=True, help_text='SHA-256 of what the table was computed from; empty if it is not copied.', max_length=64)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('snapshot', 'kind', 'raters', 'ties', 'category', 'method'), name='slice_unique'), models.CheckConstraint(condition=models.Q(('ties__in', ['on', 'off', ''])), name='slice_ties_known')],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='releases', to='arena.study')),
                ('snapshot', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='releases', to='leaderboard.snapshot')),
                ('number', models.PositiveIntegerField(help_text='1, 2, ... in the study.')),
                ('version', models.CharField(max_length=50)),
                ('name', models.CharField(help_text='Of the study, as it was.', max_length=200)),
                ('slug', models.CharField(help_text='Of the study, as it was.', max_length=80)),
                ('authors', models.JSONField(help_text='People in order: name, orcid, affiliation.')),
                ('licence', models.CharField(blank=True, max_length=100)),
                ('doi', models.CharField(blank=True, max_length=200, verbose_name='DOI')),
                ('changelog', models.TextField(blank=True)),
                ('simulated', models.BooleanField()),
                ('provenance', models.JSONField(help_text='Comparisons by people and judges, by where they come from.')),
                ('judges', models.JSONField(help_text='As in the bundle.')),
                ('flags', models.JSONField(help_text='Sentences that must stand beside the standings.')),
                ('sha256', models.CharField(help_text='Of the bundle.', max_length=64)),
                ('size', models.PositiveBigIntegerField(help_text='Of the bundle in bytes.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('corrected_at', models.DateTimeField(blank=True, help_text='When DOI or changelog changed.', null=True)),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('study', 'number'), name='release_number_unique'), models.UniqueConstraint(fields=('study', 'version'), name='release_version_unique')],
            },
        ),
        migrations.CreateModel(
            name='ReleaseBundle',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='bundle', to='leaderboard.release')),
                ('content', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='ComputedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('snapshot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='computed_views', to='leaderboard.snapshot')),
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
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('snapshot', 'setting'), name='computed_view_unique'), models.CheckConstraint(condition=models.Q(('state__in', ['wanted', 'running', 'ready', 'failed'])), name='computed_view_state_known')],
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
        migrations.CreateModel(
            name='ComparisonIndex',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='comparison_index', to='arena.study')),
                ('version', models.CharField(help_text='Another one for every index that is made.', max_length=40)),
                ('payload', models.BinaryField(help_text='As packed by leaderboard.snapshots.comparison_index.')),
            ],
            options={
                'verbose_name_plural': 'comparison indexes',
            },
        ),
        migrations.CreateModel(
            name='Refresh',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='refresh', to='arena.study')),
                ('wanted_at', models.DateTimeField(blank=True, help_text='When a task was last asked for.', null=True)),
                ('running_until', models.DateTimeField(blank=True, help_text='A computation holds the study until then at the latest.', null=True)),
                ('failed_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.TextField(blank=True, help_text='Why the last computation failed; empty when it did not.')),
            ],
            options={
                'verbose_name_plural': 'refreshes',
            },
        ),
        migrations.CreateModel(
            name='ErrorTags',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='error_tags', to='arena.study')),
                ('names', models.JSONField()),
            ],
            options={
                'verbose_name_plural': 'error tags',
            },
        ),
        migrations.CreateModel(
            name='InstanceTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='instance_tags', to='arena.rater')),
                ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='instance_tags', to='arena.pair')),
                ('name', models.CharField(max_length=50)),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('rater', 'pair'), name='instance_tagged_once')],
            },
        ),
    ]
