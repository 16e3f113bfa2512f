from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0012_audit"),
    ]

    operations = [
        migrations.AddField(
            model_name="assignment",
            name="published_in",
            field=models.PositiveBigIntegerField(
                null=True,
                blank=True,
                editable=False,
                help_text="The first state of the leaderboard that counts its answer, which then no longer changes.",
            ),
        ),
    ]
