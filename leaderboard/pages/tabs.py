"""The tabs of a study: those that have something to show. Its address leads to the first."""

from typing import Final

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.snapshots.settings import Counts, has_majorities

TABS: Final = {
    "study": "Leaderboard",
    "study-categories": "Categories",
    "study-raters": "Raters",
    "study-agreement": "Agreement",
    "study-trust": "Judge accuracy",
    "study-requirements": "Requirements",
    "study-scores": "Text scores",
    "study-features": "Features",
    "study-comparisons": "Pairs",
    "study-data": "Data",
    "study-results": "Download and cite",
}
OF_TEXTS: Final = {
    "study-requirements": "requirements",
    "study-scores": "scores",
    "study-features": "features",
}
"""Tabs about single answers, and what a snapshot counts of them."""

_OF_MODELS: Final = frozenset({"study", "study-categories"})
_OF_PAIRS: Final = _OF_MODELS | {"study-raters", "study-agreement", "study-comparisons"}
_OF_EVERY_STUDY: Final = frozenset({"study-data", "study-results"})


def tabs(study: Study, snapshot: Snapshot | None) -> list[str]:
    """The names of their addresses, judge accuracy first where no model is ranked."""
    hidden = _hidden(study, snapshot)
    if hidden | _OF_EVERY_STUDY == TABS.keys():
        hidden.remove("study")  # the leaderboard says that nobody has rated yet
    found = [name for name in TABS if name not in hidden]
    return found if "study" in found else sorted(found, key=lambda name: name != "study-trust")


def landing(study: Study, snapshot: Snapshot | None) -> str:
    """The first of them, found without a query where there is a leaderboard."""
    return tabs(study, snapshot)[0] if _unranked(study, _counts(snapshot)) else "study"


def _hidden(study: Study, snapshot: Snapshot | None) -> set[str]:
    counts = _counts(snapshot)
    hidden = {*_unranked(study, counts), *(() if study.is_closed else ("study-comparisons",))}
    if not (counts.get("labelled") or (study.is_closed and has_majorities(counts))):
        hidden.add("study-trust")
    return hidden | {name for name, kind in OF_TEXTS.items() if not counts.get(kind)}


def _counts(snapshot: Snapshot | None) -> Counts:
    return snapshot.counts if snapshot else {"raters": ()}


def _unranked(study: Study, counts: Counts) -> frozenset[str]:
    """Tabs that a study cannot fill: its answers have no models, or its raters compare no pairs."""
    if counts["raters"]:
        return frozenset() if counts["contestants"] else _OF_MODELS
    return frozenset() if "compare" in study.tasks else _OF_PAIRS
