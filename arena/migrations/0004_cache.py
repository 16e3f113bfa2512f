from django.core.management import call_command
from django.db import migrations


def make_table(apps, editor):
    call_command("createcachetable", database=editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0003_thinking'),
    ]

    operations = [
        migrations.RunPython(make_table, migrations.RunPython.noop, elidable=False),
    ]
