"""Getting in: by an invitation link, in the role it gives, or by signing up where a study takes anyone."""

from collections.abc import Callable
from typing import NamedTuple

from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from arena.models import Invitation, Membership, RaterGroup, Role, Study
from arena.people import joining
from arena.rating import training
from arena.rating.forms import NewAccountForm

GONE = 410
"""Status of a link by which nobody can join any more."""


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Join a study by an invitation link."""
    known = Invitation.objects.select_related("study", "group")
    # PostgreSQL refuses to look for a NUL character, which no token holds.
    invitation = known.filter(token=token).first() if "\0" not in token else None
    if invitation is None:
        return _closed_door(
            request, "This invitation link is not valid. Please check that it is complete.", 404
        )
    reason = joining.why_not(invitation)
    membership = _membership(request.user, invitation.study)
    if membership and (reason or not _gives_more(request, invitation, membership)):
        return redirect(_inside(invitation.study, membership))
    if reason:
        return _closed_door(request, reason, GONE)
    door = _Door(invitation.study, Role(invitation.role), membership)
    return _open(request, door, lambda user: joining.join_by_invitation(invitation, user))


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest, slug: str) -> HttpResponse:
    """Join a study that takes anyone."""
    study = get_object_or_404(Study, slug=slug)
    membership = _membership(request.user, study)
    if membership and membership.role != Role.VIEWER:
        return redirect("rate-study", slug=slug)
    if not joining.may_sign_up(study, request.user):
        if study.is_public:
            reason = "closed" if study.is_closed else "not open for sign-up; raters are invited"
            return _closed_door(request, f"This study is {reason}.", GONE)
        raise Http404
    door = _Door(study, Role.RATER, membership)
    return _open(request, door, lambda user: joining.sign_up(study, user))


class _Door(NamedTuple):
    """What somebody joins, as what, and what they are there already."""

    study: Study
    role: Role
    membership: Membership | None


def _membership(user: joining.User, study: Study) -> Membership | None:
    if not user.is_authenticated:
        return None
    return Membership.objects.select_related("study").filter(study=study, rater__user=user).first()


def _gives_more(request: HttpRequest, invitation: Invitation, membership: Membership) -> bool:
    """Whether a member gains something by this invitation: a role that may more, or a group."""
    group = invitation.group
    return joining.raises(membership, invitation.role) or bool(group and not _is_in(request, group))


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


def _open(request: HttpRequest, door: _Door, admit: Callable[[joining.User], Membership]) -> HttpResponse:
    """Join with the account in use, or open a new one and join with that."""
    signed_in = request.user.is_authenticated
    form = None if signed_in else NewAccountForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            user: joining.User = request.user
            if form is None:
                admit(user)
            else:
                user = joining.open_account(form.save, admit)
                login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        except joining.JoiningError as error:
            return _closed_door(request, str(error), GONE)
        return redirect(_inside(door.study, _membership(user, door.study)))
    context = {
        "study": door.study,
        "role": door.role,
        "membership": door.membership,
        "is_raised": bool(door.membership and joining.raises(door.membership, door.role)),
        "has_training": door.role == Role.RATER and training.pairs_of(door.study).exists(),
        "form": form,
    }
    return render(request, "annotation/join.html", context)


def _closed_door(request: HttpRequest, reason: str, status: int) -> HttpResponse:
    return render(request, "annotation/closed_door.html", {"reason": reason}, status=status)
