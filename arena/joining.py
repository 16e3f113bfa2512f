"""Writes: how people become raters of a study, by invitation or by signing up."""

import secrets
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.text import slugify

from arena.models import Invitation, Membership, Rater, RaterGroup, Study

User = Any
"""An account, or nobody (AnonymousUser): the project does not choose the user model."""


class JoiningError(Exception):
    """Nobody can join this way; the message is a sentence for the person who tried."""


def why_not(invitation: Invitation) -> str:
    """Why nobody can join by this invitation any more; the empty string while somebody can."""
    if invitation.study.is_closed:
        return "This study is closed; no more raters are taken."
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
    """Make this person a rater of the invitation's study and a member of its group.

    Counts one use, except for somebody who is a rater of the study already. Raises JoiningError.
    """
    membership, joined = _join(invitation.study, user)
    if joined:
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
    return _join(current, user)[0]


@transaction.atomic
def open_account(make_user: Callable[[], User], join: Callable[[User], Membership]) -> User:
    """A new account that has joined; when joining fails, no account is left behind."""
    user = make_user()
    join(user)
    return user


def _join(study: Study, user: User) -> tuple[Membership, bool]:
    if Study.objects.filter(pk=study.pk, closed_at__isnull=False).exists():
        raise JoiningError("This study is closed; no more raters are taken.")
    return Membership.objects.select_related("rater").get_or_create(study=study, rater=rater_of(user))


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
