"""The operators' page on which battles are watched."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from arena.pages.permissions import OperatorRequest, operator
from leaderboard.battles import watching


@require_safe
@operator
def watch(request: OperatorRequest) -> HttpResponse:
    study, now = request.study, timezone.now()
    context = {
        "study": study,
        "now": now,
        "hours": watching.hours(study, now),
        "models": watching.models(study, now),
        "void": watching.void_of_nobody(study, now),
        "money": watching.money(study),
        "ratings": watching.votes(study),
        "queue": watching.queue(study),
        "removed": watching.removed(study),
        "stopped": watching.looked_at(study),
        "visitors": watching.visitors(study),
        "days": watching.DAYS,
        "striking": watching.STRIKING,
    }
    return render(request, "leaderboard/battles.html", context)
