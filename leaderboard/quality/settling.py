"""Operators' pages of what raters disagree about, and of settling it blind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from arena.models import Assignment, Comparison, Pair, Rater, Study
from arena.models.querysets import left_out_raters
from arena.pages.operating import refuse
from arena.pages.permissions import OperatorRequest, operator
from arena.rating import assignments, screen
from arena.rating.assignments import adjudications
from arena.rating.opinions import RatingError
from arena.rating.recording import record
from arena.rating.screen import RatingForm
from arena.rules import scales
from leaderboard.quality import cached
from leaderboard.quality.disagreements import KINDS, PEOPLE, Disputes

PER_PAGE = 20


@dataclass(frozen=True)
class Dispute:
    """A pair of the queue, without anything that tells which answer anybody prefers.

    ``number`` is its place among ``of`` pairs of the prompt, ``split`` the verdicts of people: the more
    frequent side, the other side, ties. ``points`` is how far two people lie apart on the study's scale,
    ``from_judges`` people and judges.
    """

    pair: Pair
    number: int
    of: int
    split: tuple[int, int, int]
    people: int
    judges: int
    points: float
    from_judges: float | None


def disputed(study: Study, kind: str, category: str, page: Any, *, strength: bool) -> Page[Dispute]:
    """A page of the queue, without settled pairs."""
    found = cached.disputed(study)
    places = found.ranked(kind, strength=strength)
    settled = list(adjudications(study).values_list("pair", flat=True))
    places = places[~np.isin(found.pair[places], settled) & _in(study, category, found.pair[places])]
    chosen: Page[Any] = Paginator(places.tolist(), PER_PAGE).get_page(page)
    pairs = Pair.objects.select_related("prompt").in_bulk([int(found.pair[place]) for place in chosen])
    siblings = _by_prompt(pairs.values())
    entries = [
        _entry(study, found, place, pairs[int(found.pair[place])], siblings)
        for place in chosen
        if int(found.pair[place]) in pairs
    ]
    chosen.object_list = entries
    return chosen


def _in(study: Study, category: str, pairs: Any) -> Any:
    """Which of these pairs are in a category; all with ""."""
    wanted = Pair.objects.filter(prompt__study=study, prompt__category=category)
    return (
        np.isin(pairs, list(wanted.values_list("pk", flat=True))) if category else np.full(len(pairs), True)
    )


def why_none(study: Study, kind: str, category: str, *, strength: bool) -> str:
    """Why there is nothing to settle, with how many pairs that says something about."""
    found = cached.disputed(study)
    rated = found.pair[found.rated_by_both(kind)]
    number = int(_in(study, category, rated).sum())
    where = " in this category" if category else ""
    who = "two people or more" if kind == PEOPLE else "people and judges"
    if not number:
        return f"No pair{where} has ratings by {who} yet."
    differ = "differ" if strength else "prefer different answers"
    settled = " that is not settled" if adjudications(study).exists() else ""
    has = f"{number:,} pair{pluralize(number)}{where} {pluralize(number, 'has,have')}"
    return f"{has} ratings by {who}. Raters {differ} on none{settled}."


def _by_prompt(pairs: Iterable[Pair]) -> dict[int, list[int]]:
    """The pairs to rate of these pairs' prompts."""
    found: dict[int, list[int]] = {}
    rows = Pair.objects.filter(prompt__in={pair.prompt_id for pair in pairs}, use="rate").order_by("pk")
    for prompt, pair in rows.values_list("prompt", "pk"):
        found.setdefault(prompt, []).append(pair)
    return found


def _entry(
    study: Study, found: Disputes, place: int, pair: Pair, siblings: Mapping[int, list[int]]
) -> Dispute:
    sides = sorted((int(found.for_first[place]), int(found.for_second[place])), reverse=True)
    steps = (study.points - 1) / 2
    from_judges = float(found.from_judges[place])
    apart = float(found.apart[place])
    others = siblings.get(pair.prompt_id, [])
    return Dispute(
        pair=pair,
        number=others.index(pair.pk) + 1 if pair.pk in others else 1,
        of=max(1, len(others)),
        split=(sides[0], sides[1], int(found.ties[place])),
        people=int(found.people[place]),
        judges=int(found.judges[place]),
        points=0.0 if apart != apart else apart * steps,
        from_judges=None if from_judges != from_judges else from_judges * steps,
    )


