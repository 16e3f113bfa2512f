from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('judging', '0007_endpoints'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='judge',
            name='judge_timeout_positive',
        ),
        migrations.RemoveConstraint(
            model_name='judge',
            name='judge_has_an_endpoint',
        ),
        migrations.RemoveField(
            model_name='judge',
            name='api_key_env',
        ),
        migrations.RemoveField(
            model_name='judge',
            name='base_url',
        ),
        migrations.RemoveField(
            model_name='judge',
            name='concurrency',
        ),
        migrations.RemoveField(
            model_name='judge',
            name='model',
        ),
        migrations.RemoveField(
            model_name='judge',
            name='requests_per_minute',
        ),
        migrations.RemoveField(
            model_name='judge',
            name='timeout',
        ),
        migrations.RemoveField(
            model_name='judge',
            name='tokens_per_minute',
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('endpoint', None), ('provider', 'simulated')), models.Q(('endpoint__isnull', False), ('provider', 'openai')), _connector='OR'), name='judge_has_an_endpoint'),
        ),
    ]
