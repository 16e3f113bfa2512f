from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0006_tables_of_single_answers'),
    ]

    operations = [
        migrations.AlterField(
            model_name='snapshotslice',
            name='kind',
            field=models.CharField(choices=[('standings', 'Standings'), ('matrices', 'Win, tie and game-count matrices'), ('ratings', 'Ratings as shown, with position statistics'), ('correlation', 'Correlation with people'), ('agreement', 'Agreement with other raters, and among these'), ('length', 'Effect of length'), ('data', 'Lengths of the texts'), ('trust', 'How often judges are right'), ('requirements', 'Requirements met'), ('scores', 'Text scores'), ('features', 'Features of answers')], max_length=20),
        ),
    ]
