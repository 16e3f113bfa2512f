from django.db import migrations


def forget(apps, schema_editor):
    """Tables computed on demand now say which category they are about; earlier ones are computed again."""
    apps.get_model("leaderboard", "ComputedView").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0003_comparison_index")]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
