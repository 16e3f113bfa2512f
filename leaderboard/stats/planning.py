"""How many more prompts, with how many raters, it takes to tell two contestants apart.

A gap is told from 0 when it is wider than the half-width of its interval, as ``head_to_head.difference`` has
it. With an error of variance V from n prompts this has a chance of ``power`` if the true gap is (t + z') √V
wide: t is the quantile of Student's t with n - 1 degrees of freedom for level, z' the normal one for power.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from leaderboard.stats.bradley_terry import POINTS_PER_UNIT, bradley_terry
from leaderboard.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    NoGamesError,
    ParameterError,
    check_level,
    whole_number,
)
from leaderboard.stats.clustered_means import sum_error, sums
from leaderboard.stats.games import Games
from leaderboard.stats.head_to_head import difference
from leaderboard.stats.intervals import student_reach
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import Ratings
from leaderboard.stats.robustness import FittedTable
from leaderboard.stats.sandwich import sandwich
from leaderboard.stats.sums import centred
from leaderboard.stats.verdicts import TieBand

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


@dataclass(frozen=True)
class Assumptions:
    """What a plan without data takes for true; raises ParameterError for values out of range."""

    ties: float = 0.2  # share of ratings
    correlation: float = 0.25  # of two raters' scores of the same two answers
    contestants: int = 2  # near equals, all compared in pairs on every prompt

    def __post_init__(self) -> None:
        if not 0.0 <= self.ties < 1.0:
            raise ParameterError(f"ties is {self.ties}; it must be a share from 0 to less than 1")
        if not 0.0 <= self.correlation <= 1.0:
            raise ParameterError(f"correlation is {self.correlation:g}; it must be from 0 to 1")
        if whole_number("contestants", self.contestants) < 2:
            raise ParameterError(f"contestants is {self.contestants}; it must be at least 2")

    def variance(self, gap: float) -> PromptVariance:
        """The variance of a gap between two of the contestants.

        It needs no model of ties: they and the mean score, which the gap fixes, give the variance of a score;
        the part that raters share stays however many they are. Games against others leave 2 / contestants of
        the rest. Raises ParameterError for a gap that cannot be.
        """
        mean = _mean_score(gap, self.ties)
        slope = mean * (1.0 - mean) / POINTS_PER_UNIT
        score = (mean * (1.0 - mean) - self.ties / 4.0) / slope**2
        rest = 2.0 / self.contestants * (1.0 - self.correlation)
        return PromptVariance(self.correlation * score, rest * score)


def _chance(lead: FloatArray) -> FloatArray:
    return 0.5 * (1.0 + np.tanh(lead / (2.0 * POINTS_PER_UNIT)))


def _mean_score(gap: float, ties: float) -> float:
    mean = float(_chance(np.array(gap)))
    if not gap < _FARTHEST or mean >= 1.0 - ties / 2.0:
        limit = f"with a share of {ties:.15g} ties even a model that wins all the rest shows less"
        raise ParameterError(f"gap is {gap:g}, which cannot be: {limit}")
    return mean


def correlation_of_prompts(gap: float, ties: float, prompt_sd: float) -> float:
    """The correlation of two raters of the same two answers if prompts alone make them alike.

    ``prompt_sd`` is the standard deviation, in points, of a contestant's quality between prompts. A rating is
    a tie where the lead seen is small, so a prompt on which one is far ahead has few. Raises ParameterError.
    """
    mean = _mean_score(gap, Assumptions(ties=ties).ties)
    if not 0.0 <= prompt_sd <= _WIDEST:
        raise ParameterError(
            f"prompt_sd is {prompt_sd:g}; it must be a number of points from 0 to {_WIDEST:g}"
        )
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights, shift = weights / weights.sum(), math.sqrt(2.0) * prompt_sd * nodes

    def chances(centre: float, edge: float) -> tuple[FloatArray, FloatArray]:
        """Of winning, and of winning or a tie, on each prompt."""
        return _chance(centre + shift - edge), _chance(centre + shift + edge)

    def centre_of(edge: float) -> float:
        def excess(centre: float) -> float:
            return float(weights @ sum(chances(centre, edge))) / 2.0 - mean

        return float(brentq(excess, -_FARTHEST, _FARTHEST, xtol=1e-6))

    def too_many(edge: float) -> float:
        won, kept = chances(centre_of(edge), edge)
        return float(weights @ (kept - won)) - ties

    edge = float(brentq(too_many, 0.0, _FARTHEST / 2.0, xtol=1e-6)) if ties else 0.0
    score = sum(chances(centre_of(edge), edge)) / 2.0
    return float(weights @ (score - mean) ** 2) / (mean * (1.0 - mean) - ties / 4.0)


@dataclass(frozen=True)
class Evidence:
    """What the data say about a gap between two contestants."""

    first: int
    second: int
    gap: float  # in points
    variance: PromptVariance
    prompts: int
    raters: float  # of a pair of answers, on average
    correlation: float | None = None  # of two raters' scores of the same two answers; None where not known
    spread_known: bool = True  # whether ratings differ by more than the least error head to head


def measured(games: Games, rater: IntArray | None, first: int, second: int) -> Evidence:
    """What games clustered by prompt say about two contestants; ``rater`` numbers the rater of each game.

    The whole variance is that of their difference head to head. The raters' part is what remains of the
    differences between raters of the same two answers (method of moments). Raises a StatsError where the two
    cannot be compared or there is one prompt.
    """
    prompt = _prompts(games)
    apart = difference(games, first, second, Method("bradley-terry"))
    found, table, prompts = games.outcomes, games.table, games.units
    moved = (POINTS_PER_UNIT * FittedTable.of(table).influence(first, second))[found.of_game]
    opinions = _Opinions.of(prompt, table.pair_of_outcome[found.of_game], rater, moved)
    total = float(apart.standard_error or 0.0) ** 2
    found_total = float(sum_error(sums(prompt, moved)) ** 2)
    known = total <= found_total * (1.0 + 1e-6)
    within = opinions.within() if known else None
    if within is None:
        parts = PromptVariance(prompts * total, None)
    else:
        within = min(within, total)
        parts = PromptVariance(prompts * (total - within), prompts * within * opinions.raters)
    alike = opinions.correlation() if known else None
    return Evidence(first, second, apart.points, parts, prompts, opinions.raters, alike, known)


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
        if not self._several.any():
            return None
        known = float((self.moved[self._several] ** 2).sum())
        found = float((np.bincount(self.group, self._unbiased) ** 2).sum())
        return found * float((self.moved**2).sum()) / known if known else 0.0

    def correlation(self) -> float | None:
        """How alike raters of the same two answers score them, beyond what the strengths explain."""
        known = float((self.moved[self._several] ** 2).sum())
        return 1.0 - float((self._unbiased**2).sum()) / known if known else None

    @cached_property
    def _several(self) -> BoolArray:
        """Where more than one rated the pair of answers."""
        return np.asarray(np.bincount(self.cell)[self.cell] > 1)

    @cached_property
    def _unbiased(self) -> FloatArray:
        """By how much each differs from the mean on the same answers, as if the mean were known."""
        raters = np.bincount(self.cell)[self.cell]
        apart = centred(self.moved, self.cell)
        return np.where(self._several, apart * np.sqrt(raters / np.maximum(raters - 1, 1)), 0.0)


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
# Points; where one wins nearly always, the interval of few prompts varies less than its width says.
WIDE_GAP: Final = 150.0
MORE_FOR_MORE: Final = (
    "Some numbers rise with the raters. Every rating counts the same, so a few new prompts with many ratings "
    "outweigh all earlier prompts; it takes more new ones to balance that."
)


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

    def reach(self, prompts: float) -> float:
        """The half-width of an interval from so many prompts, in standard errors."""
        return student_reach(prompts, self.level)

    def variance(self, prompts: float = math.inf) -> float:
        """The largest variance of the gap from so many prompts, in squared points, that serves."""
        return (self.gap / (self.reach(prompts) + float(ndtri(self.power / 100.0)))) ** 2


@dataclass(frozen=True)
class Need:
    """With so many raters for every pair, the prompts needed and what they give."""

    raters: int
    more: int  # prompts
    prompts: int  # in all
    half_width: float


def points(gap: float) -> str:
    """Points to three digits: "59.7", "1,230"."""
    return f"{float(f'{gap:.3g}'):,.15g}"


def points_words(gap: float) -> str:
    number = points(gap)
    return "1 point" if number == "1" else f"{number} points"


def percent(level: float) -> str:
    """A level or a chance in full: what is less than 100% is never said to be that."""
    return f"{level:.15g}%"


def raters_words(raters: float) -> str:
    """Raters of a pair, on average: "1 rater", "4.2 raters"."""
    number = points(raters)
    return "1 rater" if number == "1" else f"{number} raters"


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
    assumptions: Assumptions | None = None

    def at(self, gap: float) -> "Plan":
        """The plan for another gap between the same two."""
        aim = Aim(gap, self.aim.level, self.aim.power)
        return _plan(aim, self.need.raters, self.variance, self.evidence, self.between)

    def sentence(self, names: Sequence[str] = ()) -> str:
        """The answer in words; ``names`` are the contestants' in the order of their numbers."""
        aim, wide = self.aim, points_words(self.aim.gap)
        goal, chance = f"see a gap of {wide}", f"with a chance of {percent(aim.power)}"
        sure = f"A {percent(aim.level)} interval then shows such a gap {chance}."
        if self.evidence is None:
            return f"You need {self._needed('', '')} to {goal}. {sure}"
        first, second = names[self.evidence.first], names[self.evidence.second]
        so_far = f"The {self.evidence.prompts:,} prompts so far"
        if _seen(aim, self.evidence, self.between):
            reach = f"give or take {points(self.half_width_now or 0.0)} at {percent(aim.level)}"
            return f"{so_far} tell {first} from {second}: they are {wide} apart, {reach}."
        if self.between and aim.gap == abs(self.evidence.gap):
            goal = f"tell {first} from {second} ({wide} apart)"
            sure = (
                f"If the gap is as wide as measured, a {percent(aim.level)} interval then shows it {chance}."
            )
        elif self.between:
            goal += f" between {first} and {second}"
        if not self.need.more:
            return f"{so_far} are enough to {goal} {chance}."
        return f"You need {self._needed('more ', f', {self.need.prompts:,} in all,')} to {goal}. {sure}"

    def _needed(self, more: str, total: str) -> str:
        need = self.need
        bound = "at most about" if self._bounded or self.aim.gap >= WIDE_GAP else "about"
        prompts = "prompt" if need.more == 1 else "prompts"
        return f"{bound} {need.more:,} {more}{prompts}{total} with {raters_words(need.raters)} for every pair"

    @property
    def _bounded(self) -> bool:
        """Whether more raters than now may save prompts, but nothing tells how many."""
        had = self.evidence.raters if self.evidence else math.inf
        return self.variance.within is None and self.need.raters > had

    def warnings(self) -> tuple[str, ...]:
        found = []
        if self.evidence is not None and self.evidence.prompts < FEW_PROMPTS:
            found.append(
                f"Only {self.evidence.prompts} prompts show how much prompts differ. Take the number as "
                "rough."
            )
        if self.evidence is not None and not self.evidence.spread_known:
            found.append(
                "The ratings so far hardly differ, so they do not show how much prompts and raters do. The "
                "number may be far off."
            )
        elif self.variance.within is None:
            found.append("No two raters rated the same pair, so nothing shows what more raters would save.")
        if self.need.more and self.aim.gap >= WIDE_GAP:
            found.append(
                f"For gaps from {WIDE_GAP:g} points on the numbers are upper bounds: the chance is higher "
                f"than {percent(self.aim.power)}."
            )
        if any(later.more > fewer.more for fewer, later in pairwise(self.needs)):
            found.append(MORE_FOR_MORE)
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
            **({"assumptions": asdict(self.assumptions)} if self.assumptions else {}),
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
    if gap is None and abs(evidence.gap) < SMALLEST_GAP:
        raise ParameterError("the two have the same score, so say how wide a gap is to be seen")
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
    correlation: float | None = None,
    prompt_sd: float | None = None,
    contestants: int = 2,
) -> Plan:
    """How many prompts a study needs to see a gap of ``gap`` points; the rest as in ``Assumptions``.

    ``prompt_sd`` says by ``correlation_of_prompts`` what the correlation is, by default 0.25. Raises
    ParameterError.
    """
    aim = Aim(gap, level, power)
    if prompt_sd is not None:
        if correlation is not None:
            raise ParameterError("correlation and prompt_sd say the same, so give one of them")
        correlation = correlation_of_prompts(gap, ties, prompt_sd)
    known = {} if correlation is None else {"correlation": correlation}
    assumed = Assumptions(ties=ties, contestants=contestants, **known)
    return _plan(aim, raters, assumed.variance(gap), assumptions=assumed)


