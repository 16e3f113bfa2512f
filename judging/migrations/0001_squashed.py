# Replaces the migrations of the time before the first version. They may be taken out of `replaces`
# when no database of that time is left.

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('judging', '0001_initial'),
        ('judging', '0002_remote_runs'),
        ('judging', '0003_a_library_of_protocols'),
        ('judging', '0004_panels_know_what_they_saw'),
        ('judging', '0005_what_calls_cost'),
        ('judging', '0006_identical_pairs_of_a_run'),
        ('judging', '0007_calls_in_an_outage'),
        ('judging', '0008_larger_amounts'),
        ('judging', '0009_put_aside'),
    ]

    initial = True

    dependencies = [
        ('arena', '0001_squashed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Judge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(choices=[('openai', 'OpenAI-compatible endpoint'), ('simulated', 'Simulated (demo study only)')], default='openai', max_length=10)),
                ('model', models.CharField(help_text='As the endpoint names it.', max_length=200)),
                ('base_url', models.CharField(blank=True, help_text='Of an OpenAI-compatible endpoint, e.g. https://api.example.com/v1.', max_length=500, verbose_name='address')),
                ('api_key_env', models.CharField(blank=True, max_length=100, verbose_name='key variable')),
                ('protocol', models.CharField(default='likert', max_length=50)),
                ('form', models.CharField(choices=[('likert', 'one number of the rating scale'), ('binary', 'the better answer, first or second'), ('scores', 'two scores from 1 to 10, compared'), ('grades', 'five grades from A>>B to B>>A')], default='likert', help_text='How the judge states its verdict.', max_length=10, verbose_name='answer scale')),
                ('points', models.PositiveSmallIntegerField(choices=[(2, '2 points'), (3, '3 points'), (5, '5 points'), (8, '8 points')], default=8, help_text='For a verdict that is one number. Other answer scales have their own.', verbose_name='points of the rating scale')),
                ('parameters', models.JSONField(blank=True, default=dict, help_text="Those that differ from the protocol's defaults.")),
                ('wording', models.JSONField(blank=True, default=dict, help_text="Prompt texts that replace the protocol's, by name.")),
                ('samples', models.PositiveSmallIntegerField(default=1, help_text='Times each pair is asked in the same order. The majority decides.')),
                ('logprobs', models.BooleanField(default=False, help_text='Stores the expected rating beside the rating, if the endpoint returns probabilities of tokens.', verbose_name='ask for logprobs')),
                ('temperature', models.FloatField(blank=True, default=0, help_text="Leave empty for the endpoint's own.", null=True)),
                ('max_tokens', models.PositiveIntegerField(blank=True, default=1024, help_text='Longest reply in tokens, including thinking.', null=True)),
                ('timeout', models.FloatField(default=120, help_text='Seconds to wait for a reply.')),
                ('options', models.JSONField(blank=True, default=dict, help_text='Further fields of the request, e.g. {"top_p": 0.9}.')),
                ('simulation', models.JSONField(blank=True, default=dict, help_text='Of a simulated judge: noise, position_bias, strengths.')),
                ('both_orders', models.BooleanField(default=False, help_text='Runs ask about every pair in both orders unless you choose otherwise.')),
                ('concurrency', models.PositiveSmallIntegerField(default=8, help_text='Calls at a time, over all workers.')),
                ('requests_per_minute', models.PositiveIntegerField(blank=True, help_text='Leave empty for no limit.', null=True)),
                ('tokens_per_minute', models.PositiveIntegerField(blank=True, help_text='Input and output together. Leave empty for no limit.', null=True)),
                ('active', models.BooleanField(default=True, help_text='An inactive judge starts no runs.')),
                ('prompt_hash', models.CharField(editable=False, help_text='Wording this judge was asked with, fixed by its first run.', max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('rater', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='judge', to='arena.rater')),
            ],
            options={
                'ordering': ['rater__name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('points__in', (2, 3, 5, 8))), name='judge_points_is_a_scale'), models.CheckConstraint(condition=models.Q(('timeout__gt', 0)), name='judge_timeout_positive'), models.CheckConstraint(condition=models.Q(('provider', 'simulated'), models.Q(('provider', 'openai'), models.Q(('base_url', ''), _negated=True)), _connector='OR'), name='judge_has_an_endpoint')],
            },
        ),
        migrations.CreateModel(
            name='JudgeRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('paused', 'Paused'), ('finished', 'Finished'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('kind', models.CharField(choices=[('all', 'All pairs not rated yet'), ('extend', 'Pairs never asked about'), ('failures', 'Pairs that failed'), ('unscored', 'Pairs whose reply had no rating')], default='all', max_length=10)),
                ('limit', models.PositiveIntegerField(blank=True, help_text='Most pairs to ask about.', null=True)),
                ('both_orders', models.BooleanField(default=False, help_text='Ask about every pair in both orders.')),
                ('controls', models.BooleanField(default=False, help_text='Ask about pairs of identical answers too, as a test of the judge.')),
                ('identical', models.PositiveIntegerField(default=0, help_text='Pairs of identical answers, recorded without asking.')),
                ('budget', models.DecimalField(blank=True, decimal_places=6, help_text='The run pauses before it spends more.', max_digits=12, null=True)),
                ('spent', models.DecimalField(decimal_places=8, default=0, max_digits=20)),
                ('reserved', models.DecimalField(decimal_places=8, default=0, help_text='The most that calls in flight can still cost.', max_digits=20)),
                ('currency', models.CharField(blank=True, help_text='Of budget and cost. Empty while no price is known.', max_length=3)),
                ('remote', models.BooleanField(default=False, help_text='Judge workers on other machines ask over the API, not this arena.')),
                ('error', models.CharField(blank=True, help_text='Why it paused, ended early or brought no rating.', max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='judging.judge')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judge_runs', to='arena.study')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running', 'paused'])), fields=('study', 'judge'), name='judge_run_one_active'), models.CheckConstraint(condition=models.Q(('limit__isnull', True), ('limit__gt', 0), _connector='OR'), name='judge_run_limit_positive'), models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'paused', 'finished', 'cancelled'])), name='judge_run_state_known')],
            },
        ),
        migrations.CreateModel(
            name='JudgeCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(help_text='Names the question among those of the protocol.', max_length=120)),
                ('round', models.PositiveSmallIntegerField(default=0, help_text='Raised each time the assignment is asked anew although it has its answer.')),
                ('attempt', models.PositiveIntegerField(help_text='Counted from 1 over all runs.')),
                ('state', models.CharField(choices=[('in_flight', 'In flight'), ('replied', 'Replied'), ('failed', 'Failed'), ('abandoned', 'Abandoned')], default='in_flight', max_length=10)),
                ('worker', models.CharField(help_text='The process that asked.', max_length=200)),
                ('prompt_hash', models.CharField(max_length=64)),
                ('model', models.CharField(blank=True, help_text='The model that was asked.', max_length=200)),
                ('sample', models.PositiveIntegerField(default=0, help_text='Tells calls apart that are made although their messages are the same.')),
                ('request_hash', models.CharField(blank=True, help_text='Of all that shapes the reply: equal hashes share one.', max_length=64)),
                ('messages', models.JSONField(help_text='Exactly what was sent.')),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('deadline', models.DateTimeField(help_text='After this the process that asked is taken for dead.')),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('latency', models.FloatField(blank=True, help_text='Seconds from sending to the reply.', null=True)),
                ('raw_reply', models.TextField(blank=True)),
                ('refusal', models.TextField(blank=True, help_text='Text of a separate refusal field.')),
                ('finish_reason', models.CharField(blank=True, max_length=50)),
                ('model_returned', models.CharField(blank=True, max_length=200)),
                ('prompt_tokens', models.PositiveIntegerField(blank=True, null=True)),
                ('completion_tokens', models.PositiveIntegerField(blank=True, null=True)),
                ('reasoning_tokens', models.PositiveIntegerField(blank=True, help_text='Those of the completion that were spent thinking.', null=True)),
                ('logprobs', models.JSONField(blank=True, help_text='Log-probabilities of the tokens that could stand for the verdict.', null=True)),
                ('expected', models.FloatField(blank=True, help_text='Expected rating over the answer tokens.', null=True)),
                ('reserved', models.DecimalField(decimal_places=8, default=0, help_text='The most that it can cost while in flight.', max_digits=20)),
                ('cost', models.DecimalField(blank=True, decimal_places=8, help_text='Empty: no price is known.', max_digits=20, null=True)),
                ('prompt_price', models.DecimalField(blank=True, decimal_places=6, help_text='Of a million tokens, when it was asked.', max_digits=12, null=True)),
                ('completion_price', models.DecimalField(blank=True, decimal_places=6, max_digits=12, null=True)),
                ('error_kind', models.CharField(blank=True, max_length=50)),
                ('error', models.CharField(blank=True, max_length=600)),
                ('retry_at', models.DateTimeField(blank=True, null=True)),
                ('in_outage', models.BooleanField(default=False, help_text='It failed while its endpoint did not answer at all: no attempt is used up.')),
                ('given_up', models.BooleanField(default=False, help_text='The last call of this run about the assignment, which ends without an answer.')),
                ('status', models.CharField(blank=True, choices=[('scored', 'Scored'), ('unscored', 'Unscored'), ('identical', 'Identical completions')], max_length=10)),
                ('reason', models.CharField(blank=True, choices=[('empty', 'The reply was empty'), ('out_of_range', 'The number was outside the scale'), ('unparsable', 'No rating could be read'), ('truncated', 'The reply was cut off before the verdict'), ('refused', 'The rater refused to answer'), ('undecided', 'Several answers of the rater contradict each other')], max_length=20)),
                ('rating', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('submit_attempts', models.PositiveIntegerField(default=0)),
                ('submit_due_at', models.DateTimeField(blank=True, null=True)),
                ('submitted_at', models.DateTimeField(blank=True, null=True)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judge_calls', to='arena.assignment')),
                ('cached_from', models.ForeignKey(blank=True, help_text='The call whose reply this is; nothing was asked.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='judging.judgecall')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='judging.judgerun')),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['run', 'state', 'status', 'reason', 'given_up', 'model_returned', 'cached_from', 'attempt', 'finished_at', 'prompt_tokens', 'completion_tokens', 'reasoning_tokens'], name='judge_call_progress'), models.Index(condition=models.Q(('state', 'in_flight')), fields=['deadline'], name='judge_call_in_flight'), models.Index(condition=models.Q(('submit_due_at__isnull', False)), fields=['submit_due_at'], name='judge_call_unsubmitted'), models.Index(condition=models.Q(('cached_from__isnull', True), ('state', 'replied'), models.Q(('request_hash', ''), _negated=True)), fields=['request_hash'], name='judge_call_cache')],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'key', 'round', 'attempt'), name='judge_call_attempt_once'), models.UniqueConstraint(condition=models.Q(('state__in', ['in_flight', 'replied'])), fields=('assignment', 'key', 'round'), name='judge_call_one_live'), models.UniqueConstraint(condition=models.Q(('state', 'in_flight'), models.Q(('request_hash', ''), _negated=True)), fields=('request_hash',), name='judge_call_request_in_flight_once'), models.CheckConstraint(condition=models.Q(('state__in', ['in_flight', 'replied', 'failed', 'abandoned'])), name='judge_call_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state', 'in_flight')), models.Q(models.Q(('state', 'in_flight'), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='judge_call_finished_unless_in_flight'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error_kind', ''), _negated=True)), models.Q(('state', 'failed'), _negated=True), _connector='OR'), name='judge_call_failed_with_a_reason'), models.CheckConstraint(condition=models.Q(('submitted_at__isnull', True), models.Q(('state', 'replied'), models.Q(('status', ''), _negated=True)), _connector='OR'), name='judge_call_submitted_with_outcome')],
            },
        ),
        migrations.CreateModel(
            name='Panel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rule', models.CharField(choices=[('majority', 'Majority: the side that most judges prefer'), ('mean', "Mean of the judges' ratings")], default='majority', max_length=10)),
                ('active', models.BooleanField(default=True, help_text='An inactive panel rates no more pairs.')),
                ('seen', models.BigIntegerField(default=0, help_text='The newest comparison of its members when it last gave verdicts.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('members', models.ManyToManyField(related_name='panels', to='judging.judge')),
                ('rater', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='panel', to='arena.rater')),
            ],
            options={
                'ordering': ['rater__name'],
            },
        ),
        migrations.CreateModel(
            name='Price',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(help_text='As judges name it.', max_length=200)),
                ('base_url', models.CharField(blank=True, help_text='Leave empty for any address.', max_length=500, verbose_name='address')),
                ('prompt', models.DecimalField(decimal_places=6, max_digits=12, verbose_name='input price')),
                ('completion', models.DecimalField(decimal_places=6, max_digits=12, verbose_name='output price')),
                ('currency', models.CharField(default='USD', max_length=3)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ['model', 'base_url'],
                'constraints': [models.UniqueConstraint(fields=('model', 'base_url'), name='price_once'), models.CheckConstraint(condition=models.Q(('completion__gte', 0), ('prompt__gte', 0)), name='price_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='RunAssignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.PositiveSmallIntegerField(default=0, help_text='Of the calls that this run makes about it (JudgeCall.round).')),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, help_text='Not to be asked before.')),
                ('queued_until', models.DateTimeField(blank=True, null=True)),
                ('waiting_for', models.CharField(blank=True, help_text='The hash of a request that somebody else has in flight.', max_length=64)),
                ('put_aside', models.BooleanField(default=False, help_text='Not asked to the end: the pair could not be rated any more.')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='run_assignments', to='arena.assignment')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='run_assignments', to='judging.judgerun')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('queued_until__isnull', False)), fields=['run', 'queued_until'], name='run_assignment_queued'), models.Index(condition=models.Q(('waiting_for', ''), _negated=True), fields=['waiting_for'], name='run_assignment_waiting'), models.Index(condition=models.Q(('put_aside', True)), fields=['run'], name='run_assignment_put_aside')],
                'constraints': [models.UniqueConstraint(fields=('run', 'assignment'), name='run_assignment_unique')],
            },
        ),
    ]
