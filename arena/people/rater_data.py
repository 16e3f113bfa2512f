"""What people rated as a file, under pseudonyms."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from arena.audit.recording import Kind, record
from arena.data.export import CHUNK, criteria_of, read
from arena.files.writing import Row, Table, Type, batches
from arena.models import Rater, Study
from arena.models.querysets import left_out_raters
from arena.pages.operating import download, show
from arena.pages.permissions import OperatorRequest, operator
from arena.rating.tasks import TASKS


def pseudonym(study: Study, rater: int) -> str:
    """A name for a person: the same in every export of this study, another in other studies."""
    text = f"rater {rater} of study {study.pk}".encode()
    return f"person-{hmac.new(settings.SECRET_KEY.encode(), text, hashlib.sha256).hexdigest()[:12]}"


_SHARED: Final = {
    "simulated": "rater__simulated",
    **{name: name for name in ("rater", "created_at", "reason", "seconds", "purpose", "source")},
    "late": "is_late",
    "comment": "rationale",
}
"""Columns of every kind of opinion, and where their values are."""

_PAIRS: Final = {
    "rater": Type.TEXT,
    "simulated": Type.FLAG,
    "number": Type.INTEGER,
    "day": Type.TEXT,
    **dict.fromkeys(("prompt", "subset", "category", "first", "second"), Type.TEXT),
    "turn": Type.INTEGER,
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
_TEXTS: Final = {
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


def by_people(study: Study, kind: str) -> QuerySet[Any]:
    """What people said in a study that is current, by the kind of task."""
    current = TASKS[kind].model._default_manager.filter(study=study, is_current=True)
    return current.filter(rater__kind=Rater.Kind.PERSON)


def pair_rows(study: Study) -> Iterator[Row]:
    """One row per comparison by a person, in the order in which each rated."""
    own = {name: name for name in ("pk", "turn", "points", "rating", "reasons", "repeat", "swapped")}
    own["random"] = "assignment__is_random"
    for side in ("first", "second"):
        own |= {side: f"pair__{side}__contestant__name", f"{side}_id": f"pair__{side}__external_id"}
    done: Counter[str] = Counter()
    for chunk in batches(_rows(study, "compare", "pair", own), CHUNK):
        criteria = criteria_of([row["pk"] for row in chunk], "criterion")
        for row in chunk:
            done[row["rater"]] += 1
            sides = [row[side] or row[f"{side}_id"] for side in ("first", "second")]
            first, second = reversed(sides) if row["swapped"] else sides
            yield {
                **row,
                "number": done[row["rater"]],
                **{"first": first or None, "second": second or None},
                "criteria": criteria.get(row["pk"]),
                "random": bool(row["random"]),
                "reasons": row["reasons"] or None,
            }


def text_rows(study: Study) -> Iterator[Row]:
    """One row per score and per checked requirement by a person, scores first."""
    shared = {"contestant": "completion__contestant__name", "id": "completion__external_id"}
    for kind, own in (
        ("score", {"lowest": "lowest", "highest": "highest", "score": "value"}),
        ("check", {"position": "question__position", "requirement": "question__text", "met": "value"}),
    ):
        for row in _rows(study, kind, "completion", shared | own):
            yield {**row, "task": kind, "contestant": row["contestant"] or row["id"]}


def _rows(study: Study, kind: str, about: str, own: dict[str, str]) -> Iterator[Row]:
    """Yield what people said, under pseudonyms, with their ``own`` columns; texts that are empty as None."""
    out, names = set(left_out_raters(study)), cache(lambda rater: pseudonym(study, rater))
    prompt = {"prompt": "external_id", "subset": "subset", "category": "category"}
    columns = _SHARED | {name: f"{about}__prompt__{column}" for name, column in prompt.items()} | own
    for row in read(by_people(study, kind).order_by("rater", "created_at", "pk"), columns):
        rater, day = row["rater"], row["created_at"].date().isoformat()
        yield {**row, "rater": names(rater), "day": day, "left_out": rater in out}


@require_safe
@operator
def rater_data(request: OperatorRequest) -> HttpResponse:
    rows = by_people(request.study, "compare")
    context = {
        "rows": rows.count(),
        "people": rows.order_by().values("rater").distinct().count(),
        "scores": by_people(request.study, "score").count(),
        "checks": by_people(request.study, "check").count(),
    }
    return show(request, "export.html", context)


@require_safe
@operator
def rater_file(request: OperatorRequest, form: str) -> HttpResponseBase:
    """The file of a study's ratings; with comments only for ``?comments=1``."""
    return _file(request, form, "raters", _PAIRS, pair_rows)


@require_safe
@operator
def text_file(request: OperatorRequest, form: str) -> HttpResponseBase:
    """The same of scores and checks of single answers."""
    return _file(request, form, "answers-rated", _TEXTS, text_rows)


def _file(
    request: OperatorRequest,
    form: str,
    name: str,
    columns: Mapping[str, Type],
    rows: Callable[[Study], Iterator[Row]],
) -> HttpResponseBase:
    """The file; comments are optional because they may say who wrote them."""
    if form not in ("csv", "jsonl"):
        raise Http404
    comments = request.GET.get("comments") == "1"
    table = Table(name, {**columns, **({"comment": Type.TEXT} if comments else {})}, complete=True)
    if request.method == "GET":
        what = f"{name}.{form}, {'with' if comments else 'without'} comments."
        record(Kind.DOWNLOADED, request.user, what, study=request.study)
    return download(request.study, table, rows(request.study), form)
