"""How people become members of a study, by invitation or sign-up."""

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any, Final

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
from arena.people.permissions import Visitor, may_sign_up
from arena.rating import training

CLOSED: Final = "This study is closed; no more raters are taken."

ROLES: Final = list(Role)  # from least to most rights


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
def join_by_invitation(invitation: Invitation, user: Visitor) -> Membership:
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
def join_by_sign_up(study: Study, user: Visitor) -> Membership:
    """Make this person a rater; raises JoiningError if the study is not open to them."""
    current = Study.objects.get(pk=study.pk)
    if not may_sign_up(current, user):
        raise JoiningError("This study takes raters by invitation only.")
    membership, joined = _join(current, user, Role.RATER)
    if not joined:
        _raise(membership, Role.RATER)
    return membership


@transaction.atomic
def open_account(make_user: Callable[[], Visitor], join: Callable[[Visitor], Membership]) -> Visitor:
    """A new account that has joined; none if joining fails."""
    user = make_user()
    join(user)
    return user


def _join(study: Study, user: Visitor, role: Role) -> tuple[Membership, bool]:
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


def rater_of(user: Visitor) -> Rater:
    """The rater of an account, made if need be."""
    found = Rater.objects.filter(user=user).first()
    return found or _new_rater(user)


def _new_rater(user: Visitor) -> Rater:
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


GONE = 410  # HTTP status of a link that lets nobody in any more


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
    if membership and (reason or not _gives_more(invitation, membership)):
        return redirect(_inside(invitation.study, membership))
    if reason:
        return _closed_door(request, reason, GONE)
    role = Role(invitation.role)
    return _open(request, invitation.study, role, membership, partial(join_by_invitation, invitation))


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
    return _open(request, study, Role.RATER, membership, partial(join_by_sign_up, study))


def _membership(user: Visitor, study: Study) -> Membership | None:
    if not user.is_authenticated:
        return None
    return Membership.objects.select_related("study").filter(study=study, rater__user=user).first()


def _gives_more(invitation: Invitation, membership: Membership) -> bool:
    """Whether the invitation gives a member a higher role or a group."""
    group = invitation.group
    joins_group = group is not None and not group.raters.filter(pk=membership.rater_id).exists()
    return joins_group or raises(membership, invitation.role)


def _inside(study: Study, membership: Membership | None) -> str:
    """Where a member begins."""
    if membership and membership.role == Role.VIEWER:
        return study.get_absolute_url()
    if membership and membership.role == Role.OPERATOR:
        return reverse("operate-study", args=[study.slug])
    return reverse("guidelines", args=[study.slug])


def _open(
    request: HttpRequest,
    study: Study,
    role: Role,
    membership: Membership | None,
    admit: Callable[[Visitor], Membership],
) -> HttpResponse:
    """Join with the account in use, or with a new one."""
    signed_in = request.user.is_authenticated
    form: UserCreationForm[Any] | None = None if signed_in else UserCreationForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            user: Visitor = request.user
            if form is None:
                admit(user)
            else:
                user = open_account(form.save, admit)
                login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        except JoiningError as error:
            return _closed_door(request, str(error), GONE)
        return redirect(_inside(study, _membership(user, study)))
    context = {
        "study": study,
        "role": role,
        "membership": membership,
        "is_raised": bool(membership and raises(membership, role)),
        "has_training": role == Role.RATER and training.pairs_of(study).exists(),
        "form": form,
    }
    return render(request, "annotation/join.html", context)


def _closed_door(request: HttpRequest, reason: str, status: int) -> HttpResponse:
    return render(request, "annotation/closed_door.html", {"reason": reason}, status=status)
