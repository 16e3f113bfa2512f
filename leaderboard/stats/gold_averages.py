"""Accuracy of judges on several subsets: intervals, means of subsets, and differences from a base judge.

A bootstrap round draws the prompts of each subset anew with all their instances, the same for all judges.
Accuracies get Wilson's interval (1927) at the effective number of observations p(1 - p) / variance, because
percentiles hold the truth too rarely near 1; differences get Student's t. The tests of one family are
adjusted by Holm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.special import stdtr

from leaderboard.stats.bootstrap import check_run
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.gold import Judged
from leaderboard.stats.intervals import student_reach
from leaderboard.stats.p_values import holm, mcnemar
from leaderboard.stats.plain_values import UNDEFINED, Estimate, Result
from leaderboard.stats.resampling import cluster_draws
from leaderboard.stats.shares import wilson
from leaderboard.stats.sums import ratio

ADVERSARIAL: Final = ("Neighbor", "GPTInst", "GPTOut", "Manual")
"""LLMBar's subsets that have a mean of their own."""

_PROMPT_DRAWS: Final = 21
_NONE: Final = 1e-18  # a smaller variance is rounding


@dataclass(frozen=True, eq=False)
class Accuracies:
    """Accuracy of one judge: on each subset, and in every round of the bootstrap; NaN where undefined."""

    estimate: FloatArray  # (subsets,)
    samples: FloatArray  # (subsets, rounds)
    prompts: FloatArray  # (subsets,) that count
    alone: FloatArray  # (subsets,) variance if instances of one prompt were independent

    def on(self, subsets: Sequence[int]) -> Accuracies:
        """On some of the subsets."""
        chosen = list(subsets)
        return Accuracies(*(each[chosen] for each in vars(self).values()))

    @classmethod
    def of_several(
        cls, estimate: FloatArray, samples: FloatArray, judges: Sequence[Accuracies]
    ) -> Accuracies:
        """An average or a best of judges as if it were one, from its values (subsets,) and their rounds.

        Its prompts are those of the judge with the fewest, its variance alone is the mean of theirs.
        """
        asked = [~np.isnan(each.estimate) for each in judges]
        prompts = np.min(
            [np.where(at, own.prompts, np.inf) for at, own in zip(asked, judges, strict=True)], axis=0
        )
        alone = np.array([each.alone for each in judges])
        known = (~np.isnan(alone)).sum(axis=0)
        return cls(estimate, samples, prompts, np.nansum(alone, axis=0) / np.maximum(known, 1))

    def mean(self, subsets: Sequence[int], level: float) -> Estimate:
        """The unweighted mean over subsets; undefined where a subset is."""
        chosen = list(subsets)
        value = float(self.estimate[chosen].mean()) if chosen else np.nan
        if np.isnan(value):
            return UNDEFINED
        prompts = self.prompts[chosen]
        if prompts.min() < 2:
            return Estimate(value)
        variance = _variance(self.samples[chosen], prompts, self.alone[chosen])
        spread = value * (1.0 - value)
        if (
            variance < _NONE and spread > _NONE
        ):  # every instance counts alike, as one verdict for a place does
            return Estimate(value, value, value)
        effective = spread / variance if spread > _NONE else float(prompts.sum())
        return Estimate(value, *wilson(value, effective, student_reach(int(prompts.sum()), level)))

    def apart(self, subsets: Sequence[int], level: float) -> tuple[Estimate, float | None]:
        """The mean of differences over subsets, and p, by Student's t."""
        chosen = list(subsets)
        value = float(self.estimate[chosen].mean()) if chosen else np.nan
        if np.isnan(value):
            return UNDEFINED, None
        prompts = self.prompts[chosen]
        error = float(np.sqrt(_variance(self.samples[chosen], prompts)))
        freedom = int(prompts.sum()) - len(chosen)
        if not (error > _NONE**0.5 and freedom > 0):
            return Estimate(value), None
        reach = student_reach(freedom + 1, level) * error
        found = Estimate(value, max(-1.0, value - reach), min(1.0, value + reach))
        return found, float(2.0 * stdtr(freedom, -abs(value) / error))


def _variance(samples: FloatArray, prompts: FloatArray, alone: FloatArray | float = 0.0) -> float:
    """Of the mean of the rows; subsets are drawn independently.

    Prompts that happen to be equal do not make a row certain: it has the variance of its instances.
    """
    known = [row[~np.isnan(row)] for row in samples]
    parts = np.array([row.var(ddof=1) if len(row) > 1 else np.nan for row in known])
    parts = np.where(parts < _NONE, alone, parts * prompts / np.maximum(prompts - 1, 1))
    return float(parts.sum()) / len(samples) ** 2


