from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("judging", "0004_panels_know_what_they_saw")]

    operations = [
        migrations.AddField(
            model_name="judgerun",
            name="currency",
            field=models.CharField(
                blank=True, default="", help_text="Of budget and cost; empty while no price is known.", max_length=3
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="judgecall",
            name="prompt_price",
            field=models.DecimalField(
                blank=True,
                decimal_places=6,
                help_text="Of a million tokens, when it was asked.",
                max_digits=12,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="judgecall",
            name="completion_price",
            field=models.DecimalField(blank=True, decimal_places=6, max_digits=12, null=True),
        ),
    ]
