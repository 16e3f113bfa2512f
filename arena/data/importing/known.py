"""Facts of a study that help to read a table for it."""

from django.db.models import QuerySet

from arena.data.formats.columns import Known, Samples
from arena.data.formats.values import unstorable
from arena.models import Comparison, Prompt, Study


def known_to(studies: QuerySet[Study], samples: Samples) -> Known:
    """Returns what the one study of ``studies`` knows of these cells; nothing where there is none."""
    study = studies.first()
    if study is None:
        return Known()
    cells = {cell for column in samples.values() for cell in column if not unstorable(cell)}
    prompts = Prompt.objects.filter(study=study, external_id__in=cells)
    return Known(
        sorted(set(prompts.values_list("external_id", flat=True))),
        sorted(study.contestants.values_list("name", flat=True)),
        study.points,
        Comparison.objects.filter(study=study).exists(),
    )