@dataclass(frozen=True)
class Said:
    """What somebody said of a pair, in the order in which the page shows the texts.

    badge: "judge", "panel", or empty for people. mean: of a panel that rounds one. turned: they saw the texts
    the other way round, so that in their own words A and B are exchanged.
    """

    who: str
    badge: str
    mean: str
    turned: bool
    simulated: bool
    words: str
    side: str
    rating: int
    points: int
    rationale: str
    reasons: Sequence[str]
    left_out: bool


def settled(study: Study, page: Any) -> Page[Comparison]:
    rows = adjudications(study).select_related("pair__prompt", "rater")
    return Paginator(rows, PER_PAGE).get_page(page)


def everybody(study: Study, pair: Pair, *, swapped: bool, left_out: Sequence[int]) -> list[Said]:
    """What people and judges said of a pair, people first and without names."""
    rows = Comparison.objects.current().filter(study=study, pair=pair, rating__isnull=False)
    rows = rows.filter(purpose="study").select_related("rater").order_by("pk")
    people = [row for row in rows if row.rater.kind == Rater.Kind.PERSON]
    numbers = {pk: place for place, pk in enumerate(dict.fromkeys(row.rater_id for row in people), start=1)}
    judges = sorted((row for row in rows if row.rater_id not in numbers), key=lambda row: row.rater.name)
    return [_said(row, numbers.get(row.rater_id), swapped, left_out) for row in (*people, *judges)]


def _said(row: Comparison, number: int | None, swapped: bool, left_out: Sequence[int]) -> Said:
    rating, panel = in_order(row, swapped=swapped), row.rater.is_panel
    return Said(
        who=f"Person {number}" if number else row.rater.name,
        badge="" if number else "panel" if panel else "judge",
        mean=_mean(row, swapped=swapped) if panel else "",
        turned=row.swapped != swapped,
        simulated=row.rater.simulated,
        words=scales.CAPTIONS[row.points][rating - 1],
        side=side(rating, row.points),
        rating=rating,
        points=row.points,
        # A panel lists its members, who stand on the page themselves, in the order that it saw.
        rationale="" if panel else row.rationale,
        reasons=row.reasons,
        left_out=row.rater_id in left_out,
    )


def _mean(row: Comparison, *, swapped: bool) -> str:
    """A panel's mean before it was rounded; empty if it counts votes."""
    if row.expected is None:
        return ""
    return f"{row.expected if row.swapped == swapped else row.points + 1 - row.expected:.4g}"


def in_order(row: Comparison, *, swapped: bool) -> int:
    rating = row.rating or 0
    return rating if row.swapped == swapped else scales.mirror(rating, row.points)


def side(rating: int, points: int) -> str:
    """a, b or tie: which answer a rating prefers."""
    return {-1: "a", 0: "tie", 1: "b"}[scales.verdict(rating, points)]


INVALID: Final = 422
REFUSED: Final = 409
SETTLED: Final = "settled"

_LABELS: Final = {"people": "Between people", "judges": "Between people and judges", SETTLED: "Settled"}


