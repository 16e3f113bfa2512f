"""The one way into the log of what operators do."""

from django.contrib.auth.models import User

from arena.models import Rater, Study, StudyEvent
from arena.monitoring.logs import current_command, current_request
from arena.monitoring.redacting import redact
from arena.pages.permissions import Visitor

Kind = StudyEvent.Kind


def record(
    kind: StudyEvent.Kind,
    by: Visitor | None,
    note: str = "",
    *,
    study: Study | None = None,
    rater: Rater | None = None,
    account: User | None = None,
) -> StudyEvent:
    """Add a line to the log, in the transaction of what it is about.

    by: who did it; None for a rule, or for a command, which names itself. Known secrets are hidden. Name
    people by ``rater`` and ``account``, not in the note, so that their names go with their details.
    """
    actor = by if by is not None and by.pk else None
    return StudyEvent.objects.create(
        study=study,
        study_slug=study.slug if study else "",
        kind=kind,
        by=actor,
        by_number=actor.pk if actor else None,
        command="" if actor else current_command(),
        rater=rater,
        account=account,
        note=redact(note),
        request=current_request(),
    )
