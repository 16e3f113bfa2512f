"""What needs no judge: verdicts by place, length or lot, and people, who bound what a judge can reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from scipy.special import bdtrik, ndtri

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray
from leaderboard.stats.gold import (
    FIRST,
    NOT_ASKED,
    SECOND,
    TIE,
    Rule,
    cohen_kappa,
    counted,
    is_scored,
    nominal_alpha,
    points,
)
from leaderboard.stats.plain_values import Result

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
    on_ties = 0.0 if rule.ties == "tie" else 0.5
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

    ``agreement``: how often two people say the same about an instance. ``accuracy``: how often one person is
    right; for gold that is their own majority, by the majority of the others. ``kappas``: of every two people
    with their numbers.
    """

    n: int
    people: int
    accuracy: float | None
    agreement: float | None
    alpha: float | None
    kappas: tuple[tuple[int, int, int, float | None], ...]


def majority(counts: IntArray) -> IntArray:
    """The commonest verdict of each instance, from ``gold.counted``; TIE where several are as common."""
    most = counts == counts.max(axis=1, keepdims=True)
    return np.where(most.sum(axis=1) > 1, TIE, FIRST - counts.argmax(axis=1))


def among_people(verdicts: IntArray, rule: Rule, gold: IntArray | None = None) -> PeopleFigures:
    """From verdicts (people, instances), NOT_ASKED for gaps; without ``gold``, by the majority of the others.

    A majority without a side judges nobody.
    """
    counts = counted(verdicts)
    each = counts.sum(axis=1)
    several = each > 1
    rated = is_scored(verdicts)
    own = rated & several
    alike = (counts[several] * (counts[several] - 1)).sum()
    possible = (each[several] * (each[several] - 1)).sum()
    earned = [_earned(row, counts, mine, rule, gold) for row, mine in zip(verdicts, own, strict=True)]
    right = np.concatenate(earned) if earned else np.empty(0)
    busiest = np.argsort(-own.sum(axis=1), kind="stable")[:MOST_PEOPLE].tolist()
    kappas = []
    for one, other in combinations(sorted(busiest), 2):
        shared = rated[one] & rated[other]
        if shared.any():
            kappa = cohen_kappa(verdicts[one][shared], verdicts[other][shared])
            kappas.append((one, other, int(shared.sum()), kappa))
    return PeopleFigures(
        n=int(several.sum()),
        people=int(own.any(axis=1).sum()),
        accuracy=float(right.mean()) if len(right) else None,
        agreement=float(alike / possible) if possible else None,
        alpha=nominal_alpha(counts),
        kappas=tuple(kappas),
    )


def _earned(
    row: IntArray, counts: IntArray, mine: BoolArray, rule: Rule, gold: IntArray | None
) -> FloatArray:
    """The credits of one person on their instances against the gold, or the majority of the others."""
    said = row[mine]
    if gold is None:
        held = majority(counts[mine] - counted(said[None]))
        said, held = said[held != TIE], held[held != TIE]
    else:
        held = gold[mine]
    return points(said, held, rule)
