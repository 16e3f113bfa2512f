"""Getting in: by invitation link, or by signing up where a study takes anyone."""

from collections.abc import Callable

from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from arena import joining
from arena.annotation.forms import NewAccountForm
from arena.models import Invitation, Membership, RaterGroup, Study

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
    new_group = invitation.group and not reason and not _is_in(request, invitation.group)
    if _is_rater(request, invitation.study) and not new_group:
        return redirect("guidelines", slug=invitation.study.slug)
    if reason:
        return _closed_door(request, reason, GONE)
    return _door(request, invitation.study, lambda user: joining.join_by_invitation(invitation, user))


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest, slug: str) -> HttpResponse:
    """Join a study that takes anyone."""
    study = get_object_or_404(Study, slug=slug)
    if _is_rater(request, study):
        return redirect("rate-study", slug=slug)
    if not joining.may_sign_up(study, request.user):
        if study.is_public:
            reason = "closed" if study.is_closed else "not open for sign-up; raters are invited"
            return _closed_door(request, f"This study is {reason}.", GONE)
        raise Http404
    return _door(request, study, lambda user: joining.sign_up(study, user))


def _is_rater(request: HttpRequest, study: Study) -> bool:
    user = request.user
    return user.is_authenticated and Membership.objects.filter(study=study, rater__user=user).exists()


def _is_in(request: HttpRequest, group: RaterGroup) -> bool:
    user = request.user
    return user.is_authenticated and group.raters.filter(user=user).exists()


def _door(request: HttpRequest, study: Study, admit: Callable[[joining.User], Membership]) -> HttpResponse:
    """Join with the account in use, or open a new one and join with that."""
    signed_in = request.user.is_authenticated
    form = None if signed_in else NewAccountForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            if form is None:
                admit(request.user)
            else:
                user = joining.open_account(form.save, admit)
                login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        except joining.JoiningError as error:
            return _closed_door(request, str(error), GONE)
        return redirect("guidelines", slug=study.slug)
    return render(request, "annotation/join.html", {"study": study, "form": form})


def _closed_door(request: HttpRequest, reason: str, status: int) -> HttpResponse:
    return render(request, "annotation/closed_door.html", {"reason": reason}, status=status)