def accuracies(judges: Sequence[Sequence[Judged]], rounds: int, seed: int) -> list[Accuracies]:
    """One for each judge, from ``judges[judge][subset]``."""
    check_run(rounds, seed, None)
    found = [
        _of_subset([own[subset] for own in judges], subset, rounds, seed)
        for subset in range(len(judges[0]) if judges else 0)
    ]
    columns = [np.stack(column, axis=1) for column in zip(*found, strict=True)]
    return [Accuracies(*(column[judge] for column in columns)) for judge in range(len(judges))]


def _of_subset(
    judges: Sequence[Judged], subset: int, rounds: int, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Accuracy (judges,), in rounds (judges, rounds), prompts and variance alone (judges,)."""
    credits = np.array([each.credits for each in judges])
    single = np.stack([np.nansum(credits, axis=1), (~np.isnan(credits)).sum(axis=1)])
    sums = judges[0].by_prompt(single)
    n = sums.shape[2]
    drawn = cluster_draws(seed, subset * rounds + np.arange(rounds), n, _PROMPT_DRAWS) if n else ()
    added = np.array([sums @ np.bincount(one, minlength=n) for one in drawn]).reshape(-1, *sums.shape[:2])
    estimate = ratio(*sums.sum(axis=2))
    prompts = (sums[1] > 0).sum(axis=1).astype(np.float64)
    return estimate, ratio(added[:, 0], added[:, 1]).T, prompts, _alone(single, estimate)


def _alone(sums: FloatArray, estimate: FloatArray) -> FloatArray:
    """The variance of each share of points (judges,) over its instances, from (2, judges, n)."""
    n = (sums[1] > 0).sum(axis=1)
    squares = ((sums[0] - estimate[:, None] * sums[1]) ** 2).sum(axis=1)
    return ratio(squares * n, sums[1].sum(axis=1) ** 2 * np.maximum(n - 1, 1))


@dataclass(frozen=True)
class Difference(Result):
    """How much more accurate a judge is than its base on the mean of ``subsets``.

    ``p`` is of Student's t. ``only_base`` and ``only_judge`` count instances that one alone has right in
    every order in which both were asked, ``mcnemar`` is their exact test by prompt. Adjusted p-values are
    Holm's.
    """

    subsets: tuple[int, ...]
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    only_base: int
    only_judge: int
    mcnemar: float
    mcnemar_adjusted: float


def difference(
    base: Accuracies, judge: Accuracies, of_base: Sequence[Judged], of_judge: Sequence[Judged], level: float
) -> Difference:
    """On the subsets where both have an accuracy."""
    shared = np.flatnonzero(~np.isnan(base.estimate + judge.estimate)).tolist()
    prompts = np.minimum(base.prompts, judge.prompts)
    lead = Accuracies(judge.estimate - base.estimate, judge.samples - base.samples, prompts, base.alone)
    found, p = lead.apart(shared, level)
    pairs = [(of_base[subset], of_judge[subset]) for subset in shared]
    both = [(one, other, one.asked & other.asked) for one, other in pairs]
    leads = [other.right_throughout(asked) - one.right_throughout(asked) for one, other, asked in both]
    only_base, only_judge = (sum(int((lead == sign).sum()) for lead in leads) for sign in (-1, 1))
    by_prompt = [one.by_prompt(lead) for (one, _, _), lead in zip(both, leads, strict=True)]
    exact = mcnemar(np.concatenate([np.zeros(0), *by_prompt]).astype(np.int64))
    return Difference(tuple(shared), *found, p, p, only_base, only_judge, exact, exact)


def adjusted(found: Sequence[Difference]) -> list[Difference]:
    """The differences with p-values adjusted for all of them together."""
    exact = holm(np.array([each.mcnemar for each in found])).tolist()
    tested = [each.p for each in found if each.p is not None]
    of_t = iter(holm(np.array(tested)).tolist())
    return [
        replace(each, mcnemar_adjusted=p, p_adjusted=None if each.p is None else next(of_t))
        for each, p in zip(found, exact, strict=True)
    ]


def groups(subsets: Sequence[str]) -> Mapping[str, list[int]]:
    """Several subsets with a mean of their own: LLMBar's adversarial ones, and those named GROUP/NAME."""
    found: dict[str, list[int]] = {}
    for number, name in enumerate(subsets):
        group, slash, _ = name.rpartition("/")
        if not slash and name in ADVERSARIAL:
            group = "Adversarial"
        if group:
            found.setdefault(group, []).append(number)
    return {group: numbers for group, numbers in found.items() if len(numbers) > 1}
