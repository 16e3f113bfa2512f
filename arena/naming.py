"""Writes: what becomes of the completions of a study that tell who wrote them."""

from django.db import transaction

from arena.models import Study, StudyEvent
from arena.permissions import Visitor


@transaction.atomic
def choose_naming(study: Study, naming: Study.Naming, by: Visitor) -> bool:
    """Show, mask or leave out from now on, and record who decided so; False where it is so already.

    No figure changes: what was rated stays rated, as it was shown then.
    """
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    before = locked.naming
    if before == naming:
        return False
    locked.naming = naming
    locked.save(update_fields=["naming"])
    note = f"{Study.Naming(naming).label}. Before: {Study.Naming(before).label}."
    StudyEvent.objects.create(
        study=locked, kind=StudyEvent.Kind.NAMING, by=by if by and by.pk else None, note=note
    )
    study.naming = naming
    return True
