"""Whether a study has opinions about single answers, and which; loads nothing that computes."""

from typing import Any, Final, NamedTuple

from django.db.models import Exists

from arena.models import Answer, Score, Study
from leaderboard.pages.marks import newest


class Said(NamedTuple):
    """Whether answers were checked against their requirements, and whether they were scored."""

    checked: bool = False
    scored: bool = False


def said_of_texts(study: Study) -> Said:
    there = (Exists(kind.objects.filter(study=study)) for kind in (Answer, Score))
    return Said(*Study.objects.filter(pk=study.pk).values_list(*there).get())


def newest_check() -> Any:
    """What pages show of checks beside any snapshot, since they count at once."""
    return newest(Answer)


def newest_score() -> Any:
    return newest(Score)


TEXTS_NOW: Final = (newest_check, newest_score)
