"""Who may do what in a study: the roles of its members, and staff accounts, which may everything."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import resolve_url
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from arena.models import Membership, Role, Study
from arena.models.querysets import StudyQuerySet

P = ParamSpec("P")

Visitor = Any
"""An account, or nobody (AnonymousUser): the project does not choose the user model."""


class OperatorRequest(HttpRequest):
    """A request by somebody who may operate the study that the address names."""

    htmx: HtmxDetails
    user: User
    study: Study


def is_staff(user: Visitor) -> bool:
    """Whether this account may do everything in every study."""
    return bool(user.is_authenticated and user.is_active and user.is_staff)


def role_in(user: Visitor, study: Study) -> Role | None:
    """What this person is in the study; staff accounts count as operators of all. None: nothing."""
    if is_staff(user):
        return Role.OPERATOR
    if not (user.is_authenticated and user.is_active):
        return None
    found = Membership.objects.filter(study=study, rater__user=user).values_list("role", flat=True).first()
    return Role(found) if found else None


def can_operate(user: Visitor, study: Study) -> bool:
    """Whether this person may set the study up and look after its raters."""
    return role_in(user, study) is Role.OPERATOR


def can_view(user: Visitor, study: Study) -> bool:
    """Whether this person may see the results of the study.

    Raters of a private study do not: what others rated would sway them.
    """
    return study.is_public or role_in(user, study) in (Role.VIEWER, Role.OPERATOR)


def viewable(user: Visitor) -> StudyQuerySet:
    """All studies whose results this person may see, as ``can_view`` says of one."""
    if is_staff(user):
        return Study.objects.all()
    if not (user.is_authenticated and user.is_active):
        return Study.objects.public()
    lets_in = Membership.objects.filter(rater__user=user, role__in=[Role.VIEWER, Role.OPERATOR])
    return Study.objects.filter(Q(visibility=Study.Visibility.PUBLIC) | Q(pk__in=lets_in.values("study")))


def operable(user: Visitor) -> StudyQuerySet:
    """All studies this person may operate, as ``can_operate`` says of one."""
    if is_staff(user):
        return Study.objects.all()
    if not (user.is_authenticated and user.is_active):
        return Study.objects.none()
    run_by = Membership.objects.filter(rater__user=user, role=Role.OPERATOR)
    return Study.objects.filter(pk__in=run_by.values("study"))


def operator(
    view: Callable[Concatenate[OperatorRequest, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Let operators of the study that ``slug`` names pass; the request then carries it as ``study``.

    Nobody signed in: to the sign-in page. For everybody else the study does not exist. Browsers keep nothing
    of the answer.
    """

    @wraps(view)
    def checked(request: OperatorRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _sign_in_first(request)
        # PostgreSQL refuses to look for a NUL character, which no slug holds.
        study = Study.objects.filter(slug=slug).first() if "\0" not in slug else None
        if study is None or not can_operate(request.user, study):
            raise Http404
        request.study = study
        return view(request, *args, **kwargs)

    return cast("Callable[..., HttpResponseBase]", never_cache(checked))


def _sign_in_first(request: OperatorRequest) -> HttpResponseBase:
    """To the sign-in page, and then back to a page that can be asked for again."""
    is_page = request.method == "GET" and not request.htmx
    answer = redirect_to_login(
        request.get_full_path() if is_page else reverse("operate"), resolve_url("login")
    )
    return HttpResponseClientRedirect(answer.url) if request.htmx else answer
