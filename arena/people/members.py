"""Writes: what operators decide about the members of a study, and the links that let people in."""

from django.db import transaction
from django.utils import timezone

from arena.models import Invitation, Membership, Role, StudyEvent
from arena.people.permissions import Visitor


class MemberError(Exception):
    """It is not done; the message is a sentence for the operator."""


@transaction.atomic
def change_role(membership: Membership, role: Role, by: Visitor) -> bool:
    """Give a member another role, on record; False where it has it already. Raises MemberError."""
    locked = Membership.objects.select_for_update(of=("self",)).select_related("rater").get(pk=membership.pk)
    if locked.rater.user_id == by.pk:
        raise MemberError("Your own role is changed by another operator.")
    before = Role(locked.role)
    if before == role:
        return False
    locked.role = role
    locked.save(update_fields=["role"])
    note = f"{before.value} to {role.value}"
    StudyEvent.objects.create(
        study_id=locked.study_id, kind=StudyEvent.Kind.ROLE, by=by, rater=locked.rater, note=note
    )
    return True


def withdraw(invitation: Invitation) -> bool:
    """Make a link stop working; False where it was withdrawn before."""
    valid = Invitation.objects.filter(pk=invitation.pk, revoked_at__isnull=True)
    return bool(valid.update(revoked_at=timezone.now()))
