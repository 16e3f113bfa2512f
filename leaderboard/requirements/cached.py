"""What was checked in a study and its figures, kept in memory until the data change.

They are of the checks as they are now; those of people count from the snapshot on that counts their group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from django.db.models import Count, Max

from arena.models import Answer, Question, Study
from arena.rating.publication import may_count
from leaderboard.models import Snapshot
from leaderboard.requirements import content
from leaderboard.requirements.content import Asked
from leaderboard.requirements.reading import Checked, checked
from leaderboard.texts.beside_pairs import BesidePairs, Compared, beside_pairs, compared

STUDIES: Final = 4
SETTINGS: Final = 32
"""That a process keeps."""


@dataclass(frozen=True)
class ChecksNow:
    """The checks of a study in a state of the data, ``mark``."""

    study: Study
    mark: tuple[Any, ...]

    @classmethod
    def of(cls, study: Study) -> ChecksNow:
        """The creation time tells a study from a deleted one of its number."""
        revision, created = Study.objects.values_list("revision", "created_at").get(pk=study.pk)
        asked = Question.objects.asked().filter(prompt__study=study)
        rows = asked.aggregate(n=Count("pk"), last=Max("pk"))
        checks = Answer.objects.filter(may_count(study), study=study).watermark()
        return cls(study, (revision, created, checks, rows["n"], rows["last"]))

    @property
    def read(self) -> Checked:
        return _checked(self)

    def content(self, asked: Asked) -> dict[str, Any]:
        """All figures of the page, for JSON. Raises NoOpinionsError."""
        return _content(self, asked)

    def compared(self, asked: Asked) -> Compared:
        """By raters of whom there are models to show."""
        return _compared(self, asked)

    def beside(self, asked: Asked, snapshot: Snapshot) -> BesidePairs | None:
        """The shares met beside the scores from pairs, of which there are none by set."""
        return None if asked.subset or asked.contested else _beside(self, asked, snapshot)


@lru_cache(maxsize=STUDIES)
def _checked(now: ChecksNow) -> Checked:
    return checked(now.study)


@lru_cache(maxsize=SETTINGS)
def _content(now: ChecksNow, asked: Asked) -> dict[str, Any]:
    return content.content(now.read, asked)


@lru_cache(maxsize=SETTINGS)
def _compared(now: ChecksNow, asked: Asked) -> Compared:
    shown = now.content(asked)["contestants"]
    return compared(content.standings(now.read, asked), now.read.names, shown)


@lru_cache(maxsize=SETTINGS)
def _beside(now: ChecksNow, asked: Asked, snapshot: Snapshot) -> BesidePairs | None:
    return beside_pairs(now.compared(asked), asked.raters, snapshot, asked.category)
