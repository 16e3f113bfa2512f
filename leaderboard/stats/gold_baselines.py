"""What needs no judge: verdicts by place, length or lot, and people, who bound what a judge can reach."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np
from scipy.special import bdtrik, ndtri

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray
from leaderboard.stats.clustered_means import (
    mean_of_coefficients,
    mean_of_shares,
    share_estimate,
)
from leaderboard.stats.gold import Rule, alpha_of, alpha_sums, kappa_of, kappa_sums, points
from leaderboard.stats.plain_values import Estimate, Result
from leaderboard.stats.sides import FIRST, NOT_ASKED, SECOND, TIE, counted, is_scored, majority
from leaderboard.stats.sums import added_up

BASELINES: Final = ("always first", "always second", "longer", "shorter", "constant")
MOST_PEOPLE: Final = 10
"""Kappas of every two people are listed for so many, those with the most ratings."""


def baseline(name: str, longer: IntArray) -> IntArray:
    """Verdicts (orders, instances) of one of BASELINES, which has a rule in place of a judge.

    ``longer``: FIRST or SECOND where that text is longer, TIE for equal lengths, NOT_ASKED where unknown.
    ``constant`` always prefers what is stored as the first.
    """
    if name in ("longer", "shorter"):
        said = longer if name == "longer" else np.where(longer == NOT_ASKED, NOT_ASKED, -longer)
        return np.stack([said, said])
    orders = {"always first": (FIRST, SECOND), "always second": (SECOND, FIRST), "constant": (FIRST, FIRST)}
    return np.tile(np.array(orders[name])[:, None], len(longer))


@dataclass(frozen=True)
class Chance(Result):
    """The accuracy of sides drawn by lot for ``n`` instances in both orders, and where it falls so often."""

    n: int
    accuracy: float | None
    low: float | None
    high: float | None


def chance(golds: Sequence[IntArray], rule: Rule, level: float) -> Chance:
    """Of the mean over subsets: binomial for one subset, normal for several."""
    n = [len(gold) for gold in golds]
    if not golds or 0 in n:
        return Chance(sum(n), None, None, None)
    sided = [int((gold != TIE).sum()) for gold in golds]
    on_ties = 0.5 if rule.ties == "half" else 0.0
    fixed = sum(on_ties * (each - own) / each for each, own in zip(n, sided, strict=True)) / len(n)
    own = sum(own / each / 2.0 for each, own in zip(n, sided, strict=True)) / len(n)
    tail = 0.5 - level / 200.0
    if len(golds) == 1:
        low, high = (_quantile(p, 2 * sided[0]) / (2.0 * n[0]) for p in (tail, 1.0 - tail))
    else:
        variance = sum(own / each**2 / 8.0 for each, own in zip(n, sided, strict=True)) / len(n) ** 2
        reach = float(ndtri(1.0 - tail) * np.sqrt(variance))
        low, high = own - reach, own + reach
    return Chance(sum(n), fixed + own, fixed + low, fixed + high)


def _quantile(p: float, n: int) -> float:
    """Of the binomial distribution of n fair trials."""
    return float(np.ceil(bdtrik(p, n, 0.5))) if n else 0.0


@dataclass(frozen=True)
class PeopleFigures(Result):
    """People against each other on the ``n`` instances that several of them rated.

    ``accuracy``: how often one person is right, from ``low`` to ``high``; if gold is their own majority,
    by the majority of the others. ``agreement``: how often two people say the same about an instance.
    ``kappas``: of every two people with their numbers.
    """

    n: int
    people: int
    accuracy: float | None
    low: float | None
    high: float | None
    agreement: Estimate
    alpha: Estimate
    kappas: tuple[tuple[int, int, int, dict[str, Estimate]], ...]


class AmongPeople:
    """People against each other, from verdicts (people, instances), NOT_ASKED for gaps.

    Without ``gold``, each is judged by the majority of the others; one without a side judges nobody. Without
    ``prompt`` every instance has its own.
    """

    def __init__(
        self,
        verdicts: IntArray,
        rule: Rule,
        gold: IntArray | None = None,
        prompt: IntArray | None = None,
    ) -> None:
        self._verdicts, self._counts = verdicts, counted(verdicts)
        self._prompt = np.arange(verdicts.shape[1]) if prompt is None else prompt
        self._several = self._counts.sum(axis=1) > 1
        self._own = is_scored(verdicts) & self._several
        self._earned = [
            _earned(row, self._counts, mine, rule, gold)
            for row, mine in zip(verdicts, self._own, strict=True)
        ]

    @cached_property
    def right(self) -> tuple[FloatArray, FloatArray]:
        """Credits of people by prompt, and how many they could have got."""
        earned = np.array(self._earned).reshape(self._verdicts.shape)
        return self._by_prompt(np.nansum(earned, axis=0), (~np.isnan(earned)).sum(axis=0))

    @cached_property
    def alike(self) -> tuple[FloatArray, FloatArray]:
        """Pairs of people by prompt that say the same about an instance, and all."""
        counts = self._counts.astype(np.float64)
        each = counts.sum(axis=1)
        return self._by_prompt((counts * (counts - 1)).sum(axis=1), each * (each - 1))

    def _by_prompt(self, won: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
        return added_up(won, self._prompt), added_up(count, self._prompt)

    def figures(self, level: float) -> PeopleFigures:
        right, alike = (share_estimate(*part, level) for part in (self.right, self.alike))
        return PeopleFigures(
            int(self._several.sum()),
            int(self._own.any(axis=1).sum()),
            *right.estimate,
            alike.estimate,
            alpha_between([self], level),
            tuple(self._kappas(level)),
        )

    @cached_property
    def alpha(self) -> FloatArray:
        """What alpha is computed from, by prompt."""
        return added_up(alpha_sums(self._counts), self._prompt)

    def _kappas(self, level: float) -> Iterator[tuple[int, int, int, dict[str, Estimate]]]:
        rated = is_scored(self._verdicts)
        busiest = np.argsort(-self._own.sum(axis=1), kind="stable")[:MOST_PEOPLE].tolist()
        for one, other in combinations(sorted(busiest), 2):
            shared = rated[one] & rated[other]
            if shared.any():
                sums = added_up(kappa_sums(self._verdicts[one], self._verdicts[other], shared), self._prompt)
                kappa = mean_of_coefficients([sums], kappa_of, level)
                yield one, other, int(shared.sum()), {"kappa": kappa.estimate}


def alpha_between(found: Sequence[AmongPeople], level: float) -> Estimate:
    """Krippendorff's alpha of people, on average over subsets."""
    return mean_of_coefficients([each.alpha for each in found], alpha_of, level).estimate


def mean_of_people(found: Sequence[AmongPeople], level: float) -> dict[str, Any]:
    """Accuracy, agreement and alpha with their intervals, on average over subsets."""
    right = mean_of_shares([each.right for each in found], level)
    alike = mean_of_shares([each.alike for each in found], level)
    accuracy = {"accuracy": right.value, "low": right.low, "high": right.high}
    return {**accuracy, "agreement": alike.estimate, "alpha": alpha_between(found, level)}


def _earned(
    row: IntArray, counts: IntArray, mine: BoolArray, rule: Rule, gold: IntArray | None
) -> FloatArray:
    """The credits of one person by instance, NaN without, against the gold or the majority of the others."""
    held = majority(counts - counted(row[None])) if gold is None else gold
    judged = mine & (held != TIE) if gold is None else mine
    found = np.full(len(row), np.nan)
    found[judged] = points(row[judged], held[judged], rule)
    return found
