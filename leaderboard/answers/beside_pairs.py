"""An order of models by opinions about single answers, beside their order by pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from leaderboard.models import Snapshot
from leaderboard.snapshots.canonical import Content
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.pointwise_standings import PointwiseStandings, orders_agree

FEWEST_MODELS: Final = 3
"""Models that a correlation needs."""


@dataclass(frozen=True)
class Ranked:
    """Standings from pairs by one kind of raters, as JSON."""

    raters: str
    label: str
    payload: str


def ranked(snapshot: Snapshot, payloads: Mapping[str, str]) -> list[Ranked]:
    """Of the raters of a snapshot those with Elo standings, whose ``payloads`` are by selector."""
    choices = {each["selector"]: each["label"] for each in snapshot.counts["raters"]}
    return [Ranked(name, label, payloads[name]) for name, label in choices.items() if name in payloads]


def ranking_by(raters: str, known: Sequence[Ranked]) -> Ranked | None:
    """That of the raters, or else the first."""
    return next((each for each in known if each.raters == raters), known[0] if known else None)


@dataclass(frozen=True, eq=False)
class Compared:
    """Ratings of models by opinions about their answers, and samples of them (rounds, models)."""

    ratings: Mapping[str, float]
    samples: FloatArray | None

    def of(self, names: Sequence[str]) -> tuple[FloatArray, FloatArray | None]:
        """Ratings and samples of some of the models, in this order."""
        place = {name: number for number, name in enumerate(self.ratings)}
        chosen = [place[name] for name in names]
        ratings = np.array([self.ratings[name] for name in names])
        return ratings, None if self.samples is None else self.samples[:, chosen]


def compared(standings: PointwiseStandings, names: Sequence[str], shown: Iterable[Content]) -> Compared:
    """Of the models shown, those that are compared with the first; ``names`` are those of the samples."""
    wanted = {each["contestant"] for each in shown}
    rows = [each for each in standings.rows if each.contestant in wanted and each.rating is not None]
    ratings = {
        each.contestant: each.rating
        for each in rows
        if each.rating is not None and each.component == rows[0].component
    }
    samples = standings.estimate.samples
    place = [names.index(name) for name in ratings]
    return Compared(ratings, None if samples is None else samples[:, place])


def beside_pairs(own: Compared, ranking: Ranked) -> dict[str, Any] | None:
    """Whose ranking it is (``label``), the ``models`` with both, best score first, and how orders agree.

    A model has its name, its own rating and its score from pairs. None for too few models.
    """
    content = json.loads(ranking.payload)
    rows = {each["contestant"]: each for each in content["standings"] if each["rating"] is not None}
    shared = [name for name in rows if name in own.ratings]
    if len(shared) < FEWEST_MODELS:
        return None
    ratings, samples = own.of(shared)
    scores = np.array([rows[name]["rating"] for name in shared])
    drawn = None if samples is None else _drawn([rows[name] for name in shared], len(samples))
    return {
        "label": ranking.label,
        "models": rounded([*zip(shared, ratings.tolist(), scores.tolist(), strict=True)]),
        "agreement": orders_agree(ratings, scores, samples, drawn).as_dict(),
    }


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
