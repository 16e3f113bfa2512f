"""Rows of imported files that were not read."""

from django.db.models import Sum

from arena.models import Study


def left_out_by_reason(study: Study) -> dict[str, int]:
    """Count the rows that imports left out, the most frequent reasons first; no file is named."""
    counted = study.left_out_rows.order_by().values_list("reason").annotate(count=Sum("rows"))
    return dict(counted.order_by("-count", "reason"))
