"""What people rated as a file, under pseudonyms."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from django.conf import settings
from django.http import Http404, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from arena.audit.recording import Kind, record
from arena.data.formats.writing import Row, Table, Type, batches
from arena.models import Comparison, CriterionRating, Rater, Study
from arena.models.querysets import ComparisonQuerySet, left_out_raters
from arena.pages.operating import download, show
from arena.pages.permissions import OperatorRequest, operator


def pseudonym(study: Study, rater: int) -> str:
    """A name for a person: the same in every export of this study, another in other studies."""
    text = f"rater {rater} of study {study.pk}".encode()
    return f"person-{hmac.new(settings.SECRET_KEY.encode(), text, hashlib.sha256).hexdigest()[:12]}"


CHUNK: Final = 2000


_WITHOUT_COMMENTS: Final = {
    "rater": Type.TEXT,
    "simulated": Type.FLAG,
    "number": Type.INTEGER,
    "day": Type.TEXT,
    **dict.fromkeys(("prompt", "subset", "category", "first", "second"), Type.TEXT),
    "points": Type.INTEGER,
    "rating": Type.INTEGER,
    "reason": Type.TEXT,
    "criteria": Type.JSON,
    "reasons": Type.TEXTS,
    "seconds": Type.NUMBER,
    "purpose": Type.TEXT,
    "repeat": Type.INTEGER,
    "random": Type.FLAG,
    "late": Type.FLAG,
    "left_out": Type.FLAG,
    "source": Type.TEXT,
}


def table(*, comments: bool) -> Table:
    """The columns; comments are optional because they may say who wrote them."""
    said = {"comment": Type.TEXT} if comments else {}
    return Table("raters", {**_WITHOUT_COMMENTS, **said}, complete=True)


def of_people(study: Study) -> ComparisonQuerySet:
    return Comparison.objects.current().filter(study=study, rater__kind=Rater.Kind.PERSON)


def comparison_rows(study: Study, *, comments: bool) -> Iterator[Row]:
    """One row per comparison by a person, in the order in which each rated."""
    out = set(left_out_raters(study))
    done: Counter[int] = Counter()
    names: dict[int, str] = {}
    found = of_people(study).order_by("rater", "created_at", "pk").values(*_COLUMNS).iterator(CHUNK)
    for chunk in batches(found, CHUNK):
        criteria = _criteria([one["pk"] for one in chunk])
        for one in chunk:
            rater = one["rater"]
            done[rater] += 1
            names.setdefault(rater, pseudonym(study, rater))
            said = {"comment": one["rationale"] or None} if comments else {}
            yield {
                "rater": names[rater],
                "number": done[rater],
                "left_out": rater in out,
                "criteria": criteria.get(one["pk"]),
                **_rated(one),
                **said,
            }


_TEXTS_WITHOUT_COMMENTS: Final = {
    **dict.fromkeys(("rater", "task"), Type.TEXT),
    "simulated": Type.FLAG,
    "day": Type.TEXT,
    **dict.fromkeys(("prompt", "subset", "category", "contestant"), Type.TEXT),
    **dict.fromkeys(("lowest", "highest", "score"), Type.NUMBER),
    "position": Type.INTEGER,
    **dict.fromkeys(("requirement", "met", "reason"), Type.TEXT),
    "seconds": Type.NUMBER,
    "purpose": Type.TEXT,
    "late": Type.FLAG,
    "left_out": Type.FLAG,
    "source": Type.TEXT,
}


def texts_table(*, comments: bool) -> Table:
    """The columns of scores and checks of single answers."""
    said = {"comment": Type.TEXT} if comments else {}
    return Table("answers-rated", {**_TEXTS_WITHOUT_COMMENTS, **said}, complete=True)


def text_rows(study: Study, *, comments: bool) -> Iterator[Row]:
    """One row per score and per checked requirement by a person, scores first."""
    out = set(left_out_raters(study))
    shared = (
        *("rater", "rater__simulated", "created_at", "value", "reason", "seconds", "purpose", "is_late"),
        *("source", "rationale", "completion__contestant__name", "completion__external_id"),
        *(f"completion__prompt__{name}" for name in ("external_id", "subset", "category")),
    )
    for task, rows, own in (
        ("score", study.scores, ("lowest", "highest")),
        ("check", study.answers, ("question__position", "question__text")),
    ):
        people = rows.filter(is_current=True, rater__kind=Rater.Kind.PERSON)
        for one in people.order_by("rater", "created_at", "pk").values(*shared, *own).iterator(CHUNK):
            yield {
                "rater": pseudonym(study, one["rater"]),
                "task": task,
                "simulated": one["rater__simulated"],
                "day": one["created_at"].date().isoformat(),
                "prompt": one["completion__prompt__external_id"],
                "subset": one["completion__prompt__subset"] or None,
                "category": one["completion__prompt__category"] or None,
                "contestant": one["completion__contestant__name"] or one["completion__external_id"] or None,
                "lowest": one.get("lowest"),
                "highest": one.get("highest"),
                "score": one["value"] if task == "score" else None,
                "position": one.get("question__position"),
                "requirement": one.get("question__text"),
                "met": one["value"] if task == "check" else None,
                "reason": one["reason"] or None,
                "late": one["is_late"],
                "left_out": one["rater"] in out,
                **{name: one[name] for name in ("seconds", "purpose", "source")},
                **({"comment": one["rationale"] or None} if comments else {}),
            }


_COLUMNS: Final = (
    *("pk", "rater", "rater__simulated", "created_at", "swapped", "points", "rating", "reason", "reasons"),
    *("seconds", "purpose", "repeat", "assignment__is_random", "is_late", "source", "rationale"),
    *("pair__prompt__external_id", "pair__prompt__subset", "pair__prompt__category"),
    *("pair__first__contestant__name", "pair__first__external_id"),
    *("pair__second__contestant__name", "pair__second__external_id"),
)


def _rated(one: Mapping[str, Any]) -> dict[str, Any]:
    sides = [
        one[f"pair__{side}__contestant__name"] or one[f"pair__{side}__external_id"] or None
        for side in ("first", "second")
    ]
    first, second = reversed(sides) if one["swapped"] else sides
    return {
        "simulated": one["rater__simulated"],
        "day": one["created_at"].date().isoformat(),
        "prompt": one["pair__prompt__external_id"],
        "subset": one["pair__prompt__subset"] or None,
        "category": one["pair__prompt__category"] or None,
        "first": first,
        "second": second,
        "reason": one["reason"] or None,
        "reasons": one["reasons"] or None,
        "random": bool(one["assignment__is_random"]),
        "late": one["is_late"],
        **{name: one[name] for name in ("points", "rating", "seconds", "purpose", "repeat", "source")},
    }


def _criteria(comparisons: list[int]) -> dict[int, dict[str, int | str]]:
    found: dict[int, dict[str, int | str]] = {}
    for given in CriterionRating.objects.filter(comparison__in=comparisons).order_by("criterion"):
        found.setdefault(given.comparison_id, {})[given.criterion] = given.said
    return found


@require_safe
@operator
def rater_data(request: OperatorRequest) -> HttpResponse:
    study, people = request.study, {"rater__kind": Rater.Kind.PERSON, "is_current": True}
    rows = of_people(study)
    context = {
        "rows": rows.count(),
        "people": rows.order_by().values("rater").distinct().count(),
        "scores": study.scores.filter(**people).count(),
        "checks": study.answers.filter(**people).count(),
    }
    return show(request, "export.html", context)


@require_safe
@operator
def rater_file(request: OperatorRequest, form: str) -> HttpResponseBase:
    """The file of a study's ratings; with comments only for ``?comments=1``."""
    return _file(request, form, table, comparison_rows)


@require_safe
@operator
def text_file(request: OperatorRequest, form: str) -> HttpResponseBase:
    """The same of scores and checks of single answers."""
    return _file(request, form, texts_table, text_rows)


def _file(
    request: OperatorRequest,
    form: str,
    columns: Callable[..., Table],
    rows: Callable[..., Iterator[Row]],
) -> HttpResponseBase:
    if form not in ("csv", "jsonl"):
        raise Http404
    comments = request.GET.get("comments") == "1"
    made = columns(comments=comments)
    if request.method == "GET":
        what = f"{made.name}.{form}, {'with' if comments else 'without'} comments."
        record(Kind.DOWNLOADED, request.user, what, study=request.study)
    return download(request.study, made, rows(request.study, comments=comments), form)
