"""Writes: how people become members of a study: in the role of an invitation, or as raters by signing up."""

import secrets
from collections.abc import Callable
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.text import slugify

from arena.models import Invitation, Membership, Rater, RaterGroup, Role, Study, StudyEvent

CLOSED: Final = "This study is closed; no more raters are taken."

User = Any
"""An account, or nobody (AnonymousUser): the project does not choose the user model."""


ROLES: Final = list(Role)
"""From the one that may least to the one that may most."""


class JoiningError(Exception):
    """Nobody can join this way; the message is a sentence for the person who tried."""


def why_not(invitation: Invitation) -> str:
    """Why nobody can join by this invitation any more; the empty string while somebody can."""
    if invitation.study.is_closed and invitation.role == Role.RATER:
        return CLOSED
    if invitation.revoked_at:
        return "This invitation was withdrawn. Please ask for a new one."
    if invitation.expires_at and invitation.expires_at <= timezone.now():
        return "This invitation has expired. Please ask for a new one."
    if invitation.uses >= invitation.max_uses:
        return "This invitation has been used up. Please ask for a new one."
    return ""


def may_sign_up(study: Study, user: User) -> bool:
    """Whether this person, signed in or not, may join without an invitation. Operators always may."""
    return not study.is_closed and (study.sign_up_open or bool(user.is_active and user.is_staff))


@transaction.atomic
def join_by_invitation(invitation: Invitation, user: User) -> Membership:
    """Give this person the invitation's role in its study, and make them a member of its group.

    A role is never lowered. Counts one use, except for somebody who has the role, or more, already. Raises
    JoiningError.
    """
    role = Role(invitation.role)
    membership, joined = _join(invitation.study, user, role)
    if joined or _raise(membership, role):
        now = timezone.now()
        left = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
        # One statement that checks and counts: two people cannot both take the last use.
        taken = Invitation.objects.filter(
            left, pk=invitation.pk, revoked_at__isnull=True, uses__lt=F("max_uses")
        ).update(uses=F("uses") + 1)
        if not taken:
            invitation.refresh_from_db()
            raise JoiningError(why_not(invitation) or "This invitation cannot be used.")
    if invitation.group:
        _into_group(membership.rater, invitation.group)
    return membership


def _into_group(rater: Rater, group: RaterGroup) -> None:
    """Make a rater a member; what the group says of studies where it has rated already changes with it."""
    if not rater.groups.filter(pk=group.pk).exists():
        rater.groups.add(group)
        for study in Study.objects.filter(comparisons__rater=rater).distinct():
            study.touch()


@transaction.atomic
def sign_up(study: Study, user: User) -> Membership:
    """Make this person a rater of a study that takes anyone; raises JoiningError where it does not."""
    current = Study.objects.get(pk=study.pk)
    if not may_sign_up(current, user):
        raise JoiningError("This study takes raters by invitation only.")
    membership, joined = _join(current, user, Role.RATER)
    if not joined:
        _raise(membership, Role.RATER)
    return membership


@transaction.atomic
def open_account(make_user: Callable[[], User], join: Callable[[User], Membership]) -> User:
    """A new account that has joined; when joining fails, no account is left behind."""
    user = make_user()
    join(user)
    return user


def _join(study: Study, user: User, role: Role) -> tuple[Membership, bool]:
    """The person's membership, and whether it was made now, with this role."""
    if role is Role.RATER and Study.objects.filter(pk=study.pk, closed_at__isnull=False).exists():
        raise JoiningError(CLOSED)
    known = Membership.objects.select_related("rater")
    return known.get_or_create(study=study, rater=rater_of(user), defaults={"role": role})


def raises(membership: Membership, role: str) -> bool:
    """Whether a role lets a member do more than the one they have."""
    return ROLES.index(Role(role)) > ROLES.index(Role(membership.role))


def _raise(membership: Membership, role: Role) -> bool:
    """Give a member a role that lets them do more, on record; False where they may as much already."""
    lower = ROLES[: ROLES.index(role)]
    before = membership.role
    if not Membership.objects.filter(pk=membership.pk, role__in=lower).update(role=role):
        return False
    membership.role = role
    note = f"{before} to {role.value}, by joining"
    StudyEvent.objects.create(
        study_id=membership.study_id, kind=StudyEvent.Kind.ROLE, rater=membership.rater, note=note
    )
    return True


def rater_of(user: User) -> Rater:
    """The rater behind an account, made at the first need with a slug nobody else has."""
    found = Rater.objects.filter(user=user).first()
    return found or _new_rater(user)


def _new_rater(user: User) -> Rater:
    name = user.get_username()
    base = slugify(name)[:100] or "rater"
    # "ann-7" may itself be somebody's name; a random suffix then decides.
    for slug in (base, f"{base}-{user.pk}", f"{base}-{secrets.token_hex(6)}"):
        try:
            with transaction.atomic():
                return Rater.objects.create(kind=Rater.Kind.PERSON, slug=slug, name=name[:200], user=user)
        except IntegrityError:
            twin = Rater.objects.filter(user=user).first()
            if twin:  # made by another request of the same person
                return twin
    raise JoiningError("No rater could be made for this account; please try again.")
