"""What operators decide about one rater of a study: a pause, or that the comparisons count nowhere.

Nothing is deleted and everything can be taken back. Each decision is kept as a StudyEvent with who and why;
one that changes nothing is not.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from arena.models import Comparison, Membership, Pair, Rater, Study, StudyEvent
from arena.models.signals import announce

LONGEST_NOTE = 1000
"""Characters of a reason."""


class UndecidedError(Exception):
    """The decision cannot be taken; the message is a sentence for the operator."""


def leave_out(study: Study, rater: Rater, by: User, note: str) -> bool:
    """Let a person's comparisons count nowhere in the study; False where they already do not.

    The pairs lack those ratings then and are offered to others again. Raises UndecidedError without a reason,
    for a judge, and for somebody who has no part in the study.
    """
    if not note.strip():
        raise UndecidedError("Say why the comparisons are left out: the reason is kept with the decision.")
    return _decide(study, rater, by, note, StudyEvent.Kind.LEFT_OUT)


def take_back(study: Study, rater: Rater, by: User, note: str = "") -> bool:
    """Let them count again; False where they already do. Raises UndecidedError like leave_out."""
    return _decide(study, rater, by, note, StudyEvent.Kind.TAKEN_BACK)


def pause(study: Study, rater: Rater, by: User, note: str = "") -> bool:
    """Offer a person nothing more in this study; False where they are paused. Raises UndecidedError."""
    return _decide(study, rater, by, note, StudyEvent.Kind.RATER_PAUSED)


def resume(study: Study, rater: Rater, by: User, note: str = "") -> bool:
    """Offer pairs to them again; False where nobody paused them. Raises UndecidedError."""
    return _decide(study, rater, by, note, StudyEvent.Kind.RATER_RESUMED)


_FIELD = {
    StudyEvent.Kind.LEFT_OUT: ("left_out_at", True),
    StudyEvent.Kind.TAKEN_BACK: ("left_out_at", False),
    StudyEvent.Kind.RATER_PAUSED: ("paused_at", True),
    StudyEvent.Kind.RATER_RESUMED: ("paused_at", False),
}
"""The column of the membership that a decision sets, and whether it sets or empties it."""


@transaction.atomic
def _decide(study: Study, rater: Rater, by: User, note: str, kind: StudyEvent.Kind) -> bool:
    # The lock that claims take: nobody is offered a pair between the decision and the new counts.
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if len(note) > LONGEST_NOTE:
        raise UndecidedError(f"Please keep the reason under {LONGEST_NOTE:,} characters.")
    if "\0" in note:
        raise UndecidedError("The reason holds a NUL character, which cannot be stored.")
    membership = _membership(locked, rater)
    field, wanted = _FIELD[kind]
    if (getattr(membership, field) is not None) == wanted:
        return False
    setattr(membership, field, timezone.now() if wanted else None)
    membership.save(update_fields=[field])
    StudyEvent.objects.create(study=locked, kind=kind, by=by, rater=rater, note=note.strip())
    if field == "left_out_at":
        rated = Comparison.objects.filter(study=locked, rater=rater).values("pair")
        Pair.objects.filter(pk__in=rated).recount(locked)
        announce([locked])
    return True


def _membership(study: Study, rater: Rater) -> Membership:
    """The person's part in the study; made for somebody whose comparisons came with an import."""
    if rater.kind != Rater.Kind.PERSON:
        raise UndecidedError("Only people can be paused or left out here; judges have boards of their own.")
    found = Membership.objects.select_for_update().filter(study=study, rater=rater).first()
    if found is None and Comparison.objects.filter(study=study, rater=rater).exists():
        found = Membership.objects.create(study=study, rater=rater)
    if found is None:
        raise UndecidedError("This person has no part in the study.")
    return found
