"""How many more prompts, with how many raters, it takes to tell two contestants apart.

A gap is told from 0 when it is wider than the half-width of its interval. With a normal error of variance V
this has a chance of ``power`` if the true gap is (z + z') √V wide, z and z' being the normal quantiles of
level and power.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from leaderboard.stats.bradley_terry import POINTS_PER_UNIT, bradley_terry
from leaderboard.stats.checks import FloatArray, IntArray, NoGamesError, ParameterError, whole_number
from leaderboard.stats.games import Games
from leaderboard.stats.intervals import check_level
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.ratings import Ratings
from leaderboard.stats.robustness import FittedTable
from leaderboard.stats.sandwich import sandwich
from leaderboard.stats.tie_bands import TieBand

# Of the quadrature over prompts.
_NODES: Final = 64
# Points; no gap that a strength can show lies beyond.
_FARTHEST: Final = 1e5
# Points; for prompts that differ much more the quadrature is off by more than 1 %.
_WIDEST: Final = 600.0


@dataclass(frozen=True)
class PromptVariance:
    """The variance that one prompt gives a gap, in squared points."""

    between: float  # prompts differ in whom they suit
    within: float | None  # of one rater on the same two answers; None, and part of between, where not known

    def of_prompt(self, raters: float) -> float:
        """The variance with so many raters for every pair; an upper bound where the parts are not known."""
        return self.between + (self.within or 0.0) / raters


def assumed_variance(gap: float, ties: float, prompt_sd: float, contestants: int) -> PromptVariance:
    """The variance of the gap of two contestants among near equals, all compared in pairs on every prompt.

    ``prompt_sd`` is the standard deviation, in points, of a contestant's quality between prompts. Games
    against others leave 2 / contestants of the raters' part. Raises ParameterError.
    """
    _check(gap, ties, prompt_sd, contestants)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights, shift = weights / weights.sum(), math.sqrt(2.0) * prompt_sd * nodes
    mean = float(_chance(np.array(gap)))

    def score(centre: float) -> FloatArray:
        return (1.0 - ties) * _chance(centre + shift) + ties / 2.0

    centre = brentq(lambda centre: float(weights @ score(centre)) - mean, -_FARTHEST, _FARTHEST, xtol=1e-6)
    expected = score(float(centre))
    between = float(weights @ (expected - mean) ** 2)
    squared = expected - ties / 4.0
    within = float(weights @ (squared - expected**2))
    slope = mean * (1.0 - mean) / POINTS_PER_UNIT
    return PromptVariance(between / slope**2, 2.0 / contestants * within / slope**2)


def _chance(lead: FloatArray) -> FloatArray:
    return 0.5 * (1.0 + np.tanh(lead / (2.0 * POINTS_PER_UNIT)))


def _check(gap: float, ties: float, prompt_sd: float, contestants: int) -> None:
    if not 0.0 <= ties < 1.0:
        raise ParameterError(f"ties is {ties}; it must be a share from 0 to less than 1")
    if not 0.0 <= prompt_sd <= _WIDEST:
        raise ParameterError(
            f"prompt_sd is {prompt_sd:g}; it must be a number of points from 0 to {_WIDEST:g}"
        )
    if whole_number("contestants", contestants) < 2:
        raise ParameterError(f"contestants is {contestants}; it must be at least 2")
    if not gap < _FARTHEST or _chance(np.array(gap)) >= 1.0 - ties / 2.0:
        limit = f"with a share of {ties:g} ties even a model that wins all the rest shows less"
        raise ParameterError(f"gap is {gap:g}, which cannot be: {limit}")


@dataclass(frozen=True)
class Evidence:
    """What the data say about a gap between two contestants."""

    first: int
    second: int
    gap: float  # in points
    variance: PromptVariance
    prompts: int
    raters: float  # of a pair of answers, on average


def measured(games: Games, rater: IntArray | None, first: int, second: int) -> Evidence:
    """What games clustered by prompt say about two contestants; ``rater`` numbers the rater of each game.

    A prompt's total is the sum of its games' influences on the gap (Liang and Zeger 1986). The raters' part
    is what remains of the differences between raters of the same two answers (method of moments). Raises a
    StatsError where the two cannot be compared or there is one prompt.
    """
    prompt = _prompts(games)
    found, table = games.outcomes, games.table
    if first == second or table.component[first] != table.component[second]:
        raise ParameterError(
            "no chain of ratings connects the two models"
            if first != second
            else "choose two different models"
        )
    fit = FittedTable.of(table)
    moved = (POINTS_PER_UNIT * fit.influence(first, second))[found.of_game]
    opinions = _Opinions.of(prompt, table.pair_of_outcome[found.of_game], rater, moved)
    prompts = games.units
    total = float((np.bincount(prompt, moved) ** 2).sum()) * prompts / (prompts - 1)
    within = opinions.within()
    gap = POINTS_PER_UNIT * float(fit.theta[first] - fit.theta[second])
    if within is None:
        return Evidence(first, second, gap, PromptVariance(prompts * total, None), prompts, opinions.raters)
    within = min(within, total)
    parts = PromptVariance(prompts * (total - within), prompts * within * opinions.raters)
    return Evidence(first, second, gap, parts, prompts, opinions.raters)


def typical_pair(games: Games) -> tuple[int, int]:
    """The two contestants of the largest connected group whose gap has the median variance."""
    _prompts(games)
    fit = bradley_terry(games)
    covariance = sandwich(games, fit).covariance
    own = np.flatnonzero(fit.component == 0)
    first, second = (own[side] for side in np.triu_indices(len(own), 1))
    variance = covariance[first, first] + covariance[second, second] - 2.0 * covariance[first, second]
    middle = int(np.argsort(variance, kind="stable")[(len(variance) - 1) // 2])
    return int(first[middle]), int(second[middle])


@dataclass(frozen=True, eq=False)
class _Opinions:
    """One rater's games on one pair of answers together."""

    cell: IntArray  # prompt and pair
    group: IntArray  # prompt and rater
    moved: FloatArray  # points by which an opinion moves the gap

    @classmethod
    def of(cls, prompt: IntArray, pair: IntArray, rater: IntArray | None, moved: FloatArray) -> "_Opinions":
        own = np.arange(len(moved)) if rater is None else rater
        pairs, raters = int(pair.max()) + 1, int(own.max()) + 1
        keys, opinion = np.unique((prompt * pairs + pair) * raters + own, return_inverse=True)
        about, who = np.divmod(keys, raters)
        cell = np.unique(about, return_inverse=True)[1]
        group = np.unique(about // pairs * raters + who, return_inverse=True)[1]
        total: FloatArray = np.bincount(opinion, moved).astype(np.float64)
        return cls(cell, group, total)

    @property
    def raters(self) -> float:
        return len(self.cell) / (int(self.cell.max()) + 1)

    def within(self) -> float | None:
        """The raters' part of the variance of the gap; None where no pair of answers has two raters."""
        # Pairs with a single rater are taken to have as much of it, in proportion, as the others.
        raters = np.bincount(self.cell)[self.cell]
        several = raters > 1
        known = float((self.moved[several] ** 2).sum())
        if not known:
            return None
        centred = self.moved - (np.bincount(self.cell, self.moved) / np.bincount(self.cell))[self.cell]
        unbiased = np.where(several, centred * np.sqrt(raters / np.maximum(raters - 1, 1)), 0.0)
        found = float((np.bincount(self.group, unbiased) ** 2).sum())
        return found * float((self.moved**2).sum()) / known


def _prompts(games: Games) -> IntArray:
    """The prompt of each game; raises a StatsError where there are fewer than two."""
    if not len(games):
        raise NoGamesError("a plan needs ratings, and these are none")
    if games.cluster is None:
        raise ParameterError("a plan needs the prompts of the ratings, and none are named")
    if games.units < 2:
        raise ParameterError("one prompt says nothing about how prompts differ")
    return games.cluster


# Every plan shows these.
RATERS_SHOWN: Final = (1, 2, 3, 5)
FEWEST_PROMPTS: Final = 2
SMALLEST_GAP: Final = 0.001
# Points; no study has the votes for a smaller gap, and no strength shows a larger one.
LARGEST_GAP: Final = 100_000.0
# With fewer at hand their variance is itself known only roughly.
FEW_PROMPTS: Final = 30
# Points; strengths that differ by less are equal.
_ALIKE: Final = 1e-6


@dataclass(frozen=True)
class Aim:
    """What is to be seen; raises ParameterError for values out of range."""

    gap: float  # in points
    level: float = 95.0  # of the interval, in percent
    power: float = 80.0  # in percent

    def __post_init__(self) -> None:
        check_level(self.level, "level")
        if not 50 <= self.power < 100:
            raise ParameterError(f"power is {self.power}; it must be a percentage from 50 to less than 100")
        if not (math.isfinite(self.gap) and self.gap > 0):
            raise ParameterError(f"gap is {self.gap:g}; it must be a positive number of points")
        if not SMALLEST_GAP <= self.gap <= LARGEST_GAP:
            raise ParameterError(
                f"gap is {self.gap:g}; it must be from {SMALLEST_GAP:g} to {LARGEST_GAP:g} points"
            )

    @property
    def width(self) -> float:
        """The half-width of an interval in standard errors."""
        return float(ndtri(0.5 + self.level / 200.0))

    @property
    def variance(self) -> float:
        """The largest variance of the gap, in squared points, that serves."""
        return (self.gap / (self.width + float(ndtri(self.power / 100.0)))) ** 2


@dataclass(frozen=True)
class Need:
    """With so many raters for every pair, the prompts needed and what they give."""

    raters: int
    more: int  # prompts
    prompts: int  # in all
    half_width: float


@dataclass(frozen=True)
class Plan:
    """What it takes to see a gap."""

    aim: Aim
    need: Need  # for the raters asked for
    needs: tuple[Need, ...]  # for several numbers of raters
    variance: PromptVariance
    evidence: Evidence | None = None  # None for a plan from assumptions
    half_width_now: float | None = None
    between: bool = False  # whether the gap is that of the two contestants of the evidence

    def at(self, gap: float) -> "Plan":
        """The plan for another gap between the same two."""
        aim = Aim(gap, self.aim.level, self.aim.power)
        return _plan(aim, self.need.raters, self.variance, self.evidence, self.between)

    def sentence(self, names: Sequence[str] = ()) -> str:
        """The answer in words; ``names`` are the contestants' in the order of their numbers."""
        aim, need = self.aim, self.need
        goal = f"see a gap of {aim.gap:.3g} points"
        if self.between and self.evidence is not None:
            first, second = names[self.evidence.first], names[self.evidence.second]
            goal = f"tell {first} from {second} ({aim.gap:.3g} points apart)"
        if self.evidence is not None and not need.more:
            return f"The {need.prompts:,} prompts so far are enough to {goal}."
        sure = f"A {aim.level:g}% interval then shows the gap with a chance of {aim.power:g}%."
        raters = "1 rater" if need.raters == 1 else f"{need.raters} raters"
        more = "more " if self.evidence is not None else ""
        total = f", {need.prompts:,} in all," if self.evidence is not None else ""
        bound = "at most about" if self.variance.within is None else "about"
        prompts = "prompt" if need.more == 1 else "prompts"
        needed = f"{bound} {need.more:,} {more}{prompts}{total} with {raters} for every pair"
        return f"You need {needed} to {goal}. {sure}"

    def warnings(self) -> tuple[str, ...]:
        found = []
        if self.evidence is not None and self.evidence.prompts < FEW_PROMPTS:
            found.append(
                f"Only {self.evidence.prompts} prompts show how much prompts differ. Take the number as "
                "rough."
            )
        if self.variance.within is None:
            found.append("No two raters rated the same pair, so nothing shows what more raters would save.")
        if any(later.more > fewer.more for fewer, later in pairwise(self.needs)):
            found.append(
                "More raters can need more prompts here: every rating counts the same, so new prompts with "
                "many raters outweigh the prompts so far."
            )
        if self.need.prompts < FEW_PROMPTS:
            found.append(f"With fewer than {FEW_PROMPTS} prompts, intervals tend to be too narrow.")
        return tuple(found)

    def as_dict(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6; ``names`` are as for ``sentence``."""
        evidence = None
        if self.evidence is not None:
            sides = {side: names[getattr(self.evidence, side)] for side in ("first", "second")}
            evidence = {**vars(self.evidence), **sides, "half_width": self.half_width_now}
            del evidence["variance"]
        values = {
            **asdict(self.aim),
            "needed": asdict(self.need),
            "needs": [asdict(need) for need in self.needs],
            "variance": asdict(self.variance),
            "evidence": evidence,
            "warnings": list(self.warnings()),
            "sentence": self.sentence(names),
        }
        return {name: rounded(value) for name, value in values.items()}


def plan_from_data(
    ratings: Ratings,
    *,
    between: tuple[int, int] | None = None,
    gap: float | None = None,
    raters: int | None = None,
    level: float = 95.0,
    power: float = 80.0,
    ties: bool = True,
    tie_band: TieBand | None = None,
) -> Plan:
    """How many prompts like those at hand, with as many pairs, are needed beyond them.

    ``gap`` replaces the measured gap ``between`` two contestants; alone it takes the variance of the pair
    with the median one. ``raters`` rate every new pair, by default as many as now. Raises a StatsError.
    """
    if between is None and gap is None:
        raise ParameterError("a plan needs two models or a gap")
    if ratings.prompt is None:
        raise ParameterError("a plan needs the prompts of the ratings, and none are named")
    games = ratings.games(ties=ties, tie_band=tie_band)
    rater = None
    if ratings.rater is not None:
        rater = ratings.games(ties=ties, resample="raters", tie_band=tie_band).cluster
    evidence = measured(games, rater, *(between or typical_pair(games)))
    if gap is None and abs(evidence.gap) < _ALIKE:
        raise ParameterError("the two are rated alike, so say how wide a gap is to be seen")
    aim = Aim(abs(evidence.gap) if gap is None else gap, level, power)
    wanted = max(1, round(evidence.raters)) if raters is None else raters
    return _plan(aim, wanted, evidence.variance, evidence, between is not None)


def plan_from_assumptions(
    gap: float,
    *,
    raters: int = 1,
    level: float = 95.0,
    power: float = 80.0,
    ties: float = 0.2,
    prompt_sd: float = 150.0,
    contestants: int = 2,
) -> Plan:
    """How many prompts a study needs to see a gap of ``gap`` points; the rest as in ``assumed_variance``."""
    aim = Aim(gap, level, power)
    return _plan(aim, raters, assumed_variance(gap, ties, prompt_sd, contestants))


def _plan(
    aim: Aim, raters: int, variance: PromptVariance, evidence: Evidence | None = None, between: bool = False
) -> Plan:
    if whole_number("raters", raters) < 1:
        raise ParameterError(f"raters is {raters}; it must be at least 1")
    shown = {raters} if variance.within is None else {*RATERS_SHOWN, raters}
    needs = {number: _need(aim, number, variance, evidence) for number in sorted(shown)}
    now = None
    if evidence is not None:
        now = aim.width * math.sqrt(variance.of_prompt(evidence.raters) / evidence.prompts)
    return Plan(aim, needs[raters], tuple(needs.values()), variance, evidence, now, between)


def _need(aim: Aim, raters: int, variance: PromptVariance, evidence: Evidence | None) -> Need:
    if evidence is None:
        fresh = variance.of_prompt(raters)
        more = max(math.ceil(fresh / aim.variance - 1e-9), FEWEST_PROMPTS)
        return Need(raters, more, more, aim.width * math.sqrt(fresh / more))
    # A prompt weighs as its games do, that is as its raters. With n new prompts of r raters and variance v
    # beside N of R raters and variance V the gap has the variance (N R² V + n r² v) / (N R + n r)², so n is
    # the positive root of a quadratic equation.
    had, now, new = evidence.prompts, evidence.raters, float(raters)
    if variance.within is None:
        new = now  # what another number of raters would change is not known
    weight, noise = had * now, had * now**2 * variance.of_prompt(now)
    missing = noise / aim.variance - weight**2
    half = new * variance.of_prompt(new) / aim.variance / 2.0 - weight
    more = math.ceil((half + math.sqrt(half**2 + missing)) / new - 1e-9) if missing > 0 else 0
    left = (noise + more * new**2 * variance.of_prompt(new)) / (weight + more * new) ** 2
    return Need(raters, more, had + more, aim.width * math.sqrt(left))