@require_safe
@operator
def disagreements(request: OperatorRequest) -> HttpResponse:
    study = request.study
    show = request.GET.get("show", PEOPLE)
    show = show if show in _LABELS else PEOPLE
    categories = study.prompts.exclude(category="").order_by("category").values_list("category", flat=True)
    known = list(categories.distinct())
    category = request.GET.get("category", "")
    category = category if category in known and show in KINDS else ""
    strength = request.GET.get("strength") == "all"
    number = request.GET.get("page")
    page: Any = settled(study, number)
    if show in KINDS:
        page = disputed(study, show, category, number, strength=strength)
    context = {
        "study": study,
        "show": show,
        "choices": [(name, label, name == show) for name, label in _LABELS.items()],
        "categories": known,
        "category": category,
        "strength": strength,
        "page": page,
        "query": "&" + urlencode({"show": show, "category": category, "strength": "all" if strength else ""}),
        "none": why_none(study, show, category, strength=strength) if show in KINDS and not page else "",
        "decisions": [_decision(row) for row in page] if show == SETTLED else [],
    }
    return render(request, "leaderboard/quality/disagreements.html", context)


def _decision(row: Comparison) -> dict[str, Any]:
    # Which text it prefers shows on the pair's own page alone.
    words = screen.scale_points(row.points)[(row.rating or 1) - 1].caption
    return {"row": row, "words": words}


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def settle(request: OperatorRequest, pair: int) -> HttpResponse:
    found = get_object_or_404(
        Pair.objects.filter(prompt__study=request.study).select_related("prompt", "first", "second"), pk=pair
    )
    decided = adjudications(request.study).filter(pair=found).select_related("rater").first()
    if decided is not None:
        if "assignment" in request.POST and decided.rater.user_id != request.user.pk:
            messages.warning(request, "Somebody else settled this pair first. Your decision was not saved.")
        return _answers(request, found, decided)
    if request.method == "POST" and "assignment" in request.POST:
        return _answer(request, found)
    if request.method == "POST":
        return _offer(request, found)
    held = Assignment.objects.live().filter(
        pair=found, rater__user=request.user, purpose="adjudication", study=request.study
    )
    assignment = held.for_page().order_by("-pk").first()
    if assignment is None:
        context = {"study": request.study, "pair": found}
        return render(request, "leaderboard/quality/unsettled_pair.html", context)
    return _task(request, assignment)


def _offer(request: OperatorRequest, pair: Pair) -> HttpResponse:
    try:
        assignment = assignments.claim_adjudication(request.study, request.user, pair)
    except RatingError as error:
        messages.error(request, str(error))
        return redirect("operate-disagreements", slug=request.study.slug)
    assignments.mark_shown(assignment)
    return redirect("operate-dispute", slug=request.study.slug, pair=pair.pk)


def _answer(request: OperatorRequest, pair: Pair) -> HttpResponse:
    named = Assignment.objects.named(request.POST["assignment"]).for_page().select_related("rater")
    assignment = get_object_or_404(named, pair=pair, rater__user=request.user, purpose="adjudication")
    form = RatingForm(request.study, assignment, request.POST)
    if not form.is_valid():
        return _task(request, assignment, form, INVALID)
    try:
        record(assignment.rater, assignment.public_id, form.answer())
    except RatingError as error:
        if not refuse(form, form.field_of(error), str(error)):
            messages.error(request, str(error))
        return _task(request, assignment, form, REFUSED)
    return redirect("operate-dispute", slug=request.study.slug, pair=pair.pk)


def _task(
    request: OperatorRequest, assignment: Assignment, form: RatingForm | None = None, status: int = 200
) -> HttpResponse:
    context = {"study": request.study, "task": screen.build(assignment, form)}
    return render(request, "leaderboard/quality/settle.html", context, status=status)


def _answers(request: OperatorRequest, pair: Pair, decided: Comparison) -> HttpResponse:
    assignment = Assignment.objects.for_page().filter(comparisons=decided).first()
    out = left_out_raters(request.study)
    said = everybody(request.study, pair, swapped=decided.swapped, left_out=out)
    context = {
        "study": request.study,
        "task": screen.build(assignment) if assignment else None,
        "decided": decided,
        "words": screen.scale_points(decided.points)[(decided.rating or 1) - 1].caption,
        "side": side(decided.rating or 1, decided.points),
        "said": said,
        "rounds": any(each.mean for each in said),
    }
    return render(request, "leaderboard/quality/settled_pair.html", context)
