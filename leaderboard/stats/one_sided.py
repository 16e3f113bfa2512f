"""How one-sided a voter is for one of several models, and how likely votes like those of others are so."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, lgamma, log, log1p

from leaderboard.stats.checks import ParameterError


@dataclass(frozen=True)
class Leaning:
    """The model of which a voter said too often that it is better.

    ``usual``: the share of the others' votes for it. ``chance``: that a voter who votes like the others says
    so at least as often of any of their models, at most (Bonferroni).
    """

    model: int
    wins: int
    n: int
    usual: float
    chance: float


def leaning(own: Mapping[int, tuple[int, int]], everybody: Mapping[int, tuple[int, int]]) -> Leaning | None:
    """The model to which a voter leans most. Both: wins and votes by model, ``everybody`` with the own.

    The others' share has a vote for and one against it added (Laplace), so that few others prove nothing.
    None for a voter without a vote.
    """
    found = []
    for model, (wins, n) in own.items():
        others_wins, others_n = everybody[model][0] - wins, everybody[model][1] - n
        usual = (others_wins + 1) / (others_n + 2)
        found.append(Leaning(model, wins, n, usual, min(1.0, len(own) * at_least(wins, n, usual))))
    return min(found, key=lambda each: (each.chance, each.model), default=None)


def at_least(count: int, n: int, share: float) -> float:
    """The chance of at least so many of n independent trials (binomial)."""
    if not 0 <= count <= n or not 0 < share < 1:
        raise ParameterError(f"{count} of {n} trials with a share of {share} cannot be")
    if count == 0:
        return 1.0
    return min(1.0, sum(exp(_log_of(each, n, share)) for each in range(count, n + 1)))


def _log_of(count: int, n: int, share: float) -> float:
    ways = lgamma(n + 1) - lgamma(count + 1) - lgamma(n - count + 1)
    return ways + count * log(share) + (n - count) * log1p(-share)
