"""Writes: pausing, resuming, closing and reopening a study, each recorded with who did it and why."""

from datetime import datetime
from typing import Final, NamedTuple

from django.db import transaction
from django.utils import timezone

from arena.models import Study, StudyEvent
from arena.models.signals import announce
from arena.people.permissions import Visitor

Kind = StudyEvent.Kind


class _Change(NamedTuple):
    """Which moment of the study a decision sets, or clears, and whether published figures rest on it."""

    field: str
    sets: bool
    shows: bool


CHANGES: Final = {
    Kind.PAUSED: _Change("paused_at", sets=True, shows=False),
    Kind.RESUMED: _Change("paused_at", sets=False, shows=False),
    Kind.CLOSED: _Change("closed_at", sets=True, shows=True),
    Kind.REOPENED: _Change("closed_at", sets=False, shows=True),
}


@transaction.atomic
def decide(study: Study, kind: StudyEvent.Kind, by: Visitor, note: str = "") -> bool:
    """Pause, resume, close or reopen a study; False where it is in that state already.

    Assignments are left alone: what raters have in hand can be answered while a study is paused.
    """
    change = CHANGES[kind]
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    then: datetime | None = getattr(locked, change.field)
    if (then is not None) == change.sets:
        return False
    setattr(locked, change.field, timezone.now() if change.sets else None)
    locked.save(update_fields=[change.field])
    StudyEvent.objects.create(study=locked, kind=kind, by=by if by and by.pk else None, note=note.strip())
    if change.shows:
        announce([locked])
    setattr(study, change.field, getattr(locked, change.field))
    return True


def possible(study: Study) -> list[StudyEvent.Kind]:
    """What can be decided about a study as it is now. Whether a closed one is paused matters to nobody."""
    if study.is_closed:
        return [Kind.REOPENED]
    return [Kind.RESUMED if study.paused_at else Kind.PAUSED, Kind.CLOSED]
