"""Rankings by people's comparisons, made more certain by a judge's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from arena.models import Study
from leaderboard.anchoring.ranking import AnchoringData, AnchoringError
from leaderboard.anchoring.settings import parse_for_anchoring
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.declarations import OnDemand
from leaderboard.snapshots.reading import Opinions, opinions
from leaderboard.snapshots.settings import Scope, Setting
from leaderboard.stats.anchored_pairs import rated_pairs
from leaderboard.stats.checks import StatsError
from leaderboard.stats.ranking_method import Method


def anchored_table(study: Study, opinions: Opinions, setting: Setting, method: Method) -> Table:
    """The table of a page about the judge ``setting.raters``. Its key ``nothing`` says why it is empty."""
    try:
        data = data_of(opinions.within(setting.category), study.slug, [setting.raters], ties=method.ties)
        content = data.ranking(method.interval).as_dict()
    except StatsError as error:
        content = {"nothing": str(error)}
    return Table("anchored", setting.raters, canonical(content))


def data_of_study(study: Study, judges: Sequence[str], *, ties: bool) -> AnchoringData:
    """The pairs of a study; ``judges`` are slugs. Raises AnchoringError for judges without a comparison."""
    return data_of(opinions(study).at(), study.slug, judges, ties=ties)


def data_of(read: Opinions, source: str, judges: Sequence[str], *, ties: bool) -> AnchoringData:
    """The pairs of some opinions, as ``data_of_study``."""
    choices = {choice.selector: choice for choice in read.raters}
    selectors = [f"judge:{judge.removeprefix('judge:')}" for judge in judges]
    unknown = [selector for selector in selectors if selector not in choices]
    if unknown:
        known = ", ".join(name for name in choices if name.startswith("judge:")) or "none"
        raise AnchoringError(f"{unknown[0]} has no rating in this study; judges that have: {known}")
    if "people" not in choices:
        raise AnchoringError("no person has rated a pair of this study")
    chosen = [choices[selector] for selector in selectors]
    judge_ids = frozenset().union(*(choice.ids for choice in chosen))
    seen = read.by(judge_ids | choices["people"].ids).present()
    rows = seen.rows[seen.scored & seen.ranked]
    judge = np.isin(rows["rater"], list(judge_ids))
    pairs = rated_pairs(seen.ratings(), ~judge, judge, ties=ties, category=rows["category"])
    simulated = any(choice.simulated for choice in (*chosen, choices["people"]))
    return AnchoringData(source, tuple(choice.label for choice in chosen), seen.names, pairs, ties, simulated)


ANCHORED: Final = OnDemand.one(Scope.ANCHORED, parse_for_anchoring, anchored_table)