def _plan(
    aim: Aim,
    raters: int,
    variance: PromptVariance,
    evidence: Evidence | None = None,
    between: bool = False,
    assumptions: Assumptions | None = None,
) -> Plan:
    if whole_number("raters", raters) < 1:
        raise ParameterError(f"raters is {raters}; it must be at least 1")
    shown = {raters} if variance.within is None else {*RATERS_SHOWN, raters}
    now = None if evidence is None else _half_width(aim, evidence)
    if evidence is not None and now is not None and _seen(aim, evidence, between):
        needs = {number: Need(number, 0, evidence.prompts, now) for number in sorted(shown)}
    else:
        needs = {number: _need(aim, number, variance, evidence) for number in sorted(shown)}
    return Plan(aim, needs[raters], tuple(needs.values()), variance, evidence, now, between, assumptions)


def _half_width(aim: Aim, evidence: Evidence) -> float:
    return aim.reach(evidence.prompts) * math.sqrt(
        evidence.variance.of_prompt(evidence.raters) / evidence.prompts
    )


def _seen(aim: Aim, evidence: Evidence, between: bool) -> bool:
    """Whether the gap is that measured between two contestants, whom it already tells apart."""
    return between and abs(evidence.gap) == aim.gap > _half_width(aim, evidence)


@dataclass(frozen=True)
class _Later:
    """The variance of the gap with new prompts beside those at hand.

    A prompt weighs as its games do, that is as its raters. With n new prompts of r raters and variance v
    beside N of R raters and variance V the gap has the variance (N R² V + n r² v) / (N R + n r)².
    """

    weight: float  # N R
    noise: float  # N R² V
    raters: float  # r
    fresh: float  # v

    def left(self, more: int) -> float:
        noise = self.noise + more * self.raters**2 * self.fresh
        return noise / (self.weight + more * self.raters) ** 2

    def reaches(self, wanted: float) -> int:
        """The fewest prompts that leave no more than that: the positive root of a quadratic equation."""
        missing = self.noise / wanted - self.weight**2
        half = self.raters * self.fresh / wanted / 2.0 - self.weight
        return math.ceil((half + math.sqrt(half**2 + missing)) / self.raters - 1e-9) if missing >= 0 else 0


def _need(aim: Aim, raters: int, variance: PromptVariance, evidence: Evidence | None) -> Need:
    had, now, fewest = (evidence.prompts, evidence.raters, 0) if evidence else (0, 0.0, FEWEST_PROMPTS)
    noise = had * now**2 * variance.of_prompt(now) if evidence else 0.0
    later = _Later(had * now, noise, float(raters), variance.of_prompt(raters))

    def serves(more: int) -> bool:
        return later.left(more) <= aim.variance(had + more) * (1.0 + 1e-9)

    # Student's t asks for more than the normal distribution, the less so the more prompts there are.
    least = max(later.reaches(aim.variance()), fewest)
    tried = range(least, later.reaches(aim.variance(had + least)) + 1)
    more = least + bisect_left(tried, True, key=serves)
    total = had + more
    return Need(raters, more, total, aim.reach(total) * math.sqrt(later.left(more)))
