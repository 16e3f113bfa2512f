"""Permissions: members by role, staff accounts, raters."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from arena.models import Membership, Rater, Role, Study
from arena.models.querysets import StudyQuerySet

P = ParamSpec("P")

Visitor = Any  # an account, AnonymousUser, or None


class RaterRequest(HttpRequest):
    """A request by a signed-in person, possibly by htmx."""

    htmx: HtmxDetails
    user: User


class MemberRequest(RaterRequest):
    study: Study
    rater: Rater
    membership: Membership


class OperatorRequest(RaterRequest):
    study: Study


def is_staff(user: Visitor) -> bool:
    return bool(user and user.is_authenticated and user.is_active and user.is_staff)


def _in_roles(user: Visitor, *roles: Role) -> StudyQuerySet:
    """Return the studies in which this person has one of these roles; staff accounts operate all."""
    if is_staff(user):
        return Study.objects.all()
    if not (user and user.is_authenticated and user.is_active):
        return Study.objects.none()
    held = Membership.objects.filter(rater__user=user, role__in=roles)
    return Study.objects.filter(pk__in=held.values("study"))


def operable(user: Visitor) -> StudyQuerySet:
    """Return the studies that this person operates."""
    return _in_roles(user, Role.OPERATOR)


def can_operate(user: Visitor, study: Study) -> bool:
    return is_staff(user) or operable(user).filter(pk=study.pk).exists()


def viewable(user: Visitor) -> StudyQuerySet:
    """Return the studies whose results this person may see; raters of a private study would be swayed."""
    found = _in_roles(user, Role.VIEWER, Role.OPERATOR)
    return found if is_staff(user) else found | Study.objects.public()


def operator(
    view: Callable[Concatenate[OperatorRequest, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Let operators of the study that ``slug`` names pass, with it as ``request.study``; 404 for others."""

    @wraps(view)
    def checked(request: OperatorRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            # A page that can be asked for again.
            is_page = request.method == "GET" and not request.htmx
            return _sign_in_first(request, request.get_full_path() if is_page else reverse("operate"))
        # PostgreSQL refuses to look for a NUL character, which no slug holds.
        # One question for studies of others and for none: what takes longer tells that there is one.
        study = operable(request.user).filter(slug=slug).first() if "\0" not in slug else None
        if study is None:
            raise Http404
        request.study = study
        return _while_it_exists(view, request, *args, **kwargs)

    return cast("Callable[..., HttpResponseBase]", never_cache(checked))


def _while_it_exists(
    view: Callable[..., HttpResponseBase], request: OperatorRequest | MemberRequest, *args: Any, **kwargs: Any
) -> HttpResponseBase:
    """The reply of a view about a study; 404 if somebody deleted it since it was looked up."""
    try:
        return view(request, *args, **kwargs)
    except Study.DoesNotExist as error:
        raise Http404 from error
    except IntegrityError as error:  # a row that refers to the study
        if Study.objects.filter(pk=request.study.pk).exists():
            raise
        raise Http404 from error


def staff_only(
    view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Let staff accounts pass; 403 for others."""

    @wraps(view)
    def checked(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not is_staff(request.user):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return never_cache(login_required(checked))


def _sign_in_first(request: RaterRequest, back_to: str) -> HttpResponseBase:
    answer = redirect_to_login(back_to)
    return HttpResponseClientRedirect(answer.url) if request.htmx else answer


SIGNED_OUT = 401  # HTTP status for a script while nobody, or somebody else, is signed in


def wants_json(request: HttpRequest) -> bool:
    """Return True if the page's script asks."""
    return request.headers.get("Accept") == "application/json"


def signed_out(detail: str) -> JsonResponse:
    """The reply that makes the script keep its answers until this person is signed in again."""
    return JsonResponse({"status": "signed-out", "detail": detail}, status=SIGNED_OUT)


def _member_signs_in_first(request: RaterRequest, back_to: str) -> HttpResponseBase:
    return signed_out("You are signed out.") if wants_json(request) else _sign_in_first(request, back_to)


def signed_in(
    view: Callable[Concatenate[RaterRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let signed-in people pass; others go to the sign-in page."""

    @wraps(view)
    def checked(request: RaterRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _member_signs_in_first(request, request.path)
        return view(request, *args, **kwargs)

    return cast("Callable[..., HttpResponseBase]", never_cache(checked))


def member(
    view: Callable[Concatenate[MemberRequest, P], HttpResponse],
) -> Callable[..., HttpResponseBase]:
    """Let members pass, with study, rater and membership on the request.

    Those who could join are sent to sign up; for others the study does not exist.
    """

    @wraps(view)
    def checked(request: MemberRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _member_signs_in_first(request, reverse("rate-study", args=[slug]))
        memberships = Membership.objects.select_related("study", "rater")
        found = memberships.filter(study__slug=slug, rater__user=request.user.pk).first()
        if found is None:
            if may_sign_up(get_object_or_404(Study, slug=slug), request.user):
                return redirect("sign-up", slug=slug)
            raise Http404
        request.study, request.rater, request.membership = found.study, found.rater, found
        return _while_it_exists(view, request, *args, **kwargs)

    return cast("Callable[..., HttpResponseBase]", never_cache(checked))


def may_sign_up(study: Study, user: Visitor) -> bool:
    """Return True if this person may join without an invitation."""
    return not (study.is_closed or study.is_draft) and (
        study.sign_up_open or bool(user.is_active and user.is_staff)
    )
