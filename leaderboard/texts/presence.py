"""Whether a study has opinions about single answers, and which; loads nothing that computes."""

from typing import Any, NamedTuple

from django.db.models import Count, Exists, Max, OuterRef, Subquery

from arena.models import Answer, Score, Study
from leaderboard.pages.shell import Published


class Said(NamedTuple):
    """Whether answers were checked against their requirements, and whether they were scored."""

    checked: bool = False
    scored: bool = False


def said_of_texts(study: Study) -> Said:
    there = (Exists(kind.objects.filter(study=study)) for kind in (Answer, Score))
    return Said(*Study.objects.filter(pk=study.pk).values_list(*there).get())


def texts_now(now: Published) -> Any:
    """What pages show of them beside any snapshot, since they count at once; in one query."""
    marks = [_mark(kind, figure) for kind in (Answer, Score) for figure in (Count, Max)]
    return Study.objects.filter(pk=now.study.pk).values_list(*marks).get()


def _mark(kind: type[Answer] | type[Score], figure: type[Count] | type[Max]) -> Subquery:
    own = kind.objects.filter(study=OuterRef("pk")).order_by().values("study")
    return Subquery(own.annotate(mark=figure("pk")).values("mark"))
