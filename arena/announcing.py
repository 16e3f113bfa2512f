"""Having the figures of studies computed anew when something other than a comparison changed them."""

from collections.abc import Iterable

from django.db import transaction

from arena.models import Study
from arena.signals import study_changed


def announce(studies: Iterable[Study]) -> None:
    """Have the figures of these studies computed anew, once the transaction has committed."""
    for study in studies:
        study.touch()
        pk = study.pk
        transaction.on_commit(lambda pk=pk: study_changed.send(sender=Study, study_id=pk))  # type: ignore[misc]
