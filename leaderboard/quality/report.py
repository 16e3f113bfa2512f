"""A rater's page about itself.

What raters are told tells nothing about a single pair or answer: while a study is open, figures that depend
on what others said, or on right answers, follow in steps of STEP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from arena.models import Membership, Rater, Study
from arena.pages.permissions import MemberRequest, member
from arena.rating.assignments import refuse_closed, refuse_unwelcome
from arena.rating.opinions import NotAllowedError
from arena.rating.progress import progress_in
from leaderboard.quality.measures import CHECK, NO_GOLD, STUDY, Figures, first, of_parts, votes
from leaderboard.quality.table import NOTHING, Shown, share, shown
from leaderboard.quality.texts import TextFigures, own_figures
from leaderboard.stats.rater_quality import Speed

STEP: Final = 10
"""Pairs, scores, checks or known pairs in a step; with fewer there is no figure."""


@dataclass(frozen=True)
class Report:
    """A rater's own figures about pairs; ``agreement`` and ``known`` follow in steps.

    ``first``: nothing with fewer ratings than say something about a side.
    """

    own: Figures
    cells: dict[str, Shown]
    first: Shown
    agreement: Shown
    known: Shown

    @property
    def is_very_fast(self) -> bool:
        return _is_very_fast(self.own.speed)


@dataclass(frozen=True)
class TextReport:
    """A rater's own figures about single answers; ``apart`` and ``agreement`` follow in steps."""

    own: TextFigures
    apart: Shown
    agreement: Shown
    unknown: Shown

    @property
    def is_very_fast(self) -> bool:
        return _is_very_fast(self.own.pace)


def _is_very_fast(pace: Speed) -> bool:
    return pace.median is not None and pace.median < pace.floor


def report(study: Study, rater: Rater) -> Report | None:
    """None for somebody who has rated no pair."""
    found = votes(study, rater)
    rows = found.rows
    mine = rows["rater"] == rater.pk
    if not (mine & (rows["purpose"] == STUDY)).any():
        return None
    step = _step(study)
    is_known = mine & (rows["gold"] != NO_GOLD) & np.isin(rows["purpose"], (STUDY, CHECK))
    own, rated, known = of_parts(
        found, mine, first(mine & (rows["purpose"] == STUDY), step), first(is_known, step)
    )
    return Report(
        own=own,
        cells=shown(own),
        first=share(own.first) if own.first.n >= STEP else NOTHING,
        agreement=share(rated.agreement.share) if rated.agreement.share.n >= STEP else NOTHING,
        known=share(known.known) if known.known.n >= STEP else NOTHING,
    )


def text_report(study: Study, rater: Rater) -> TextReport | None:
    """None for somebody who has neither scored nor checked."""
    own, stepped = own_figures(study, rater, _step(study))
    if not own.scores and not own.checked:
        return None
    return TextReport(
        own=own,
        apart=stepped.cells["Apart from others"] if stepped.apart.n >= STEP else NOTHING,
        agreement=share(stepped.agreement.share) if stepped.agreement.share.n >= STEP else NOTHING,
        unknown=share(own.unknown),
    )


def _step(study: Study) -> int:
    return 1 if study.is_closed else STEP


def _why_not(study: Study, rater: Rater, membership: Membership) -> str:
    """Why this person is offered nothing now, but for limits; empty if something is."""
    try:
        refuse_closed(study, rater)
        refuse_unwelcome(study, rater, membership)
    except NotAllowedError as error:
        return str(error)
    return ""


@require_safe
@member
def my_report(request: MemberRequest) -> HttpResponse:
    study, rater = request.study, request.rater
    progress = progress_in(study, rater)
    context = {
        "study": study,
        "report": report(study, rater),
        "texts": text_report(study, rater),
        "step": 0 if study.is_closed else STEP,
        "progress": progress,
        "why_not": _why_not(study, rater, request.membership) or progress.why_no_more,
    }
    return render(request, "leaderboard/quality/report.html", context)
