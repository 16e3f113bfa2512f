"""How people become members of a study, by invitation or sign-up."""

import secrets
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from django.contrib.auth import login
from django.contrib.auth.forms import UserCreationForm
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from arena.models import Invitation, Membership, Rater, RaterGroup, Role, Study, StudyEvent
from arena.people.permissions import may_sign_up
from arena.rating import training

CLOSED: Final = "This study is closed; no more raters are taken."

User = Any


ROLES: Final = list(Role)
"""From least to most rights."""


class JoiningError(Exception):
    """Nobody can join this way; the message is for the person who tried."""


def why_not(invitation: Invitation) -> str:
    """Why nobody can join by this invitation, or ''."""
    if invitation.study.is_closed and invitation.role == Role.RATER:
        return CLOSED
    if invitation.revoked_at:
        return "This invitation was withdrawn. Please ask for a new one."
    if invitation.expires_at and invitation.expires_at <= timezone.now():
        return "This invitation has expired. Please ask for a new one."
    if invitation.uses >= invitation.max_uses:
        return "This invitation has been used up. Please ask for a new one."
    return ""


@transaction.atomic
def join_by_invitation(invitation: Invitation, user: User) -> Membership:
    """Give the invitation's role and group; a role is never lowered. Raises JoiningError.

    One use is counted if the role is new.
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
    if not rater.groups.filter(pk=group.pk).exists():
        rater.groups.add(group)
        for study in Study.objects.filter(comparisons__rater=rater).distinct():
            study.touch()


@transaction.atomic
def join_by_sign_up(study: Study, user: User) -> Membership:
    """Make this person a rater; raises JoiningError if the study is not open to them."""
    current = Study.objects.get(pk=study.pk)
    if not may_sign_up(current, user):
        raise JoiningError("This study takes raters by invitation only.")
    membership, joined = _join(current, user, Role.RATER)
    if not joined:
        _raise(membership, Role.RATER)
    return membership


@transaction.atomic
def open_account(make_user: Callable[[], User], join: Callable[[User], Membership]) -> User:
    """A new account that has joined; none if joining fails."""
    user = make_user()
    join(user)
    return user


def _join(study: Study, user: User, role: Role) -> tuple[Membership, bool]:
    """The membership, and whether it was made now."""
    if role is Role.RATER and Study.objects.filter(pk=study.pk, closed_at__isnull=False).exists():
        raise JoiningError(CLOSED)
    known = Membership.objects.select_related("rater")
    return known.get_or_create(study=study, rater=rater_of(user), defaults={"role": role})


def raises(membership: Membership, role: str) -> bool:
    """Whether a role is higher than the member's."""
    return ROLES.index(Role(role)) > ROLES.index(Role(membership.role))


def _raise(membership: Membership, role: Role) -> bool:
    """Give a member a higher role, on record; False if theirs is as high."""
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
    """The rater of an account, made if need be."""
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


# Pages.


GONE = 410
"""HTTP status of a link that lets nobody in any more."""


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    known = Invitation.objects.select_related("study", "group")
    # PostgreSQL refuses to look for a NUL character, which no token holds.
    invitation = known.filter(token=token).first() if "\0" not in token else None
    if invitation is None:
        return _closed_door(
            request, "This invitation link is not valid. Please check that it is complete.", 404
        )
    reason = why_not(invitation)
    membership = _membership(request.user, invitation.study)
    if membership and (reason or not _gives_more(request, invitation, membership)):
        return redirect(_inside(invitation.study, membership))
    if reason:
        return _closed_door(request, reason, GONE)
    door = _Door(invitation.study, Role(invitation.role), membership)
    return _open(request, door, lambda user: join_by_invitation(invitation, user))


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_object_or_404(Study, slug=slug)
    membership = _membership(request.user, study)
    if membership and membership.role != Role.VIEWER:
        return redirect("rate-study", slug=slug)
    if not may_sign_up(study, request.user):
        if study.is_public:
            reason = "closed" if study.is_closed else "not open for sign-up; raters are invited"
            return _closed_door(request, f"This study is {reason}.", GONE)
        raise Http404
    door = _Door(study, Role.RATER, membership)
    return _open(request, door, lambda user: join_by_sign_up(study, user))


class _Door(NamedTuple):
    """What somebody joins, in which role, and what they are there already."""

    study: Study
    role: Role
    membership: Membership | None


def _membership(user: User, study: Study) -> Membership | None:
    if not user.is_authenticated:
        return None
    return Membership.objects.select_related("study").filter(study=study, rater__user=user).first()


def _gives_more(request: HttpRequest, invitation: Invitation, membership: Membership) -> bool:
    """Whether the invitation gives a member a higher role or a group."""
    group = invitation.group
    return raises(membership, invitation.role) or bool(group and not _is_in(request, group))


def _inside(study: Study, membership: Membership | None) -> str:
    """Where a member begins."""
    if membership and membership.role == Role.VIEWER:
        return study.get_absolute_url()
    if membership and membership.role == Role.OPERATOR:
        return reverse("operate-study", args=[study.slug])
    return reverse("guidelines", args=[study.slug])


def _is_in(request: HttpRequest, group: RaterGroup) -> bool:
    user = request.user
    return user.is_authenticated and group.raters.filter(user=user).exists()


def _open(request: HttpRequest, door: _Door, admit: Callable[[User], Membership]) -> HttpResponse:
    """Join with the account in use, or with a new one."""
    signed_in = request.user.is_authenticated
    form: UserCreationForm[Any] | None = None if signed_in else UserCreationForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            user: User = request.user
            if form is None:
                admit(user)
            else:
                user = open_account(form.save, admit)
                login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        except JoiningError as error:
            return _closed_door(request, str(error), GONE)
        return redirect(_inside(door.study, _membership(user, door.study)))
    context = {
        "study": door.study,
        "role": door.role,
        "membership": door.membership,
        "is_raised": bool(door.membership and raises(door.membership, door.role)),
        "has_training": door.role == Role.RATER and training.pairs_of(door.study).exists(),
        "form": form,
    }
    return render(request, "annotation/join.html", context)


def _closed_door(request: HttpRequest, reason: str, status: int) -> HttpResponse:
    return render(request, "annotation/closed_door.html", {"reason": reason}, status=status)
