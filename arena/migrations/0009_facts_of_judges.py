from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("arena", "0008_drafts")]

    operations = [
        migrations.AddField(
            model_name="rater",
            name="facts",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="Of an imported judge: model, protocol, source, prices and more.",
            ),
        ),
    ]
