"""Answers that tell who wrote them, and what becomes of them."""

from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.db.models import Count, Q, Value
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_http_methods

from arena.models import Completion, Study
from arena.pages.operating import paged
from arena.pages.permissions import OperatorRequest, operator
from arena.studies.forms import NamingForm
from arena.studies.setting_up import settings_page
from arena.texts.author_names import Piece, in_context
from arena.texts.self_naming import find_names

PER_PAGE: Final = 25

MEANINGS: Final = {
    Study.Naming.SHOW: "Raters read the names, so they may know who wrote an answer.",
    Study.Naming.MASK: "People and judges read “[name hidden]” in place of a name.",
    Study.Naming.EXCLUDE: "People and judges get no new pairs with these answers.",
}


@dataclass(frozen=True)
class Telling:
    """A telling answer with its first telling passages; ``more``: there are others."""

    completion: Completion
    passages: list[list[Piece]]
    more: bool


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def names(request: OperatorRequest) -> HttpResponse:
    """The answers that tell who wrote them; POST chooses what becomes of them, or looks again."""
    if request.method == "POST" and "look" in request.POST:
        found = find_names(request.study)
        answers = f"{found.completions:,} answer{pluralize(found.completions)}"
        news = f" ({found.changed:,} new)" if found.changed else ""
        said = (
            f"Searched {answers}: {found.telling:,} {pluralize(found.telling, 'tells,tell')} who wrote them"
        )
        messages.success(request, f"{said}{news}.")
        return redirect("operate-names", slug=request.study.slug)
    return settings_page(request, NamingForm, "names.html", **_context(request))


def _context(request: OperatorRequest) -> dict[str, object]:
    study = request.study
    page = paged(
        request,
        Completion.objects.telling(study).select_related("prompt", "contestant").order_by("prompt", "pk"),
        PER_PAGE,
    )
    by_contestant = _by_contestant(study)
    return {
        "page": page,
        "answers": [_telling(completion) for completion in page],
        "by_contestant": [row for row in by_contestant if row["telling"]],
        "known": sum(row["known"] for row in by_contestant),
        "silent": [row["name"] for row in by_contestant if row["telling"] == row["known"]],
        "choices": [
            {"value": way.value, "label": way.label, "meaning": meaning, "chosen": study.naming == way}
            for way, meaning in MEANINGS.items()
        ],
    }


def _by_contestant(study: Study) -> list[dict[str, Any]]:
    """Count each contestant's telling answers and those with a known text; those with most first."""
    current = Completion.objects.rated().filter(prompt__study=study, is_current=True).exclude(turns=[])
    named = current.order_by().values(name=Coalesce("contestant__name", Value("")))
    rows: Any = named.annotate(telling=Count("pk", filter=~Q(telling=[])), known=Count("pk"))
    return sorted(rows, key=lambda row: (-row["telling"], row["name"]))


def _telling(completion: Completion, most: int = 3) -> Telling:
    passages = [
        passage
        for turn in completion.turns
        for passage in in_context(turn, completion.telling, most=most + 1)
    ]
    return Telling(completion, passages[:most], more=len(passages) > most)
