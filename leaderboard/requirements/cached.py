"""What was checked in a study and its figures, kept in memory until the data change.

They are of the answers as they are now, not of a snapshot.
"""

from functools import lru_cache
from typing import Any, Final

from django.db.models import Count, Max

from arena.models import Answer, Question, Study
from leaderboard.requirements import content
from leaderboard.requirements.content import Asked, NothingCheckedError
from leaderboard.requirements.reading import Checked, checked

STUDIES: Final = 4
SETTINGS: Final = 32
"""That a process keeps."""

Mark = tuple[Any, ...]


def checked_now(study: Study) -> Checked:
    return _checked(study, _mark(study))


def content_now(study: Study, asked: Asked) -> dict[str, Any]:
    """Raises NothingCheckedError."""
    return _content(study, _mark(study), asked)


def met_by_model(study: Study, raters: str, category: str, *, sealed: bool) -> dict[str, float]:
    """The share met by each model, as these raters say, or else the first that checked requirements."""
    known = checked_now(study)
    selectors = [each.selector for each in known.raters]
    if not selectors or (category and category not in known.categories()):
        return {}
    by = raters if raters in selectors else selectors[0]
    try:
        found = content_now(study, Asked(by, category=category, sealed=sealed))
    except NothingCheckedError:
        return {}
    return {each["contestant"]: each["drfr"] for each in found["contestants"] if each["drfr"] is not None}


def _mark(study: Study) -> Mark:
    """The state of the data; the time tells a study from a deleted one of the same number."""
    revision, created = Study.objects.values_list("revision", "created_at").get(pk=study.pk)
    asked = Question.objects.asked().filter(prompt__study=study)
    rows = asked.aggregate(n=Count("pk"), last=Max("pk"))
    return revision, created, Answer.objects.filter(study=study).watermark(), rows["n"], rows["last"]


@lru_cache(maxsize=STUDIES)
def _checked(study: Study, mark: Mark) -> Checked:
    return checked(study)


@lru_cache(maxsize=SETTINGS)
def _content(study: Study, mark: Mark, asked: Asked) -> dict[str, Any]:
    return content.content(_checked(study, mark), asked)
