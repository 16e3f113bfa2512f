"""Who may see the rater's pages."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, resolve_url
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from arena.models import Membership, Rater, Study
from arena.people import joining

P = ParamSpec("P")


class RaterRequest(HttpRequest):
    """A request by a signed-in person, possibly by htmx."""

    htmx: HtmxDetails
    user: User


class MemberRequest(RaterRequest):
    """A request by somebody who may rate in the study that the address names."""

    study: Study
    rater: Rater
    membership: Membership


SIGNED_OUT = 401
"""Status for a script that asks while nobody, or somebody else, is signed in."""


def wants_json(request: HttpRequest) -> bool:
    """Whether it is the page's script that asks, which sends answers in the background."""
    return request.headers.get("Accept") == "application/json"


def signed_out(detail: str) -> JsonResponse:
    """To a script: what it sends has to wait until this person is signed in again."""
    return JsonResponse({"status": "signed-out", "detail": detail}, status=SIGNED_OUT)


def _sign_in_first(request: RaterRequest, back_to: str) -> HttpResponseBase:
    """To the sign-in page and then back to a page that can be asked for again."""
    if wants_json(request):
        return signed_out("You are signed out.")
    answer = redirect_to_login(back_to, resolve_url("login"))
    return HttpResponseClientRedirect(answer.url) if request.htmx else answer


def signed_in(
    view: Callable[Concatenate[RaterRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let signed-in people pass, send others to the sign-in page. Browsers keep nothing of the answer."""

    @wraps(view)
    def checked(request: RaterRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _sign_in_first(request, request.path)
        return view(request, *args, **kwargs)

    return cast("Callable[..., HttpResponseBase]", never_cache(checked))


def member(
    view: Callable[Concatenate[MemberRequest, P], HttpResponse],
) -> Callable[..., HttpResponseBase]:
    """Let raters of the study pass; the request then carries study, rater and membership.

    Somebody who could join is shown how; for everybody else the study does not exist.
    """

    @wraps(view)
    def checked(request: MemberRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _sign_in_first(request, reverse("rate-study", args=[slug]))
        members = Membership.objects.select_related("study", "rater")
        found = members.filter(study__slug=slug, rater__user=request.user).first()
        if found is None:
            if joining.may_sign_up(get_object_or_404(Study, slug=slug), request.user):
                return redirect("sign-up", slug=slug)
            raise Http404
        request.study, request.rater, request.membership = found.study, found.rater, found
        return view(request, *args, **kwargs)

    return cast("Callable[..., HttpResponseBase]", never_cache(checked))
