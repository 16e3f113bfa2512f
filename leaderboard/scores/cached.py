"""The scores of a study and their figures, kept in memory until the data change.

They are of the scores as they are now; those of people count from the snapshot on that counts their group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from arena.models import Score, Study
from arena.rating.publication import may_count
from leaderboard.models import Snapshot
from leaderboard.scores import content
from leaderboard.scores.content import Asked
from leaderboard.scores.reading import TextScores, text_scores
from leaderboard.texts.asked import AskedOfTexts, NoOpinionsError
from leaderboard.texts.beside_pairs import BesidePairs, Compared, beside_pairs, compared

STUDIES: Final = 4
SETTINGS: Final = 32
"""That a process keeps."""


@dataclass(frozen=True)
class ScoresNow:
    """The scores of a study in a state of the data, ``mark``."""

    study: Study
    mark: tuple[Any, ...]

    @classmethod
    def of(cls, study: Study) -> ScoresNow:
        """The creation time tells a study from a deleted one of its number. A snapshot measures texts."""
        newest = Snapshot.objects.filter(study=study).order_by("-pk").values_list("pk", flat=True).first()
        revision, created = Study.objects.values_list("revision", "created_at").get(pk=study.pk)
        scores = Score.objects.filter(may_count(study), study=study).watermark()
        return cls(study, (revision, created, newest, scores))

    @property
    def read(self) -> TextScores:
        return _read(self)

    def content(self, asked: Asked) -> dict[str, Any]:
        """All figures of the page, for JSON. Raises NoOpinionsError."""
        return _models(self, asked) | _raters(self, replace(asked, raters=""))

    def models(self, asked: Asked) -> dict[str, Any] | None:
        """How one kind of raters scores each model; None where there is nothing to show."""
        try:
            return _models(self, asked)
        except NoOpinionsError:
            return None

    def compared(self, asked: Asked) -> Compared:
        """By raters of whom there are models to show."""
        return _compared(self, asked)

    def beside(self, asked: Asked, snapshot: Snapshot) -> BesidePairs | None:
        """The standings beside those from pairs, of which there are none by set or turn."""
        return None if asked.subset or asked.turn else _beside(self, asked, snapshot)

    def like(self, other: AskedOfTexts) -> Asked | None:
        """What was asked of other opinions: by the same raters, or else by the first that scored.

        None where nothing about these prompts is scored.
        """
        read = self.read
        selectors = [each.selector for each in read.raters]
        if not (selectors and len(read.about(other.subset, other.category))):
            return None
        raters = other.raters if other.raters in selectors else selectors[0]
        return Asked(raters, other.subset, other.category, other.sealed)


@lru_cache(maxsize=STUDIES)
def _read(now: ScoresNow) -> TextScores:
    return text_scores(now.study)


@lru_cache(maxsize=SETTINGS)
def _models(now: ScoresNow, asked: Asked) -> dict[str, Any]:
    return content.of_contestants(content.scored(now.read, asked), asked)


@lru_cache(maxsize=SETTINGS)
def _raters(now: ScoresNow, asked: Asked) -> dict[str, Any]:
    return content.scored(now.read, asked).by_rater()


@lru_cache(maxsize=SETTINGS)
def _compared(now: ScoresNow, asked: Asked) -> Compared:
    shown = _models(now, asked)["contestants"]
    return compared(content.standings(now.read, asked), now.read.names, shown)


@lru_cache(maxsize=SETTINGS)
def _beside(now: ScoresNow, asked: Asked, snapshot: Snapshot) -> BesidePairs | None:
    return beside_pairs(now.compared(asked), asked.raters, snapshot, asked.category)
