"""What a person can do here: the studies they rate, see or may join, and where they stand in each."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arena.models import Membership, Rater, Role, Study
from arena.people.permissions import RaterRequest, signed_in
from arena.rating import training
from arena.rating.progress import Progress, progress


@dataclass(frozen=True)
class Entry:
    """An open study somebody rates: how far they are, and what stands between them and the next pair."""

    membership: Membership
    progress: Progress
    training: training.Waiting | None

    @property
    def study(self) -> Study:
        return self.membership.study

    @property
    def paused(self) -> str:
        """Why nothing is offered for now; empty where something is."""
        if self.study.paused_at:
            return "This study is paused"
        return "You are paused in this study" if self.membership.paused_at else ""


@require_safe
@signed_in
def studies(request: RaterRequest) -> HttpResponse:
    """The studies of this person, and those anybody may join."""
    rater = Rater.objects.filter(user=request.user).first()
    mine = list(rater.memberships.select_related("study").order_by("study__name")) if rater else []
    rating = [each for each in mine if each.role != Role.VIEWER and not each.study.is_closed]
    others = Study.objects.filter(closed_at__isnull=True).exclude(pk__in=[each.study_id for each in mine])
    if not request.user.is_staff:
        others = others.filter(sign_up_open=True)
    context = {
        "rater": rater,
        "mine": _entries(rater, rating) if rater else [],
        "seen": [each.study for each in mine if each.role == Role.VIEWER],
        "closed": [each for each in mine if each.role != Role.VIEWER and each.study.is_closed],
        "others": others,
    }
    return render(request, "annotation/studies.html", context)


def _entries(rater: Rater, memberships: Iterable[Membership]) -> list[Entry]:
    asked = list(memberships)
    done = progress(rater, [each.study for each in asked])
    waiting = training.waiting(asked)
    return [Entry(each, done[each.study_id], waiting.get(each.pk)) for each in asked]
