"""What opinions about single answers say of the models on a board."""

from __future__ import annotations

from arena.models import Study
from leaderboard.answers.asked import Known
from leaderboard.answers.page import TextsPage
from leaderboard.answers.requirements.page import RequirementsPage
from leaderboard.answers.scores.page import ScoresPage
from leaderboard.answers.table import correlation
from leaderboard.models import Snapshot
from leaderboard.pages.standings.rows import OfTexts
from leaderboard.snapshots.on_demand import Pending


def of_texts(
    study: Study, snapshot: Snapshot, raters: str, category: str
) -> tuple[tuple[OfTexts, ...], Pending | None]:
    """Requirements met and mean text scores as everybody sees them, by these raters or else the first."""
    pages = [_page(kind, study, snapshot, raters, category) for kind in (RequirementsPage, ScoresPage)]
    waiting = (page.pending for page in pages if page and page.pending)
    return tuple(_figures(page) for page in pages), next(waiting, None)


def _page(
    kind: type[TextsPage], study: Study, snapshot: Snapshot, raters: str, category: str
) -> TextsPage | None:
    known = Known.of(snapshot.counts, kind.kind)
    if not known.raters or category not in ("", *known.categories):
        return None
    wanted = {"raters": raters if raters in known.selectors else "", "category": category}
    return kind.read(study, snapshot, wanted, operator=False)


def _figures(page: TextsPage | None) -> OfTexts:
    if page is None or page.found is None:
        return OfTexts()
    rows, figure = page.found["contestants"], page.ranked_by
    known = {str(each["contestant"]): each[figure] for each in rows if each[figure] is not None}
    beside = page.beside
    if beside is None or beside["agreement"]["spearman"] is None:
        return OfTexts(known)
    found = correlation(beside["agreement"])
    return OfTexts(known, f"Spearman’s correlation with Elo ({beside['label']}): {found}.")
