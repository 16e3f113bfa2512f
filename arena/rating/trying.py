"""A try of rating for everybody: a pair of a closed public study. Nothing is stored."""

import math
import random
from dataclasses import dataclass
from statistics import fmean

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arena.models import Comparison, Pair, Rater, Study
from arena.rating import training_pages
from arena.rules import scales
from arena.rules.subsets import TRAINING_SUBSET

ORDERS = {"ab": False, "ba": True}
"""Whether the second answer is shown first, by its word in the address."""


@dataclass(frozen=True)
class Said:
    """What some raters said about a pair: their mean rating in the order shown, and its nearest caption."""

    who: str
    ratings: int
    mean: float
    words: str


def pairs() -> QuerySet[Pair]:
    """The pairs that everybody may try, of studies whose ratings and authors are public."""
    rated = Q(people_ratings__gt=0) | Q(judge_ratings__gt=0)
    # Asked first: where there is none, PostgreSQL would look at the pairs of all studies.
    closed = list(Study.objects.public().filter(closed_at__isnull=False))
    usable = Q(first__telling=[], first__is_empty=False, second__telling=[], second__is_empty=False)
    named = Q(first__contestant__isnull=False, second__contestant__isnull=False)
    unknown = Q(prompt__turns=[]) | Q(first__turns=[]) | Q(second__turns=[])
    apart = Q(prompt__subset=TRAINING_SUBSET)
    return (
        Pair.objects.published()
        .filter(rated, usable, named, prompt__study__in=closed)
        .exclude(unknown | apart)
    )


@require_safe
@never_cache
def start(request: HttpRequest) -> HttpResponse:
    """Leads to a random pair in a random order; one with simulated ratings only if there is no other."""
    found = pairs().order_by("prompt__study__simulated", "?").values_list("pk", flat=True).first()
    if found:
        return redirect("try-pair", pair=found, order=random.choice([*ORDERS]))  # noqa: S311 - no secret
    return render(request, "annotation/try_none.html")


@require_safe
@never_cache
def pair(request: HttpRequest, pair: int, order: str) -> HttpResponse:
    """The pair to rate; with ``rating`` who wrote it, and how others rated it."""
    if order not in ORDERS:
        raise Http404
    chosen = pairs().select_related("prompt__study", "first__contestant", "second__contestant")
    found = get_object_or_404(chosen, pk=pair)
    study, swapped, sent = found.prompt.study, ORDERS[order], request.GET.get("rating")
    errors = []
    try:
        rating = None if sent is None else training_pages.read_rating(sent, study.points)
    except scales.ScaleError as error:
        rating, errors = None, [str(error)]
    task = training_pages.build(study, found, swapped=swapped, chosen=sent or "", errors=errors)
    context = {"study": study, "task": task}
    if rating is None:
        return render(request, "annotation/try.html", context, status=422 if errors else 200)
    context |= {
        "pair": found,
        "rating": rating,
        "words": scales.CAPTIONS[study.points][rating - 1],
        "authors": zip("AB", (one.contestant for one in found.shown(swapped)), strict=True),
        "said": said(study, found, swapped=swapped),
    }
    return render(request, "annotation/try_rated.html", context)


def said(study: Study, pair: Pair, *, swapped: bool) -> list[Said]:
    """Return what people and judges said, those without a rating left out."""
    rated = Comparison.objects.counted(study).independent().filter(pair=pair)
    found = []
    for kind, who in ((Rater.Kind.PERSON, "People"), (Rater.Kind.JUDGE, "Judges")):
        given = [
            scales.preference(each.rating, each.points) * (1 if each.swapped is swapped else -1)
            for each in rated.filter(rater__kind=kind)
            if each.rating
        ]
        if given:
            found.append(_said(who, given, study.points))
    return found


def _said(who: str, preferences: list[float], points: int) -> Said:
    leaning = fmean(preferences)
    mean = (points + 1 + leaning * (points - 1)) / 2
    return Said(who, len(preferences), mean, caption(mean, points))


def caption(mean: float, points: int) -> str:
    """The caption nearest to a mean rating; of two, the one nearer to the middle of the scale.

    So means that mirror each other have captions that do.
    """
    exact, middle = round(mean, 9), (points + 1) / 2
    nearest = math.ceil(exact - 0.5) if exact > middle else math.floor(exact + 0.5)
    even = exact == middle and points % 2 == 0
    return "Neither is better" if even else scales.CAPTIONS[points][nearest - 1]
