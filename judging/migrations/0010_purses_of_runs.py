from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('judging', '0009_purses'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='judgerun',
            name='budget',
        ),
        migrations.RemoveField(
            model_name='judgerun',
            name='currency',
        ),
        migrations.RemoveField(
            model_name='judgerun',
            name='reserved',
        ),
        migrations.RemoveField(
            model_name='judgerun',
            name='spent',
        ),
    ]
