"""The prompt that holds comparisons whose file names none gets a subset of its own."""

from typing import Any

from django.db import migrations


def mark(apps: Any, schema_editor: Any) -> None:
    prompts = apps.get_model("arena", "Prompt").objects
    held = prompts.filter(external_id__in=("battles", "comparisons"), subset="", turns=[])
    held.update(subset="(no prompt named)")


class Migration(migrations.Migration):
    dependencies = [("arena", "0002_exact_scores_and_unknown_dates")]
    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
