"""Shares of requirements met beside the scores that models have from pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.requirements.content import LEVEL
from leaderboard.requirements.reading import Checked
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.reading import Choice
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.pointwise_standings import OrderAgreement, orders_agree, requirement_standings

FEWEST: Final = 3
"""Models that a correlation needs."""


@dataclass(frozen=True)
class BesideScores:
    """``met`` and ``scores`` by model, for those with both, best score first; ``label``: whose ratings."""

    label: str
    met: Mapping[str, float]
    scores: Mapping[str, float]
    agreement: OrderAgreement


def beside_scores(
    checked: Checked, choice: Choice, missing: str, snapshot: Snapshot, category: str = ""
) -> BesideScores | None:
    """The scores by the same raters, or else by the first that rated pairs; None for too few models."""
    found = _standings(snapshot, choice.selector, category)
    if found is None:
        return None
    label, content = found
    rows = {each["contestant"]: each for each in content["standings"] if each["rating"] is not None}
    standings = requirement_standings(
        checked.questions, checked.told(choice), checked.names, missing, level=LEVEL
    )
    met = {each.contestant: each.rating for each in standings.rows if each.rating is not None}
    shared = [name for name in rows if name in met]
    if len(shared) < FEWEST:
        return None
    estimate, place = standings.estimate, [checked.names.index(name) for name in shared]
    mine = None if estimate.samples is None else estimate.samples[:, place]
    agreement = orders_agree(
        np.array([met[name] for name in shared]),
        np.array([rows[name]["rating"] for name in shared]),
        mine,
        None if mine is None else _drawn([rows[name] for name in shared], len(mine)),
        LEVEL,
    )
    return BesideScores(
        label,
        {name: met[name] for name in shared},
        {name: rows[name]["rating"] for name in shared},
        agreement,
    )


def _drawn(rows: list[Content], rounds: int) -> FloatArray:
    """Scores drawn from their stored percentiles, each on its own."""
    chance = np.random.default_rng(0).random((rounds, len(rows)))
    drawn = np.empty_like(chance)
    for number, row in enumerate(rows):
        known = sorted((float(at) / 100, value) for at, value in (row.get("quantiles") or {}).items())
        if known:
            at, value = (np.array(each) for each in zip(*known, strict=True))
            drawn[:, number] = np.interp(chance[:, number], at, value)
        else:
            drawn[:, number] = row["rating"]
    return drawn


def _standings(snapshot: Snapshot, selector: str, category: str) -> tuple[str, Any] | None:
    choices = {each["selector"]: each["label"] for each in snapshot.counts["raters"]}
    for raters in dict.fromkeys((selector, *choices)):
        stored = SnapshotSlice.objects.for_categories(raters, "on", "elo")
        row = stored.filter(snapshot=snapshot, category=category).first() if raters in choices else None
        if row is not None:
            return choices[raters], row.content
    return None
