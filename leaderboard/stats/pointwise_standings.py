"""Standings from scores or requirements of single texts, in the form of those from pairs.

By score: how much better each contestant scores than others on the same prompts, by least squares with an
effect of each prompt. Where all are scored on every prompt, this is the mean of scores less the mean of their
prompt. By requirements: the share met. Errors are a sandwich's with prompts as units (Liang and Zeger 1986)
and Student's t; ranks and groups come from samples as for pairs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from leaderboard.stats.bootstrap import ROUNDS, check_rounds
from leaderboard.stats.checks import (
    BoolArray,
    ContestantNumberError,
    FloatArray,
    IntArray,
    LengthMismatchError,
    check_level,
)
from leaderboard.stats.clustered_means import prompt_numbers, share_estimate
from leaderboard.stats.gold_matrix import rank_correlation
from leaderboard.stats.plain_values import Estimate, Result
from leaderboard.stats.ranking_estimates import Strengths
from leaderboard.stats.ranking_rows import Certainty, Standing, Tally, rows
from leaderboard.stats.requirements import YES, Answers, Questions
from leaderboard.stats.sandwich import sandwich_samples
from leaderboard.stats.scores import Scores
from leaderboard.stats.separation import difference_errors, rank_upper_bound
from leaderboard.stats.sums import ratio
from leaderboard.stats.two_way import sums_by_block, two_way


@dataclass(frozen=True, eq=False)
class PointwiseStandings:
    """``rows``, best first, whose ``games`` are scores or answers, and the ``estimate`` they come from."""

    rows: tuple[Standing, ...]
    estimate: Strengths


def score_standings(
    scores: Scores, names: Sequence[str], *, level: float = 95.0, rounds: int = ROUNDS, seed: int = 0
) -> PointwiseStandings:
    """Points above the average contestant, from scores of contestants numbered as ``names``.

    Contestants that no chain of shared prompts connects are in different components and not compared.
    """
    own = scores.scored
    count, total = _tables(own.prompt, own.contestant, np.ones(len(own)), own.value, len(names))
    scored = count.sum(axis=0)
    shared = (count > 0).sum(axis=1) > 1
    fit = two_way(count[shared], total[shared])
    known = np.bincount(fit.component)[fit.component] > 1
    found = _estimate(fit.contestant, fit.component, fit.pull, known, rounds, seed)
    return PointwiseStandings(_rows(names, found, scored, Certainty.of(found, check_level(level))), found)


def requirement_standings(
    questions: Questions,
    answers: Answers,
    names: Sequence[str],
    missing: str = "exclude",
    *,
    level: float = 95.0,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> PointwiseStandings:
    """Shares of requirements met, with the intervals of ``requirements``."""
    own = answers.only(answers.counts(missing))
    met, one = (own.value == YES).astype(np.float64), np.ones(len(own))
    count, won = _tables(questions.prompt[own.question], own.contestant, one, met, len(names))
    answered = count.sum(axis=0)
    rating = np.nan_to_num(ratio(won.sum(axis=0), answered))
    pull = (won - rating * count) / np.maximum(answered, 1.0)
    known = answered > 0
    component = np.where(known, 0, np.cumsum(~known))  # who has no answer is compared with nobody
    found = _estimate(rating, component, pull, known, rounds, seed)
    sure = Certainty.of(found, check_level(level))
    if sure is not None:
        shares = [share_estimate(*each, level) for each in zip(won.T, count.T, strict=True)]
        low, high = (
            np.array([np.nan if end is None else end for end in ends])
            for ends in ([own.low for own in shares], [own.high for own in shares])
        )
        best = rank_upper_bound(low, high, component)
        sure = replace(sure, low=low, high=high, rank_ub=best, quantiles=np.clip(sure.quantiles, 0.0, 1.0))
    return PointwiseStandings(_rows(names, found, answered, sure), found)


def _tables(
    prompt: IntArray, contestant: IntArray, count: FloatArray, total: FloatArray, contestants: int
) -> tuple[FloatArray, FloatArray]:
    """The sums of both (prompts, contestants)."""
    if contestant.max(initial=-1) >= contestants:
        raise ContestantNumberError(f"contestant {contestant.max()} has no name; there are {contestants}")
    of = prompt_numbers(prompt, len(prompt))
    return sums_by_block(of, contestant, contestants, count), sums_by_block(
        of, contestant, contestants, total
    )


def _estimate(
    rating: FloatArray, component: IntArray, pull: FloatArray, known: BoolArray, rounds: int, seed: int
) -> Strengths:
    """``pull`` (prompts, contestants): what a prompt adds to each rating; ``known``: who has an error."""
    check_rounds(rounds)
    units = len(pull)
    plain = Strengths(rating, component)
    if units < 2:
        return plain
    covariance = pull.T @ pull * (units / (units - 1.0))
    error = np.where(known, np.sqrt(np.diag(covariance)), np.nan)
    samples = sandwich_samples(plain, covariance, rounds, seed, units=units)
    return replace(
        plain,
        samples=samples,
        standard_error=error,
        difference_error=difference_errors(covariance),
        units=units,
    )


def _rows(
    names: Sequence[str], found: Strengths, count: FloatArray, sure: Certainty | None
) -> tuple[Standing, ...]:
    """Contestants that are compared with no other have no place among others."""
    nothing = np.zeros(len(names), dtype=np.int64)
    placed = rows(tuple(names), found, Tally(count.astype(np.int64), nothing, nothing, nothing), sure)
    members = Counter(row.component for row in placed)
    return tuple(replace(row, **_NO_PLACE) if members[row.component] == 1 else row for row in placed)


_NO_PLACE: Final[dict[str, Any]] = dict.fromkeys(
    ("rank", "rank_ub", "p_first", "group", "groups_at", "rank_ub_at")
)


@dataclass(frozen=True)
class OrderAgreement(Result):
    """Whether two standings of ``n`` contestants have the same order: Spearman, and Kendall's tau-b."""

    n: int
    spearman: Estimate
    kendall: Estimate


def orders_agree(
    one: FloatArray,
    other: FloatArray,
    one_samples: FloatArray | None = None,
    other_samples: FloatArray | None = None,
    level: float = 95.0,
) -> OrderAgreement:
    """From ratings of the same contestants, NaN where there is none, and samples (rounds, contestants).

    Intervals are those of ``RankCorrelation``.
    """
    if len(one) != len(other):
        raise LengthMismatchError(f"one has {len(one)} contestants, other has {len(other)}")
    drawn: list[FloatArray] = []
    if one_samples is not None and other_samples is not None:
        rounds = min(len(one_samples), len(other_samples))
        drawn = [one_samples[:rounds].T, other_samples[:rounds].T]
    found = rank_correlation("contestants", "one", "other", one, other, *drawn, level=level)
    return OrderAgreement(found.n, found.spearman, found.kendall)
