from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models.signals import pre_delete
from django.dispatch import receiver

from arena.models import Rater
from arena.models.signals import Received, answers_received, details_removed
from judging.battles import removing
from judging.models import Submission
from judging.remote import services as remote_services


@receiver(answers_received, dispatch_uid="judging.keep_calls")
def keep_calls(answers: Sequence[Received], **_: Any) -> set[int]:
    """Settle the calls behind judges' answers, in the transaction that stores the answers."""
    of_judges = [each for each in answers if each.assignment.rater.kind == Rater.Kind.JUDGE]
    if not of_judges:
        return set()
    remote = remote_services.asked_remotely([each.assignment.pk for each in of_judges])
    return {
        assignment.pk
        for assignment, opinion, call in of_judges
        if assignment.pk in remote and remote_services.settle(assignment, opinion, call or {})
    }


@receiver(details_removed, dispatch_uid="judging.remove_battles")
def remove_battles(rater: Rater, by: Any = None, **_: Any) -> None:
    """Remove what somebody typed in battles, with the answers and the votes."""
    removing.remove_all(rater, by)


@receiver(pre_delete, sender=User, dispatch_uid="judging.forget_contacts")
def forget_contacts(instance: User, **_: Any) -> None:
    """Remove what would still name a person whose account goes."""
    Submission.objects.filter(account=instance).update(contact="", origin="")
