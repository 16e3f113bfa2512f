from typing import Any

from django.db import migrations


def name_members(apps: Any, schema_editor: Any) -> None:
    """Let the raters of panels say of whom they are made."""
    for panel in apps.get_model("judging", "Panel").objects.select_related("rater"):
        slugs = panel.members.order_by("rater__slug").values_list("rater__slug", flat=True)
        panel.rater.derived_from = list(slugs)
        panel.rater.save(update_fields=["derived_from"])


class Migration(migrations.Migration):

    dependencies = [
        ("judging", "0001_tables"),
        ("arena", "0002_derived_from"),
    ]

    operations = [migrations.RunPython(name_members, migrations.RunPython.noop)]
