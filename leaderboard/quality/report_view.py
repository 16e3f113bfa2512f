"""The page on which raters read how they rate."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arena.annotation.access import MemberRequest, member
from leaderboard.quality.report import STEP, report


@require_safe
@member
def my_report(request: MemberRequest) -> HttpResponse:
    """About the person who asks, and nobody else."""
    context = {"study": request.study, "report": report(request.study, request.rater), "step": STEP}
    return render(request, "leaderboard/quality/report.html", context)
