"""What opinions about single answers say of the models on a board."""

from __future__ import annotations

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.requirements.cached import ChecksNow
from leaderboard.requirements.content import Asked
from leaderboard.scores.cached import ScoresNow
from leaderboard.standings.rows import OfTexts
from leaderboard.texts.asked import AskedOfTexts, NoOpinionsError
from leaderboard.texts.beside_pairs import BesidePairs
from leaderboard.texts.presence import Said
from leaderboard.texts.table import correlation


def checks(study: Study, snapshot: Snapshot, wanted: AskedOfTexts) -> OfTexts:
    """The share of requirements met, by the raters wanted, or else by the first that checked any."""
    now = ChecksNow.of(study)
    selectors = [each.selector for each in now.read.raters]
    if not selectors or (wanted.category and wanted.category not in now.read.categories()):
        return OfTexts()
    raters = wanted.raters if wanted.raters in selectors else selectors[0]
    asked = Asked(raters, category=wanted.category, sealed=wanted.sealed)
    try:
        found = now.content(asked)
    except NoOpinionsError:
        return OfTexts()
    return OfTexts(_known(found["contestants"], "drfr"), _order(now.beside(asked, snapshot)))


def scores(study: Study, snapshot: Snapshot, wanted: AskedOfTexts) -> OfTexts:
    """The mean text score, by the raters wanted, or else by the first that scored any."""
    now = ScoresNow.of(study)
    asked = now.like(wanted)
    found = asked and now.models(asked)
    if not (asked and found):
        return OfTexts()
    return OfTexts(_known(found["contestants"], "mean"), _order(now.beside(asked, snapshot)))


def of_texts(study: Study, snapshot: Snapshot, wanted: AskedOfTexts, said: Said) -> tuple[OfTexts, OfTexts]:
    """Requirements met, and mean text scores."""
    return (
        checks(study, snapshot, wanted) if said.checked else OfTexts(),
        scores(study, snapshot, wanted) if said.scored else OfTexts(),
    )


def _known(rows: list[dict[str, float]], figure: str) -> dict[str, float]:
    return {str(each["contestant"]): each[figure] for each in rows if each[figure] is not None}


def _order(beside: BesidePairs | None) -> str:
    if beside is None or beside.agreement.spearman is None:
        return ""
    return f"Spearman’s correlation with Elo ({beside.label}): {correlation(beside.agreement)}."
