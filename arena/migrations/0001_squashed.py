# Replaces the migrations of the time before the first version. They may be taken out of `replaces`
# when no database of that time is left.

import arena.models.comparisons
import arena.models.raters
import arena.models.studies
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('arena', '0001_initial'),
        ('arena', '0002_api_token_scopes'),
        ('arena', '0003_import_jobs'),
        ('arena', '0004_contestant_benchmarks'),
        ('arena', '0005_newest_comparison'),
        ('arena', '0006_study_licence'),
        ('arena', '0007_identical_completions'),
        ('arena', '0008_answers_of_a_plan'),
        ('arena', '0009_annotation_page'),
        ('arena', '0010_settings_on_record'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='RaterGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Rendering',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('renderer', models.PositiveSmallIntegerField(help_text='Version of the renderer that made it.')),
                ('html', models.TextField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('digest', 'renderer'), name='rendering_unique')],
            },
        ),
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True, help_text="Markdown, shown on the study's public page.")),
                ('guidelines', models.TextField(blank=True, help_text='Markdown, shown to raters before they start.')),
                ('points', models.PositiveSmallIntegerField(choices=[(2, '2 points'), (3, '3 points'), (5, '5 points'), (8, '8 points')], default=8, help_text='Points of the rating scale offered to people.', verbose_name='scale')),
                ('criteria', models.JSONField(blank=True, default=list, help_text='Names rated beside the overall rating, e.g. ["helpfulness"].')),
                ('reasons', models.JSONField(blank=True, default=arena.models.studies.usual_reasons, help_text='Reasons offered after the choice, e.g. ["More accurate", "Clearer"]; [] offers none.')),
                ('reveal_names', models.BooleanField(default=False, help_text='Tell raters who wrote the two answers once they have rated them.')),
                ('training_threshold', models.FloatField(blank=True, help_text='Share of the training pairs to get right, 0 to 1. If empty, training only explains.', null=True, validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1.0)])),
                ('pairing', models.CharField(choices=[('balanced', 'Balanced: the least rated pair first'), ('adaptive', 'Adaptive: the most informative pairs first')], default='balanced', max_length=10, verbose_name='pairing')),
                ('control_share', models.FloatField(default=0.2, help_text='Share of random pairs in adaptive pairing, so that it can be audited.', validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1.0)])),
                ('repeat_share', models.FloatField(default=0.0, help_text='Share of pairs that raters get again in the other order.', validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(0.5)])),
                ('gold_share', models.FloatField(default=0.0, help_text='Share of hidden check pairs, whose right answer is known.', validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(0.5)])),
                ('naming', models.CharField(choices=[('show', 'Show them as they are'), ('mask', 'Mask the words that give the author away'), ('exclude', 'Leave them out: nobody rates them')], default='show', help_text='What happens to answers that tell who wrote them.', max_length=10, verbose_name='answers that name their author')),
                ('paused_at', models.DateTimeField(blank=True, help_text='People get no new pairs while the study is paused.', null=True)),
                ('ratings_per_pair_people', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1)], verbose_name='ratings per pair by people')),
                ('ratings_per_pair_judges', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1)], verbose_name='ratings per pair by each judge')),
                ('visibility', models.CharField(choices=[('private', 'Private: only operators and viewers see the leaderboard'), ('public', 'Public: everybody sees the leaderboard')], default='private', max_length=10)),
                ('sign_up_open', models.BooleanField(default=False, help_text='Anyone may sign up and rate.')),
                ('closed_at', models.DateTimeField(blank=True, help_text='Set when rating has ended. Only then do pages name who wrote an answer.', null=True)),
                ('simulated', models.BooleanField(default=False, help_text='Contains simulated ratings; every page says so.')),
                ('licence', models.CharField(blank=True, help_text='For sharing texts and ratings, for example CC-BY-4.0.', max_length=100)),
                ('revision', models.PositiveBigIntegerField(default=0, editable=False, help_text='Raised whenever something other than a rating changes figures.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name_plural': 'studies',
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('points__in', (2, 3, 5, 8))), name='study_points_is_a_scale'), models.CheckConstraint(condition=models.Q(('ratings_per_pair_judges__gte', 1), ('ratings_per_pair_people__gte', 1)), name='study_wants_at_least_one_rating'), models.CheckConstraint(condition=models.Q(('control_share__range', (0, 1)), ('gold_share__range', (0, 0.5)), ('repeat_share__range', (0, 0.5))), name='study_shares_within_bounds'), models.CheckConstraint(condition=models.Q(('training_threshold', None), ('training_threshold__range', (0, 1)), _connector='OR'), name='study_threshold_is_a_share'), models.CheckConstraint(condition=models.Q(('naming__in', ['show', 'mask', 'exclude']), ('pairing__in', ['balanced', 'adaptive'])), name='study_choices_known')],
            },
        ),
        migrations.CreateModel(
            name='Contestant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=120)),
                ('name', models.CharField(max_length=200)),
                ('kind', models.CharField(choices=[('model', 'Language model'), ('people', 'People')], default='model', max_length=10)),
                ('family', models.CharField(blank=True, max_length=100)),
                ('organisation', models.CharField(blank=True, max_length=200)),
                ('licence', models.CharField(blank=True, max_length=100)),
                ('size', models.CharField(blank=True, help_text='For example 13B.', max_length=50)),
                ('generation', models.JSONField(blank=True, default=dict, verbose_name='generation parameters')),
                ('benchmarks', models.JSONField(blank=True, default=dict, help_text='Names and numbers, e.g. {"MMLU": 69.8}: columns of the leaderboard, not part of scores.', verbose_name='external benchmark scores')),
                ('extra', models.JSONField(blank=True, default=dict)),
                ('retired_at', models.DateTimeField(blank=True, help_text='Retired models get no new pairs; their ratings stay.', null=True)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='contestants', to='arena.study')),
            ],
            options={
                'ordering': ['study', 'name'],
                'constraints': [models.UniqueConstraint(fields=('study', 'name'), name='contestant_name_unique'), models.UniqueConstraint(fields=('study', 'slug'), name='contestant_slug_unique'), models.CheckConstraint(condition=models.Q(('kind__in', ['model', 'people'])), name='contestant_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='Prompt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('external_id', models.CharField(max_length=200)),
                ('subset', models.CharField(blank=True, max_length=100)),
                ('category', models.CharField(blank=True, max_length=100)),
                ('domain', models.CharField(blank=True, max_length=100)),
                ('turns', models.JSONField(help_text='What the user says, turn by turn; empty when the text is unknown.')),
                ('input', models.TextField(blank=True, help_text='Material that the instruction is about, such as a text to summarise.')),
                ('extra', models.JSONField(blank=True, default=dict)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='prompts', to='arena.study')),
            ],
            options={
                'ordering': ['study', 'pk'],
                'indexes': [models.Index(fields=['study', 'category'], name='arena_promp_study_i_9a7b51_idx')],
                'constraints': [models.UniqueConstraint(fields=('study', 'subset', 'external_id'), name='prompt_external_id_unique')],
            },
        ),
        migrations.CreateModel(
            name='Completion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('external_id', models.CharField(blank=True, max_length=200)),
                ('turns', models.JSONField(help_text='The answer, turn by turn; an empty list if the text is unknown.')),
                ('is_empty', models.BooleanField(default=False, help_text='The text is known to be empty.')),
                ('version', models.PositiveIntegerField(default=1)),
                ('is_current', models.BooleanField(default=True)),
                ('digest', models.CharField(help_text='SHA-256 of the turns as canonical JSON.', max_length=64)),
                ('extra', models.JSONField(blank=True, default=dict)),
                ('telling', models.JSONField(blank=True, default=list, help_text='Words in the text that tell who wrote it.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('contestant', models.ForeignKey(blank=True, help_text='Empty if the author is unknown.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='completions', to='arena.contestant')),
                ('prompt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='completions', to='arena.prompt')),
            ],
            options={
                'ordering': ['prompt', 'contestant', 'version'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('contestant__isnull', False), ('is_current', True)), fields=('prompt', 'contestant'), name='completion_one_current_per_contestant_and_prompt'), models.UniqueConstraint(fields=('prompt', 'contestant', 'version'), name='completion_version_unique'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='completion_version_from_one')],
            },
        ),
        migrations.CreateModel(
            name='ImportJob',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('uploading', 'Uploading'), ('checking', 'Being checked'), ('checked', 'Checked'), ('applying', 'Being applied'), ('applied', 'Imported'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='uploading', max_length=10)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('check_seconds', models.FloatField(null=True)),
                ('report', models.JSONField(null=True)),
                ('error', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('touched_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='import_jobs', to='arena.study')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', False), ('state__in', ('applied', 'failed', 'cancelled'))), models.Q(models.Q(('state__in', ('applied', 'failed', 'cancelled')), _negated=True), ('ended_at__isnull', True)), _connector='OR'), name='import_job_ends_with_its_state')],
            },
        ),
        migrations.CreateModel(
            name='ImportFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('name', models.CharField(max_length=255)),
                ('size', models.PositiveBigIntegerField(default=0)),
                ('format_name', models.CharField(blank=True, max_length=40)),
                ('mapping', models.JSONField(null=True)),
                ('found_format', models.CharField(blank=True, max_length=40)),
                ('found_kind', models.CharField(blank=True, max_length=20)),
                ('columns', models.JSONField(default=list)),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='arena.importjob')),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('job', 'number'), name='import_file_number_unique')],
            },
        ),
        migrations.CreateModel(
            name='Pair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('gold', models.CharField(blank=True, choices=[('first', 'The first is better'), ('tie', 'Equally good'), ('second', 'The second is better')], max_length=10)),
                ('gold_source', models.CharField(blank=True, max_length=200)),
                ('use', models.CharField(choices=[('rate', 'Rated'), ('check', 'Hidden check: its right answer is known'), ('train', 'Training, with an explanation')], default='rate', max_length=10)),
                ('explanation', models.TextField(blank=True, help_text='Why the gold answer is right; shown in training.')),
                ('people_ratings', models.PositiveIntegerField(default=0, editable=False)),
                ('judge_ratings', models.PositiveIntegerField(default=0, editable=False)),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs_as_first', to='arena.completion')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs_as_second', to='arena.completion')),
                ('prompt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs', to='arena.prompt')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('first', 'second'), name='pair_unique'), models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='pair_first_before_second'), models.CheckConstraint(condition=models.Q(models.Q(('gold', ''), ('gold_source', '')), models.Q(models.Q(('gold', ''), _negated=True), models.Q(('gold_source', ''), _negated=True)), _connector='OR'), name='pair_gold_has_a_source'), models.CheckConstraint(condition=models.Q(('use', 'rate'), models.Q(('use__in', ['check', 'train']), models.Q(('gold', ''), _negated=True)), _connector='OR'), name='pair_to_check_by_has_gold')],
            },
        ),
        migrations.CreateModel(
            name='Rater',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('person', 'Person'), ('judge', 'Judge')], max_length=10)),
                ('slug', models.SlugField(max_length=120)),
                ('name', models.CharField(max_length=200)),
                ('simulated', models.BooleanField(default=False, help_text='A program with made-up opinions.')),
                ('paused_at', models.DateTimeField(blank=True, help_text='A paused rater gets no new pairs.', null=True)),
                ('anonymised_at', models.DateTimeField(blank=True, help_text='Personal details were removed; the ratings stay.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('user', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='rater', to=settings.AUTH_USER_MODEL)),
                ('groups', models.ManyToManyField(blank=True, related_name='raters', to='arena.ratergroup')),
                ('study', models.ForeignKey(blank=True, help_text='Set for raters that came with an import; empty for those who rate here.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='imported_raters', to='arena.study')),
            ],
            options={
                'ordering': ['kind', 'name'],
                'constraints': [models.UniqueConstraint(fields=('study', 'kind', 'slug'), name='rater_slug_unique_in_study'), models.UniqueConstraint(condition=models.Q(('study__isnull', True)), fields=('kind', 'slug'), name='rater_slug_unique'), models.CheckConstraint(condition=models.Q(('kind__in', ['person', 'judge'])), name='rater_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=arena.models.comparisons.new_public_id, editable=False, max_length=24, unique=True)),
                ('kind', models.CharField(choices=[('compare', 'Rate a pair'), ('score', 'Score an answer'), ('check', 'Check an answer')], default='compare', max_length=10)),
                ('swapped', models.BooleanField(default=False, help_text="The pair's second answer is shown first.")),
                ('seed', models.BigIntegerField(default=arena.models.comparisons.new_seed)),
                ('repeat', models.PositiveSmallIntegerField(default=0, help_text='0, or the number of a deliberate repeat.')),
                ('purpose', models.CharField(choices=[('study', 'For the study'), ('repeat', 'A repeat in the other order: is the rater consistent?'), ('check', 'A pair whose right answer is known: is the rater accurate?'), ('adjudication', 'Decides a disagreement')], default='study', max_length=12)),
                ('is_random', models.BooleanField(default=False, help_text='A random pair of a study with adaptive pairing.')),
                ('state', models.CharField(choices=[('open', 'Planned, waiting for its rater'), ('claimed', 'Offered and leased'), ('submitted', 'Rated'), ('skipped', 'Skipped by the rater'), ('expired', 'Abandoned: the lease ran out'), ('failed', 'No reply')], default='claimed', max_length=10)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('shown_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('skip_reason', models.CharField(blank=True, max_length=500)),
                ('completion', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='arena.completion')),
                ('pair', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='arena.pair')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='arena.rater')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='arena.study')),
            ],
            options={
                'ordering': ['pk'],
                'indexes': [models.Index(fields=['study', 'rater', 'state'], name='arena_assig_study_i_95dc1e_idx'), models.Index(condition=models.Q(('state', 'claimed')), fields=['leased_until'], name='assignment_live_lease')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('completion__isnull', True), ('kind', 'compare'), ('pair__isnull', False)), models.Q(('completion__isnull', False), ('kind__in', ['score', 'check']), ('pair__isnull', True)), _connector='OR'), name='assignment_kind_has_its_target'), models.CheckConstraint(condition=models.Q(('state__in', ['open', 'claimed', 'submitted', 'skipped', 'expired', 'failed'])), name='assignment_state_known'), models.CheckConstraint(condition=models.Q(('purpose__in', ['study', 'repeat', 'check', 'adjudication'])), name='assignment_purpose_known'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'claimed'), _negated=True), ('leased_until__isnull', False), _connector='OR'), name='assignment_claim_has_a_lease'), models.UniqueConstraint(condition=models.Q(models.Q(('state', 'expired'), _negated=True), ('kind', 'compare')), fields=('rater', 'pair', 'swapped', 'repeat'), name='assignment_offered_once')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('label', models.CharField(blank=True, max_length=100)),
                ('scopes', models.JSONField(default=arena.models.raters.every_scope, help_text='What it may be used for.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to='arena.rater')),
            ],
        ),
        migrations.CreateModel(
            name='Reference',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('author', models.CharField(max_length=200)),
                ('turns', models.JSONField()),
                ('prompt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='references', to='arena.prompt')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('prompt', 'author'), name='reference_author_unique')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('joined_at', models.DateTimeField(auto_now_add=True)),
                ('guidelines_read_at', models.DateTimeField(blank=True, null=True)),
                ('role', models.CharField(choices=[('viewer', 'Viewer: sees the leaderboard, also of a private study'), ('rater', 'Rater: rates pairs'), ('operator', 'Operator: sets up the study and looks after raters')], default='rater', max_length=10)),
                ('trained_at', models.DateTimeField(blank=True, help_text='When the training was passed.', null=True)),
                ('paused_at', models.DateTimeField(blank=True, help_text='Gets no new pairs in this study.', null=True)),
                ('left_out_at', models.DateTimeField(blank=True, help_text='Their ratings are kept but not counted.', null=True)),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='arena.rater')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='arena.study')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'rater'), name='membership_unique'), models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'rater', 'operator'])), name='membership_role_known')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=arena.models.raters.new_invitation_token, editable=False, max_length=40, unique=True)),
                ('note', models.CharField(blank=True, help_text='For the operator: who this link is for.', max_length=200)),
                ('role', models.CharField(choices=[('viewer', 'Viewer: sees the leaderboard, also of a private study'), ('rater', 'Rater: rates pairs'), ('operator', 'Operator: sets up the study and looks after raters')], default='rater', max_length=10)),
                ('max_uses', models.PositiveIntegerField(default=1)),
                ('uses', models.PositiveIntegerField(default=0, editable=False)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='arena.ratergroup')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='arena.study')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('uses__lte', models.F('max_uses'))), name='invitation_uses_limited')],
            },
        ),
        migrations.CreateModel(
            name='Comparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('swapped', models.BooleanField(help_text="The pair's second answer was shown first.")),
                ('repeat', models.PositiveIntegerField(default=0)),
                ('points', models.PositiveSmallIntegerField(help_text='Points of the scale this rating was given on.')),
                ('status', models.CharField(choices=[('scored', 'Scored'), ('unscored', 'Unscored'), ('identical', 'Identical completions')], max_length=10)),
                ('rating', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('reason', models.CharField(blank=True, choices=[('empty', 'The reply was empty'), ('out_of_range', 'The number was outside the scale'), ('unparsable', 'No rating could be read'), ('truncated', 'The reply was cut off before the verdict'), ('refused', 'The rater refused to answer'), ('undecided', 'Several answers of the rater contradict each other')], max_length=20)),
                ('first_score', models.DecimalField(blank=True, decimal_places=3, max_digits=8, null=True)),
                ('second_score', models.DecimalField(blank=True, decimal_places=3, max_digits=8, null=True)),
                ('expected', models.FloatField(blank=True, help_text='Expected rating over the answer tokens of a judge.', null=True)),
                ('raw_reply', models.TextField(blank=True)),
                ('rationale', models.TextField(blank=True)),
                ('reasons', models.JSONField(blank=True, default=list, help_text="The study's reasons that were chosen.")),
                ('purpose', models.CharField(choices=[('study', 'For the study'), ('repeat', 'A repeat in the other order: is the rater consistent?'), ('check', 'A pair whose right answer is known: is the rater accurate?'), ('adjudication', 'Decides a disagreement')], default='study', help_text='As that of the assignment.', max_length=12)),
                ('is_late', models.BooleanField(default=False, help_text='It came after its lease, when the pair had all its ratings.')),
                ('seconds', models.FloatField(blank=True, help_text='Time the rater took.', null=True)),
                ('source', models.CharField(choices=[('web', 'Rating page'), ('api', 'API'), ('import', 'Import'), ('panel', 'Panel of judges'), ('plan', 'Planning')], max_length=10)),
                ('external_id', models.CharField(blank=True, help_text='Id in the file it came from.', max_length=200)),
                ('extra', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('is_current', models.BooleanField(default=True)),
                ('assignment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='comparisons', to='arena.assignment')),
                ('revises', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='revised_by', to='arena.comparison')),
                ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comparisons', to='arena.pair')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comparisons', to='arena.rater')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comparisons', to='arena.study')),
            ],
            options={
                'ordering': ['pk'],
                'indexes': [models.Index(fields=['study', 'is_current'], name='arena_compa_study_i_8e1523_idx'), models.Index(fields=['study', 'id'], name='comparison_newest_of_study')],
                'constraints': [models.CheckConstraint(condition=models.Q(('points__in', (2, 3, 5, 8))), name='comparison_points_is_a_scale'), models.CheckConstraint(condition=models.Q(models.Q(('rating__gte', 1), ('rating__isnull', False), ('rating__lte', models.F('points')), ('reason', ''), ('status', 'scored')), models.Q(('rating__isnull', True), ('status', 'unscored'), models.Q(('reason', ''), _negated=True)), models.Q(('rating__isnull', True), ('status', 'identical')), models.Q(('rating__gte', 1), ('rating__lte', models.F('points')), ('reason', ''), ('status', 'identical')), _connector='OR'), name='comparison_rating_within_scale_or_reason'), models.CheckConstraint(condition=models.Q(('purpose__in', ['study', 'repeat', 'check', 'adjudication'])), name='comparison_purpose_known'), models.CheckConstraint(condition=models.Q(models.Q(('first_score__isnull', True), ('second_score__isnull', True)), models.Q(('first_score__isnull', False), ('second_score__isnull', False)), _connector='OR'), name='comparison_both_scores_or_none'), models.CheckConstraint(condition=models.Q(('seconds__isnull', True), ('seconds__gte', 0), _connector='OR'), name='comparison_seconds_not_negative'), models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('rater', 'pair', 'swapped', 'repeat'), name='comparison_one_current'), models.UniqueConstraint(condition=models.Q(('assignment__isnull', False), ('is_current', True)), fields=('assignment',), name='comparison_one_per_assignment'), models.UniqueConstraint(condition=models.Q(('is_current', True), models.Q(('external_id', ''), _negated=True)), fields=('study', 'rater', 'external_id'), name='comparison_external_id_unique')],
            },
        ),
        migrations.CreateModel(
            name='StudyEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('paused', 'Study paused'), ('resumed', 'Study resumed'), ('closed', 'Study closed'), ('reopened', 'Study reopened'), ('rater_paused', 'Rater paused'), ('rater_resumed', 'Rater resumed'), ('left_out', "Rater's ratings left out"), ('taken_back', "Rater's ratings counted again"), ('role', 'Role changed'), ('anonymised', 'Personal details removed'), ('naming', 'Answers that name their author'), ('setting', 'Setting changed')], max_length=20)),
                ('note', models.TextField(blank=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('rater', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='events', to='arena.rater')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='arena.study')),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='TrainingAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveSmallIntegerField(default=1)),
                ('swapped', models.BooleanField()),
                ('points', models.PositiveSmallIntegerField()),
                ('rating', models.PositiveSmallIntegerField()),
                ('is_right', models.BooleanField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('membership', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='training_answers', to='arena.membership')),
                ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='training_answers', to='arena.pair')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('membership', 'pair', 'attempt'), name='training_answered_once'), models.CheckConstraint(condition=models.Q(('points__in', (2, 3, 5, 8)), ('rating__gte', 1), ('rating__lte', models.F('points'))), name='training_rating_within_scale')],
            },
        ),
        migrations.CreateModel(
            name='CriterionRating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('criterion', models.CharField(max_length=100)),
                ('points', models.PositiveSmallIntegerField()),
                ('rating', models.PositiveSmallIntegerField()),
                ('comparison', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='criterion_ratings', to='arena.comparison')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('comparison', 'criterion'), name='criterion_rated_once'), models.CheckConstraint(condition=models.Q(('points__in', (2, 3, 5, 8)), ('rating__gte', 1), ('rating__lte', models.F('points'))), name='criterion_rating_within_scale')],
            },
        ),
        migrations.CreateModel(
            name='Flag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(choices=[('prompt', 'The prompt makes no sense or lacks something'), ('display', 'An answer is not shown properly'), ('names', 'An answer tells who wrote it'), ('harm', 'The content is harmful or upsetting'), ('other', 'Something else')], max_length=10)),
                ('comment', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('settled_at', models.DateTimeField(blank=True, null=True)),
                ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='flag', to='arena.assignment')),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.CheckConstraint(condition=models.Q(('reason__in', ['prompt', 'display', 'names', 'harm', 'other'])), name='flag_reason_known')],
            },
        ),
        migrations.CreateModel(
            name='ImportChunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('data', models.BinaryField()),
                ('file', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='arena.importfile')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('file', 'position'), name='import_chunk_position_unique')],
            },
        ),
    ]
