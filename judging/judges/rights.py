"""The right to start paid runs: without it nobody has models asked, which costs money.

``by`` is an account, or None for commands on the arena's own machine, which may do everything.
"""

from typing import Final

from django.contrib import messages
from django.contrib.auth.models import Permission, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from arena.audit.recording import Kind, record
from arena.pages.permissions import Visitor, staff_only
from judging.judges.services import JudgeError
from judging.models import Endpoint, Judge, JudgeRun, WritingCall
from judging.models.requests import LIVE

PAID_RUNS: Final = "judging.start_paid_run"

STAFF: Final = Q(is_staff=True, is_active=True)
WHOM_TO_ASK: Final = "Ask a superuser for the right to start paid runs."


class NotAllowedError(JudgeError):
    """The account lacks the right to start paid runs."""


def may_ask_models(by: Visitor | None) -> bool:
    return by is None or bool(by.has_perm(PAID_RUNS))


def check_may_ask(judge: Judge, by: Visitor | None) -> None:
    """Raise NotAllowedError if this account may not have this judge ask. A simulated judge asks nobody."""
    if not (judge.is_simulated or may_ask_models(by)):
        raise NotAllowedError(f"The judge asks a model, which may cost money. {WHOM_TO_ASK}")


def check_may_change_what_is_asked(by: Visitor | None) -> None:
    """Raise NotAllowedError while runs are active, for an account that could start none.

    Another address, key or price would undo what somebody else decided to spend.
    """
    if may_ask_models(by):
        return
    if JudgeRun.objects.active().exists() or WritingCall.objects.filter(LIVE).exists():
        raise NotAllowedError(f"A run is going on, so judges and prices stay as they are. {WHOM_TO_ASK}")


def check_may_bind(wanted: Endpoint, by: Visitor | None) -> None:
    """Raise NotAllowedError if an account that may not spend would send a key where nobody sends it yet."""
    key, place = wanted.api_key_env, wanted.base_url.rstrip("/")
    if may_ask_models(by) or not key:
        return
    if not Endpoint.objects.filter(api_key_env=key, base_url=place).exists():
        raise NotAllowedError(f"No judge sends {key} to {place} yet. {WHOM_TO_ASK}")


def set_right(account: User, by: Visitor, *, given: bool) -> bool:
    """Give a staff account the right to start paid runs, or take it away; False if nothing changes.

    Raises PermissionDenied unless a superuser decides.
    """
    if not (by.is_active and by.is_superuser):
        raise PermissionDenied
    right = Permission.objects.get(content_type__app_label="judging", codename="start_paid_run")
    if account.user_permissions.filter(pk=right.pk).exists() == given:
        return False
    with transaction.atomic():
        (account.user_permissions.add if given else account.user_permissions.remove)(right)
        record(Kind.RIGHT, by, f"{'May now' if given else 'May no longer'} start paid runs.", account=account)
    return True


@require_safe
@staff_only
def rights(request: HttpRequest) -> HttpResponse:
    """Staff accounts and whether they may start paid runs."""
    accounts = User.objects.filter(STAFF).order_by("username")
    rows = [(account, may_ask_models(account)) for account in accounts]
    return render(request, "judging/rights.html", {"rows": rows})


@require_POST
@staff_only
def change_right(request: HttpRequest, account: int) -> HttpResponse:
    found = get_object_or_404(User, STAFF, pk=account, is_superuser=False)
    given = "given" in request.POST
    if set_right(found, request.user, given=given):
        may = "may now" if given else "may no longer"
        messages.success(request, f"{found} {may} start paid runs.")
    else:
        messages.info(request, "Nothing was changed.")
    return redirect("judge_rights")
