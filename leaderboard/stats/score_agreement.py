"""Agreement of raters who score the same texts; no entry is mirrored.

Pearson, Spearman and Kendall's tau-b; the intraclass correlation ICC(2,1) for single scores and absolute
agreement (Shrout and Fleiss 1979); Krippendorff's alpha with squared distance (1970). Rounds of the bootstrap
draw prompts; intervals are those of ``agreement_estimates``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from leaderboard.stats.agreement_estimates import Wanted, estimates
from leaderboard.stats.agreement_opinions import Topics, measure
from leaderboard.stats.bootstrap import ROUNDS
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.choices import COEFFICIENTS
from leaderboard.stats.clustered_means import mean_over_prompts, prompt_numbers
from leaderboard.stats.coefficients import alpha, pearson, rank_coefficients, rank_coefficients_of, spread
from leaderboard.stats.correlation import counted_in, few_levels
from leaderboard.stats.plain_values import UNDEFINED, Estimate, Result
from leaderboard.stats.scores import Scores
from leaderboard.stats.sums import group_means, ratio

FEWEST_TEXTS: Final = 3
MEASURES: Final = (*COEFFICIENTS, "icc", "alpha")


@dataclass(frozen=True)
class _Run:
    level: float
    rounds: int
    seed: int


@dataclass(frozen=True)
class ScoreAgreement(Result):
    """Two raters on the texts both scored; where one scored a text several times, its mean counts.

    If both scored nothing but turns, each turn of an answer is a text.

    ``difference``: how much higher the first scored. ``reason``: why there are no coefficients.
    """

    texts: int
    prompts: int
    pearson: Estimate = UNDEFINED
    spearman: Estimate = UNDEFINED
    kendall: Estimate = UNDEFINED
    icc: Estimate = UNDEFINED
    alpha: Estimate = UNDEFINED
    difference: Estimate = UNDEFINED
    reason: str | None = None


def score_agreement(
    one: Scores, other: Scores, *, level: float = 95.0, rounds: int = ROUNDS, seed: int = 0
) -> ScoreAgreement:
    """The scores of two raters, or kinds of raters, on one scale."""
    prompt, keys = _texts(one.scored, other.scored)
    means = [
        group_means(key, own.value, len(prompt))
        for key, own in zip(keys, (one.scored, other.scored), strict=True)
    ]
    shared = np.flatnonzero(~np.isnan(means[0] + means[1]))
    prompt, x, y = prompt[shared], means[0][shared], means[1][shared]
    lead = mean_over_prompts(x - y, prompt, level)
    known: dict[str, Any] = {"texts": len(x), "prompts": lead.prompts, "difference": lead.estimate}
    reason = _why_not(x, y)
    if reason:
        return ScoreAgreement(**known, reason=reason)
    x, y = _on_axis(x, one), _on_axis(y, one)
    found = _estimated(prompt, x, y, (x - y) ** 2, _of_two, _Run(level, rounds, seed))
    return ScoreAgreement(**known | dict(zip(MEASURES, found, strict=True)))


@dataclass(frozen=True)
class PeopleAgreement(Result):
    """Several people on the texts that at least two of them scored.

    The ceiling (``pearson``, ``spearman``, ``kendall``): each person's score of a text against the mean of
    the others, ``entries`` in all. ``alpha``: all scores of a text with each other.
    """

    people: int
    texts: int
    prompts: int
    entries: int
    pearson: Estimate = UNDEFINED
    spearman: Estimate = UNDEFINED
    kendall: Estimate = UNDEFINED
    alpha: Estimate = UNDEFINED
    reason: str | None = None


def people_agreement(
    scores: Scores, *, level: float = 95.0, rounds: int = ROUNDS, seed: int = 0
) -> PeopleAgreement:
    """How far people agree, which bounds what a judge can reach."""
    given = scores.scored
    raters = 1 + given.rater.max(initial=0)
    prompts, (text,) = _texts(given)
    # One entry for each person and text, however often the person scored it.
    key, place = np.unique(text * raters + given.rater, return_inverse=True)
    own = group_means(place, given.value, len(key))
    number = np.unique(key // raters, return_inverse=True)[1]
    count = np.bincount(number)[number] if len(key) else np.zeros(0)
    kept = count > 1
    key, own, number, count = key[kept], own[kept], number[kept], count[kept]
    prompt = prompts[key // raters]
    others = (np.bincount(number, own)[number] - own) / (count - 1) if len(key) else own
    known: dict[str, Any] = {
        "people": len(np.unique(key % raters)),
        "texts": len(np.unique(number)),
        "prompts": len(np.unique(prompt)),
        "entries": len(key),
    }
    reason = _why_not(own, others)
    if reason:
        return PeopleAgreement(**known, reason=reason)
    x, y = _on_axis(own, scores), _on_axis(others, scores)
    # What the scores of a text differ, shared out to its entries.
    total, squares = (np.bincount(number, each)[number] for each in (x, x * x))
    apart = (squares - total**2 / count) / (count - 1.0)
    found = _estimated(prompt, x, y, apart, _of_people, _Run(level, rounds, seed))
    return PeopleAgreement(**known | dict(zip((*COEFFICIENTS, "alpha"), found, strict=True)))


def _texts(*scores: Scores) -> tuple[IntArray, list[IntArray]]:
    """The prompt of each text, and the texts of scores as numbers; turns are texts if all are of turns."""
    of_turns = all(each.turn.all() for each in scores)
    rows = [np.column_stack((each.prompt, each.contestant, each.turn * of_turns)) for each in scores]
    texts, number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    ends = np.cumsum([len(each) for each in scores])[:-1]
    return texts[:, 0], np.split(number.reshape(-1), ends)


def _why_not(x: FloatArray, y: FloatArray) -> str | None:
    if len(x) < FEWEST_TEXTS:
        return f"fewer than {FEWEST_TEXTS} answers scored by two raters"
    if (x == x[0]).all() or (y == y[0]).all():
        return "a rater gave every answer the same score"
    return None


def _on_axis(value: FloatArray, scores: Scores) -> FloatArray:
    """From -1, the lowest score of the scale, to 1."""
    return (2.0 * value - scores.lowest - scores.highest) / (scores.highest - scores.lowest)


def _estimated(
    prompt: IntArray,
    x: FloatArray,
    y: FloatArray,
    apart: FloatArray,
    rest: Callable[[FloatArray], list[FloatArray]],
    run: _Run,
) -> list[Estimate]:
    """The COEFFICIENTS of x and y, and what ``rest`` makes of the sums of the moments."""
    of = prompt_numbers(prompt, len(x))
    topics = Topics(of, np.zeros(int(of.max()) + 1, dtype=np.int64), ("",))
    one, other = few_levels(x), few_levels(y)
    used, cell = np.unique(one.number * other.count + other.number, return_inverse=True)
    once = np.ones(len(x))
    moments = (once, x, y, x * x, y * y, x * y, apart)
    kinds = len(moments)

    def value(sums: FloatArray) -> FloatArray:
        n, x, y, xx, yy, xy, _ = sums[:kinds]
        of_values = pearson(n * xy - x * y, spread(n, x, xx), spread(n, y, yy))
        ranks = rank_coefficients(counted_in((one.count, other.count), used, sums[kinds:]))
        return np.stack([of_values, *ranks, *rest(sums[:kinds])])

    entry = np.arange(len(x))
    found = measure(topics, entry, moments, value, [(cell, once)], len(used))
    exact = found.estimate
    if one.on_grid or other.on_grid:
        exact[0, 1:3] = rank_coefficients_of(x, y)
    (done,) = estimates([Wanted(found, entry, exact)], level=run.level, rounds=run.rounds, seed=run.seed)
    return done.row(0)


def _of_two(sums: FloatArray) -> list[FloatArray]:
    """ICC(2,1) and alpha of two scores of each text."""
    n, x, y, xx, yy, xy, apart = sums
    # n (n - 1) times twice the mean squares between texts, between raters, and of the rest.
    texts, rest = spread(n, x + y, xx + yy + 2.0 * xy), spread(n, x - y, apart)
    raters = (n - 1.0) * (x - y) ** 2
    icc = ratio(texts - rest, texts + rest + 2.0 * (raters - rest) / n)
    return [icc, alpha(2.0 * n, apart, spread(2.0 * n, x + y, xx + yy))]


def _of_people(sums: FloatArray) -> list[FloatArray]:
    n, x, _, xx, _, _, apart = sums
    return [alpha(n, apart, spread(n, x, xx))]
