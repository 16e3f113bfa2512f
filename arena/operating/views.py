"""The studies somebody may operate."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arena.permissions import operable


@require_safe
@never_cache
@login_required
def studies(request: HttpRequest) -> HttpResponse:
    """The studies this person may operate."""
    return render(request, "operating/studies.html", {"studies": operable(request.user)})
