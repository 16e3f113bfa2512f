"""Whether some of the games rank contestants as all do: correlation of ranks, and changes of strengths."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.stats.bootstrap import refit, rounds_together
from leaderboard.stats.bradley_terry import POINTS_PER_UNIT, all_games, refitted
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, NoGamesError
from leaderboard.stats.coefficients import rank_coefficients_of_rows
from leaderboard.stats.games import Games, scores
from leaderboard.stats.intervals import central_interval
from leaderboard.stats.newton import Reference
from leaderboard.stats.pair_table import Outcomes, PairTable
from leaderboard.stats.plain_values import DECIMALS, Estimate, rounded
from leaderboard.stats.ranking import drawn_by
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import Ratings


@dataclass(frozen=True, eq=False)
class PartAgreement:
    """A ranking of some games beside that of all, by Bradley-Terry; (contestants,) but for tau.

    NaN without an interval, and for contestants that the games of the part do not connect to most others.
    """

    games: int
    part: int  # games of the part
    tau: Estimate  # Kendall's tau-b of the strengths
    change: FloatArray  # strength by the part less that by all, in points
    low: FloatArray
    high: FloatArray
    certain: BoolArray  # more than chance explains, all contestants together

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain values for JSON, the largest change first; ``names`` are the contestants'."""
        order = np.argsort(-np.abs(self.change), kind="stable")
        columns = (self.change, self.low, self.high, self.certain)
        changes = [
            {"contestant": names[i]} | dict(zip(("change", "low", "high", "certain"), own, strict=True))
            for i in order.tolist()
            if not np.isnan(self.change[i])
            for own in [[column[i].item() for column in columns]]
        ]
        scalars = {name: getattr(self, name) for name in ("games", "part", "tau")}
        return dict(rounded({**scalars, "changes": changes}))


def part_agreement(ratings: Ratings, part: BoolArray, method: Method) -> PartAgreement:
    """Compare the ratings of ``part`` (ratings,) with all; rounds draw once for both.

    Intervals are percentiles at the level and rounds of ``method``, stretched to hold the estimate. Raises
    NoGamesError where the part has no game.
    """
    kind: dict[str, Any] = {"ties": method.ties, "tie_band": method.tie_band}
    games = ratings.games(resample=drawn_by(method, ratings), **kind)
    part = part[~np.isnan(scores(ratings.rating, ratings.points, **kind))]
    if not part.any():
        raise NoGamesError("there are no games to compare with all")
    outcomes, of_part = _outcomes(games, part)
    whole = PairTable.of(outcomes, games.contestants)
    own = whole.left_with(np.where(of_part, whole.count_of_outcome, 0.0))
    fit_all, fit_part = (refitted(Reference.of(all_games(table))) for table in (whole, own))

    def fit(weights: FloatArray, _: IntArray) -> tuple[FloatArray, BoolArray]:
        theirs, prior = fit_all(weights)
        found, prior_too = fit_part(weights * of_part[:, None])
        return np.concatenate((theirs, found)), prior | prior_too

    ranked = np.flatnonzero(own.component == 0)

    def strengths(found: FloatArray) -> FloatArray:
        """(rounds, 2, ranked) in points, each averaging 0."""
        both = found.T.reshape(-1, 2, games.contestants)[:, :, ranked] * POINTS_PER_UNIT
        return np.asarray(both - both.mean(axis=2, keepdims=True))

    once = whole.count_of_outcome[:, None]
    estimate = strengths(fit(once, np.zeros(1, dtype=np.int64))[0])[0]
    samples = None
    if games.say_how_uncertain and method.rounds is not None:
        drawn, _ = refit(
            fit,
            outcomes,
            games.cluster,
            games.crossed,
            rounds=method.rounds,
            seed=method.seed,
            together=rounds_together(len(outcomes)),
            threads=method.threads or 1,
        )
        samples = strengths(drawn)
    return _described(games, part, ranked, estimate, samples, method.interval)


def _outcomes(games: Games, part: BoolArray) -> tuple[Outcomes, BoolArray]:
    """The distinct outcomes, those of the part apart, and which are of the part."""
    found = games.outcomes
    code, of_game = np.unique(found.of_game * np.int64(2) + part, return_inverse=True)
    old = code // 2
    return Outcomes(found.a[old], found.b[old], found.score[old], of_game), code % 2 == 1


def _described(
    games: Games,
    part: BoolArray,
    ranked: IntArray,
    estimate: FloatArray,
    samples: FloatArray | None,
    level: float,
) -> PartAgreement:
    """``estimate`` (2, ranked) and ``samples`` (rounds, 2, ranked) are strengths by all and by the part."""
    tau, change = float(_kendall(estimate[None])[0]), estimate[1] - estimate[0]
    low, high = np.full(len(ranked), np.nan), np.full(len(ranked), np.nan)
    certain, ends = np.zeros(len(ranked), dtype=bool), np.array((np.nan, np.nan))
    if samples is not None:
        drawn = samples[:, 1] - samples[:, 0]
        low, high = central_interval(drawn, level, games.units)
        certain = _certain(change, drawn, level)
        taus = _kendall(samples)
        known = taus[~np.isnan(taus)]
        if len(known):
            ends = np.clip(central_interval(known[:, None], level, games.units), -1.0, 1.0)[:, 0]

    def everyone(values: FloatArray) -> FloatArray:
        found = np.full(games.contestants, np.nan)
        found[ranked] = values
        return found

    return PartAgreement(
        games=len(games),
        part=int(part.sum()),
        tau=Estimate(tau, float(np.minimum(ends[0], tau)), float(np.maximum(ends[1], tau))),
        change=everyone(change),
        low=everyone(np.minimum(low, change)),
        high=everyone(np.maximum(high, change)),
        certain=everyone(certain) == 1.0,
    )


def _certain(change: FloatArray, drawn: FloatArray, level: float) -> BoolArray:
    """Which changes are larger, in standard deviations, than the largest of all in ``level`` % of rounds."""
    deviation = drawn.std(axis=0)
    scale = np.where(deviation > 0, deviation, np.inf)
    largest = (np.abs(drawn - drawn.mean(axis=0)) / scale).max(axis=1)
    return np.asarray(np.abs(change) / scale > np.percentile(largest, level))


def _kendall(strengths: FloatArray) -> FloatArray:
    """Kendall's tau-b of both strengths (rounds, 2, ranked) in each round, equal to 1e-6 being ties."""
    known = np.round(strengths, DECIMALS)
    return np.asarray(rank_coefficients_of_rows(known[:, 0], known[:, 1])[1])
